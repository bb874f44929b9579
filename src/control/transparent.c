/* transparent.c: whether it is wanted, and may be. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "control/direct.h"
#include "control/origin.h"
#include "control/transparent.h"
#include "net/sock_nonlocal.h"

bool
transparent_is_wanted(const struct plan *p)
{
	return p->config.frontend.transparent && !direct_is_wanted(p);
}

static const char *
why_not(const struct pen *p)
{
	if (errno != EPERM)
		return errno == ENOPROTOOPT ? "this system has none"
					    : strerror(errno);
	return p->phase < PHASE_SERVING
	    ? "they need root, or the capability CAP_NET_RAW: setcap "
	      "cap_net_raw+ep $(command -v pen)"
	    : "they need the capability CAP_NET_RAW, which is kept only if "
	      "transparent is set at the start";
}

int
transparent_prepare(struct apply *a, struct error *e)
{
	if (!transparent_is_wanted(a->wanted) ||
	    (!a->first && transparent_is_wanted(a->now)) ||
	    sock_try_transparent() == 0)
		return 0;
	error_set(e, "no sockets with addresses of clients: %s",
	    why_not(a->pen));
	origin_add(a->wanted, "transparent", e);
	return -1;
}
