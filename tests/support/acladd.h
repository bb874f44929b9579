/* acladd.h: an entry of an access list, from words. */
#ifndef PEN_TEST_ACLADD_H
#define PEN_TEST_ACLADD_H

#include "pool/acl/acl.h"

/* Returns 0, or -1: not an entry, or memory is short. */
static inline int
acl_add(struct acl *l, bool permit, const char *address, const char *mask)
{
	struct acl_entry entry;
	struct error why;

	return acl_entry_parse(&entry, permit, address, mask, &why) < 0
	    ? -1
	    : acl_add_entry(l, &entry, NULL);
}

#endif
