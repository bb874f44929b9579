/* cable_fixture.h: the link of a test file at the near end of a cable, and test
 * cases with each kind of link. */
#ifndef PEN_TEST_CABLE_FIXTURE_H
#define PEN_TEST_CABLE_FIXTURE_H

#include <check.h>

#include "support/link_fixture.h"

static struct link_fixture fixture;

static inline void
up_packet(void)
{
	link_fixture_up(&fixture, "packet");
}

static inline void
up_fast(void)
{
	link_fixture_up(&fixture, LINK_FIXTURE_FAST);
}

static inline void
up_pcap(void)
{
	link_fixture_up(&fixture, "pcap");
}

static inline void
down(void)
{
	link_fixture_down(&fixture);
}

static const struct {
	const char *name;
	void (*up)(void);
} cable_kinds[] = {
	{ "packet", up_packet },
#ifdef HAVE_XDP
	{ LINK_FIXTURE_FAST, up_fast },
#endif
#ifdef HAVE_LINK_PCAP
	{ "pcap", up_pcap },
#endif
};

/* A case of the suite for each kind of this build: `add` adds the kind's
 * tests. */
static inline void
cable_cases(Suite *s, void (*add)(TCase *t, const char *kind))
{
	unsigned i;

	for (i = 0; i < sizeof(cable_kinds) / sizeof(cable_kinds[0]); i++) {
		TCase *t = tcase_create(cable_kinds[i].name);

		tcase_add_checked_fixture(t, cable_kinds[i].up, down);
		tcase_set_timeout(t, 30);
		add(t, cable_kinds[i].name);
		suite_add_tcase(s, t);
	}
}

#endif
