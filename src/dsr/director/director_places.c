/* director_places.c: where clients come to: addresses and ports. */
#include "config.h"

#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "dsr/director/director_private.h"

bool
director_has_address(const struct director *d, const struct peer *at)
{
	unsigned i;

	for (i = 0; i < d->count; i++)
		if (memcmp(d->places[i].ip, at->ip, sizeof(at->ip)) == 0)
			return true;
	return false;
}

bool
director_serves(const struct director *d, const struct frame *f)
{
	unsigned i;

	if (d->options.udp_only && f->protocol != IPPROTO_UDP)
		return false;
	for (i = 0; i < d->count; i++)
		if ((d->places[i].port == 0 ||
			d->places[i].port == f->to.port) &&
		    memcmp(d->places[i].ip, f->to.ip, sizeof(f->to.ip)) == 0)
			return true;
	return false;
}

void
director_set_own(struct director *d)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		if (d->options.ip[i].len == 0)
			continue;
		peer_from_addr(&d->own[i], &d->options.ip[i]);
		d->own[i].scope = 0;
		d->own[i].port = 0;
	}
}

bool
director_is_own(const struct director *d, const struct peer *at)
{
	const struct peer *own = &d->own[at->family == AF_INET6];

	return own->family != 0 && peer_same_host(own, at);
}

struct link_filter
director_filter(const struct director *d, struct peer *places, unsigned count)
{
	struct link_filter f = { .address = places,
		.count = count,
		.net = d->tarpit_nets,
		.nets = d->tarpit_nets_n };
	unsigned i;

	for (i = 0; i < 2; i++)
		if (d->own[i].family != 0)
			places[f.count++] = d->own[i];
	return f;
}

/* Nobody else may have them, and what is for them comes up from now on. */
static int
take_places(struct director *d, struct place_locks *locks, struct peer *list,
    unsigned count, struct error *e)
{
	unsigned number = d->open ? (unsigned)d->link.ifindex
				  : if_nametoindex(d->options.interface);
	struct link_filter filter = director_filter(d, list, count);

	if (place_locks_take(locks, &d->locks, number, d->options.user, list,
		count, e) < 0)
		return -1;
	if (!d->open || link_set_filter(&d->link, &filter, e) == 0)
		return 0;
	place_locks_free(locks);
	return -1;
}

int
director_set_places(struct director *d, const struct peer *list, unsigned count,
    struct error *e)
{
	struct peer *new = calloc((size_t)count + 2, sizeof(*new));
	struct place_locks locks;
	struct peer *old;
	unsigned olds;

	if (new == NULL)
		return error_set(e, "out of memory");
	memcpy(new, list, count * sizeof(*new));
	if (take_places(d, &locks, new, count, e) < 0) {
		free(new);
		return -1;
	}
	place_locks_replace(&d->locks, &locks);
	old = d->places;
	olds = d->count;
	d->places = new;
	d->count = count;
	if (d->open) {
		director_set_vips(d, old, olds);
		director_renew_gates(d);
		if (director_change_probes(d) < 0)
			log_error("out of memory");
	}
	free(old);
	return 0;
}
