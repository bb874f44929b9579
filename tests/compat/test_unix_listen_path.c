/* test_unix_listen_path.c: a listening path deletes only a socket that nobody
 * uses any more; a path that does not fit is refused, not cut. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

START_TEST(file_is_kept)
{
	const char *file = scratch("file"), *link = scratch("link");

	write_file(file, "precious\n");
	pen_expect_failure(file, "-f", file, "127.0.0.1:9", NULL);
	ck_assert_str_eq(contents(file), "precious\n");
	ck_assert_int_eq(symlink(file, link), 0);
	pen_expect_failure(link, "-f", link, "127.0.0.1:9", NULL);
	ck_assert_str_eq(contents(link), "precious\n");
}
END_TEST

START_TEST(stale_socket_is_replaced)
{
	struct backend b;
	struct endpoint path;
	struct pen pen;

	backend_start(&b, ENDPOINT_TCP4, backend_say, "here");
	endpoint_new(&path, ENDPOINT_UNIX);
	pen_up(&pen, &path, "-r", path.text, b.at.text, NULL);
	child_stop(&pen.child, SIGKILL);
	WAIT_FOR(!endpoint_is_listening(&path), 10000); /* its workers */
	ck_assert_int_eq(access(path.text, F_OK), 0);
	pen_up(&pen, &path, "-r", path.text, b.at.text, NULL);
	ck_assert_str_eq(endpoint_hear(&path), "here");
	pen_down(&pen);
	ck_assert_int_ne(access(path.text, F_OK), 0);
	backend_stop(&b);
}
END_TEST

START_TEST(living_socket_is_kept)
{
	struct backend b;

	backend_start(&b, ENDPOINT_UNIX, backend_say, "mine");
	pen_expect_failure("in use", "-f", b.at.text, "127.0.0.1:9", NULL);
	ck_assert_str_eq(endpoint_hear(&b.at), "mine");
	backend_stop(&b);
}
END_TEST

/* Who comes after keeps its socket when the one before ends. */
START_TEST(successor_keeps_its_socket)
{
	struct backend b;
	struct endpoint path;
	struct pen pen;
	int fd;

	backend_start(&b, ENDPOINT_TCP4, backend_say, "here");
	endpoint_new(&path, ENDPOINT_UNIX);
	pen_up(&pen, &path, "-r", path.text, b.at.text, NULL);
	ck_assert_int_eq(unlink(path.text), 0);
	fd = endpoint_listen(&path, 5);
	pen_down(&pen);
	ck_assert_int_eq(access(path.text, F_OK), 0);
	close(fd);
	backend_stop(&b);
}
END_TEST

START_TEST(long_path_is_refused)
{
	const char *path = scratch(text("%0110d", 0));

	pen_expect_failure("long", "-f", path, "127.0.0.1:9", NULL);
	ck_assert_int_ne(access(text("%.107s", path), F_OK), 0);
}
END_TEST

SUITE(test_unix_listen_path)
{
	Suite *s = suite_create("unix_listen_path");

	SUITE_ADD(s, file_is_kept, 10);
	SUITE_ADD(s, stale_socket_is_replaced, 10);
	SUITE_ADD(s, living_socket_is_kept, 10);
	SUITE_ADD(s, successor_keeps_its_socket, 10);
	SUITE_ADD(s, long_path_is_refused, 10);
	return s;
}
