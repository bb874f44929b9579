/* tarpit_net.c: see tarpit_net.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "dsr/director/tarpit_net.h"

enum { BEFORE_IP4 = 96 }; /* bits of a mask that are not of an IPv4 address */

/* ---- nets of the filter ---- */

static void
add_net(struct link_net *list, unsigned *n, unsigned family,
    const uint8_t ip[16], unsigned bits)
{
	unsigned all = family == AF_INET ? bits + BEFORE_IP4 : bits, i;
	struct link_net *t = &list[(*n)++];

	*t = (struct link_net){ .ip.family = (uint16_t)family,
		.bits = (uint8_t)bits };
	for (i = 0; i < all; i++)
		t->ip.ip[i / 8] |= ip[i / 8] & 0x80u >> i % 8;
}

/* The nets that all a list permits is in; freed by the caller. */
static struct link_net *
nets_of(const struct acl *list, unsigned *n)
{
	static const uint8_t any4[16] = { [10] = 0xff, [11] = 0xff }, any6[16];
	struct link_net *nets = calloc(list->count + 2, sizeof(*nets));
	const struct acl_entry *e;
	unsigned bits;
	size_t i;

	*n = 0;
	if (nets == NULL || list->count == 0)
		return nets;
	/* A list that ends with deny permits all that it does not deny. */
	if (!acl_at(list, list->count - 1)->permit) {
		add_net(nets, n, AF_INET6, any6, 0);
		add_net(nets, n, AF_INET, any4, 0);
		return nets;
	}
	/* Bits after a gap in a mask are left out: the net is larger than need
	 * be, and tarpit_is_wanted() is exact. */
	for (i = 0; i < list->count; i++) {
		e = acl_at(list, i);
		bits = acl_prefix_length(e->mask);
		if (e->permit && e->family == AF_INET)
			add_net(nets, n, AF_INET, e->ip, bits - BEFORE_IP4);
		else if (e->permit && e->family == AF_INET6)
			add_net(nets, n, AF_INET6, e->ip, bits);
	}
	return nets;
}

/* ---- for the tarpit ---- */

static bool
tarpit_is_wanted(void *arg, const struct peer *ip)
{
	const struct tarpit_net *t = arg;

	return t->list.count > 0 && acl_permits(&t->list, ip) &&
	    !vips_have_address(t->vips, ip) &&
	    !neighbors_have(&t->hops->neighbors, ip);
}

static void
tarpit_on_send(void *arg, const unsigned char *bytes, size_t length)
{
	const struct tarpit_net *t = arg;

	wire_send_own(t->hops->wire, bytes, length);
}

static int
open_tarpit(struct tarpit_net *t)
{
	struct tarpit_options o = { .mac = t->hops->wire->link.mac,
		.ip4 = t->vips->own[0],
		.ip6 = t->hops->neighbors.own6,
		.is_wanted = tarpit_is_wanted,
		.send = tarpit_on_send,
		.arg = t };

	if (t->tarpit.traps != NULL)
		return 0;
	return tarpit_init(&t->tarpit, &o);
}

/* ---- the list ---- */

struct link_filter
tarpit_net_filter(const struct tarpit_net *t, struct peer *list, unsigned count)
{
	struct link_filter f = vips_filter(t->vips, list, count);

	f.net = t->nets;
	f.nets = t->nets_n;
	return f;
}

int
tarpit_net_set(struct tarpit_net *t, const struct acl *list, struct error *e)
{
	static const struct acl none;
	const struct acl *from = list != NULL ? list : &none;
	struct link_filter filter =
	    tarpit_net_filter(t, t->vips->list, t->vips->count);
	struct acl copy;
	struct link_net *nets;

	if (acl_equal(&t->list, from))
		return 0;
	/* The link's filter is set last: if that fails, nothing has changed. */
	filter.net = nets = nets_of(from, &filter.nets);
	acl_copy(&copy, from);
	if (nets == NULL || open_tarpit(t) < 0)
		error_set(e, "out of memory");
	else if (link_set_filter(&t->hops->wire->link, &filter, e) == 0) {
		acl_fini(&t->list);
		free(t->nets);
		t->list = copy;
		t->nets = nets;
		t->nets_n = filter.nets;
		return 0;
	}
	acl_fini(&copy);
	free(nets);
	return -1;
}

void
tarpit_net_fini(struct tarpit_net *t)
{
	tarpit_fini(&t->tarpit);
	acl_fini(&t->list);
	free(t->nets);
}

/* ---- frames ---- */

void
tarpit_net_on_message(struct tarpit_net *t, const struct who_has *m)
{
	if (t->list.count > 0)
		tarpit_on_message(&t->tarpit, m, loop_now(t->hops->loop));
}

bool
tarpit_net_on_flow(struct tarpit_net *t, const struct frame *f, bool unsummed)
{
	return t->list.count > 0 && (unsummed || frame_checksum_ok(f)) &&
	    tarpit_on_flow(&t->tarpit, f, loop_now(t->hops->loop));
}
