/* faults.h: calls of libc that fail when a test wants it, in a program that
 * runs with faults.so (faults_preload.c) in LD_PRELOAD and PEN_FAULTS, a file
 * with this struct in it, which test and program map.
 *
 * A site is a function, an error it may have and the stack it is called from.
 * While armed, the first site that was not tried before fails, once: a test
 * that arms, does the same again and looks what came of it, until nothing fails
 * any more, has tried all sites that it reaches.
 *
 * Or an error lasts: while armed, each call fails with it that may have it,
 * except those that move bytes. */
#ifndef PEN_TEST_FAULTS_H
#define PEN_TEST_FAULTS_H

#include <stdatomic.h>
#include <stdint.h>

enum {
	FAULTS_SITES = 1 << 17,
	FAULTS_WHERE = 1500, /* of text about a stack */
	FAULTS_SHORT = -1,   /* an error: fewer bytes than could be */
};

struct faults {
	atomic_int armed;
	/* Set by the test: the stack's frames that make a site; of all sites
	 * one in `of`. */
	int depth;
	unsigned of;
	char only[32]; /* this call; "": all */
	int lasts;     /* this error; 0: none does */
	/* How often calls have failed, since it was armed; and what was the
	 * first. */
	atomic_int failed;
	int error;
	char call[32];
	char where[FAULTS_WHERE]; /* " FILE+0x1234", innermost first */
	/* All sites, those that are left out as well. */
	atomic_uint sites;
	uint64_t tried[FAULTS_SITES]; /* a hash table; 0: free */
};

#endif
