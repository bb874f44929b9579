/* flow_fixture.h: a table of flows, its clock and some clients, for the
 * programs that test it; included once by each. */
#ifndef PEN_TEST_FLOW_FIXTURE_H
#define PEN_TEST_FLOW_FIXTURE_H

#include <check.h>
#include <netinet/in.h>
#include <string.h>

#include "dsr/flows/dsr_flows.h"
#include "dsr/frame/frame.h"
#include "support/suite.h"

enum { SYN = FRAME_SYN, ACK = FRAME_ACK, FIN = FRAME_FIN, RST = FRAME_RST };
enum { MOST = 100000 };
static const uint64_t START = 5000000; /* ms, a whole second */

static struct dsr_flows fs;
static uint64_t now;

static inline void
setup(uint32_t max)
{
	now = START;
	ck_assert_int_eq(dsr_flows_init(&fs, max), 0);
}

static inline struct peer
peer(unsigned family, uint32_t n, uint16_t port)
{
	struct peer p = { .family = (uint16_t)family, .port = port };

	if (family == AF_INET)
		memset(p.ip + 10, 0xff, 2);
	memcpy(p.ip + 12, &n, sizeof(n));
	return p;
}

/* Client number n. */
static inline struct dsr_key
key(uint32_t n, uint8_t protocol)
{
	struct peer client = peer(AF_INET, n, 1024), vip = peer(AF_INET, 1, 80);
	struct dsr_key k;

	dsr_key_make(&k, &client, &vip, protocol);
	return k;
}

static inline struct dsr_flow *
find_of(uint32_t n, uint8_t protocol)
{
	struct dsr_key k = key(n, protocol);

	return dsr_flows_find(&fs, &k, dsr_flows_hash(&fs, &k));
}

static inline struct dsr_flow *
find(uint32_t n)
{
	return find_of(n, IPPROTO_TCP);
}

static inline struct dsr_flow *
add_of(uint32_t n, uint8_t protocol, uint32_t server, uint8_t flags)
{
	struct dsr_key k = key(n, protocol);

	return dsr_flows_add(
	    &fs, &k, dsr_flows_hash(&fs, &k), server, flags, 60, now);
}

static inline struct dsr_flow *
add(uint32_t n, uint32_t server, uint8_t flags)
{
	return add_of(n, IPPROTO_TCP, server, flags);
}

static inline void
frame(uint32_t n, uint8_t flags)
{
	struct dsr_flow *w = find(n);

	if (w == NULL)
		ck_abort_msg("flow %u is not there", (unsigned)n);
	dsr_flows_on_frame(&fs, w, flags, 100, now);
}

static inline void
establish(uint32_t n)
{
	ck_assert_ptr_nonnull(add(n, n % 7, SYN));
	frame(n, ACK);
	ck_assert_uint_eq(find(n)->state, DSR_ESTABLISHED);
}

static inline uint32_t
listed(void)
{
	uint32_t n = 0, i;

	for (i = 0; i < DSR_STATES; i++)
		n += fs.lists[i].count;
	return n;
}

#endif
