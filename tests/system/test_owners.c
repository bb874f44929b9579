/* test_owners.c: access lists about the users and groups of Unix clients. */
#include "config.h"

#include <check.h>
#include <grp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/child.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

enum { NOBODY = 65534 };

static struct endpoint front, ctl;
static struct backend b;
static struct pen pen;

static void
up(void)
{
	backend_start(&b, ENDPOINT_TCP4, backend_say, "a");
	endpoint_new(&front, ENDPOINT_UNIX);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "-r", "--control-mode", "0666", "--listen-mode",
	    "0666", "-C", ctl.text, "-O", "acl who permit unix", "-O",
	    "client_acl who", "-O", "control_acl who", front.text, b.at.text,
	    NULL);
}

static void
down(void)
{
	pen_down(&pen);
	backend_stop(&b);
}

static void
set(const char *entries)
{
	ck_assert_str_eq(
	    endpoint_ask(&ctl, text("no acl who; %s\n", entries)), "");
}

static bool
is_served(void)
{
	int fd = endpoint_connect(&front);
	char c = 0;
	bool served = recv(fd, &c, 1, 0) == 1 && c == 'a';

	close(fd);
	return served;
}

/* Whatever the umask says; a listener that is opened later has the new one. */
START_TEST(mode_of_listeners)
{
	mode_t was = umask(077);
	struct endpoint next;

	up();
	(void)umask(was);
	ck_assert_uint_eq(endpoint_mode(&front), 0666);
	endpoint_new(&next, ENDPOINT_UNIX);
	endpoint_ask(&ctl, text("listen_mode 0620; listen %s\n", next.text));
	ck_assert_uint_eq(endpoint_mode(&next), 0620);
	endpoint_new(&next, ENDPOINT_UNIX);
	endpoint_ask(&ctl, text("no listen_mode; listen %s\n", next.text));
	ck_assert_uint_eq(endpoint_mode(&next), 0700);
	down();
}
END_TEST

/* Root has made it, for the user that serves. */
START_TEST(user_of_listeners)
{
	struct stat st;

	if (geteuid() != 0)
		SKIP("needs root");
	backend_start(&b, ENDPOINT_TCP4, backend_say, "a");
	endpoint_new(&front, ENDPOINT_UNIX);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-u", "nobody", "-C", ctl.text, front.text,
	    b.at.text, NULL);
	ck_assert(is_served()); /* it has given the file away by then */
	ck_assert_int_eq(stat(front.text, &st), 0);
	ck_assert_uint_eq(st.st_uid, NOBODY);
	ck_assert_uint_eq(st.st_gid, NOBODY);
	ck_assert_int_eq(stat(ctl.text, &st), 0);
	ck_assert_uint_eq(st.st_uid, NOBODY);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	down();
}
END_TEST

START_TEST(users_and_groups)
{
	int uid = (int)geteuid(), gid = (int)getegid();

	up();
	ck_assert(is_served());
	set(text("acl who deny uid %d; acl who permit unix", uid));
	ck_assert(!is_served());
	set(text("acl who permit uid %d", uid));
	ck_assert(is_served());
	set(text("acl who permit uid %d", uid + 1));
	ck_assert(!is_served());
	set(text("acl who permit gid %d", gid));
	ck_assert(is_served());
	set(text("acl who deny gid %d", gid));
	ck_assert(!is_served());
	set("acl who permit unix");
	ck_assert(is_served());
	down();
}
END_TEST

/* Is `what` true for somebody else? */
static bool
as_nobody(bool (*what)(void))
{
	int status;
	pid_t child = child_fork();

	if (child == 0) {
		if (setgroups(0, NULL) < 0 || setgid(NOBODY) < 0 ||
		    setuid(NOBODY) < 0)
			_exit(2);
		_exit(what());
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) != 2);
	return WEXITSTATUS(status) == 1;
}

static bool
is_answered(void)
{
	int fd = endpoint_connect(&ctl);
	char c;
	bool answered;

	(void)send(fd, "pid\n", 4, MSG_NOSIGNAL);
	shutdown(fd, SHUT_WR);
	answered = recv(fd, &c, 1, 0) == 1;
	close(fd);
	return answered;
}

/* Whoever owns the control socket is always let in. */
START_TEST(others)
{
	if (geteuid() != 0)
		SKIP("only root can become somebody else");
	up();
	/* others must get to the sockets */
	(void)chmod(scratch("."), 0755);
	if (!as_nobody(is_answered)) {
		down();
		SKIP("others cannot reach the scratch directory");
	}
	ck_assert(as_nobody(is_served));
	set(text("acl who deny uid %d; acl who permit unix", NOBODY));
	ck_assert(!as_nobody(is_answered));
	ck_assert(!as_nobody(is_served));
	ck_assert(is_answered() && is_served());
	set("acl who deny unix");
	ck_assert(is_answered() && !is_served());
	set("acl who permit 10.0.0.1");
	ck_assert(as_nobody(is_answered));
	set(text("acl who permit gid %d", NOBODY));
	ck_assert(as_nobody(is_answered) && as_nobody(is_served));
	ck_assert(is_answered() && !is_served());
	down();
}
END_TEST

SUITE(test_owners)
{
	Suite *s = suite_create("owners");

	SUITE_ADD(s, mode_of_listeners, 30);
	SUITE_ADD(s, user_of_listeners, 20);
	SUITE_ADD(s, users_and_groups, 30);
	SUITE_ADD(s, others, 30);
	return s;
}
