/* guide.c: the machines of the guide, and what its files say. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/ctl.h"
#include "support/guide.h"
#include "support/nginx.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SOON = 30000 };

/* Paths of the guide, and where they are below the scratch directory. */
static const struct {
	const char *is, *here;
} directories[] = {
	{ "/etc/pen/", "etc/" },
	{ "/run/pen-", "run-" },
	{ "/var/log/pen/", "log/" },
	{ "/run/app/", "app/" },
	{ "/run/bird/", "bird/" },
};

static const char *const same[] = { NULL };
static const char *machine, *const *differs = same;

/* ---- machines ---- */

static void
give_address(
    const struct net_fixture *r, enum net_fixture_place where, int number)
{
	net_fixture_ip(r, where,
	    text("addr flush dev eth0\naddr add 192.0.2.%d/24 dev eth0\n"
		 "addr add 2001:db8::%d/64 dev eth0 nodad\n",
		number, number));
}

/* ---- files ---- */

static const char *
replace(const char *in, const char *from, const char *to)
{
	const char *at, *out = "";

	for (; (at = strstr(in, from)) != NULL; in = at + strlen(from))
		out = text("%s%.*s%s", out, (int)(at - in), in, to);
	return text("%s%s", out, in);
}

const char *
guide_path(const char *path)
{
	size_t i;

	for (i = 0; i < sizeof(directories) / sizeof(*directories); i++)
		path = replace(path, directories[i].is,
		    scratch(text("%s%s", machine, directories[i].here)));
	return path;
}

const char *
guide_text(const char *file)
{
	const char *top = getenv("SRCDIR");
	const char *is = contents(
	    text("%s/examples/guide/%s", top != NULL ? top : "..", file));

	const char *const *pair;

	ck_assert_msg(*is != '\0', "there is no %s", file);
	for (pair = differs; *pair != NULL; pair += 2)
		is = replace(is, pair[0], pair[1]);
	return guide_path(is);
}

/* The end of the line that begins at `at`. */
static const char *
next_line(const char *at)
{
	at += strcspn(at, "\n");
	return at + (*at == '\n');
}

const char *
guide_quote(const char *file, const char *heading)
{
	static const char indented[] = "#     ";
	const char *at = strstr(guide_text(file), heading), *out = "";

	ck_assert_msg(at != NULL, "%s does not say: %s", file, heading);
	at = strstr(at, "\n#\n");
	ck_assert_msg(at != NULL, "%s: %s: no lines follow", file, heading);
	at++;
	for (at = next_line(at); strncmp(at, indented, 6) == 0;
	     at = next_line(at))
		out =
		    text("%s%.*s", out, (int)(next_line(at) - at - 6), at + 6);
	ck_assert_msg(*out != '\0', "%s: nothing follows: %s", file, heading);
	return out;
}

/* ---- both ---- */

static void
make_directory(const char *path)
{
	ck_assert_msg(mkdir(path, 0755) == 0 || errno == EEXIST, "%s: %s", path,
	    strerror(errno));
}

void
guide_machine(struct guide *g, const char *name)
{
	machine = name;
	differs = same;
	make_directory(guide_path("/etc/pen/"));
	make_directory(guide_path("/var/log/pen/"));
	make_directory(guide_path("/run/app/"));
	make_directory(guide_path("/run/bird/"));
	make_directory(guide_path(text("/run/pen-%s", g->name)));
}

void
guide_differs(const char *const *pairs)
{
	differs = pairs;
}

const char *
guide_network(struct guide *g, const char *name, bool two_pens)
{
	struct net_fixture_options o = { .servers = 2,
		.two_directors = two_pens };
	const char *why = net_fixture_up(&g->fixture, &o);

	if (why != NULL)
		return why;
	g->name = name;
	guide_machine(g, "");
	give_address(&g->fixture, NET_FIXTURE_CLIENT, 100);
	give_address(&g->fixture, NET_FIXTURE_SERVER, 21);
	give_address(&g->fixture, NET_FIXTURE_SERVER + 1, 22);
	give_address(&g->fixture, NET_FIXTURE_DIRECTOR, two_pens ? 11 : 10);
	if (two_pens)
		give_address(&g->fixture, NET_FIXTURE_DIRECTOR2, 12);
	return NULL;
}

/* ---- pen ---- */

/* It has no objection, though it may have notes, and see other directors. */
static void
check(const char *file)
{
	const char *said, *line;
	struct pen p;

	pen_start(&p, "--check", "-F", file, NULL);
	ck_assert_msg(child_wait(&p.child, SOON) == 0, "pen --check: %s",
	    child_err(&p.child));
	for (said = child_err(&p.child); *said != '\0';
	     said = next_line(said)) {
		line = text("%.*s", (int)strcspn(said, "\n"), said);
		ck_assert_msg(strncmp(line, "note: ", 6) == 0 ||
			strstr(line, "unless it is a director") != NULL,
		    "%s", line);
	}
}

void
guide_start_at(struct guide *g, struct pen *pen, enum net_fixture_place where)
{
	const char *file = guide_path(text("/etc/pen/%s.conf", g->name));

	write_file(file,
	    text("%s%s", guide_text(text("%s.conf", g->name)),
		g->more != NULL ? guide_path(g->more) : ""));
	net_fixture_enter(&g->fixture, where);
	check(file);
	pen_start(pen, "-f", "-F", file, NULL);
	net_fixture_leave(&g->fixture);
	WAIT_FOR(child_has_ended(&pen->child) ||
		child_has_said(&pen->child, "started version="),
	    SOON);
	ck_assert_msg(pen->child.running, "%s", child_err(&pen->child));
}

void
guide_start(struct guide *g)
{
	guide_start_at(g, &g->pen, NET_FIXTURE_DIRECTOR);
}

const char *
guide_ask(struct guide *g, const char *line)
{
	return net_fixture_run(&g->fixture, NET_FIXTURE_DIRECTOR, SOON,
	    ctl_client(), guide_path(text("/run/pen-%s/ctl", g->name)), line,
	    NULL);
}

const char *
guide_ask_service(struct guide *g, const char *service, const char *line)
{
	return guide_ask(g, text("service %s %s", service, line));
}

void
guide_end(struct guide *g)
{
	pen_down(&g->pen);
	net_fixture_down(&g->fixture);
}

/* ---- waiting ---- */

/* What is reported of the checks of one server; "" of none. */
static const char *
checks_of(struct guide *g, const char *service, int number)
{
	const char *checks =
	    text("\n%s", guide_ask_service(g, service, "checks"));
	const char *line = strstr(checks, text("\n%d check", number));

	return line == NULL
	    ? ""
	    : text("%.*s", (int)strcspn(line + 1, "\n"), line + 1);
}

static bool
is_in_time(struct guide *g, const char *service, int number, const char *state)
{
	long long began = wait_now_ms();

	while (strstr(checks_of(g, service, number),
		   text(" state %s ", state)) == NULL) {
		if (wait_now_ms() > began + wait_scaled(SOON))
			return false;
		wait_nap_since(began);
	}
	return true;
}

/* The test has not the time that the guide's servers have. Some of them have
 * not that for clients who come ten times a second, so it lasts no longer. */
void
guide_wait_service(
    struct guide *g, const char *service, int number, const char *state)
{
	const char *usual = guide_ask_service(g, service, "check_interval");

	(void)guide_ask_service(g, service, "check_interval 0.1");
	ck_assert_msg(is_in_time(g, service, number, state),
	    "%s: server %d is not %s: %s\npen: %s", service, number, state,
	    checks_of(g, service, number), child_err(&g->pen.child));
	(void)guide_ask_service(g, service,
	    text("check_interval %.*s", (int)strcspn(usual, "\n"), usual));
}

void
guide_wait_server(struct guide *g, int number, const char *state)
{
	guide_wait_service(g, "default", number, state);
}

void
guide_wait_listen(struct child *c, const char *host, int port)
{
	struct endpoint any = { .port = port }, at;

	endpoint_at_host(&at, &any, host);
	WAIT_FOR(child_has_ended(c) || endpoint_is_listening(&at), SOON);
	ck_assert_msg(c->running, "%s%s", child_err(c), child_out(c));
}
