/* upgrading.c: copies of pen, and processes that are not our children. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/ctl.h"
#include "support/suite.h"
#include "support/upgrading.h"
#include "support/wait.h"

static char original[4096];

static void
copy_file(const char *from, const char *to)
{
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	char bytes[65536];
	size_t n;

	ck_assert_ptr_nonnull(in);
	ck_assert_ptr_nonnull(out);
	while ((n = fread(bytes, 1, sizeof(bytes), in)) > 0)
		ck_assert_uint_eq(fwrite(bytes, 1, n, out), n);
	fclose(in);
	ck_assert_int_eq(fclose(out), 0);
}

/* By another name first: a program that runs cannot be written to. */
const char *
upgrading_install_both(void)
{
	char client[4096];
	const char *path;

	ck_assert_ptr_nonnull(realpath(ctl_client(), client));
	path = upgrading_install();
	if (path != NULL)
		ck_assert_int_eq(symlink(client, text("%sctl", path)), 0);
	return path;
}

void
upgrading_replace(const char *path, const char *content)
{
	const char *new = text("%s.new", path);

	if (content != NULL)
		write_file(new, content);
	else
		copy_file(original, new);
	ck_assert_int_eq(chmod(new, 0755), 0);
	ck_assert_int_eq(rename(new, path), 0);
}

const char *
upgrading_install(void)
{
	const char *wrapper = getenv("PEN_TEST_WRAPPER"), *pen = getenv("PEN"),
		   *path = scratch("pen-to-replace");

	if (wrapper != NULL && *wrapper != '\0')
		return NULL;
	ck_assert_ptr_nonnull(realpath(pen != NULL ? pen : "./pen", original));
	upgrading_replace(path, NULL);
	setenv("PEN", path, 1);
	return path;
}

pid_t
upgrading_pid(const struct endpoint *ctl)
{
	return (pid_t)strtol(endpoint_ask(ctl, "pid\n"), NULL, 10);
}

pid_t
upgrading_go(const struct endpoint *ctl, pid_t old)
{
	const char *said = endpoint_ask(ctl, "upgrade\n");
	pid_t pid;

	ck_assert_msg(strstr(said, " serves\n") != NULL, "%s", said);
	pid = upgrading_pid(ctl);
	ck_assert_int_gt(pid, 1);
	ck_assert_int_ne(pid, old);
	ck_assert_ptr_nonnull(
	    strstr(said, text("process %ld serves\n", (long)pid)));
	return pid;
}

bool
upgrading_has_ended(pid_t pid)
{
	const char *state = child_status_line(pid, "State");

	return *state == '\0' || *state == 'Z';
}

void
upgrading_end(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGTERM), 0);
	WAIT_FOR(upgrading_has_ended(pid), 20000);
}
