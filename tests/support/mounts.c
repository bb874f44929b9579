/* mounts.c: mount(2) in a namespace of the test's own. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* unshare() */
#endif
#include "config.h"

#include <unistd.h>

#include "support/mounts.h"
#include "support/suite.h"

#ifdef __linux__
#include <sched.h>
#include <sys/mount.h>

bool
mounts_private(void)
{
	return geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

bool
mounts_empty(const char *at, const char *size)
{
	return mount("tmpfs", at, "tmpfs", 0,
		   size != NULL ? text("size=%s", size) : NULL) == 0;
}

bool
mounts_file(const char *from, const char *to)
{
	write_file(to, "");
	return mount(from, to, NULL, MS_BIND, NULL) == 0;
}

bool
mounts_devices(void)
{
	const char *null = scratch("null"), *random = scratch("urandom");

	return mounts_private() && mounts_file("/dev/null", null) &&
	    mounts_file("/dev/urandom", random) && mounts_empty("/dev", NULL) &&
	    mounts_file(null, "/dev/null") &&
	    mounts_file(random, "/dev/urandom");
}
#else
bool
mounts_private(void)
{
	return false;
}

bool
mounts_file(const char *from, const char *at)
{
	(void)from;
	(void)at;
	return false;
}

bool
mounts_empty(const char *at, const char *size)
{
	(void)at;
	(void)size;
	return false;
}

bool
mounts_devices(void)
{
	return false;
}
#endif
