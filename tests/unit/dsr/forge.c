/* forge.c: frames that are made, and the opinion of parser and model on
 * them. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "support/framemodel.h"
#include "unit/dsr/forge.h"

const struct mac one = { { 2, 0, 0, 0, 0, 1 } };
const struct mac two = { { 2, 0, 0, 0, 0, 2 } };
unsigned char out[4096];
unsigned char bytes[SAMPLE_MAX];

struct frame
sample(const char *name)
{
	struct frame f;

	frame_parse(&f, bytes, sample_bytes(sample_named(name), bytes));
	ck_assert(f.kind != FRAME_BAD);
	return f;
}

struct frame
made(size_t n, enum frame_kind kind)
{
	struct frame f, model;

	ck_assert_uint_gt(n, 0);
	frame_parse(&f, out, n);
	framemodel_parse(&model, out, n);
	ck_assert_int_eq(f.kind, kind);
	ck_assert_int_eq(model.kind, kind);
	if (f.packet != 0)
		ck_assert_uint_eq(f.net + f.packet, n);
	if (kind == FRAME_FLOW || kind == FRAME_ERROR || kind == FRAME_NDP)
		ck_assert(framemodel_checksum_ok(&f));
	return f;
}

struct peer
peer(const char *ip, uint16_t port)
{
	struct addr a;
	struct peer p;

	ck_assert_int_eq(addr_parse_ip(&a, ip, port), 0);
	peer_from_addr(&p, &a);
	return p;
}

bool
same_peer(const struct peer *a, const struct peer *b)
{
	return peer_same_host(a, b) && a->port == b->port;
}

struct frame
answer(size_t n, const struct frame *f, enum frame_kind kind)
{
	struct frame a = made(n, kind);

	ck_assert_mem_eq(out, f->bytes + 6, 6);
	ck_assert_mem_eq(out + 6, f->bytes, 6);
	ck_assert_uint_eq(a.vlan, f->vlan);
	return a;
}
