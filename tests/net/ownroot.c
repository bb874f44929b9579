/* ownroot.c: a mount namespace with directories in memory. */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/ownroot.h"
#include "support/suite.h"

#define OLD_ETC "/run/etc"

static bool
is_ours(const char *name)
{
	static const char *const names[] = { ".", "..", "hosts", "host.conf",
		"nsswitch.conf", "resolv.conf", "pen", "pen.conf" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* A link to each file of the machine; its own links are copied, as they may be
 * relative. */
static void
link_etc(void)
{
	DIR *d = opendir(OLD_ETC);
	struct dirent *e;
	const char *old, *new;
	char to[512];
	ssize_t n;

	ck_assert_ptr_nonnull(d);
	while ((e = readdir(d)) != NULL) {
		if (is_ours(e->d_name))
			continue;
		old = text(OLD_ETC "/%s", e->d_name);
		new = text("/etc/%s", e->d_name);
		n = readlink(old, to, sizeof(to) - 1);
		to[n > 0 ? n : 0] = '\0';
		ck_assert_int_eq(symlink(n > 0 ? to : old, new), 0);
	}
	closedir(d);
}

static int
in_memory(const char *dir)
{
	return mount("tmpfs", dir, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755");
}

static int
mount_all(void)
{
	/* What is mounted from here on must not reach the machine. */
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    in_memory("/run") < 0 || mkdir(OLD_ETC, 0755) < 0 ||
	    mount("/etc", OLD_ETC, NULL, MS_BIND | MS_REC, NULL) < 0)
		return -1;
	if (in_memory("/etc") < 0 || in_memory("/var/log") < 0 ||
	    in_memory("/usr/local/bin") < 0)
		return -1;
	return 0;
}

const char *
ownroot_begin(const char *hosts)
{
	const char *path = getenv("PATH");

	if (mount_all() < 0)
		return text("no directories of its own: %s", strerror(errno));
	link_etc();
	write_file("/etc/hosts", hosts);
	write_file("/etc/host.conf", "multi on\n");
	write_file("/etc/nsswitch.conf", "hosts: files\n");
	write_file("/etc/resolv.conf", "");
	ck_assert_int_eq(mkdir("/etc/pen", 0755), 0);
	setenv("PATH", text("/usr/local/bin:%s", path != NULL ? path : ""), 1);
	return NULL;
}

void
ownroot_script(const char *path, const char *lines)
{
	write_file(path, text("#!/bin/sh\n%s\n", lines));
	ck_assert_int_eq(chmod(path, 0755), 0);
}
