/* test_services.c: several services in one process, from a file with sections:
 * each has its own listeners, servers and settings, and none disturbs
 * another. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"
#include "support/web_fixture.h"

enum { SOON = 10000, SERVERS = 6 };

static struct backend servers[SERVERS];
static struct endpoint web, mail, db, ctl;
static struct pen pen;
static const char *conf;

/* ---- what there is ---- */

/* Servers a, b, c and so on; each says its letter, or whatever it does. */
static void
begin(backend_fn *serve)
{
	static const char *const letters[] = { "a", "b", "c", "d", "e", "f" };
	int i;

	for (i = 0; i < SERVERS; i++)
		backend_start(&servers[i], ENDPOINT_TCP4, serve, letters[i]);
	endpoint_new(&web, ENDPOINT_TCP4);
	endpoint_new(&mail, ENDPOINT_TCP4);
	endpoint_new(&db, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	conf = scratch("pen.conf");
}

static void
end(void)
{
	int i;

	for (i = 0; i < SERVERS; i++)
		backend_stop(&servers[i]);
}

/* A line of a file: server i is that number. */
static const char *
server(int number, int i)
{
	return text("server %d address 127.0.0.1 port %d\n", number,
	    servers[i].at.port);
}

/* A section with server i; `more` are other lines. */
static const char *
section(const char *name, const struct endpoint *front, int i, const char *more)
{
	return text("service %s\nlisten %s\n%s%s", name, front->text,
	    server(0, i), more);
}

static void
up(const char *file)
{
	write_file(conf, file);
	pen_up(&pen, &ctl, "-C", ctl.text, "-F", conf, NULL);
}

static const char *
ask(const char *line)
{
	return pen_ask(&ctl, line);
}

static void
answers(const char *line, const char *what)
{
	pen_answers(&ctl, line, what);
}

static const char *
reload(const char *file)
{
	write_file(conf, file);
	return ask("reload");
}

/* What `times` clients hear, one after the other. */
static const char *
hear(const struct endpoint *front, int times)
{
	const char *said = "";

	while (times-- > 0)
		said = text("%s%s", said, endpoint_hear(front));
	return said;
}

static const char *
three_services(void)
{
	return text("%s%s%s", section("web", &web, 0, "roundrobin\n"),
	    section("mail", &mail, 2, "prio\n"), section("db", &db, 4, ""));
}

/* ---- serving ---- */

/* Nothing would be a strange answer for who asks for servers. */
START_TEST(lists_need_a_name)
{
	static const char *const lists[] = { "servers", "checks", "statistics",
		"certs" };
	size_t i;

	begin(backend_say);
	up(three_services());
	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		ck_assert_str_eq(ask(lists[i]),
		    text("error: %s: the service default has no listening "
			 "address: add a name, \"service NAME %s\" "
			 "(\"services\" lists them)\n",
			lists[i], lists[i]));
	answers("explain 192.0.2.1", "default has no listening address");
	answers("service web servers", "0 addr 127.0.0.1");
	answers("service web statistics", "sessions 0\n");
	answers("service web explain 192.0.2.1", "server 0\n");
	pen_down(&pen);
	end();
}
END_TEST

START_TEST(each_has_servers_and_settings)
{
	static const char *const names[] = { "web", "mail", "db" };
	const struct endpoint *fronts[] = { &web, &mail, &db };
	int i;

	begin(backend_say);
	up(text("%s%s%s",
	    section("web", &web, 0, text("roundrobin\n%s", server(1, 1))),
	    section("mail", &mail, 2,
		text("prio\nserver 0 prio 2\n%sserver 1 prio 1\n",
		    server(1, 3))),
	    section("db", &db, 4, server(1, 5))));
	ck_assert_str_eq(hear(&web, 4), "abab");
	ck_assert_str_eq(hear(&mail, 4), "dddd");
	ck_assert_str_eq(hear(&db, 4), "eeee"); /* the client comes back */
	WAIT_FOR(strstr(ask("services"), "sessions 1") == NULL, SOON);
	for (i = 0; i < 3; i++)
		answers("services",
		    text("%s state up listen %s up 2 servers 2 sessions 0 "
			 "flows 0 accepted 4 rate ",
			names[i], fronts[i]->text));
	ck_assert_int_eq(count_in(ask("services"), "\n"), 3);
	pen_down(&pen);
	end();
}
END_TEST

/* What stands before the first section is a service, too. */
START_TEST(first_lines_are_a_service)
{
	begin(backend_say);
	up(text("listen %s\n%s%sservice default\n%sroundrobin\n", db.text,
	    server(0, 4), section("web", &web, 0, ""), server(1, 5)));
	ck_assert_str_eq(hear(&web, 2), "aa");
	ck_assert_str_eq(hear(&db, 2), "ef");
	answers("services", "default state up ");
	answers("services", "\nweb state up ");
	pen_down(&pen);
	end();
}
END_TEST

START_TEST(sections_of_one_name_are_one)
{
	begin(backend_say);
	up(text("%s%sservice web\nroundrobin\n%s", section("web", &web, 0, ""),
	    section("db", &db, 4, ""), server(1, 1)));
	ck_assert_str_eq(hear(&web, 4), "abab");
	ck_assert_str_eq(hear(&db, 2), "ee");
	pen_down(&pen);
	end();
}
END_TEST

/* One whose servers are all gone concerns no other. */
START_TEST(servers_down_concern_no_other)
{
	struct endpoint at;
	int fd;

	begin(backend_say);
	at = servers[0].at;
	up(three_services());
	backend_stop(&servers[0]);
	fd = endpoint_connect(&web);
	/* while the client waits for it to come back */
	WAIT_FOR(strstr(ask("services"), "web state down ") != NULL, SOON);
	answers("services", "mail state up ");
	answers("services", "db state up ");
	endpoint_expect_reset(fd);
	close(fd);
	ck_assert_str_eq(hear(&mail, 2), "cc");
	ck_assert_str_eq(hear(&db, 2), "ee");
	pen_down(&pen);
	backend_start_at(&servers[0], &at, backend_say, "a");
	end();
}
END_TEST

START_TEST(command_line_is_one_service)
{
	begin(backend_say);
	write_file(conf, "roundrobin\n");
	pen_up(&pen, &web, "-C", ctl.text, "-F", conf, web.text,
	    servers[0].at.text, servers[1].at.text, NULL);
	ck_assert_str_eq(hear(&web, 2), "ab");
	ck_assert_int_eq(count_in(ask("services"), "\n"), 1);
	answers("services", text("default state up listen %s ", web.text));
	ck_assert_int_eq(count_in(child_err(&pen.child), "service="), 0);
	pen_down(&pen);
	end();
}
END_TEST

/* ---- reloads ---- */

static int
open_session(const struct endpoint *front)
{
	int fd = endpoint_connect(front);

	endpoint_expect_echo(fd, "before");
	return fd;
}

static void
expect_end(int fd)
{
	endpoint_expect_echo(fd, "after");
	close(fd);
}

static bool
refuses_clients(const struct endpoint *front)
{
	int fd = endpoint_try_connect(front);

	if (fd >= 0)
		close(fd);
	return fd < 0 && errno == ECONNREFUSED;
}

START_TEST(reload_adds_changes_and_removes)
{
	struct endpoint more;
	int at_web, at_mail, at_db;

	begin(backend_echo);
	endpoint_new(&more, ENDPOINT_TCP4);
	up(three_services());
	at_web = open_session(&web);
	at_mail = open_session(&mail);
	at_db = open_session(&db);
	ck_assert_str_eq(
	    reload(text("%s%s%s", section("web", &web, 0, "roundrobin\n"),
		section("mail", &mail, 3, "prio\n"),
		section("more", &more, 5, ""))),
	    "");
	/* none of what is open is broken off */
	endpoint_expect_echo(at_web, "untouched");
	endpoint_expect_echo(at_mail, "changed");
	endpoint_expect_echo(at_db, "removed");
	answers("services", "web state up ");
	answers("services", "sessions 1 flows 0 accepted 1 rate ");
	answers("service web servers", "conn 1 max 0");
	answers("services", "db state leaving ");
	WAIT_FOR(refuses_clients(&db), SOON);
	close(open_session(&mail));
	WAIT_FOR(servers[3].accepted == 1, SOON);
	close(open_session(&more));
	WAIT_FOR(servers[5].accepted == 1, SOON);
	ck_assert_int_eq(count_in(child_err(&pen.child), "service ended"), 0);
	expect_end(at_db);
	WAIT_FOR(child_has_said(&pen.child, "service ended service=db"), SOON);
	ck_assert_ptr_null(strstr(ask("services"), "db "));
	expect_end(at_mail);
	expect_end(at_web);
	pen_down(&pen);
	end();
}
END_TEST

/* A name, and an address, are free again before the last session ends. */
START_TEST(removed_and_back)
{
	int before;

	begin(backend_echo);
	up(three_services());
	before = open_session(&db);
	ck_assert_str_eq(reload(section("web", &web, 0, "")), "");
	WAIT_FOR(refuses_clients(&db), SOON);
	ck_assert_str_eq(reload(three_services()), "");
	answers("services", "db state leaving ");
	answers("services", "db state up ");
	close(open_session(&db));
	ck_assert_str_eq(ask("service db server 0 drain"), "");
	expect_end(before);
	WAIT_FOR(child_has_said(&pen.child, "service ended service=db"), SOON);
	answers("services", "db state drain ");
	pen_down(&pen);
	end();
}
END_TEST

/* By a signal, too. */
START_TEST(hangup_reads_sections)
{
	begin(backend_say);
	up(section("web", &web, 0, ""));
	write_file(conf, three_services());
	kill(pen.child.pid, SIGHUP);
	WAIT_FOR(strstr(ask("services"), "db state up ") != NULL, SOON);
	ck_assert_str_eq(hear(&db, 1), "e");
	ck_assert_str_eq(hear(&mail, 1), "c");
	pen_down(&pen);
	end();
}
END_TEST

/* Two services change places; a third one has the address of one that goes. */
START_TEST(addresses_move)
{
	begin(backend_say);
	up(three_services());
	ck_assert_str_eq(hear(&web, 1), "a");
	ck_assert_str_eq(reload(text("%s%s", section("web", &mail, 0, ""),
			     section("mail", &web, 2, ""))),
	    "");
	ck_assert_str_eq(hear(&web, 2), "cc");
	ck_assert_str_eq(hear(&mail, 2), "aa");
	ck_assert_str_eq(reload(text("%s%s", section("more", &mail, 5, ""),
			     section("mail", &web, 2, ""))),
	    "");
	ck_assert_str_eq(hear(&mail, 2), "ff");
	ck_assert_str_eq(hear(&web, 2), "cc");
	pen_down(&pen);
	end();
}
END_TEST

static const char *
datagrams(const char *name, const struct endpoint *front,
    const struct udp_server *to)
{
	return text("service %s\nlisten %s\nudp\nserver 0 address %s port %d\n",
	    name, front->text, udp_host(&to->at), to->at.port);
}

/* So do those for datagrams: what comes is the other service's at once, also of
 * clients that the one before knows. */
START_TEST(addresses_of_datagrams_move)
{
	struct udp_server a, b;
	struct endpoint one, two;
	int at_one, at_two;

	begin(backend_say);
	udp_server_start(&a, ENDPOINT_TCP4, "a:");
	udp_server_start(&b, ENDPOINT_TCP4, "b:");
	udp_endpoint(&one, ENDPOINT_TCP4);
	udp_endpoint(&two, ENDPOINT_TCP4);
	at_one = udp_client(&one);
	at_two = udp_client(&two);
	up(text("%s%s", datagrams("x", &one, &a), datagrams("y", &two, &b)));
	ck_assert_str_eq(udp_ask(at_one, "1", SOON), "a:1");
	ck_assert_str_eq(udp_ask(at_two, "2", SOON), "b:2");
	ck_assert_str_eq(reload(text("%s%s", datagrams("x", &two, &a),
			     datagrams("y", &one, &b))),
	    "");
	ck_assert_str_eq(udp_ask(at_one, "3", SOON), "b:3");
	ck_assert_str_eq(udp_ask(at_two, "4", SOON), "a:4");
	/* of one that is removed */
	ck_assert_str_eq(reload(text("%s%s", datagrams("x", &two, &a),
			     datagrams("z", &one, &a))),
	    "");
	ck_assert_str_eq(udp_ask(at_one, "5", SOON), "a:5");
	/* and of one that was */
	ck_assert_str_eq(reload(datagrams("x", &two, &a)), "");
	ck_assert_str_eq(reload(text("%s%s", datagrams("x", &two, &a),
			     datagrams("z", &one, &b))),
	    "");
	ck_assert_str_eq(udp_ask(at_one, "6", SOON), "b:6");
	ck_assert_str_eq(udp_ask(at_two, "7", SOON), "a:7");
	close(at_one);
	close(at_two);
	pen_down(&pen);
	udp_server_stop(&a);
	udp_server_stop(&b);
	end();
}
END_TEST

static bool
is_file(const struct endpoint *at)
{
	return access(at->text, F_OK) == 0;
}

/* And Unix sockets, with their files; all have theirs again if the reload is
 * refused when they have moved. */
START_TEST(sockets_move_or_come_back)
{
	enum endpoint_kind kind = _i == 0 ? ENDPOINT_UNIX : ENDPOINT_TCP4;
	struct endpoint one, two;

	if (_i == 0)
		NEEDS_ONE_WORKER("Unix sockets of workers do not move");
	begin(backend_say);
	endpoint_new(&one, kind);
	endpoint_new(&two, kind);
	up(text(
	    "%s%s", section("x", &one, 0, ""), section("y", &two, 1, "")));
	ck_assert_str_eq(hear(&one, 1), "a");
	ck_assert_str_eq(reload(text("%s%s", section("x", &two, 0, ""),
			     section("y", &one, 1, ""))),
	    "");
	ck_assert_str_eq(hear(&one, 2), "bb");
	ck_assert_str_eq(hear(&two, 2), "aa");
	ck_assert_str_eq(reload(text("%s%s", section("x", &two, 0, ""),
			     section("z", &one, 2, ""))),
	    "");
	ck_assert_str_eq(hear(&one, 2), "cc");
	ck_assert_ptr_nonnull(
	    strstr(reload(text("%s%s%s", section("x", &one, 0, ""),
		       section("z", &two, 2, ""),
		       section("w", &servers[5].at, 2, ""))),
		"error: reload: service w: "));
	ck_assert(!child_has_said(&pen.child, "not restored"));
	ck_assert_str_eq(hear(&one, 2), "cc");
	ck_assert_str_eq(hear(&two, 2), "aa");
	ck_assert_str_eq(reload(section("x", &two, 0, "")), "");
	WAIT_FOR(!is_file(&one), SOON);
	ck_assert(is_file(&two) == (_i == 0));
	pen_down(&pen);
	ck_assert(!is_file(&two));
	end();
}
END_TEST

/* The socket of a service has gone to another one, which cannot be. */
START_TEST(file_stays_when_refused)
{
	struct endpoint one;

	NEEDS_ONE_WORKER("Unix sockets of workers do not move");
	begin(backend_say);
	endpoint_new(&one, ENDPOINT_UNIX);
	up(section("x", &one, 0, ""));
	ck_assert_ptr_nonnull(
	    strstr(reload(section("renamed", &one, 0,
		       text("check exec %s\n", scratch("none")))),
		"error: reload: service renamed: "));
	ck_assert_str_eq(hear(&one, 1), "a");
	pen_down(&pen);
	ck_assert(!is_file(&one));
	end();
}
END_TEST

static const char *
get_health(void)
{
	return web_fixture_get_from(&web, "/healthz", "");
}

/* The service has its socket again if the reload is refused. The page's own is
 * nobody else's before the page is elsewhere. */
START_TEST(page_takes_the_address_of_a_service)
{
	const char *before, *page;

	begin(backend_say);
	before = text("listen %s\n%s", web.text, server(0, 0));
	page = text("web %s\nlisten %s\n%s", web.text, mail.text, server(0, 0));
	up(before);
	ck_assert_ptr_nonnull(
	    strstr(reload(text("%scheck exec %s\n", page, scratch("none"))),
		"error: reload: "));
	ck_assert_str_eq(hear(&web, 8), "aaaaaaaa");
	ck_assert_str_eq(reload(page), "");
	ck_assert_str_eq(hear(&mail, 1), "a");
	ck_assert_ptr_nonnull(strstr(get_health(), "200 OK"));
	ck_assert_ptr_nonnull(strstr(reload(before), "address already in use"));
	ck_assert_ptr_nonnull(strstr(get_health(), "200 OK"));
	ck_assert_str_eq(hear(&mail, 1), "a");
	pen_down(&pen);
	end();
}
END_TEST

/* The address is closed before the wildcard is opened. */
START_TEST(an_address_becomes_a_wildcard)
{
	struct endpoint all;
	const char *one, *any;

	NEEDS_ONE_WORKER("others of a group have the address still");
	begin(backend_say);
	endpoint_at_host(&all, &web, "0.0.0.0");
	one = text("%s%s", section("web", &web, 0, ""),
	    section("mail", &mail, 2, ""));
	any = text("%s%s", section("web", &all, 0, ""),
	    section("mail", &mail, 2, ""));
	up(one);
	ck_assert_str_eq(reload(any), "");
	ck_assert_str_eq(hear(&web, 1), "a");
	ck_assert_str_eq(reload(one), "");
	ck_assert_str_eq(hear(&web, 1), "a");
	ck_assert_str_eq(hear(&mail, 1), "c");
	pen_down(&pen);
	end();
}
END_TEST

/* The file of a Unix socket has its mode from the beginning. */
START_TEST(some_move_in_two_reloads)
{
	struct endpoint one, two;

	begin(backend_say);
	endpoint_new(&one, ENDPOINT_UNIX);
	endpoint_new(&two, ENDPOINT_UNIX);
	up(text("%s%s", section("x", &one, 0, ""),
	    section("y", &two, 1, "listen_mode 0600\n")));
	ck_assert_str_eq(reload(section("y", &one, 1, "listen_mode 0600\n")),
	    text("error: reload: service y: %s:2: listen: \"%s\": address "
		 "already in use; the service x listens on %s: remove it "
		 "there first, by a reload of its own\n",
		conf, one.text, one.text));
	ck_assert_str_eq(hear(&one, 2), "aa");
	ck_assert_str_eq(hear(&two, 2), "bb");
	ck_assert_str_eq(
	    reload(section("y", &two, 1, "listen_mode 0600\n")), "");
	ck_assert_str_eq(
	    reload(section("y", &one, 1, "listen_mode 0600\n")), "");
	ck_assert_str_eq(hear(&one, 2), "bb");
	pen_down(&pen);
	end();
}
END_TEST

/* ---- all or nothing ---- */

/* The reload is refused, for that reason, and changes nothing. */
static void
refuses(const char *file, const char *why)
{
	const char *before = ask("services"), *said = reload(file);
	int fd = open_session(&web);

	ck_assert_msg(strncmp(said, "error: reload: ", 15) == 0, "%s", said);
	ck_assert_msg(strstr(said, why) != NULL, "%s, not: %s", said, why);
	ck_assert_int_eq(
	    count_in(ask("services"), "\n"), count_in(before, "\n"));
	endpoint_expect_echo(fd, "as it was");
	close(fd);
}

START_TEST(refused_reload_changes_nothing)
{
	struct endpoint taken;
	int listening, fd;

	begin(backend_echo);
	endpoint_new(&taken, ENDPOINT_TCP4);
	listening = endpoint_listen(&taken, 1);
	up(three_services());
	fd = open_session(&db);
	refuses(text("%s%s", section("web", &web, 1, ""),
		    section("more", &taken, 5, "")),
	    "service more: ");
	refuses(text("%s%s", section("web", &taken, 1, ""),
		    section("mail", &mail, 3, "")),
	    "service web: ");
	refuses(text("%s%s", section("web", &web, 1, ""),
		    section("db", &db, 5, "ssl_cert /none.pem\n")),
	    "service db: ");
	refuses(text("%s%s", section("web", &web, 1, ""),
		    section("db", &db, 5,
			"server 1 address no-such-host.invalid\n")),
	    "service db: ");
	endpoint_expect_echo(fd, "still there");
	ck_assert_int_eq(
	    servers[1].accepted + servers[3].accepted + servers[5].accepted, 0);
	close(listening);
	close(fd);
	pen_down(&pen);
	end();
}
END_TEST

/* What only a start can set is refused in any section. */
START_TEST(settings_of_the_start_stay)
{
	begin(backend_echo);
	up(three_services());
	refuses(text("%s%s", section("web", &web, 1, "udp\n"),
		    section("mail", &mail, 3, "")),
	    text("service web: %s:4: udp: can be set only at startup", conf));
	refuses(text("%s%s", section("web", &web, 1, ""),
		    section("mail", &mail, 3, "backlog 7\n")),
	    text("service mail: %s:7: backlog: can be set only at startup",
		conf));
	pen_down(&pen);
	end();
}
END_TEST

/* What differs is printed as a whole, however long. */
START_TEST(long_lines_differ)
{
	const char *format = "{client}";
	int i;

	for (i = 0; i < 60; i++)
		format = text("%s,{client}", format);
	begin(backend_say);
	up(three_services());
	ck_assert_str_eq(ask(text("service mail log_format %s", format)), "");
	ck_assert_str_eq(ask("diff"),
	    text("-service mail log_format logfmt\n"
		 "+service mail log_format %s\n",
		format));
	pen_down(&pen);
	end();
}
END_TEST

/* What is wrong with the file a start and a reload have logged. */
START_TEST(a_difference_is_no_warning)
{
	begin(backend_say);
	up(text("%stimeout 5\ntimeout 6\n", section("web", &web, 0, "")));
	ck_assert_str_eq(ask("diff"), "");
	ck_assert_int_eq(count_in(child_err(&pen.child),
			     ": timeout was set in line 4 already"),
	    1);
	pen_down(&pen);
	end();
}
END_TEST

/* A new service of an included file begins as one of a reload does; one that is
 * there grows. */
START_TEST(sections_are_included)
{
	const char *file = scratch("more.conf");

	begin(backend_say);
	up(text("%sconn_max 5\n", section("web", &web, 0, "")));
	write_file(file,
	    text("service web\nconn_max 7\n%s",
		section("db", &db, 4,
		    "idlers\nconn_max 10\nclients_max 100\n")));
	answers(text("include %s", file), "7\n");
	ck_assert_str_eq(ask("service web conn_max"), "7\n");
	ck_assert_str_eq(ask("service db conn_max"), "10\n");
	ck_assert_str_eq(ask("service db clients_max"), "100\n");
	ck_assert_str_eq(hear(&db, 2), "ee");
	write_file(file, "service web\nconn_max 6\nservice db\nconn_max 9\n");
	ck_assert_str_eq(ask(text("include %s", file)), "7\n10\n");
	pen_down(&pen);
	end();
}
END_TEST

/* While pen stops, no service listens anew, whichever it is. */
START_TEST(stopping_opens_no_service)
{
	struct endpoint more;
	int fd;

	begin(backend_echo);
	endpoint_new(&more, ENDPOINT_TCP4);
	up(three_services());
	fd = open_session(&web);
	ck_assert_int_eq(kill(pen.child.pid, SIGQUIT), 0);
	WAIT_FOR(refuses_clients(&web), SOON);
	ck_assert_str_eq(ask(text("service mail listen %s", more.text)),
	    "error: listen: service mail: pen is stopping and opens no new "
	    "listening sockets\n");
	ck_assert_str_eq(
	    ask(text("service add more; service more listen %s", more.text)),
	    "error: listen: service more: pen is stopping and opens no new "
	    "listening sockets\n");
	ck_assert(refuses_clients(&more));
	expect_end(fd);
	WAIT_FOR(child_has_ended(&pen.child), SOON);
	ck_assert_int_eq(pen.child.status, 0);
	end();
}
END_TEST

/* A start says which line, if there is one. */
START_TEST(refused_start)
{
	struct endpoint taken;
	int listening;

	begin(backend_say);
	endpoint_new(&taken, ENDPOINT_TCP4);
	listening = endpoint_listen(&taken, 1);
	write_file(conf,
	    text("%s%s", section("web", &web, 0, ""),
		section("mail", &taken, 1, "")));
	pen_expect_failure(
	    text("service mail: %s:5: listen", conf), "-F", conf, NULL);
	write_file(conf,
	    text("%s%s", section("web", &web, 0, ""),
		section("mail", &mail, 1, "ssl_cert /none.pem\n")));
	pen_expect_failure(
	    text("service mail: %s:7: ssl_cert", conf), "-F", conf, NULL);
	ck_assert(!endpoint_is_listening(&web));
	close(listening);
	end();
}
END_TEST

/* ---- the limit of all ---- */

static bool
has_sessions(const char *name, int n)
{
	return strstr(ask("services"), text("%s state up ", name)) != NULL &&
	    strstr(ask(text("service %s statistics", name)),
		text("sessions %d\n", n)) != NULL;
}

static void
hears(int fd, const char *what)
{
	char got[16] = "";

	endpoint_recv(fd, got, strlen(what));
	ck_assert_str_eq(got, what);
}

/* With 8, each of two has a share of 2: one takes all the rest, and the other
 * still gets its share. */
START_TEST(a_flood_leaves_the_others_their_share)
{
	int fd[8], waits, i;

	NEEDS_ONE_WORKER("each worker has its part of conn_max_all");
	begin(backend_echo);
	up(text("conn_max_all 8\n%s%s", section("web", &web, 0, ""),
	    section("mail", &mail, 2, "")));
	for (i = 0; i < 6; i++)
		fd[i] = open_session(&web);
	waits = endpoint_connect(&web);
	endpoint_send(waits, "waits", 5);
	answers("service web explain 192.0.2.1",
	    "waits conn_max_all\nconn_max_all 8\n");
	for (; i < 8; i++)
		fd[i] = open_session(&mail);
	ck_assert(has_sessions("web", 6) && has_sessions("mail", 2));
	/* a place in the share of the other is not for the flood */
	close(fd[7]);
	WAIT_FOR(has_sessions("mail", 1), SOON);
	fd[7] = open_session(&mail);
	ck_assert(has_sessions("web", 6) && has_sessions("mail", 2));
	close(fd[0]);
	hears(waits, "waits");
	ck_assert(has_sessions("web", 6));
	/* more room, for who waits */
	close(waits);
	WAIT_FOR(has_sessions("web", 5), SOON);
	fd[0] = open_session(&web);
	waits = endpoint_connect(&web);
	endpoint_send(waits, "waits", 5);
	ck_assert_str_eq(ask("conn_max_all 10"), "10\n");
	hears(waits, "waits");
	/* one that is removed has no share */
	ck_assert_str_eq(ask("service mail remove"), "");
	WAIT_FOR(has_sessions("web", 7), SOON);
	close(open_session(&web));
	for (i = 0; i < 8; i++)
		close(fd[i]);
	close(waits);
	pen_down(&pen);
	end();
}
END_TEST

/* ---- mistakes ---- */

/* Those of a section that a reload has left alone. */
START_TEST(lines_that_have_moved)
{
	static const char list[] = "acl office permit 192.0.2.1\n";
	const char *lines;

	begin(backend_say);
	lines =
	    section("web", &web, 0, "client_acl office\nserver 0 acl office\n");
	up(text("%s%s", list, lines));
	write_file(conf, text("# one\n# two\n%s%s", list, lines));
	ck_assert_str_eq(ask("reload"), "");
	write_file(conf, text("# one\n# two\n# three\n%s", lines));
	answers("reload",
	    text("error: reload: service web: %s:7: client_acl: there is no "
		 "access list \"office\"",
		conf));
	pen_down(&pen);
	end();
}
END_TEST

/* Lines of the section "web", each in line 6. */
static const struct {
	const char *line, *says;
} mistakes[] = {
	{ "debug 1",
	    "debug: applies to the whole process, not to one service" },
	{ "log /tmp/x",
	    "log: applies to the whole process, not to one service" },
	{ "control /tmp/x", "control: applies to the whole process" },
	{ "acl 1 permit 10.0.0.1", "acl: applies to the whole process" },
	{ "conn_max_all 5", "conn_max_all: applies to the whole process" },
	{ "drain_timeout 5", "drain_timeout: applies to the whole process" },
	{ "web 8000", "web: applies to the whole process" },
	{ "service 1st",
	    "service: \"1st\" is not a valid name (a letter, then" },
	{ "service a/b", "service: \"a/b\" is not a valid name" },
	{ "service \"\"", "service: \"\" is not a valid name" },
	{ "service add", "service: \"add\" is not a valid name" },
	{ "service json", "service: \"json\" is not a valid name" },
	{ "service a234567890123456789012345678901b",
	    "service: \"a234567890123456789012345678901b\" is not a valid name "
	    "(a letter, then letters, digits, \".\", \"-\", \"_\"; at most "
	    "31)" },
	{ "service add web", "service: there is a service \"web\" already" },
	{ "service default remove",
	    "service: the service default cannot be removed" },
	{ "service", "service: expects NAME" },
	{ "timeout x", "timeout: " },
	{ "services", "services: only while pen is running" },
};

enum { MISTAKES = sizeof(mistakes) / sizeof(mistakes[0]) };

START_TEST(mistakes_have_a_line)
{
	begin(backend_say);
	write_file(conf,
	    text("%s\n\n%s\n", section("web", &web, 0, ""), mistakes[_i].line));
	pen_expect_failure(text("pen.conf:6: %s", mistakes[_i].says), "--check",
	    "-F", conf, NULL);
	end();
}
END_TEST

/* Sections that serve nobody. */
START_TEST(sections_lack_something)
{
	begin(backend_say);
	write_file(conf,
	    text("%sservice mail\nserver 0 address 127.0.0.1 port 9\n",
		section("web", &web, 0, "")));
	pen_expect_failure(
	    "service mail: no listening address", "-F", conf, NULL);
	write_file(conf,
	    text("%sservice mail\nlisten %s\n", section("web", &web, 0, ""),
		mail.text));
	pen_expect_failure("service mail: no server", "-F", conf, NULL);
	/* lines before the first section are no service that serves nobody */
	write_file(conf,
	    text("server 0 address 127.0.0.1 port 9\n%s",
		section("web", &web, 0, "")));
	pen_expect_failure("no listening address", "-F", conf, NULL);
	end();
}
END_TEST

/* ---- looking at a file ---- */

static int
run(struct child *c, const char *option)
{
	child_start(
	    c, (const char *[]){ getenv("PEN"), option, "-F", conf, NULL });
	return child_wait(c, SOON);
}

START_TEST(a_limit_of_all_without_effect)
{
	struct child c;

	begin(backend_say);
	write_file(conf,
	    text("conn_max_all 1\n%s%s", section("web", &web, 0, ""),
		section("mail", &mail, 2, "")));
	ck_assert_int_eq(run(&c, "--check"), 0);
	ck_assert_ptr_nonnull(strstr(child_err(&c),
	    text("%s:1: conn_max_all keeps no share for 2 services: it is "
		 "less than their number\n",
		conf)));
	ck_assert_int_eq(count_in(child_err(&c), "conn_max_all"), 1);
	write_file(conf,
	    text("conn_max_all 1\n%s", section("web", &web, 0, "udp\n")));
	ck_assert_int_eq(run(&c, "--check"), 0);
	ck_assert_ptr_nonnull(strstr(child_err(&c),
	    text("%s:1: conn_max_all has no effect with udp or dsr_if\n",
		conf)));
	end();
}
END_TEST

/* What a start would warn of, commands and reloads do, too. */
START_TEST(warnings_of_other_services)
{
	begin(backend_say);
	up(section("web", &web, 0, "roundrobin\n"));
	ck_assert_str_eq(ask("service web tracking 5"), "5\n");
	WAIT_FOR(child_has_said(&pen.child,
		     "service web: tracking has no effect while clients are "
		     "not remembered\n"),
	    SOON);
	write_file(conf,
	    text("%s%s", section("web", &web, 0, "roundrobin\n"),
		section("db", &db, 1, "dns_retry 5\nroute sni a.test 7\n")));
	ck_assert_str_eq(ask("reload"), "");
	WAIT_FOR(child_has_said(&pen.child,
		     text("service db: %s:8: dns_retry has no effect without "
			  "dns\n",
			 conf)),
	    SOON);
	WAIT_FOR(child_has_said(&pen.child,
		     "service db: route sni a.test 7: there is no server 7\n"),
	    SOON);
	pen_down(&pen);
	end();
}
END_TEST

/* It is not one of each service. */
START_TEST(a_warning_of_the_process)
{
	struct child c;

	begin(backend_say);
	write_file(conf,
	    text("acl 3 permit 192.0.2.1\nweb_acl 3\n%s%s",
		section("web", &web, 0, ""), section("mail", &mail, 1, "")));
	ck_assert_int_eq(run(&c, "--check"), 0);
	ck_assert_ptr_nonnull(strstr(child_err(&c),
	    text("%s:2: web_acl has no effect without web\n", conf)));
	ck_assert_int_eq(count_in(child_err(&c), "web_acl"), 1);
	end();
}
END_TEST

/* The first service has no use for it, but another one has. */
START_TEST(a_setting_of_the_process_for_another)
{
	const char *log = text("session_log %s\n", scratch("sessions"));
	struct child c;

	begin(backend_say);
	write_file(conf,
	    text("listen %s\ndummy\n%s%s", db.text, log,
		section("web", &web, 0, "")));
	ck_assert_int_eq(run(&c, "--check"), 0);
	ck_assert_str_eq(child_err(&c), "");
	write_file(conf,
	    text("listen %s\ndummy\n%sservice web\nlisten %s\ndummy\n", db.text,
		log, web.text));
	ck_assert_int_eq(run(&c, "--check"), 0);
	ck_assert_ptr_nonnull(strstr(child_err(&c),
	    text("%s:3: session_log has no effect with dummy\n", conf)));
	end();
}
END_TEST

/* Its host is inspected before it is in force. */
START_TEST(a_director_that_is_new)
{
	NEEDS_ONE_WORKER("one process serves direct return");
	begin(backend_say);
	up(section("web", &web, 0, ""));
	write_file(conf,
	    text("%sservice far\nlisten 192.0.2.1:0\ndsr_if none0\n"
		 "server 0 address 192.0.2.2 port 0\n",
		section("web", &web, 0, "")));
	answers("reload", "none0");
	ck_assert_str_eq(hear(&web, 1), "a");
	pen_down(&pen);
	end();
}
END_TEST

/* DNS takes the datagrams of its port, and connections. */
START_TEST(names_and_datagrams_at_one_port)
{
	static const char *const modes[] = { "udp\n", "" };
	const char *says;
	size_t i;

	begin(backend_say);
	udp_endpoint(&web, ENDPOINT_TCP4);
	says = text("\"%s\": address already in use, by \"%s\" of this "
		    "configuration",
	    web.text, web.text);
	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		write_file(conf,
		    text("%s%s", section("names", &web, 0, "dns\n"),
			section("other", &web, 1, modes[i])));
		pen_expect_failure(says, "--check", "-F", conf, NULL);
		pen_expect_failure("service other", "-f", "-F", conf, NULL);
	}
	end();
}
END_TEST

/* What --print says of a file gives the same when it is read. */
START_TEST(sections_are_printed)
{
	static const char *const options[] = { "--print", "--print-all" };
	struct child c;
	const char *said;

	begin(backend_say);
	write_file(conf,
	    text("blacklist 9\nacl 1 permit 10.0.0.0/8\nlog_sample 7\n%s%s%s",
		section("web", &web, 0, "roundrobin\n"),
		section(
		    "mail", &mail, 2, "client_acl 1\nemergency 127.0.0.1:9\n"),
		section("db", &db, 4, "server 0 weight 3\n")));
	ck_assert_int_eq(run(&c, "--check"), 0);
	ck_assert_int_eq(run(&c, options[_i]), 0);
	said = child_out(&c);
	ck_assert_ptr_nonnull(strstr(said, "blacklist 9\n"));
	ck_assert_ptr_nonnull(strstr(said, "\nservice web\n"));
	ck_assert_ptr_nonnull(strstr(said, text("\nlisten %s\n", web.text)));
	ck_assert_ptr_nonnull(strstr(said, "\nclient_acl 1\n"));
	ck_assert_int_eq(count_in(said, "acl 1 permit"), 1);
	ck_assert_int_eq(count_in(said, "log_sample 7"), 1);
	write_file(conf, said);
	ck_assert_int_eq(run(&c, options[_i]), 0);
	ck_assert_str_eq(child_out(&c), said);
	end();
}
END_TEST

START_TEST(two_cannot_have_one_address)
{
	static const char *const options[] = { "--check", "-f" };
	static const char *const hosts[][2] = {
		{ "127.0.0.1", "127.0.0.1" },
#ifdef __linux__
		{ "0.0.0.0", "127.0.0.1" },
		{ "127.0.0.1", "0.0.0.0" },
#endif
	};
	struct endpoint first, second;
	size_t i;

	begin(backend_say);
	for (i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		snprintf(first.text, sizeof(first.text), "%s:%d", hosts[i][0],
		    web.port);
		snprintf(second.text, sizeof(second.text), "%s:%d", hosts[i][1],
		    web.port);
		write_file(conf,
		    text("%s%s", section("web", &first, 0, ""),
			section("mail", &second, 1, "")));
		pen_expect_failure(
		    text("service mail: %s:5: listen: \"%s\": address already "
			 "in use",
			conf, second.text),
		    options[_i], "-F", conf, NULL);
	}
	end();
}
END_TEST

/* They share the log, each with its format, which a reload changes. */
START_TEST(each_has_its_log_format)
{
	static const char format[] = "log_format '%s {server} {service}'\n";
	const char *log = scratch("sessions"), *to;

	begin(backend_say);
	to = text("session_log %s\n", log);
	up(text("%s%s%s%s", to, section("web", &web, 0, text(format, "one")),
	    section("mail", &mail, 1, text(format, "two")),
	    section("db", &db, 2, "")));
	hear(&web, 1);
	hear(&mail, 1);
	hear(&db, 1);
	WAIT_FOR(file_has(log, text("one %s web\n", servers[0].at.text)), SOON);
	WAIT_FOR(
	    file_has(log, text("two %s mail\n", servers[1].at.text)), SOON);
	WAIT_FOR(file_has(log, " reason=done "), SOON);
	ck_assert_str_eq(reload(text("%s%s%s", to,
			     section("web", &web, 0, text(format, "three")),
			     section("mail", &mail, 1, text(format, "two")))),
	    "");
	hear(&web, 1);
	hear(&mail, 1);
	WAIT_FOR(
	    file_has(log, text("three %s web\n", servers[0].at.text)), SOON);
	answers("service mail log_format '{x}'", "no field \"x\"");
	write_file(conf,
	    text("%s%s", to, section("web", &web, 0, "log_format '{x}'\n")));
	pen_expect_failure(
	    text(
		"service web: %s:5: log_format: \"{x}\": no field \"x\"", conf),
	    "--check", "-F", conf, NULL);
	pen_down(&pen);
	end();
}
END_TEST

/* ---- commands ---- */

static void
up_with_two_webs(void)
{
	begin(backend_say);
	up(text("%s%s",
	    section("web", &web, 0, text("roundrobin\n%s", server(1, 1))),
	    section("mail", &mail, 2, "")));
}

START_TEST(commands_are_for_a_service)
{
	up_with_two_webs();
	answers("service web servers",
	    text("1 addr 127.0.0.1 port %d ", servers[1].at.port));
	answers("servers", "the service default has no listening address");
	ck_assert_str_eq(ask("service web server 1 drain"), "");
	ck_assert_str_eq(hear(&web, 3), "aaa");
	answers("services", "web state degraded ");
	answers("services", "mail state up ");
	ck_assert_str_eq(ask("service web server 1 up"), "");
	ck_assert_str_eq(ask("service web blacklist 5"), "5\n");
	ck_assert_str_eq(ask("service mail blacklist"), "30\n");
	ck_assert_str_eq(ask("service default blacklist"), "30\n");
	/* for the rest of the line */
	ck_assert_str_eq(
	    ask("service web; blacklist; service mail; blacklist"), "5\n30\n");
	ck_assert_str_eq(ask("service web no roundrobin"), "");
	answers("service web mode", "no roundrobin");
	pen_down(&pen);
	end();
}
END_TEST

START_TEST(commands_are_refused)
{
	static const char *const lines[][2] = {
		{ "service none", "service: there is no service \"none\"" },
		{ "service none servers",
		    "servers: there is no service \"none\"" },
		{ "service none remove",
		    "service: there is no service \"none\"" },
		{ "service default remove",
		    "service: the service default cannot be removed" },
		{ "service add web",
		    "service: there is a service \"web\" already" },
		{ "service add 1st", "service: \"1st\" is not a valid name " },
		{ "service add add", "service: \"add\" is not a valid name " },
		{ "service web sevrers",
		    "service: unknown command "
		    "\"sevrers\" (did you mean servers?)" },
		{ "service web log /tmp/x",
		    "log: applies to the whole process" },
		{ "service web reload",
		    "reload: applies to the whole process" },
		{ "service web acl 1 permit 10.0.0.1",
		    "acl: applies to the whole process" },
		{ "services now", "services: takes no argument" },
	};
	size_t i;

	up_with_two_webs();
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		answers(lines[i][0], text("error: %s", lines[i][1]));
	ck_assert_int_eq(count_in(ask("services"), "\n"), 2);
	ck_assert_str_eq(hear(&web, 2), "ab");
	pen_down(&pen);
	end();
}
END_TEST

START_TEST(drain_waits_in_its_service)
{
	int fd;

	begin(backend_echo);
	up(three_services());
	fd = open_session(&mail);
	answers("service mail server 0 drain wait 0.1",
	    "error: server 0: 1 connection left after 100 ms\n");
	ck_assert_str_eq(ask("service web server 0 drain wait 10"),
	    "server 0: no connections left\n");
	expect_end(fd);
	ck_assert_str_eq(ask("service mail server 0 drain wait 10"),
	    "server 0: no connections left\n");
	pen_down(&pen);
	end();
}
END_TEST

/* Its service is removed while a command waits for a server of it. */
START_TEST(drain_waits_until_the_service_ends)
{
	char answer[64] = "";
	int fd, asks;

	begin(backend_echo);
	up(three_services());
	fd = open_session(&mail);
	asks = endpoint_connect(&ctl);
	endpoint_send(asks, "service mail server 0 drain wait 60\n", 36);
	answers("services", "mail state drain ");
	ck_assert_str_eq(ask("service mail remove"), "");
	expect_end(fd);
	WAIT_FOR(
	    child_has_said(&pen.child, "service ended service=mail"), SOON);
	endpoint_recv(asks, answer, 29);
	ck_assert_str_eq(answer, "server 0: no connections left");
	close(asks);
	pen_down(&pen);
	end();
}
END_TEST

/* The first one is what is left, for monitoring as for the list. */
START_TEST(others_only_leave)
{
	int fd;

	begin(backend_echo);
	up(section("web", &web, 0, ""));
	fd = open_session(&web);
	ck_assert_int_eq(count_in(ask("services"), "\n"), 1);
	ck_assert_str_eq(ask("service web remove"), "");
	answers("services", "default state empty ");
	answers("services", "\nweb state leaving ");
	answers("statistics", "sessions 0\n");
	expect_end(fd);
	pen_down(&pen);
	end();
}
END_TEST

/* More than a socket takes of an answer about them. */
static const char *
many_servers(void)
{
	char *lines = NULL;
	const char *all;
	size_t room;
	FILE *out = open_memstream(&lines, &room);
	int i;

	for (i = 1; i < 4000; i++)
		fprintf(out, "server %d address 127.0.0.1 port 9\n", i);
	ck_assert_int_eq(fclose(out), 0);
	all = text("%s", lines);
	free(lines);
	return all;
}

static const char *
recv_long(int fd)
{
	char bytes[4096], *all = NULL;
	const char *said;
	size_t room;
	FILE *out = open_memstream(&all, &room);
	ssize_t n;

	while ((n = recv(fd, bytes, sizeof(bytes), 0)) > 0)
		ck_assert_uint_eq(fwrite(bytes, 1, (size_t)n, out), (size_t)n);
	ck_assert_int_eq(fclose(out), 0);
	said = text("%s", all);
	free(all);
	return said;
}

/* A service is removed while a long answer about it is not yet taken. */
START_TEST(half_an_answer_ends_with_an_error)
{
	char first;
	int fd;

	begin(backend_echo);
	up(text("%s%s", section("web", &web, 1, ""),
	    section("mail", &mail, 2, many_servers())));
	fd = endpoint_connect(&ctl);
	endpoint_send(fd, "service mail servers long\n", 26);
	endpoint_recv(fd, &first, 1);
	ck_assert_str_eq(ask("service mail remove"), "");
	WAIT_FOR(
	    child_has_said(&pen.child, "service ended service=mail"), SOON);
	ck_assert_ptr_nonnull(
	    strstr(recv_long(fd), "\" was removed meanwhile\n"));
	close(fd);
	pen_down(&pen);
	end();
}
END_TEST

/* What follows in the same session begins anew. */
START_TEST(after_half_an_answer)
{
#ifndef HAVE_JANSSON
	SKIP("built without Jansson");
#endif
	static const char lines[] = "prompt\nservice mail servers json\n"
				    "pid json\nquit\n";
	char first[7];
	int fd;

	begin(backend_echo);
	up(text("%s%s", section("web", &web, 1, ""),
	    section("mail", &mail, 2, many_servers())));
	fd = endpoint_connect(&ctl);
	endpoint_send(fd, lines, sizeof(lines) - 1);
	endpoint_recv(fd, first, sizeof(first));
	ck_assert_str_eq(ask("service mail remove"), "");
	WAIT_FOR(
	    child_has_said(&pen.child, "service ended service=mail"), SOON);
	ck_assert_str_eq(strstr(recv_long(fd), "\" was removed meanwhile\n"),
	    text("\" was removed meanwhile\npen> {\"pid\":%ld}\npen> ",
		(long)pen.child.pid));
	close(fd);
	pen_down(&pen);
	end();
}
END_TEST

START_TEST(added_and_removed_by_command)
{
	up_with_two_webs();
	ck_assert_str_eq(ask("service add db"), "");
	answers("services", "db state empty ");
	ck_assert_str_eq(ask(text("service db listen %s; service db %s",
			     db.text, server(0, 4))),
	    text("%s\n", db.text));
	ck_assert_str_eq(hear(&db, 2), "ee");
	answers("services", text("db state up listen %s ", db.text));
	ck_assert_str_eq(ask("service db remove"), "");
	WAIT_FOR(refuses_clients(&db), SOON);
	WAIT_FOR(child_has_said(&pen.child, "service ended service=db"), SOON);
	ck_assert_int_eq(count_in(ask("services"), "\n"), 2);
	ck_assert_str_eq(hear(&web, 2), "ab");
	pen_down(&pen);
	end();
}
END_TEST

/* A service may have the name of a command. */
START_TEST(a_name_may_be_a_command)
{
	static const char *const names[] = { "servers", "log", "server",
		"services", "service", "no", "remove" };
	size_t i;

	up_with_two_webs();
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ck_assert_str_eq(ask(text("service add %s", names[i])), "");
		answers("services", text("\n%s state empty ", names[i]));
		ck_assert_str_eq(
		    ask(text("service %s blacklist 7", names[i])), "7\n");
		ck_assert_str_eq(ask(text("service %s servers", names[i])), "");
		ck_assert_str_eq(ask(text("service %s remove", names[i])), "");
	}
	WAIT_FOR(count_in(ask("services"), "\n") == 2, SOON);
	pen_down(&pen);
	end();
}
END_TEST

/* What a client hears that sends all its lines at once. */
static const char *
answers_to(const char *lines)
{
	return endpoint_hear_after(&ctl, lines);
}

/* In a prompt it is for what follows, until another one is named. */
START_TEST(prompt_has_a_service)
{
	up_with_two_webs();
	ck_assert_str_eq(
	    answers_to("prompt\nservice web\nblacklist 5\nservice none\n"
		       "blacklist\nservice mail\nblacklist\nservice default\n"
		       "blacklist\nquit\n"),
	    "pen> pen> 5\npen> error: service: there is no service \"none\"\n"
	    "pen> 5\npen> pen> 30\npen> pen> 30\npen> ");
	pen_down(&pen);
	end();
}
END_TEST

/* The service of a prompt is gone: nothing is meant for another one by
 * mistake. */
START_TEST(prompt_loses_its_service)
{
	up_with_two_webs();
	ck_assert_str_eq(
	    answers_to("prompt\nservice web\nservice web remove\n"
		       "blacklist 5\nservice mail\nblacklist\nquit\n"),
	    "pen> pen> pen> error: blacklist: there is no service \"web\"\n"
	    "pen> pen> 30\npen> ");
	ck_assert_str_eq(
	    answers_to("prompt\nservice mail\nservice mail remove\nquit\n"),
	    "pen> pen> pen> ");
	pen_down(&pen);
	end();
}
END_TEST

/* Behind the prefix a command needs the level that it needs without. */
START_TEST(levels_apply)
{
	static const char *const refused[][2] = {
		{ "service web server 0 drain", "operate, yours is read" },
		{ "service web blacklist 5", "admin, yours is read" },
		{ "service add db", "admin, yours is read" },
		{ "service web remove", "admin, yours is read" },
		{ "service web; server 0 drain", "operate, yours is read" },
	};
	struct endpoint look, operate;
	size_t i;

	begin(backend_say);
	endpoint_new(&look, ENDPOINT_UNIX);
	endpoint_new(&operate, ENDPOINT_UNIX);
	up(text("control_level read\ncontrol %s\ncontrol_level operate\n"
		"control %s\n%s",
	    look.text, operate.text, three_services()));
	WAIT_FOR(
	    endpoint_is_listening(&look) && endpoint_is_listening(&operate),
	    SOON);
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&look, "services\n"), "web state up "));
	ck_assert_str_eq(
	    endpoint_ask(&look, "service web; blacklist\n"), "30\n");
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		ck_assert_ptr_nonnull(
		    strstr(endpoint_ask(&look, text("%s\n", refused[i][0])),
			text("needs the level %s\n", refused[i][1])));
	ck_assert_str_eq(
	    endpoint_ask(&operate, "service web server 0 drain\n"), "");
	ck_assert_str_eq(endpoint_ask(&operate, "service web blacklist 5\n"),
	    "error: blacklist: needs the level admin, yours is operate\n");
	pen_down(&pen);
	end();
}
END_TEST

START_TEST(services_as_json)
{
#ifndef HAVE_JANSSON
	SKIP("built without Jansson");
#endif
	up_with_two_webs();
	ck_assert_str_eq(ask("services json"),
	    text("[{\"service\":\"web\",\"state\":\"up\",\"listen\":\"%s\","
		 "\"up\":2,\"servers\":2,\"sessions\":0,\"flows\":0,"
		 "\"accepted\":0,\"rate\":0.0},\n{\"service\":\"mail\","
		 "\"state\":\"up\","
		 "\"listen\":\"%s\",\"up\":1,\"servers\":1,\"sessions\":0,"
		 "\"flows\":0,\"accepted\":0,\"rate\":0.0}]\n",
		web.text, mail.text));
	answers("service mail servers json",
	    text("\"server\":0,\"addr\":\"127.0.0.1\",\"port\":%d,",
		servers[2].at.port));
	pen_down(&pen);
	end();
}
END_TEST

SUITE(test_services)
{
	Suite *s = suite_create("services");

	SUITE_ADD(s, lists_need_a_name, 30);
	SUITE_ADD(s, each_has_servers_and_settings, 30);
	SUITE_ADD(s, first_lines_are_a_service, 30);
	SUITE_ADD(s, sections_of_one_name_are_one, 30);
	SUITE_ADD(s, servers_down_concern_no_other, 30);
	SUITE_ADD(s, command_line_is_one_service, 30);
	SUITE_ADD(s, reload_adds_changes_and_removes, 30);
	SUITE_ADD(s, removed_and_back, 30);
	SUITE_ADD(s, hangup_reads_sections, 30);
	SUITE_ADD(s, addresses_move, 30);
	SUITE_ADD(s, addresses_of_datagrams_move, 30);
	SUITE_ADD_LOOP(s, sockets_move_or_come_back, 30, 2);
	SUITE_ADD(s, file_stays_when_refused, 30);
	SUITE_ADD(s, page_takes_the_address_of_a_service, 30);
	SUITE_ADD(s, an_address_becomes_a_wildcard, 30);
	SUITE_ADD(s, some_move_in_two_reloads, 30);
	SUITE_ADD(s, refused_reload_changes_nothing, 30);
	SUITE_ADD(s, settings_of_the_start_stay, 30);
	SUITE_ADD(s, stopping_opens_no_service, 30);
	SUITE_ADD(s, long_lines_differ, 30);
	SUITE_ADD(s, a_difference_is_no_warning, 30);
	SUITE_ADD(s, sections_are_included, 30);
	SUITE_ADD(s, refused_start, 30);
	SUITE_ADD(s, a_flood_leaves_the_others_their_share, 30);
	SUITE_ADD(s, a_limit_of_all_without_effect, 30);
	SUITE_ADD(s, lines_that_have_moved, 30);
	SUITE_ADD_LOOP(s, mistakes_have_a_line, 30, MISTAKES);
	SUITE_ADD(s, sections_lack_something, 30);
	SUITE_ADD(s, warnings_of_other_services, 30);
	SUITE_ADD(s, a_warning_of_the_process, 30);
	SUITE_ADD(s, a_setting_of_the_process_for_another, 30);
	SUITE_ADD(s, a_director_that_is_new, 30);
	SUITE_ADD(s, names_and_datagrams_at_one_port, 30);
	SUITE_ADD_LOOP(s, sections_are_printed, 30, 2);
	SUITE_ADD_LOOP(s, two_cannot_have_one_address, 30, 2);
	SUITE_ADD(s, each_has_its_log_format, 20);
	SUITE_ADD(s, commands_are_for_a_service, 30);
	SUITE_ADD(s, commands_are_refused, 30);
	SUITE_ADD(s, drain_waits_in_its_service, 30);
	SUITE_ADD(s, drain_waits_until_the_service_ends, 30);
	SUITE_ADD(s, others_only_leave, 30);
	SUITE_ADD(s, after_half_an_answer, 30);
	SUITE_ADD(s, half_an_answer_ends_with_an_error, 30);
	SUITE_ADD(s, added_and_removed_by_command, 30);
	SUITE_ADD(s, a_name_may_be_a_command, 30);
	SUITE_ADD(s, prompt_has_a_service, 30);
	SUITE_ADD(s, prompt_loses_its_service, 30);
	SUITE_ADD(s, levels_apply, 30);
	SUITE_ADD(s, services_as_json, 30);
	return s;
}
