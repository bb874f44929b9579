/* test_participants.c: a change has the same effects whether only those
 * participants are called that it concerns, or all: each setting is changed
 * alone in a pen that runs, and so are lists, routes, servers and services. And
 * this test can see a participant that is missing: each is left out in turn.
 *
 * What needs a network interface is in tests/net: test_dsr_fast_change. */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/words.h"
#include "control/apply/apply.h"
#include "control/apply/services.h"
#include "control/file/config_file.h"
#include "control/language/command.h"
#include "net/loop/loop_private.h"
#include "proxy/check/checker_private.h"
#include "proxy/frontend/frontend_private.h"
#include "support/ask.h"
#include "support/setting_values.h"
#include "support/suite.h"

enum { PARTICIPANTS = 64, LINES = 1000, LEAST_LINES = 600 };

/* A line, as a command or after a base in a file that is read again. */
struct line {
	const char *text;
	const char *process, *base; /* what the file has besides: in front,
				     * and in both services */
};

static struct line lines[LINES];
static unsigned count;

static struct pen *pen;
/* The file of log lines, the configuration, and where services listen: also
 * for processes that are forked, which have directories of their own. */
static const char *log_path, *conf, *at_first, *at_a, *at_other, *tls_lines;
static struct endpoint place; /* for pages and peers */
static bool shows_new_ones;

/* ---- what runs ---- */

/* Which participants are called: all, or those that a change concerns, perhaps
 * without a part of one. */
struct masks {
	bool all;
	int left_out; /* number of the part, two for each participant; or -1 */
};

static const struct masks as_they_are = { .left_out = -1 },
			  all_of_them = { .all = true, .left_out = -1 };

static uint64_t *
part_of(struct participant *list, int number)
{
	struct participant *who = &list[number / 2];

	return number % 2 == 0 ? &who->process.on : &who->service.on;
}

static void
set_masks(struct participant list[PARTICIPANTS], const struct masks *m)
{
	unsigned n = 0, i;

	for (; pen->participants[n].name != NULL; n++)
		list[n] = pen->participants[n];
	for (i = 0; m->all && i < 2 * n; i++)
		if (*part_of(list, (int)i) != 0)
			*part_of(list, (int)i) = CHANGED_ALL;
	if (m->left_out >= 0)
		*part_of(list, m->left_out) = 0;
	list[n] = (struct participant){ .name = NULL };
	pen->participants = list;
}

static void
write_conf(const struct line *l, const char *more)
{
	write_file(conf,
	    text("acl 7 permit 127.0.0.0/8\nacl office permit 10.0.0.0/8\n"
		 "%slisten %s\nblacklist 0\n"
		 "server 0 address 127.0.0.1 port 9\n"
		 "server 1 address 127.0.0.3 port 9 max 7\n%s%s"
		 "service a\nlisten %s\nserver 0 address 127.0.0.1 port 10\n%s",
		l->process, at_first, l->base, more, at_a, l->base));
}

static void
start(const struct line *l)
{
	struct plan *draft;
	struct error e;

	pen = pen_new();
	pen->given->process->file = strdup(conf);
	write_conf(l, "");
	draft = config_draft(pen, false, &e);
	ck_assert_msg(draft != NULL, "%s: %s", l->text, e.text);
	ck_assert_msg(apply_plan_now(pen, draft, &e) == 0, "%s", e.text);
	ck_assert_msg(pen_start(pen, &e) == 0, "%s", e.text);
}

static const char *
ask(const char *line)
{
	char answer[65536];
	struct error e;

	if (ask_pen(pen, line, answer, sizeof(answer), &e) < 0)
		return text("error: %s", e.text);
	return text("%s", answer);
}

/* ---- what it has come to ---- */

static void
put_server(struct buffer *out, const struct service *svc, unsigned slot)
{
	const struct server *s = pool_slot(svc->pool, slot);
	const struct server_settings *o = &s->set;
	char at[ADDR_TEXT_MAX] = "";
	struct checker_report r;

	if (s->addrs.count > 0)
		addr_format(&s->addrs.addr[0], at);
	reply_add(out,
	    "server %u present=%d name=%s at=%s max=%u hard=%u weight=%u "
	    "prio=%d acl=%d tls=%d forward=%d proxy=%d on_down=%d may=%d "
	    "slow=%u blacklist=%u admin=%d out=%d checked=%d down=%d\n",
	    slot, s->present, s->name != NULL ? s->name : "", at,
	    (unsigned)o->soft, (unsigned)o->hard, o->weight, o->prio, o->acl,
	    o->tls, o->forward, o->proxy, o->on_down, o->may_be_down,
	    (unsigned)o->slow_start_ms, (unsigned)o->blacklist_ms, s->admin,
	    s->blacklisted_until != 0, s->checked, s->health.down);
	if (checker_report(svc->checker, slot, &r))
		reply_add(out, "checked by %s port %u\n",
		    check_spec_text(r.spec),
		    checker_record_of(svc->checker, slot)->port);
}

static void
put_listener(void *arg, struct listener *l)
{
	char at[ADDR_TEXT_MAX];

	reply_add(arg, "listens %s\n", addr_format(&l->at, at));
}

/* Whether it is another one than before; when all participants are called, one
 * may be made anew without need. */
static const char *
state_of(const void *now, const void *before)
{
	return now == NULL		       ? "none"
	    : now == before || !shows_new_ones ? "there"
					       : "new";
}

/* What a service had before the change. */
struct objects {
	const void *tls_server, *tls_client, *routes, *log_format,
	    *request_format, *httplog, *sessionlog;
};

static struct objects
objects_of(const struct service *svc)
{
	const struct frontend_core *f = &svc->frontend->core;

	return (struct objects){ .tls_server = f->tls.server,
		.tls_client = f->tls.client,
		.routes = f->routes,
		.log_format = f->log_format,
		.request_format = f->request_format,
		.httplog = f->httplog,
		.sessionlog = f->sessionlog };
}

static void
put_objects(
    struct buffer *out, const struct service *svc, const struct objects *b)
{
	const struct frontend_core *f = &svc->frontend->core;
	unsigned i;

	reply_add(out,
	    "tls server %s, client %s, %u %d %d; timers %d %d\n"
	    "routes %s, log_format %s, request_format %s, httplog %s; log %d, "
	    "session log %s\n",
	    state_of(f->tls.server, b->tls_server),
	    state_of(f->tls.client, b->tls_client),
	    (unsigned)f->tls.handshake_ms, f->tls.upstream,
	    f->tls.require_close_notify,
	    f->tls.server == svc->tls_config->server,
	    f->tls.client == svc->tls_config->client,
	    state_of(f->routes, b->routes),
	    state_of(f->log_format, b->log_format),
	    state_of(f->request_format, b->request_format),
	    state_of(f->httplog, b->httplog), f->requestlog == pen->log,
	    state_of(f->sessionlog, b->sessionlog));
	for (i = 0; f->routes != NULL && i < f->routes->count; i++)
		reply_add(out, "route %s: %u servers, leads %d\n",
		    f->routes->list[i].pattern,
		    f->routes->list[i].servers.count,
		    f->routes->list[i].leads_to != NULL);
}

/* What the frontend, the pool and the checker obey is what the plan has. */
static void
put_settings(struct buffer *out, const struct service *svc)
{
	const struct config *c = svc->plan->config;
	const struct frontend_core *f = &svc->frontend->core;
	const struct checker_options *o = &svc->checker->options;

	reply_add(out,
	    "options %d, pool %d, checks %d; hello %d tuned %d limited %d "
	    "splice %d keep %u pipes %u tap %d; windows %d\n",
	    memcmp(&f->options, &c->frontend, sizeof(f->options)) == 0,
	    memcmp(pool_options(svc->pool), &c->pool, sizeof(c->pool)) == 0,
	    o->interval_ms == c->checks.interval_ms &&
		o->interval_down_ms == c->checks.interval_down_ms &&
		o->timeout_ms == c->checks.timeout_ms &&
		o->lazy == c->checks.lazy &&
		o->running_max == (unsigned)c->checks.running_max,
	    f->hello, f->tuned, f->limited, f->share.splice,
	    (unsigned)f->share.keep_max, f->share.kernel_pipes_max > 0,
	    f->share.tap != NULL, svc->http_windows != NULL);
}

static void
put_service(
    struct buffer *out, const struct service *svc, const struct objects *b)
{
	unsigned i;

	reply_add(out, "service %s\n", svc->name);
	put_settings(out, svc);
	put_objects(out, svc, b);
	frontend_each_listener(svc->frontend, put_listener, out);
	for (i = 0; i < pool_slots(svc->pool); i++)
		put_server(out, svc, i);
}

static void
put_lists(struct buffer *out)
{
	const struct plan_acls *l = &pen->plan->process->acls;
	const struct service *svc;
	uint32_t i;

	SERVICE_EACH (pen, svc) {
		for (i = 0; i < ACL_LISTS; i++)
			reply_add(out, "%d",
			    acl_equal(pool_acl(svc->pool, i), &l->numbered[i]));
		for (i = 0; i < l->count; i++)
			reply_add(out, " %s %d", l->named[i].name,
			    acl_equal(pool_acl(svc->pool,
					  (unsigned)l->named[i].number),
				&l->named[i].list));
		reply_add(out, "\n");
	}
}

struct shared_objects {
	const void *log, *web, *geoip;
};

static struct shared_objects
shared_objects(void)
{
	return (struct shared_objects){ pen->log, pen->web, pen->geoip };
}

static void
put_process(struct buffer *out, const struct shared_objects *b)
{
	reply_add(out,
	    "log %s, web %s, geoip %s, countries %d, peers "
	    "%d, level %d, spin %d\n%s",
	    state_of(pen->log, b->log), state_of(pen->web, b->web),
	    state_of(pen->geoip, b->geoip),
	    countries_made(pool_countries(pen->service->pool)) != 0,
	    pen->peers != NULL, (int)log_level, pen->loop->spin.on,
	    ask("peers"));
}

/* The warnings that were logged, without their times. Other lines have fields,
 * and too many of one kind are not logged. */
static const char *
warnings_of(const char *log)
{
	enum { STAMP = sizeof("2026-01-01T00:00:00.000 ") - 1 };
	const char *kept = "", *end;

	for (; (end = strchr(log, '\n')) != NULL; log = end + 1)
		if (end - log > STAMP && log[0] != '{' &&
		    memchr(log, '=', (size_t)(end - log)) == NULL)
			kept = text("%s%.*s\n", kept, (int)(end - log - STAMP),
			    log + STAMP);
	return kept;
}

/* ---- one change ---- */

/* The line as a command, or "reload" of a file that has it. */
static const char *
change(const struct line *l)
{
	const char *file = l->text + strlen("reload ");

	if (strncmp(l->text, "reload ", strlen("reload ")) != 0)
		return ask(l->text);
	write_conf(l, text("%s\n", file));
	return ask("reload");
}

/* What there is after it, as text. */
static const char *
effects_of(const struct line *l, const struct masks *m)
{
	struct participant list[PARTICIPANTS];
	struct objects before[2];
	struct shared_objects shared;
	struct buffer out;
	struct service *svc;
	const char *kept, *answer;

	start(l);
	set_masks(list, m);
	before[0] = objects_of(pen->service);
	before[1] = objects_of(service_find(pen, "a"));
	shared = shared_objects();
	ck_assert_int_eq(truncate(log_path, 0), 0);
	answer = change(l);
	buffer_init(&out);
	reply_add(&out, "%s\n%s", answer, warnings_of(contents(log_path)));
	SERVICE_EACH (pen, svc)
		if (!svc->leaves)
			put_service(&out, svc, &before[svc != pen->service]);
	put_lists(&out);
	put_process(&out, &shared);
	ck_assert_int_eq(buffer_append(&out, "", 1), 0);
	kept = text("%s", buffer_bytes(&out));
	buffer_fini(&out);
	pen_free(pen);
	return kept;
}

/* ---- all changes ---- */

static void
add_to(const char *process, const char *base, const char *line)
{
	ck_assert_uint_lt(count, LINES);
	lines[count++] =
	    (struct line){ .text = line, .process = process, .base = base };
}

static void
add(const char *base, const char *line)
{
	add_to("", base, line);
}

/* Of the first service and of another one; and by a reload. */
static void
add_ways(const char *base, const char *line)
{
	add(base, line);
	add(base, text("service a %s", line));
	add(base, text("reload %s", line));
}

static void
add_settings(const char *settings, enum setting_base base)
{
	const char *rest, *name, *args, *line;

	for (rest = settings; (name = setting_next_name(&rest)) != NULL;) {
		args = setting_arguments(name, ask(text("help %s", name)));
		if (setting_base_for(name) != base || args == NULL)
			continue;
		line =
		    setting_line(name, args, setting_in_json(settings, name));
		if (line != NULL)
			add_ways(setting_base_lines(base), line);
	}
}

static void
add_servers(void)
{
	const char *help = setting_arguments("server", ask("help server")),
		   *line;

	while ((line = setting_line_of_server(&help)) != NULL)
		add_ways("http\n", line);
}

/* Those that are refused, too: by checks. */
static void
add_others(void)
{
	static const char *const others[] = { "server 0 drain",
		"server 0 maint", "server 0 down", "server 1 remove",
		"server 0 blacklist 7", "server 2 address 127.0.0.1 port 9",
		"server 2 address 127.0.0.1 port 11 weight 3 prio 2",
		"server 0 max 5 hard 3", "server 0 address fe80::1 port 7",
		"server 0 slow_start 3", "abuse 127.0.0.1:9",
		"emergency 127.0.0.1:9", "acl 7 deny 127.0.0.9",
		"acl office deny 10.0.0.9", "no acl office", "acl 7 country SE",
		"client_acl office", "client_acl nowhere",
		"server 0 acl nowhere", "web_acl nowhere",
		"accept_proxy office", "accept_proxy 6", "route sni a.test 0",
		"route default 1", "route sni a.test 127.0.0.3",
		"route default service a", "route default service b",
		"source 192.0.2.1", "web_stats /nowhere/file",
		"on_state /nowhere/file", "log_format {", "request_format {",
		"log /nowhere/file", "session_log /nowhere/file",
		"request_log /nowhere/file", "request_log file", "ssl_require",
		"ssl_key /nowhere/file", "ssl_upstream", "check http /",
		"check https / verify", "check dsr",
		"check program /nowhere/file", "geoip /nowhere/file",
		"check dns a.test", "dsr_gateway 192.0.2.1", "workers 2",
		"client_limit_action abuse", "conn_max_all 1",
		"rate_down 10000", "dummy", "peek", "prio", "weight", "hash",
		"http_errors 7", "request_log log", "log_sample 3" };
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		add_ways("http\n", others[i]);
	add("http\n", text("server 0 address %s", at_a));
	add("http\n", text("service a server 0 address %s", at_first));
	add("http\n", text("listen %s", at_other));
	add("http\n", text("service a listen %s", at_other));
	add("http\n", text("listen %s", scratch("nowhere/t")));
	add("http\n", "reload");
	add("http\n", text("reload service b\nlisten %s\ndummy", at_other));
	add("http\n",
	    text("reload conn_max_all 2\nservice b\nlisten %s\n"
		 "server 0 address 127.0.0.1 port 9",
		at_other));
	add_to("log_sample 3\n", "http\n", "no log_sample");
	add_to("conn_max_all 2\n", "http\n",
	    text("reload service b\nlisten %s\nserver 0 address 127.0.0.1 "
		 "port 9",
		at_other));
	add_to(text("session_log %s\n", scratch("sessions")), "",
	    "reload dummy\nserver 0 remove");
	add("http\nroute sni a.test 127.0.0.3\n", "server 1 remove");
	add("http\nroute protocol tls 0\n", text("include %s", tls_lines));
	add("http\ncheck connect\n", "server 0 check none");
	add("http\ncheck connect\n", "server 1 address 127.0.0.4");
	add("http\ncheck connect\n", "check_port 7");
	add("http\ncheck connect\n", "no check");
	add_to("acl 8 permit 127.0.0.1\n", "accept_proxy 8\n", "no acl 8");
	add_to("acl 8 permit 127.0.0.1\n", "tarpit_acl 8\n", "no acl 8");
	add("client_acl office\n", "acl office deny 10.0.0.9");
	add("client_acl office\n", "no acl office");
	add("client_acl office\n", "no client_acl");
	add("client_acl office\n", "reload idle_timeout 7");
	add(setting_base_lines(SETTING_TLS), "http");
	add("", "check https /");
	add("", "server 0 check https /");
	add_to("debug 2\n", "", "ascii");
}

static void
begin(void)
{
	int fd;

	log_path = scratch("log.lines");
	conf = scratch("pen.conf");
	at_first = scratch("s");
	at_a = scratch("a");
	at_other = scratch("t");
	tls_lines = scratch("tls");
	fd = open(log_path, O_CREAT | O_RDWR | O_APPEND, 0600);
	ck_assert_int_ge(fd, 0);
	endpoint_new(&place, ENDPOINT_TCP4);
	setting_values_begin(&place);
	write_file(tls_lines, setting_base_lines(SETTING_TLS));
	ck_assert_int_eq(dup2(fd, STDERR_FILENO), STDERR_FILENO);
}

/* One pen to read names and values from. */
static void
collect(void)
{
	const char *settings;
	int base;

	start(&(struct line){ .process = "", .base = "" });
	settings = ask("show settings json");
	if (strncmp(settings, "error", 5) == 0) {
		pen_free(pen);
		SKIP("needs JSON");
	}
	for (base = 0; base < SETTING_BASES; base++)
		add_settings(settings, (enum setting_base)base);
	add_servers();
	add_others();
	pen_free(pen);
	ck_assert_uint_ge(count, LEAST_LINES);
}

/* ---- none is missed ---- */

static const char *
differs(const char *now, const char *wanted)
{
	enum { BEFORE = 40, SHOWN = 300 };
	size_t same = 0, from;

	while (now[same] != '\0' && now[same] == wanted[same])
		same++;
	if (now[same] == wanted[same])
		return NULL;
	from = same > BEFORE ? same - BEFORE : 0;
	return text("\"%.*s\", of all \"%.*s\"", SHOWN, now + from, SHOWN,
	    wanted + from);
}

START_TEST(as_if_all_were_called)
{
	const char *wrong;
	unsigned i;

	begin();
	collect();
	for (i = 0; i < count; i += suite_is_light() ? 4 : 1) {
		wrong = differs(effects_of(&lines[i], &as_they_are),
		    effects_of(&lines[i], &all_of_them));
		ck_assert_msg(wrong == NULL, "%s%s%s: %s", lines[i].process,
		    lines[i].base, lines[i].text, wrong);
	}
}
END_TEST

/* ---- one that is missing is seen ---- */

/* What a pen without it does may end it: in a process of its own. */
static bool
is_seen(const struct line *l, const struct masks *m)
{
	const char *wanted = effects_of(l, &as_they_are);
	pid_t child = fork();
	int status;

	ck_assert_int_ge(child, 0);
	if (child == 0)
		_exit(strcmp(effects_of(l, m), wanted) != 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return status != 0;
}

/* A change that needs the participant: its part of the process, or, with
 * "services", that of each service. NULL: what it does is seen elsewhere, where
 * there are clients, an interface, peers or workers; or it acts at a start
 * only. */
static const struct need {
	const char *name, *line, *process;
} needs[] = {
	{ "process", "spin auto", "" },
	{ "process of services", "reload fit_file FILE", "" },
	{ "page and sources", "web_stats /nowhere/file", "" },
	{ "page and sources of services", "source 192.0.2.1", "" },
	{ "warnings of direct return of services", NULL, NULL },
	{ "director of services", NULL, NULL },
	{ "tls of services", "include TLS", "" },
	{ "access lists", "acl 7 deny 127.0.0.9", "" },
	{ "access lists of services", "client_acl nowhere", "" },
#ifdef HAVE_MAXMINDDB
	{ "countries", "geoip /nowhere/file", "" },
#else
	{ "countries", NULL, NULL },
#endif
	{ "servers of services", "server 0 weight 3", "" },
	{ "frontend of services", "idle_timeout 7", "" },
	{ "sockets to servers of services", NULL, NULL },
	{ "logs", "log FILE", "" },
	{ "logs of services", "session_log FILE", "" },
	{ "errors of servers of services", "http_errors 0", "" },
	{ "pages", "web PLACE", "" },
	{ "peers", "peer PLACE key TICKETS", "" },
	{ "peers of services", NULL, NULL },
	{ "routes", "route default service b", "" },
	{ "routes of services", "route sni a.test 0", "" },
	{ "circles of services", "service a server 0 address FIRST",
	    "route sni a.test service a\n" },
	{ "warnings of routes of services", "route sni a.test 192.0.2.9", "" },
	{ "times of directors of services", NULL, NULL },
	{ "tunnels of services", NULL, NULL },
	{ "listeners of services", "listen OTHER", "" },
	{ "checks of services", "check connect", "" },
	{ "control sockets", NULL, NULL },
	{ "warnings of services", "server 0 max 5 hard 3", "" },
	{ "number of workers", "workers 2", "" },
	{ "number of workers of services", NULL, NULL },
	{ "workers", NULL, NULL },
};

static const struct need *
need_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (strcmp(needs[i].name, name) == 0)
			return &needs[i];
	ck_abort_msg("%s: which change needs it?", name);
}

/* Words of a line that stand for addresses and files of this test. */
static const char *
filled_in(const char *line)
{
	const struct {
		const char *word, *is;
	} all[] = { { "FILE", scratch("file") }, { "TLS", tls_lines },
		{ "PLACE", place.text }, { "TICKETS", scratch("peer.key") },
		{ "FIRST", at_first }, { "OTHER", at_other } };
	const char *at;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		at = strstr(line, all[i].word);
		if (at != NULL)
			line = text("%.*s%s%s", (int)(at - line), line,
			    all[i].is, at + strlen(all[i].word));
	}
	return line;
}

START_TEST(one_that_is_missing_is_seen)
{
	struct masks m = as_they_are;
	struct participant list[PARTICIPANTS];
	const struct need *need;
	struct line l = { .base = "http\n" };
	unsigned i;

	begin();
	shows_new_ones = true;
	l.text = "idle_timeout 7";
	l.process = "";
	ck_assert(!is_seen(&l, &as_they_are));
	pen = pen_new();
	set_masks(list, &as_they_are);
	pen_free(pen);
	for (i = 0; list[i / 2].name != NULL; i++) {
		if (*part_of(list, (int)i) == 0)
			continue;
		need = need_of(text("%s%s", list[i / 2].name,
		    i % 2 == 0 ? "" : " of services"));
		if (need->line == NULL)
			continue;
		l.text = filled_in(need->line);
		l.process = need->process;
		m.left_out = (int)i;
		ck_assert_msg(is_seen(&l, &m), "%s: %s", need->name, l.text);
	}
}
END_TEST

SUITE(test_participants)
{
	Suite *s = suite_create("participants");

	SUITE_ADD(s, as_if_all_were_called, 300);
	SUITE_ADD(s, one_that_is_missing_is_seen, 60);
	return s;
}
