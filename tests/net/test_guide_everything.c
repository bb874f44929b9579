/* test_guide_everything.c: the file of examples/guide with all services, with
 * all their programs behind one pen. Each service loses a server, one service
 * after another: that one fails over in its way, and the others answer. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "net/guide_programs.h"
#include "support/identity.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"
#include "system/mail.h"
#include "system/postgres.h"

enum { SOON = 30000, GAME_PORT = 27960 };

static struct guide guide;

/* The number of the server that an answer names, by number or address. */
static int
server_in(const char *answer)
{
	int i;

	for (i = 0; i < GUIDE_SERVERS; i++)
		if (strstr(answer, text("server %d", i)) != NULL ||
		    strstr(answer, text("server%d", i)) != NULL ||
		    strstr(answer, guide_ip(i)) != NULL)
			return i;
	ck_abort_msg("not from a server: %s", answer);
}

/* The server that has got a line, in one of two files. */
static int
wait_line(const char *(*file_of)(int i), const char *line)
{
	WAIT_FOR(
	    file_has(file_of(0), line) || file_has(file_of(1), line), SOON);
	return file_has(file_of(0), line) ? 0 : 1;
}

/* A line that no other contains. */
static const char *
fresh_line(void)
{
	static int count;

	return text("<line %d>", ++count);
}

/* Of those with processes of their own. */
static void
terminate(struct guide *g, struct child *c, int i)
{
	(void)g;
	(void)i;
	child_stop(c, SIGTERM);
}

/* ---- web ---- */

static struct identity shop_id, files_id, www_id;

static void
web_identities(void)
{
	identity_new(&shop_id, "shop.example.org");
	identity_new(&files_id, "files.example.org");
	identity_new(&www_id, "www.example.org");
	write_file(guide_path("/etc/pen/shop.pem"), contents(shop_id.ec));
	write_file(guide_path("/etc/pen/www.pem"), contents(www_id.ec));
}

static void
web_up(struct guide *g, struct child *c, int i, const char *listen)
{
	struct nginx web;

	guide_nginx_up(g, &web, i, listen);
	*c = web.child;
}

static void
shop_up(struct guide *g, struct child *c, int i)
{
	web_up(g, c, i, "listen *:8000;");
}

static void
files_up(struct guide *g, struct child *c, int i)
{
	web_up(g, c, i,
	    text("listen *:443 ssl; ssl_certificate %s; "
		 "ssl_certificate_key %s;",
		files_id.ec, files_id.ec));
}

static void
www_up(struct guide *g, struct child *c, int i)
{
	web_up(g, c, i, "listen *:80;");
}

/* The page of a name, whose certificate must be that of its service. */
static const char *
fetch(const char *name, const struct identity *id)
{
	return net_fixture_run(&guide.fixture, NET_FIXTURE_CLIENT, SOON, "curl",
	    "-sS", "--cacert", id->ca, "--resolve",
	    text("%s:443:" GUIDE_PEN, name), text("https://%s/", name), NULL);
}

/* TLS ends at pen, which adds the headers. */
static int
web_ask(const char *name, const struct identity *id)
{
	const char *page = fetch(name, id);

	ck_assert_msg(strstr(page, " for=" GUIDE_CLIENT " proto=https"),
	    "%s: %s", name, page);
	return server_in(page);
}

static int
shop_ask(void)
{
	return web_ask("shop.example.org", &shop_id);
}

static int
files_ask(void)
{
	const char *page = fetch("files.example.org", &files_id);

	ck_assert_msg(strstr(page, " for= proto=") != NULL, "%s", page);
	return server_in(page);
}

static int
www_ask(void)
{
	return web_ask("www.example.org", &www_id);
}

static void
expect_redirect(void)
{
	ck_assert_str_eq(
	    net_fixture_run(&guide.fixture, NET_FIXTURE_CLIENT, SOON, "curl",
		"-sS", "-o", "/dev/null", "-w", "%{http_code} %{redirect_url}",
		"--resolve", "shop.example.org:80:" GUIDE_PEN,
		"http://shop.example.org/a", NULL),
	    "308 https://shop.example.org/a");
}

/* ---- mail ---- */

static int
smtp_ask(void)
{
	const char *line = fresh_line();

	guide_send_mail(&guide, line);
	return wait_line(guide_mailbox, line);
}

static void
imap_up(struct guide *g, struct child *c, int i)
{
	guide_dovecot_up(g, c, i, text("server %d", i));
}

static int
imap_ask(void)
{
	return server_in(guide_read_mail(&guide, "imap"));
}

/* ---- names and users ---- */

static int
dns_ask(void)
{
	ck_assert_uint_gt(
	    strlen(guide_dig(&guide, "big.test", "TXT", "+tcp")), 512);
	return server_in(guide_dig(&guide, "who.test", "TXT", "+notcp"));
}

static int
ldap_ask(void)
{
	return server_in(guide_ldapsearch(&guide));
}

/* ---- databases ---- */

/* Both at once. */
static void
pg_up(struct guide *g, struct child *c, int i)
{
	(void)c;
	if (i == 0)
		guide_postgres_up(g);
}

static int
pg_ask(void)
{
	ck_assert_str_eq(guide_psql(&guide, "create table t (); drop table t"),
	    "CREATE TABLE\nDROP TABLE\n");
	return server_in(guide_psql(&guide, "select inet_server_addr()"));
}

static void
pg_kill(struct guide *g, struct child *c, int i)
{
	(void)g;
	(void)c;
	if (i == 0)
		postgres_down("immediate");
	else
		postgres_standby_down();
}

static void
redis_up(struct guide *g, struct child *c, int i)
{
	guide_redis_up(g, c, i, i != 0);
}

static int
redis_ask(void)
{
	ck_assert_str_eq(
	    guide_redis_cli(&guide, GUIDE_PEN, "set", "a", "1"), "OK\n");
	return server_in(
	    guide_redis_cli(&guide, GUIDE_PEN, "config", "get", "bind"));
}

static void
redis_promote(void)
{
	guide_redis_cli(&guide, guide_ip(1), "replicaof", "no", "one");
}

/* ---- hosts ---- */

static int
ssh_ask(void)
{
	return server_in(guide_ssh(&guide, "echo $SSH_CONNECTION"));
}

static int
syslog_ask(void)
{
	const char *line = fresh_line();

	guide_logger(&guide, line);
	return wait_line(guide_syslog, line);
}

/* ---- the game ---- */

static struct udp_server games[GUIDE_SERVERS];

static void
game_up(struct guide *g, struct child *c, int i)
{
	struct endpoint at;

	(void)c;
	guide_at(&at, i, GAME_PORT);
	net_fixture_enter(&g->fixture, NET_FIXTURE_SERVER + i);
	udp_server_start_at(&games[i], &at,
	    text("\xff\xff\xff\xffinfoResponse\nserver %d\n", i));
	net_fixture_leave(&g->fixture);
}

/* A player who has begun again: with a new port. */
static int
game_ask(void)
{
	struct endpoint any = { .port = GAME_PORT }, at;
	const char *answer;
	int fd;

	endpoint_at_host(&at, &any, GUIDE_PEN);
	net_fixture_enter(&guide.fixture, NET_FIXTURE_CLIENT);
	fd = udp_client(&at);
	net_fixture_leave(&guide.fixture);
	answer = udp_ask(fd, "move", 5000);
	close(fd);
	ck_assert_msg(strstr(answer, "move") != NULL, "no game: %s", answer);
	return server_in(answer);
}

static void
game_kill(struct guide *g, struct child *c, int i)
{
	(void)g;
	(void)c;
	udp_server_stop(&games[i]);
}

/* ---- all services ---- */

/* Which server a client gets who comes again. */
enum again { ANY, THE_SAME, THE_OTHER };

static struct service {
	const char *name;
	const char *programs[2];
	const char *(*lacks)(void); /* or NULL */
	void (*up)(struct guide *g, struct child *c, int i);
	int (*ask)(void); /* returns the server that has answered */
	void (*kill)(struct guide *g, struct child *c, int i); /* or NULL */
	enum again again;
	/* Server 0 alone serves clients, until this made server 1 do so. */
	void (*promote)(void);
	/* Clients do not notice a failure, only checks do. */
	bool silent;
	struct child child[GUIDE_SERVERS];
	bool is_up[GUIDE_SERVERS];
} services[] = {
	{ .name = "shop",
	    .programs = { "nginx" },
	    .up = shop_up,
	    .ask = shop_ask },
	{ .name = "files",
	    .programs = { "nginx" },
	    .up = files_up,
	    .ask = files_ask,
	    .again = THE_SAME },
	{ .name = "www",
	    .programs = { "nginx" },
	    .up = www_up,
	    .ask = www_ask,
	    .again = THE_OTHER },
	{ .name = "smtp",
	    .lacks = postfix_lacks,
	    .up = guide_postfix_up,
	    .ask = smtp_ask,
	    .kill = guide_postfix_down,
	    .again = THE_OTHER },
	{ .name = "imap",
	    .lacks = dovecot_lacks,
	    .up = imap_up,
	    .ask = imap_ask,
	    .kill = terminate,
	    .again = THE_SAME },
	{ .name = "dns",
	    .programs = { "unbound", "dig" },
	    .up = guide_unbound_up,
	    .ask = dns_ask },
	{ .name = "ldap",
	    .lacks = guide_slapd_lacks,
	    .up = guide_slapd_up,
	    .ask = ldap_ask },
	{ .name = "postgresql",
	    .lacks = guide_postgres_lacks,
	    .up = pg_up,
	    .ask = pg_ask,
	    .kill = pg_kill,
	    .again = THE_SAME,
	    .promote = postgres_promote },
	{ .name = "redis",
	    .programs = { "redis-server", "redis-cli" },
	    .up = redis_up,
	    .ask = redis_ask,
	    .again = THE_SAME,
	    .promote = redis_promote },
	{ .name = "ssh",
	    .programs = { "sshd", "ssh" },
	    .up = guide_sshd_up,
	    .ask = ssh_ask,
	    .kill = terminate,
	    .again = THE_SAME },
	{ .name = "syslog",
	    .programs = { "rsyslogd", "logger" },
	    .up = guide_rsyslogd_up,
	    .ask = syslog_ask,
	    .again = THE_SAME,
	    .silent = true },
	{ .name = "game",
	    .up = game_up,
	    .ask = game_ask,
	    .kill = game_kill,
	    .again = THE_SAME },
};

#define EACH_SERVICE(s) \
	(s = services; s < services + sizeof(services) / sizeof(*services); s++)

static const char *
lacks(const struct service *s)
{
	int i;

	for (i = 0; i < 2; i++)
		if (s->programs[i] != NULL &&
		    child_find(s->programs[i]) == NULL)
			return text("%s is not installed", s->programs[i]);
	return s->lacks != NULL ? s->lacks() : NULL;
}

/* A service without its programs has servers that are down. */
static void
begin(struct service *s)
{
	const char *why = lacks(s);
	int i;

	if (why != NULL)
		suite_skip(text("everything: %s", s->name), why);
	for (i = 0; why == NULL && i < GUIDE_SERVERS; i++) {
		s->up(&guide, &s->child[i], i);
		s->is_up[i] = true;
	}
}

static bool
is_there(const struct service *s)
{
	return s->is_up[0] || s->is_up[1];
}

static void
kill_server(struct service *s, int i)
{
	if (s->kill != NULL)
		s->kill(&guide, &s->child[i], i);
	else
		child_stop(&s->child[i], SIGKILL);
	s->is_up[i] = false;
}

/* On a slow machine a server is slow before it has failed. Checks of a server
 * that is not the primary one may last until their timeout. */
static void
be_patient(const struct service *s)
{
	(void)guide_ask_service(&guide, s->name, "timeout 60");
	if (s->promote == NULL)
		(void)guide_ask_service(&guide, s->name, "check_timeout 60");
}

static void
expect_both(const struct service *s)
{
	int first, second;

	guide_wait_service(&guide, s->name, 0, "up result ok");
	guide_wait_service(&guide, s->name, 1,
	    s->promote != NULL ? "down result failed" : "up result ok");
	first = s->ask();
	second = s->ask();
	ck_assert_msg(
	    s->again == ANY || (first == second) == (s->again == THE_SAME),
	    "%s: server %d, then %d", s->name, first, second);
}

/* The server that serves a client fails, and the other one does it instead. */
static void
fail_over(struct service *s)
{
	int first = s->ask(), other = 1 - first, i;

	kill_server(s, first);
	if (s->promote != NULL) {
		ck_assert_int_eq(first, 0);
		s->promote();
		guide_wait_service(&guide, s->name, 1, "up result ok");
	}
	if (s->silent)
		guide_wait_service(
		    &guide, s->name, first, "down result failed");
	for (i = 0; i < 2; i++)
		ck_assert_msg(
		    s->ask() == other, "%s: server %d is dead", s->name, first);
	guide_wait_service(&guide, s->name, first, "down result failed");
	ck_assert_ptr_nonnull(strstr(guide_ask(&guide, "services"),
	    text("%s state degraded ", s->name)));
}

static void
expect_all(void)
{
	const struct service *s;

	expect_redirect();
	for
		EACH_SERVICE(s)
	if (is_there(s))
		(void)s->ask();
}

START_TEST(everything)
{
	struct service *s;
	int i;

	NEED_PROGRAM("curl");
	NEED_ROOT();
	NEED_GUIDE(&guide, "everything");
	web_identities();
	for
		EACH_SERVICE(s)
	begin(s);
	guide_start(&guide);
	for
		EACH_SERVICE(s)
	be_patient(s);
	/* this client comes more often than ten times a minute */
	(void)guide_ask_service(&guide, "ssh", "client_rate 0");
	for
		EACH_SERVICE(s)
	if (is_there(s))
		expect_both(s);
	for
		EACH_SERVICE(s)
	if (is_there(s)) {
		fail_over(s);
		expect_all();
	}
	for
		EACH_SERVICE(s)
	for (i = 0; i < GUIDE_SERVERS; i++)
		if (s->is_up[i])
			kill_server(s, i);
	guide_end(&guide);
}
END_TEST

SUITE(test_guide_everything)
{
	Suite *s = suite_create("guide_everything");

	SUITE_ADD(s, everything, 120);
	return s;
}
