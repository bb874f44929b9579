/* path_mtu.c: what routers have reported, for as long as it is valid. */
#include "config.h"

#include <sys/socket.h>

#include "dsr/forward/path_mtu.h"

unsigned
path_mtu_get(const struct path_mtu *p, unsigned link, uint64_t now)
{
	return p->mtu != 0 && p->mtu < link && now / 1000 < p->until_s ? p->mtu
								       : link;
}

bool
path_mtu_lower(struct path_mtu *p, unsigned family, unsigned mtu, unsigned link,
    uint64_t now)
{
	unsigned least = family == AF_INET ? PATH_MTU_LEAST4 : PATH_MTU_LEAST6;

	if (mtu < least)
		mtu = least;
	if (mtu >= path_mtu_get(p, link, now))
		return false;
	p->mtu = mtu;
	p->until_s = (uint32_t)(now / 1000) + PATH_MTU_S;
	return true;
}
