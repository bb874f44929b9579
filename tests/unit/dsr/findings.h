/* findings.h: what an inspection has reported, and to whom: a program's own
 * list. Included once by each program. */
#ifndef PEN_TEST_FINDINGS_H
#define PEN_TEST_FINDINGS_H

#include <check.h>

#include "dsr/inspect/inspect.h"

enum { FOUND = 64 };

static struct finding found[FOUND];
static unsigned found_n;

static void
hear(void *arg, const struct finding *f)
{
	ck_assert_ptr_eq(arg, found);
	ck_assert_uint_lt(found_n, FOUND);
	found[found_n++] = *f;
}

static struct peer
ip(const char *words)
{
	struct addr a;
	struct peer p;

	ck_assert_int_eq(addr_parse_ip(&a, words, 0), 0);
	peer_from_addr(&p, &a);
	return p;
}

#endif
