/* director_tarpit.c: addresses that a list permits and nobody has. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "dsr/director/director_private.h"

enum { BEFORE_IP4 = 96 }; /* bits of a mask that are not of an IPv4 address */

/* ---- what may come up ---- */

static void
add(struct link_net *list, unsigned *n, unsigned family, const uint8_t ip[16],
    unsigned bits)
{
	unsigned all = family == AF_INET ? bits + BEFORE_IP4 : bits, i;
	struct link_net *t = &list[(*n)++];

	*t = (struct link_net){ .ip.family = (uint16_t)family,
		.bits = (uint8_t)bits };
	for (i = 0; i < all; i++)
		t->ip.ip[i / 8] |= ip[i / 8] & 0x80u >> i % 8;
}

/* What is behind a gap in a mask only makes the net larger than need be. */
static void
add_entry(struct link_net *list, unsigned *n, const struct acl_entry *e)
{
	unsigned bits = acl_prefix_length(e->mask);

	if (e->family == AF_INET)
		add(list, n, AF_INET, e->ip, bits - BEFORE_IP4);
	else if (e->family == AF_INET6)
		add(list, n, AF_INET6, e->ip, bits);
}

static void
add_all(struct link_net *list, unsigned *n)
{
	static const uint8_t any4[16] = { [10] = 0xff, [11] = 0xff }, any6[16];

	add(list, n, AF_INET6, any6, 0);
	add(list, n, AF_INET, any4, 0);
}

/* The nets that all a list permits is in; freed by the caller. */
static struct link_net *
nets_of(const struct acl *list, unsigned *n)
{
	struct link_net *nets = calloc(list->count + 2, sizeof(*nets));
	size_t i;

	*n = 0;
	if (nets == NULL || list->count == 0)
		return nets;
	if (!acl_at(list, list->count - 1)->permit) {
		add_all(nets, n);
		return nets;
	}
	for (i = 0; i < list->count; i++)
		if (acl_at(list, i)->permit)
			add_entry(nets, n, acl_at(list, i));
	return nets;
}

/* ---- what the tarpit asks ---- */

static bool
is_wanted(void *arg, const struct peer *ip)
{
	struct director *d = arg;

	return d->tarpit_list.count > 0 && acl_permits(&d->tarpit_list, ip) &&
	    !director_has_address(d, ip) && !neighbors_know(&d->neighbors, ip);
}

static int
open_tarpit(struct director *d)
{
	struct tarpit_options o = { .mac = d->link.mac,
		.ip4 = d->own[0],
		.ip6 = neighbors_own6(&d->neighbors),
		.is_wanted = is_wanted,
		.send = director_send_own,
		.arg = d };

	if (d->tarpit.traps != NULL)
		return 0;
	return tarpit_init(&d->tarpit, &o, loop_now(d->loop));
}

/* ---- the list ---- */

int
director_set_tarpit(struct director *d, const struct acl *list, struct error *e)
{
	static const struct acl none;
	const struct acl *from = list != NULL ? list : &none;
	struct link_filter filter = director_filter(d, d->places, d->count);
	struct acl copy;
	struct link_net *nets;

	if (acl_equal(&d->tarpit_list, from))
		return 0;
	filter.net = nets = nets_of(from, &filter.nets);
	acl_copy(&copy, from);
	if (nets == NULL || open_tarpit(d) < 0)
		error_set(e, "out of memory");
	else if (link_set_filter(&d->link, &filter, e) == 0) {
		acl_fini(&d->tarpit_list);
		free(d->tarpit_nets);
		d->tarpit_list = copy;
		d->tarpit_nets = nets;
		d->tarpit_nets_n = filter.nets;
		return 0;
	}
	acl_fini(&copy);
	free(nets);
	return -1;
}

void
director_tarpit_close(struct director *d)
{
	tarpit_fini(&d->tarpit);
	acl_fini(&d->tarpit_list);
	free(d->tarpit_nets);
}

const struct tarpit_stats *
director_tarpit_stats(const struct director *d)
{
	return &d->tarpit.stats;
}

/* ---- frames ---- */

void
director_tarpit_on_neighbor(struct director *d, const struct frame *f)
{
	if (d->tarpit_list.count > 0)
		tarpit_on_neighbor(&d->tarpit, f, loop_now(d->loop));
}

bool
director_tarpit_on_flow(
    struct director *d, const struct frame *f, bool unsummed)
{
	return d->tarpit_list.count > 0 && (unsummed || frame_checksum_ok(f)) &&
	    tarpit_on_flow(&d->tarpit, f, loop_now(d->loop));
}
