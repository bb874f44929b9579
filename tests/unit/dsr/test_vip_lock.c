/* test_vip_lock.c: no second director for an address, whoever asks, however
 * often, and whatever the first one is doing at that moment. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dsr/segment/vip_lock.h"
#include "support/child.h"
#include "support/suite.h"

enum { CLAIMS = 64 };

/* No interface has that number, and no other test. */
static unsigned interface;
static struct vip_locks none, locks;
static struct error why;

static int
take_for(uid_t user, const char *ip, unsigned port)
{
	struct peer vip;
	struct addr at;

	ck_assert_int_eq(addr_parse_ip(&at, ip, port), 0);
	peer_from_addr(&vip, &at);
	return vip_locks_take(&locks, &none, interface, user, &vip, 1, &why);
}

static int
take(const char *ip, unsigned port)
{
	return take_for(0, ip, port);
}

static const char *
name_of(const char *ip, unsigned port)
{
	return text("pen dsr %u %s %u", interface, ip, port);
}

static socklen_t
address_of(struct sockaddr_un *at, const char *name)
{
	memset(at, 0, sizeof(*at));
	at->sun_family = AF_UNIX;
	memcpy(at->sun_path + 1, name, strlen(name));
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
	    strlen(name));
}

/* Starts a process that takes the lock as that user, says so, and looks after
 * it as long as it lives. */
static pid_t
start_holder(uid_t user, const char *ip, unsigned port)
{
	int ready[2];
	pid_t pid;
	char c = 'n';

	ck_assert_int_eq(pipe(ready), 0);
	pid = child_fork();
	if (pid == 0) {
		if ((user == 0 || setuid(user) == 0) && take(ip, port) == 0)
			c = 'y';
		(void)!write(ready[1], &c, 1);
		for (;;) {
			usleep(1000);
			vip_locks_drain(&locks);
		}
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	ck_assert_int_eq(c, 'y');
	return pid;
}

static void
stop(pid_t pid)
{
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static void
connect_often(const char *name, unsigned times)
{
	struct sockaddr_un at;
	socklen_t n = address_of(&at, name);
	unsigned i;
	int fd;

	for (i = 0; i < times; i++) {
		fd = socket(
		    AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		ck_assert_int_ge(fd, 0);
		(void)!connect(fd, (struct sockaddr *)&at, n);
		close(fd);
	}
}

static bool
is_locked(const char *ip, unsigned port)
{
	struct peer vip;
	struct addr at;

	ck_assert_int_eq(addr_parse_ip(&at, ip, port), 0);
	peer_from_addr(&vip, &at);
	return vip_is_locked(interface, 0, &vip);
}

/* Our own locks are no other process's. */
START_TEST(locks_of_others_are_seen)
{
	pid_t pid = start_holder(0, "192.0.2.1", 80);

	ck_assert(is_locked("192.0.2.1", 0));
	ck_assert(!is_locked("192.0.2.2", 0));
	stop(pid);
	ck_assert(!is_locked("192.0.2.1", 0));
	pid = start_holder(0, "192.0.2.1", 0);
	ck_assert(is_locked("192.0.2.1", 80));
	stop(pid);
	ck_assert_int_eq(take("192.0.2.1", 80), 0);
	ck_assert(!is_locked("192.0.2.1", 0));
}
END_TEST

START_TEST(the_first_one_has_it)
{
	pid_t pid = start_holder(0, "192.0.2.1", 80);

	ck_assert_int_eq(take("192.0.2.1", 80), -1);
	ck_assert_ptr_nonnull(strstr(why.text, text("process %d", (int)pid)));
	/* a single port is part of all of them */
	ck_assert_int_eq(take("192.0.2.1", 0), -1);
	ck_assert_int_eq(take("192.0.2.1", 81), 0);
	vip_locks_free(&locks);
	ck_assert_int_eq(take("192.0.2.2", 0), 0);
	vip_locks_free(&locks);
	stop(pid);
	ck_assert_int_eq(take("192.0.2.1", 80), 0);
	vip_locks_free(&locks);
}
END_TEST

/* A standby that is started again and again. */
START_TEST(who_asks_often_does_not_get_it)
{
	pid_t pid = start_holder(0, "192.0.2.1", 80);
	unsigned i;

	for (i = 0; i < 4 * CLAIMS; i++) {
		ck_assert_msg(
		    take("192.0.2.1", 80) == -1, "taken at try %u", i);
		if (i % CLAIMS == 0)
			usleep(10000);
	}
	stop(pid);
}
END_TEST

/* The first one is busy, or stopped. */
START_TEST(a_full_queue_is_held)
{
	pid_t pid = start_holder(0, "192.0.2.1", 80);

	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	ck_assert_int_eq(waitpid(pid, NULL, WUNTRACED), pid);
	connect_often(name_of("192.0.2.1", 80), 2 * CLAIMS);
	ck_assert_int_eq(take("192.0.2.1", 80), -1);
	ck_assert_ptr_nonnull(strstr(why.text, "another process"));
	ck_assert_int_eq(take("192.0.2.1", 0), -1);
	kill(pid, SIGCONT);
	stop(pid);
}
END_TEST

/* The queue is emptied, so that whoever asks next hears who it is. */
START_TEST(a_queue_is_emptied)
{
	pid_t pid = start_holder(0, "192.0.2.1", 80);
	unsigned i;

	connect_often(name_of("192.0.2.1", 80), 2 * CLAIMS);
	for (i = 0; i < 1000; i++) {
		ck_assert_int_eq(take("192.0.2.1", 80), -1);
		if (strstr(why.text, text("process %d", (int)pid)) != NULL)
			break;
		usleep(1000);
	}
	ck_assert_uint_lt(i, 1000);
	stop(pid);
}
END_TEST

/* In a container that shares the interfaces and has processes of its own, the
 * first one has no number. */
START_TEST(one_of_another_container_has_it)
{
	pid_t pid = start_holder(0, "192.0.2.1", 80), other, inner;
	int status;

	other = child_fork();
	if (other == 0) {
		if (unshare(CLONE_NEWPID) < 0)
			_exit(77);
		inner = fork();
		if (inner == 0)
			_exit(take("192.0.2.1", 80) == -1 &&
				    strstr(why.text, "another process") != NULL
				? 0
				: 1);
		_exit(
		    waitpid(inner, &status, 0) == inner && status == 0 ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(other, &status, 0), other);
	stop(pid);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		SKIP("no right to a process namespace");
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

/* It was root when it began, and took this one later. */
START_TEST(the_user_to_be_counts)
{
	enum { USER = 65533 };
	pid_t pid;

	if (getuid() != 0)
		SKIP("only root can be another user");
	pid = start_holder(USER, "192.0.2.1", 80);
	ck_assert_int_eq(take_for(USER, "192.0.2.1", 80), -1);
	ck_assert_ptr_nonnull(strstr(why.text, text("process %d", (int)pid)));
	/* a stranger's does not */
	ck_assert_int_eq(take_for(USER - 1, "192.0.2.1", 80), 0);
	vip_locks_free(&locks);
	stop(pid);
}
END_TEST

/* A process that has the name of a lock, and some time later listens or
 * ends. */
static pid_t
start_slow(bool ends)
{
	struct sockaddr_un at;
	socklen_t n = address_of(&at, name_of("192.0.2.1", 80));
	int ready[2], fd;
	char c = 'y';
	pid_t pid;

	ck_assert_int_eq(pipe(ready), 0);
	pid = child_fork();
	if (pid == 0) {
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (bind(fd, (struct sockaddr *)&at, n) != 0)
			_exit(1);
		(void)!write(ready[1], &c, 1);
		usleep(20000);
		if (ends || listen(fd, CLAIMS) != 0)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

START_TEST(two_that_begin_at_once)
{
	pid_t pid = start_slow(false);

	ck_assert_int_eq(take("192.0.2.1", 80), -1);
	ck_assert_ptr_nonnull(strstr(why.text, text("process %d", (int)pid)));
	stop(pid);
}
END_TEST

START_TEST(one_that_ends_at_once)
{
	pid_t pid, other;
	int status;

	if (suite_is_in_valgrind())
		SKIP("the moment that it is given is too short there");
	pid = start_slow(true);
	ck_assert_int_eq(take("192.0.2.1", 80), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	/* it is ours now */
	other = child_fork();
	if (other == 0)
		_exit(take("192.0.2.1", 80) == -1 ? 0 : 1);
	ck_assert_int_eq(waitpid(other, &status, 0), other);
	ck_assert_int_eq(status, 0);
	vip_locks_free(&locks);
}
END_TEST

START_TEST(one_that_never_listens)
{
	struct sockaddr_un at;
	socklen_t n = address_of(&at, name_of("192.0.2.1", 80));
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, n), 0);
	ck_assert_int_eq(take("192.0.2.1", 80), -1);
	ck_assert_ptr_nonnull(strstr(why.text, "another process"));
	close(fd);
	vip_locks_free(&locks);
}
END_TEST

static void
expect_child(void)
{
	int status;

	ck_assert_int_gt(wait(&status), 0);
	ck_assert_int_eq(status, 0);
}

/* Locks of a process that goes: they are of the one that has taken them over,
 * and of the first one again when that fails. */
START_TEST(locks_go_to_the_next_process)
{
	struct vip_locks next;
	int fd[3];

	ck_assert_int_eq(take("192.0.2.1", 80), 0);
	ck_assert_uint_eq(vip_locks_fds(&locks, fd), 1);
	fd[0] = dup(fd[0]);
	fd[1] = fd[2] = -1;
	close(locks.fd[0]);
	locks.fd[0] = -1; /* the copy remains */
	ck_assert_int_eq(vip_locks_import(&next, fd, 3), 0);
	ck_assert_int_eq(fd[0], -1);
	ck_assert_uint_eq(next.count, 1);
	ck_assert_uint_eq(next.vip[0].port, 80);
	ck_assert_str_eq(
	    peer_format_host(&next.vip[0], (char[72]){ 0 }), "192.0.2.1");
	vip_locks_free(&locks);
	if (child_fork() == 0) {
		/* the owner is not this one yet */
		if (take("192.0.2.1", 80) == 0)
			_exit(1);
		vip_locks_own(&next);
		_exit(0);
	}
	expect_child();
	ck_assert_int_eq(take("192.0.2.1", 80), -1);
	vip_locks_own(&next);
	vip_locks_drain(&next);
	vip_locks_free(&next);
	ck_assert_int_eq(take("192.0.2.1", 80), 0);
	vip_locks_free(&locks);
}
END_TEST

/* What another process has, that this one replaces, and has got from it. */
static int
take_besides(const struct vip_locks *kept, unsigned port)
{
	struct peer vip = kept->vip[0];
	struct vip_locks more;
	int rc;

	vip.port = (uint16_t)port;
	rc = vip_locks_take(&more, kept, interface, 0, &vip, 1, &why);
	vip_locks_free(&more);
	return rc;
}

/* In the configuration of the next process the port has become 0, or one. */
START_TEST(the_next_process_takes_more)
{
	unsigned had;

	for (had = 0; had <= 80; had += 80) {
		ck_assert_int_eq(take("192.0.2.1", had), 0);
		if (child_fork() == 0) {
			/* it is another process */
			if (take_besides(&locks, 80 - had) < 0)
				_exit(1);
			vip_locks_free(&locks);
			_exit(take("192.0.2.1", 80 - had) == 0 ? 2 : 0);
		}
		expect_child();
		vip_locks_free(&locks);
	}
}
END_TEST

static void
up(void)
{
	interface = 1000000000U + (unsigned)getpid();
}

static void
down(void)
{
	vip_locks_free(&locks);
}

SUITE(test_vip_lock)
{
	Suite *s = suite_create("vip_lock");
	TCase *t = tcase_create("vip_lock");

	tcase_add_checked_fixture(t, up, down);
	tcase_set_timeout(t, 10);
	tcase_add_test(t, locks_of_others_are_seen);
	tcase_add_test(t, the_first_one_has_it);
	tcase_add_test(t, who_asks_often_does_not_get_it);
	tcase_add_test(t, a_full_queue_is_held);
	tcase_add_test(t, a_queue_is_emptied);
	tcase_add_test(t, one_of_another_container_has_it);
	tcase_add_test(t, the_user_to_be_counts);
	tcase_add_test(t, two_that_begin_at_once);
	tcase_add_test(t, one_that_ends_at_once);
	tcase_add_test(t, one_that_never_listens);
	tcase_add_test(t, locks_go_to_the_next_process);
	tcase_add_test(t, the_next_process_takes_more);
	suite_add_tcase(s, t);
	return s;
}
