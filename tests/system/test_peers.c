/* test_peers.c: a pen that takes over from another one knows the server of each
 * client; whoever has no key, or sends what is wrong, changes nothing. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/nginx.h"
#include "support/suite.h"
#include "support/upgrading.h"
#include "support/wait.h"

enum { SERVERS = 3, CLIENTS = 40, SOON = 20000 };

/* Pen a reports to pen b. */
struct side {
	struct pen pen;
	struct endpoint front, ctl;
};

static struct backend backend[SERVERS];
static struct side a, b;
static struct endpoint port;
static const char *key;

static const char *
new_key(const char *name, const char *secret)
{
	const char *path = scratch(name);

	write_file(path, secret);
	ck_assert_int_eq(chmod(path, 0600), 0);
	return path;
}

static void
prepare(void)
{
	static const char *const names[SERVERS] = { "0", "1", "2" };
	int i;

	for (i = 0; i < SERVERS; i++)
		backend_start(
		    &backend[i], ENDPOINT_TCP4, backend_say, names[i]);
	endpoint_new(&port, ENDPOINT_TCP4);
	endpoint_new(&a.front, ENDPOINT_TCP4);
	endpoint_new(&b.front, ENDPOINT_TCP4);
	endpoint_new(&a.ctl, ENDPOINT_UNIX);
	endpoint_new(&b.ctl, ENDPOINT_UNIX);
	key = new_key("key", "a secret of more than 32 bytes, shared\n");
}

static void
up(struct side *s, const char *setting)
{
	pen_up(&s->pen, &s->front, "-C", s->ctl.text, "-O", setting, "-O",
	    "clients_max 1000000", s->front.text, backend[0].at.text,
	    backend[1].at.text, backend[2].at.text, NULL);
}

static const char *
to_peer(void)
{
	return text("peer %s key %s", port.text, key);
}

static const char *
from_peer(const char *file)
{
	return text("peer_listen %s key %s", port.text, file);
}

static void
up_both(void)
{
	prepare();
	up(&b, from_peer(key));
	up(&a, to_peer());
}

static void
down(void)
{
	int i;

	for (i = 0; i < SERVERS; i++)
		backend_stop(&backend[i]);
}

static void
down_both(void)
{
	pen_down(&a.pen);
	pen_down(&b.pen);
	down();
}

static const char *
answer(const struct side *s, const char *command)
{
	return pen_ask(&s->ctl, command);
}

static void
takes(const struct side *s, const char *command)
{
	const char *got = answer(s, command);

	ck_assert_msg(strncmp(got, "error", 5) != 0, "%s: %s", command, got);
}

/* A service x of these two of the servers, at a place of its own. */
static void
add_service_x(
    const struct side *s, struct endpoint *front, int first, int second)
{
	endpoint_new(front, ENDPOINT_TCP4);
	takes(s,
	    text("service add x; service x server add %s; "
		 "service x server add %s; service x listen %s",
		backend[first].at.text, backend[second].at.text, front->text));
}

static long
counted(const struct side *s, const char *name)
{
	return report_number(answer(s, "statistics"), text("\n%s ", name));
}

/* What the client's server says, of a connection through that pen. */
static const char *
says(const struct side *s, int client)
{
	int fd = endpoint_connect_from(&s->front, text("127.0.1.%d", client));
	const char *said = endpoint_recv_all(fd);

	close(fd);
	return said;
}

static const char *said[CLIENTS];

static void
come_to_a(void)
{
	int i;

	for (i = 0; i < CLIENTS; i++)
		said[i] = says(&a, i + 1);
}

/* In another order, which matters to who is new. */
static int
same_at_b(void)
{
	int i, same = 0;

	for (i = CLIENTS - 1; i >= 0; i--)
		same += strcmp(says(&b, i + 1), said[i]) == 0;
	return same;
}

/* ---- what is learned ---- */

START_TEST(clients_keep_their_server)
{
	up_both();
	come_to_a();
	WAIT_FOR(counted(&b, "peer_clients_new") == CLIENTS, SOON);
	ck_assert_int_eq(same_at_b(), CLIENTS);
	ck_assert_int_eq(counted(&a, "peers_to"), 1);
	ck_assert_int_eq(counted(&b, "peers_from"), 1);
	WAIT_FOR(strstr(answer(&a, "peers"),
		     " direction to state connected ") != NULL,
	    SOON);
	WAIT_FOR(strstr(answer(&b, "peers"),
		     " direction from state connected ") != NULL,
	    SOON);
	ck_assert_int_eq(counted(&a, "peer_changes_lost"), 0);
	down_both();
}
END_TEST

/* Servers are named by address: their numbers may be others. */
START_TEST(servers_have_other_numbers)
{
	prepare();
	pen_up(&b.pen, &b.front, "-C", b.ctl.text, "-O", from_peer(key),
	    b.front.text, backend[2].at.text, backend[0].at.text,
	    backend[1].at.text, NULL);
	up(&a, to_peer());
	come_to_a();
	WAIT_FOR(counted(&b, "peer_clients_new") == CLIENTS, SOON);
	ck_assert_int_eq(same_at_b(), CLIENTS);
	down_both();
}
END_TEST

/* One that begins later, and one that was away, get all that there is. */
START_TEST(late_peer_learns_all)
{
	prepare();
	up(&a, to_peer());
	come_to_a();
	up(&b, from_peer(key));
	WAIT_FOR(counted(&b, "peer_clients_new") == CLIENTS, SOON);
	ck_assert_int_eq(same_at_b(), CLIENTS);
	ck_assert_int_eq(child_stop(&b.pen.child, SIGKILL), 1000 + SIGKILL);
	up(&b, from_peer(key));
	WAIT_FOR(counted(&b, "peer_clients_new") == CLIENTS, SOON);
	ck_assert_int_eq(same_at_b(), CLIENTS);
	down_both();
}
END_TEST

/* Both report to each other, but not what they have learned. The newest is
 * right. */
START_TEST(nothing_comes_back)
{
	struct endpoint other;
	int i;

	up_both();
	endpoint_new(&other, ENDPOINT_TCP4);
	takes(&a, text("peer_listen %s key %s", other.text, key));
	takes(&b, text("peer %s key %s", other.text, key));
	WAIT_FOR(counted(&a, "peers_from") == 1, SOON);
	come_to_a();
	WAIT_FOR(counted(&b, "peer_clients_new") == CLIENTS, SOON);
	ck_assert_int_eq(counted(&a, "peer_clients_received"), 0);
	for (i = 0; i < 5; i++)
		ck_assert_str_eq(says(&b, i + 1), said[i]);
	WAIT_FOR(counted(&a, "peer_clients_received") >= 5, SOON);
	i = (int)counted(&a, "peer_clients_received");
	takes(&b, "client 127.0.1.1 move 1");
	WAIT_FOR(counted(&a, "peer_clients_received") > i, SOON);
	ck_assert_str_eq(says(&a, 1), "1");
	down_both();
}
END_TEST

/* Clients by the thousand, which the operator moves to where they are not. */
static void
move_clients(long n)
{
	enum { PIECE = 500, LINE = 48 };
	char *line = malloc((size_t)PIECE * LINE + 2);
	size_t at = 0;
	long i;
	int fd;

	ck_assert_ptr_nonnull(line);
	for (i = 0; i < n; i++) {
		at += (size_t)sprintf(line + at,
		    "client 10.%ld.%ld.%ld move %ld;", i >> 16, i >> 8 & 255,
		    i & 255, i % SERVERS);
		if ((i + 1) % PIECE != 0 && i + 1 < n)
			continue;
		line[at - 1] = '\n';
		fd = endpoint_connect(&a.ctl);
		endpoint_send(fd, line, at);
		(void)endpoint_recv_all(fd);
		close(fd);
		at = 0;
	}
	free(line);
}

/* With PEN_TEST_FULL=1 a million. */
START_TEST(crowd)
{
	long n = suite_is_full() ? 1000000 : suite_amount(10000, 2000);
	long long began, took;

	prepare();
	up(&a, to_peer());
	move_clients(n);
	up(&b, from_peer(key));
	began = wait_now_ms();
	WAIT_FOR(counted(&b, "peer_clients_new") == n, 60000);
	took = wait_now_ms() - began;
	printf("%ld clients in %lld ms\n", n, took);
	/* 57 bytes each, and a pause after 8 kB */
	if (n >= 1000000)
		ck_assert_int_ge(took, 5000);
	ck_assert_ptr_nonnull(
	    strstr(answer(&b, "client 10.0.0.7"), "server 1"));
	ck_assert_int_eq(counted(&a, "peer_changes_lost"), 0);
	down_both();
}
END_TEST

/* ---- changes ---- */

START_TEST(settings_change)
{
	up_both();
	takes(&a, text("no peer %s", port.text));
	WAIT_FOR(counted(&b, "peers_from") == 0, SOON);
	come_to_a();
	ck_assert_int_eq(counted(&b, "peer_clients_new"), 0);
	takes(&a, to_peer());
	WAIT_FOR(counted(&b, "peer_clients_new") == CLIENTS, SOON);
	/* another key, which is not the right one, at the same address */
	takes(
	    &b, from_peer(new_key("next", "the next secret, of 32 bytes too")));
	WAIT_FOR(counted(&b, "peers_refused") > 0, SOON);
	takes(&b, "no peer_listen");
	WAIT_FOR(counted(&a, "peers_to") == 0, SOON);
	takes(&b, from_peer(key));
	WAIT_FOR(counted(&a, "peers_to") == 1, SOON);
	down_both();
}
END_TEST

/* Servers and services come and go on both sides. */
START_TEST(servers_and_services_change)
{
	struct endpoint front_a, front_b;
	const char *one;
	long n;
	int fd;

	up_both();
	takes(&a, "server 0 remove");
	takes(&b, "server 1 remove");
	come_to_a();
	WAIT_FOR(counted(&b, "peer_clients_received") >= CLIENTS, SOON);
	takes(&b, text("server add %s", backend[1].at.text));
	WAIT_FOR(counted(&b, "peer_clients_new") == CLIENTS, SOON);
	ck_assert_int_eq(same_at_b(), CLIENTS);
	add_service_x(&a, &front_a, 0, 1);
	add_service_x(&b, &front_b, 1, 0);
	fd = endpoint_connect_from(&front_a, "127.0.2.1");
	one = endpoint_recv_all(fd);
	close(fd);
	WAIT_FOR(counted(&b, "peer_clients_new") == CLIENTS + 1, SOON);
	fd = endpoint_connect_from(&front_b, "127.0.2.1");
	ck_assert_str_eq(endpoint_recv_all(fd), one);
	close(fd);
	takes(&a, "service x remove");
	takes(&b, "service x remove");
	n = counted(&b, "peer_clients_received");
	takes(&a, "client 127.0.1.1 move 1");
	WAIT_FOR(counted(&b, "peer_clients_received") > n, SOON);
	ck_assert_str_eq(says(&b, 1), "1");
	down_both();
}
END_TEST

static bool
has_state(const struct side *s, int server, const char *state)
{
	const char *all = answer(s, "servers long"), *line, *end;

	line = server == 0 ? all : strstr(all, text("\n%d ", server));
	ck_assert_ptr_nonnull(line);
	end = strchr(line + 1, '\n');
	line = strstr(line, text(" state %s ", state));
	return line != NULL && line < end;
}

/* What the operator of a has set is set at b, but not the other way round, and
 * not where the operator of b has set something else, or has set it back. */
START_TEST(marks_follow)
{
	prepare();
	up(&a, to_peer());
	takes(&a, "server 0 drain");
	up(&b, from_peer(key));
	takes(&b, "server 2 maint");
	WAIT_FOR(has_state(&b, 0, "drain"), SOON);
	takes(&a, "server 0 up");
	WAIT_FOR(has_state(&b, 0, "up"), SOON);
	takes(&a, "server 1 maint");
	WAIT_FOR(has_state(&b, 1, "maint"), SOON);
	takes(&a, "server 1 drain");
	WAIT_FOR(has_state(&b, 1, "drain"), SOON);
	takes(&b, "server 1 up");
	takes(&a, "server 1 weight 7");
	takes(&a, "server 2 drain");
	takes(&a, "server 2 up");
	ck_assert(has_state(&b, 1, "up"));
	ck_assert(has_state(&b, 2, "maint"));
	/* until a has another one */
	takes(&a, "server 1 maint");
	WAIT_FOR(has_state(&b, 1, "maint"), SOON);
	ck_assert(child_has_said(&b.pen.child, "by peer 127.0.0.1"));
	down_both();
}
END_TEST

static bool
has_state_in(const char *service, const struct side *s, const char *state)
{
	return strstr(answer(s, text("service %s servers long", service)),
		   text(" state %s ", state)) != NULL;
}

/* A mark of a service with a name is set there, and not in the first one. */
START_TEST(marks_of_a_named_service)
{
	struct endpoint front_a, front_b;

	up_both();
	add_service_x(&a, &front_a, 0, 1);
	add_service_x(&b, &front_b, 0, 1);
	takes(&a, "service x server 0 drain");
	WAIT_FOR(has_state_in("x", &b, "drain"), SOON);
	ck_assert(!has_state_in("default", &b, "drain"));
	takes(&a, "service x server 0 up");
	WAIT_FOR(!has_state_in("x", &b, "drain"), SOON);
	down_both();
}
END_TEST

/* All servers of a are out; b keeps one, and with it its clients. */
START_TEST(last_server_stays)
{
	up_both();
	takes(&a, "server all maint");
	WAIT_FOR(child_has_said(&b.pen.child, "mark of a peer waits"), SOON);
	WAIT_FOR(has_state(&b, 0, "maint") + has_state(&b, 1, "maint") +
		    has_state(&b, 2, "maint") ==
		2,
	    SOON);
	ck_assert_str_ne(endpoint_hear(&b.front), "");
	ck_assert_int_eq(count_in(child_err(&b.pen.child), "peer waits"), 1);
	takes(&a, "server all up");
	WAIT_FOR(has_state(&b, 0, "up") && has_state(&b, 1, "up") &&
		has_state(&b, 2, "up"),
	    SOON);
	down_both();
}
END_TEST

/* Two that report to each other: none keeps the other's mark alive. */
START_TEST(marks_end)
{
	struct endpoint other;

	up_both();
	endpoint_new(&other, ENDPOINT_TCP4);
	takes(&a, text("peer_listen %s key %s", other.text, key));
	takes(&b, text("peer %s key %s", other.text, key));
	WAIT_FOR(counted(&a, "peers_from") == 1, SOON);
	takes(&a, "server 0 drain");
	WAIT_FOR(has_state(&b, 0, "drain"), SOON);
	/* b reports all again, but not what is a's */
	takes(&b, text("no peer %s", other.text));
	takes(&a, "server 0 up");
	takes(&b, text("peer %s key %s", other.text, key));
	WAIT_FOR(counted(&a, "peers_from") == 1, SOON);
	WAIT_FOR(has_state(&b, 0, "up"), SOON);
	takes(&b, "server 1 maint");
	WAIT_FOR(has_state(&a, 1, "maint"), SOON);
	ck_assert(has_state(&a, 0, "up"));
	takes(&b, "server 1 up");
	WAIT_FOR(has_state(&a, 1, "up"), SOON);
	down_both();
}
END_TEST

/* An address that leads back by another program, as by NAT. */
START_TEST(led_back_to_itself)
{
	struct endpoint way;
	struct pen other;

	prepare();
	up(&b, from_peer(key));
	endpoint_new(&way, ENDPOINT_TCP4);
	pen_up(&other, &way, way.text, port.text, NULL);
	takes(&b, text("peer %s key %s", way.text, key));
	WAIT_FOR(strstr(answer(&b, "peers"), " state self ") != NULL, SOON);
	ck_assert_int_eq(count_in(child_err(&b.pen.child),
			     "error=\"the address leads to this pen\""),
	    1);
	pen_down(&other);
	pen_down(&b.pen);
	down();
}
END_TEST

/* Both have the same file, and one peer is the pen itself. */
START_TEST(self_is_skipped)
{
	up_both();
	takes(&b, to_peer());
	WAIT_FOR(strstr(answer(&b, "peers"), " state self ") != NULL, SOON);
	WAIT_FOR(counted(&b, "peers_from") == 1, SOON);
	ck_assert_int_eq(counted(&b, "peers_to"), 0);
	down_both();
}
END_TEST

/* Each side is replaced: the other one reports, or gets, what there is. */
START_TEST(sides_are_upgraded)
{
	const char *program = upgrading_install();
	pid_t new_a, new_b;

	NEED_UPGRADES(program);
	up_both();
	come_to_a();
	new_b = upgrading_go(&b.ctl, b.pen.child.pid);
	WAIT_FOR(counted(&b, "peers_from") == 1, SOON);
	WAIT_FOR(counted(&b, "peer_clients_received") >= CLIENTS, SOON);
	new_a = upgrading_go(&a.ctl, a.pen.child.pid);
	WAIT_FOR(counted(&a, "peer_clients_sent") >= CLIENTS, SOON);
	WAIT_FOR(counted(&b, "peers_from") == 1, SOON);
	ck_assert_int_eq(same_at_b(), CLIENTS);
	ck_assert_int_eq(child_wait(&a.pen.child, SOON), 0);
	ck_assert_int_eq(child_wait(&b.pen.child, SOON), 0);
	upgrading_end(new_a);
	upgrading_end(new_b);
	down();
}
END_TEST

/* ---- what is refused ---- */

/* One line each, however often it is tried. */
/* While the old process has sessions the new one can close the port, and open
 * it again. */
START_TEST(port_is_the_new_process_s)
{
	pid_t old, new;
	int session;

	NEED_UPGRADES(upgrading_install());
	prepare();
	backend_stop(&backend[0]);
	backend_start(&backend[0], ENDPOINT_TCP4, backend_echo, NULL);
	pen_up(&b.pen, &b.front, "-C", b.ctl.text, "-O", from_peer(key),
	    b.front.text, backend[0].at.text, NULL);
	old = b.pen.child.pid;
	session = endpoint_connect(&b.front);
	endpoint_expect_echo(session, "before");
	new = upgrading_go(&b.ctl, old);
	takes(&b, "no peer_listen");
	takes(&b, from_peer(key));
	endpoint_expect_echo(session, "after");
	close(session);
	ck_assert_int_eq(child_wait(&b.pen.child, SOON), 0);
	upgrading_end(new);
	down();
}
END_TEST

START_TEST(wrong_key)
{
	prepare();
	up(&b,
	    from_peer(new_key("other", "another secret of 32 bytes, too..")));
	up(&a, to_peer());
	come_to_a();
	WAIT_FOR(counted(&b, "peers_refused") >= 2, SOON);
	ck_assert_int_eq(counted(&b, "peer_clients_received"), 0);
	ck_assert_int_eq(counted(&a, "peers_to"), 0);
	ck_assert_int_eq(
	    count_in(child_err(&a.pen.child), "peer not connected"), 1);
	ck_assert(
	    child_has_said(&a.pen.child, "is the key the same at both ends?"));
	ck_assert_int_eq(count_in(child_err(&b.pen.child), "peer refused"), 1);
	down_both();
}
END_TEST

/* The files have another key, as after a theft: a reload at each side changes
 * to it. One that cannot be read leaves the old one. */
START_TEST(key_changes)
{
	prepare();
	up(&b,
	    from_peer(new_key(
		"other", "a secret of more than 32 bytes, shared")));
	up(&a, to_peer());
	WAIT_FOR(counted(&a, "peers_to") == 1, SOON);
	(void)new_key("key", "short");
	takes(&a, "reload");
	WAIT_FOR(child_has_said(&a.pen.child,
		     "key not reloaded, keeping the old one peer="),
	    SOON);
	ck_assert_int_eq(counted(&a, "peers_to"), 1);
	(void)new_key("key", "another secret of 32 bytes, too..");
	takes(&a, "reload");
	WAIT_FOR(child_has_said(&a.pen.child, "key reloaded peer="), SOON);
	WAIT_FOR(child_has_said(&b.pen.child, "peer refused"), SOON);
	ck_assert_int_eq(counted(&a, "peers_to"), 0);
	(void)new_key("other", "another secret of 32 bytes, too..");
	kill(b.pen.child.pid, SIGHUP);
	WAIT_FOR(
	    child_has_said(&b.pen.child, "key reloaded peer_listen="), SOON);
	WAIT_FOR(counted(&a, "peers_to") == 1, SOON);
	come_to_a();
	WAIT_FOR(counted(&b, "peer_clients_received") >= CLIENTS, SOON);
	ck_assert_int_eq(same_at_b(), CLIENTS);
	down_both();
}
END_TEST

/* Nothing of a stranger is taken: bytes that are no TLS, the beginning of a
 * handshake, silence. The peer is served meanwhile. */
START_TEST(strangers)
{
	static const char hello[] = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc";
	char bytes[20000];
	int fd, i;

	up_both();
	memset(bytes, 'x', sizeof(bytes));
	for (i = 0; i < 100; i++) {
		fd = endpoint_connect(&port);
		if (i % 2 == 0)
			(void)!write(fd, bytes, (size_t)i * 200 + 1);
		else if (i % 4 == 1)
			(void)!write(fd, hello, sizeof(hello));
		if (i % 8 != 0)
			close(fd); /* the others stay */
	}
	WAIT_FOR(counted(&b, "peers_refused") >= 80, SOON);
	come_to_a();
	WAIT_FOR(counted(&b, "peer_clients_new") == CLIENTS, SOON);
	ck_assert_int_eq(count_in(child_err(&b.pen.child), "peer refused"), 1);
	ck_assert_int_eq(count_in(child_err(&a.pen.child), "not connected"), 0);
	down_both();
}
END_TEST

START_TEST(bad_settings)
{
	const char *open =
	    new_key("open", "a secret of more than 32 bytes, open");

	prepare();
	pen_expect_failure("a key has 32 bytes or more", "-f", "-O",
	    text("peer %s key %s", port.text, new_key("short", "short")),
	    a.front.text, backend[0].at.text, NULL);
	pen_expect_failure("No such file", "--check", "-O",
	    text("peer %s key %s", port.text, scratch("none")), a.front.text,
	    backend[0].at.text, NULL);
	pen_expect_failure("No such file", "-f", "-O",
	    text("peer_listen %s key %s", port.text, scratch("none")),
	    a.front.text, backend[0].at.text, NULL);
	ck_assert_int_eq(chmod(open, 0644), 0);
	pen_expect_failure("other users may read this key", "-f", "-O",
	    text("peer %s key %s", port.text, open), a.front.text,
	    backend[0].at.text, NULL);
	pen_expect_failure("is not an IP address with a port", "-f", "-O",
	    text("peer localhost key %s", key), a.front.text,
	    backend[0].at.text, NULL);
	pen_expect_failure("workers must be 1", "-f", "-O", to_peer(),
	    "--workers", "2", a.front.text, backend[0].at.text, NULL);
	down();
}
END_TEST

SUITE(test_peers)
{
	Suite *s = suite_create("peers");

	SUITE_ADD(s, clients_keep_their_server, 30);
	SUITE_ADD(s, servers_have_other_numbers, 30);
	SUITE_ADD(s, late_peer_learns_all, 30);
	SUITE_ADD(s, nothing_comes_back, 30);
	SUITE_ADD(s, crowd, 300);
	SUITE_ADD(s, settings_change, 30);
	SUITE_ADD(s, servers_and_services_change, 30);
	SUITE_ADD(s, marks_follow, 30);
	SUITE_ADD(s, marks_of_a_named_service, 30);
	SUITE_ADD(s, last_server_stays, 60);
	SUITE_ADD(s, marks_end, 30);
	SUITE_ADD(s, self_is_skipped, 30);
	SUITE_ADD(s, led_back_to_itself, 30);
	SUITE_ADD(s, sides_are_upgraded, 60);
	SUITE_ADD(s, port_is_the_new_process_s, 60);
	SUITE_ADD(s, wrong_key, 30);
	SUITE_ADD(s, key_changes, 60);
	SUITE_ADD(s, strangers, 30);
	SUITE_ADD(s, bad_settings, 30);
	return s;
}
