/* vips.c: see vips.h. */
#include "config.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "dsr/forward/vips.h"

void
vips_init(struct vips *v, const struct addr own[2], bool udp_only)
{
	unsigned i;

	v->udp_only = udp_only;
	for (i = 0; i < 2; i++) {
		if (own[i].len == 0)
			continue;
		peer_from_addr(&v->own[i], &own[i]);
		v->own[i].scope = 0;
		v->own[i].port = 0;
	}
}

void
vips_fini(struct vips *v)
{
	vip_locks_free(&v->locks);
	free(v->list);
}

bool
vips_have_address(const struct vips *v, const struct peer *at)
{
	unsigned i;

	for (i = 0; i < v->count; i++)
		if (memcmp(v->list[i].ip, at->ip, sizeof(at->ip)) == 0)
			return true;
	return false;
}

bool
vips_serve(const struct vips *v, const struct frame *f)
{
	unsigned i;

	if (v->udp_only && f->protocol != IPPROTO_UDP)
		return false;
	for (i = 0; i < v->count; i++)
		if ((v->list[i].port == 0 || v->list[i].port == f->to.port) &&
		    memcmp(v->list[i].ip, f->to.ip, sizeof(f->to.ip)) == 0)
			return true;
	return false;
}

bool
vips_is_own(const struct vips *v, const struct peer *at)
{
	const struct peer *own = &v->own[at->family == AF_INET6];

	return own->family != 0 && peer_same_host(own, at);
}

bool
vips_own_ip(const struct vips *v, unsigned family, struct peer *ip)
{
	const struct peer *own = &v->own[family == AF_INET6];

	if (own->family == 0)
		return false;
	*ip = *own;
	return true;
}

struct link_filter
vips_filter(const struct vips *v, struct peer *list, unsigned count)
{
	struct link_filter f = { .address = list, .count = count };
	unsigned i;

	for (i = 0; i < 2; i++)
		if (v->own[i].family != 0)
			list[f.count++] = v->own[i];
	return f;
}
