/* health.c: rise and fall. */
#include "config.h"

#include "pool/server/health.h"

bool
health_take(
    struct health *h, const struct health_options *o, bool good, uint64_t now)
{
	if (h->since == 0)
		h->since = now;
	h->good = good ? h->good + 1 : 0;
	h->assumed = h->assumed && good;
	if (good != h->down) {
		h->against = 0;
		return false;
	}
	if (++h->against < (good ? o->rise : o->fall) &&
	    !(good && h->unproven))
		return false;
	h->unproven = h->assumed = false;
	h->down = !good;
	h->against = 0;
	h->since = now;
	return true;
}
