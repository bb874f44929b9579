/* connection_command.c: commands about connections, flows, and where clients
 * come in. */
#include "config.h"

#include <string.h>

#include "base/log.h"
#include "base/number.h"
#include "base/words.h"
#include "control/apply/services.h"
#include "control/commands/commands.h"
#include "control/language/command.h"
#include "control/answer/fields.h"
#include "control/life/context.h"
#include "control/plan/check_plan.h"
#include "proxy/session/connections.h"
#include "proxy/datagram/flow.h"
#include "proxy/frontend/frontend.h"
#include "tls/tls.h"

static int
connection_parse_one(struct call *c, uint64_t max, uint64_t *n, struct error *e)
{
	if (c->words->count != 1)
		return error_set(e, "expects %s", c->row->args);
	if (number_parse(c->words->word[0], 0, max, n) == 0)
		return 0;
	return error_set(e, "\"%.100s\" is not a number from 0 to %llu",
	    c->words->word[0], (unsigned long long)max);
}

/* The number of a session or flow. */
static int
parse_own(struct call *c, uint64_t *n, struct error *e)
{
	if (connection_parse_one(c, UINT32_MAX, n, e) < 0)
		return -1;
	*n = worker_own_number(&c->pen->role, *n);
	return 0;
}

/* The frontend, or NULL with a short message. */
static struct frontend *
serving(struct call *c, struct error *e)
{
	return call_needs_serving(c, e) == 0 ? c->service->frontend : NULL;
}

/* ---- where clients come in ---- */

static int
report_listen(struct call *c)
{
	struct fields f;

	fields_begin(&f, c->reply, FIELDS_LINE);
	fields_text(&f, "listen", c->plan->listen_text);
	fields_end(&f);
	return 0;
}

/* Servers that came first have its port, too, unless they have one: the order
 * of lines in a file does not count. */
static int
set_default_port(struct plan *p, struct error *e)
{
	uint16_t port = check_plan_first_port(p);
	const struct server_plan *s;
	struct server_plan *taker;
	unsigned i;

	for (i = 0; port != 0 && (s = plan_slot(p, i)) != NULL; i++) {
		if (!server_plan_lacks_port(s))
			continue;
		taker = plan_edit(p, i);
		if (taker == NULL)
			return error_set(e, "out of memory");
		taker->port = port;
	}
	return 0;
}

/* The file comes after the command line. */
static void
warn_of_replaced(const struct call *c, const char *text)
{
	const char *before;

	if (c->dry || c->caller != NULL || c->origin == NULL ||
	    c->plan == c->pen->given || c->service != c->pen->service)
		return;
	before = c->pen->given->listen_text;
	if (before != NULL && text_equal(before, c->plan->listen_text) &&
	    !text_equal(before, text))
		log_write(NULL, LOG_LEVEL_WARN,
		    "%s: listen %.200s replaces %.200s of the command line",
		    c->origin, text, before);
}

/* The plan in force of the service that is meant; NULL: it is new. */
static const struct plan *
plan_now(const struct call *c)
{
	return c->service != c->pen->blank
	    ? c->service->plan
	    : plan_service(c->pen->plan, plan_service_name(c->plan));
}

/* Whether it has a Unix socket that is not there yet. */
static bool
makes_file(const struct listen_list *list, const struct plan *now)
{
	uint32_t i;

	if (now != NULL && listen_list_equal(list, &now->listen))
		return false;
	for (i = 0; i < list->count; i++)
		if (list->entry[i].at.u.sa.sa_family == AF_UNIX)
			return true;
	return false;
}

static int
run_listen(struct call *c, struct error *e)
{
	enum resolve_how how =
	    c->pen->phase < PHASE_SERVING ? RESOLVE_NAMES : RESOLVE_NUMERIC;
	const struct plan *now = plan_now(c);
	struct listen_list list = { .count = 0 };
	const char *text = c->words->word[0];
	int rc;

	if (c->words->count == 0)
		return service_must_be_named(c->service, "listen", e) < 0
		    ? -1
		    : report_listen(c);
	if (c->words->count > 1)
		return error_set(e, "expects %s", c->row->args);
	if (now != NULL && text_equal(now->listen_text, text))
		rc = listen_list_copy(&list, &now->listen) == 0
		    ? 0
		    : error_set(e, "out of memory");
	else
		rc = spec_parse_listen(&list, text, how, e);
	if (rc == 0 && makes_file(&list, now))
		rc = call_needs_local(c, e);
	if (rc == 0)
		warn_of_replaced(c, text);
	if (rc == 0 && text_set(&c->plan->listen_text, text) < 0)
		rc = error_set(e, "out of memory");
	if (rc < 0) {
		listen_list_fini(&list);
		return -1;
	}
	listen_list_fini(&c->plan->listen);
	c->plan->listen = list;
	return set_default_port(c->plan, e) == 0 ? report_listen(c) : -1;
}

/* ---- connections ---- */

/* Emits what is known of a client's TLS. */
static void
connection_emit_tls(struct fields *f, const struct stream *s)
{
	struct tls_facts t;

	if (s == NULL || !stream_is_open(s) || !stream_is_tls(s))
		return;
	tls_facts(s, &t);
	fields_text(f, "tls", t.version);
	if (t.cipher[0] != '\0')
		fields_text(f, "cipher", t.cipher);
	fields_flag(f, "resumed", t.resumed);
	if (t.name[0] != '\0')
		fields_text(f, "name", t.name);
	if (t.alpn[0] != '\0')
		fields_text(f, "alpn", t.alpn);
	if (!t.certificate)
		return;
	fields_text(f, "subject", t.subject);
	fields_text(f, "serial", t.serial);
	fields_text(f, "verified", t.verified);
}

static void
emit_connection(struct fields *f, const struct process_role *t,
    const struct connection_info *i)
{
	char client[PEER_TEXT_MAX];

	fields_number(f, "connection", worker_number(t, i->number));
	fields_text(f, "state", i->state);
	fields_text(f, "client",
	    i->phase != 0 ? peer_format(&i->client, client) : NULL);
	if (i->server != NULL)
		fields_number(f, "server", i->server->number);
	else
		fields_integer(f, "server", -1);
	fields_integer(f, "downfd", i->down_fd);
	fields_integer(f, "upfd", i->up_fd);
	fields_number(f, "pending_down", i->pending_down);
	fields_number(f, "pending_up", i->pending_up);
	fields_number(f, "sx", i->up);
	fields_number(f, "rx", i->down);
	fields_number(f, "age_ms", i->age_ms);
	fields_number(f, "idle_ms", i->idle_ms);
	connection_emit_tls(f, i->stream);
}

/* Pen's shape: numbers, of a free one zeroes; -1: no server so far. */
static void
print_connection(
    struct buffer *out, uint64_t number, const struct connection_info *i)
{
	reply_add(out,
	    "Connection %llu:\nstate = %u\ndownfd = %d, upfd = %d\n"
	    "client = %u, server = %lld\npend = %zu\n",
	    (unsigned long long)number, i->phase, i->down_fd, i->up_fd,
	    i->client_number,
	    i->server != NULL	? (long long)i->server->number
		: i->phase != 0 ? -1LL
				: 0LL,
	    i->pending_down);
}

static int
out_of_range(struct call *c, uint64_t n, struct error *e)
{
	c->reply->classic = c->origin == NULL; /* else the file is to blame */
	return error_set(e, "Connection %llu out of range",
	    (unsigned long long)worker_number(&c->pen->role, n));
}

static int
run_connection(struct call *c, struct error *e)
{
	struct connection_info info;
	struct fields f;
	uint64_t n;

	if (serving(c, e) == NULL || parse_own(c, &n, e) < 0)
		return -1;
	if (!connection_find(
		frontend_sessions(c->service->frontend), n, &info)) {
		if (n >= c->plan->config->frontend.sessions_max)
			return out_of_range(c, n, e);
		info = (struct connection_info){ .number = (unsigned)n,
			.state = "free",
			.down_fd = -1,
			.up_fd = -1 };
	}
	fields_begin(&f, c->reply, FIELDS_SILENT);
	emit_connection(&f, &c->pen->role, &info);
	fields_end(&f);
	if (!c->reply->json)
		print_connection(
		    &c->reply->out, worker_number(&c->pen->role, n), &info);
	return 0;
}

static bool
more_connections(struct reply *r, struct service *svc)
{
	struct connection_info info;
	struct fields f;
	bool found = true;

	while (buffer_length(&r->out) < REPLY_PIECE &&
	    (found = connection_next(
		 frontend_sessions(svc->frontend), r->at, &info))) {
		fields_begin(&f, r, FIELDS_LINE);
		emit_connection(&f, &svc->pen->role, &info);
		fields_end(&f);
		r->at = info.number + UINT64_C(1);
	}
	if (!found)
		fields_list_end(r);
	return found;
}

static int
run_connections(struct call *c, struct error *e)
{
	if (serving(c, e) == NULL)
		return -1;
	fields_list_begin(c->reply);
	c->reply->at = 0;
	c->reply->more = more_connections;
	return 0;
}

static int
run_close(struct call *c, struct error *e)
{
	uint64_t n;

	if (parse_own(c, &n, e) < 0)
		return -1;
	if (!connection_close(frontend_sessions(c->service->frontend), n))
		return out_of_range(c, n, e);
	reply_add(&c->reply->out, "Forcibly closing connection %llu\n",
	    (unsigned long long)worker_number(&c->pen->role, n));
	return 0;
}

static int
run_socket(struct call *c, struct error *e)
{
	struct frontend *frontend = serving(c, e);
	struct fields f;
	int64_t number;
	uint64_t fd;

	if (frontend == NULL || connection_parse_one(c, INT32_MAX, &fd, e) < 0)
		return -1;
	number = connection_of_fd(frontend_sessions(frontend), (int)fd);
	if (number >= 0)
		number =
		    (int64_t)worker_number(&c->pen->role, (uint64_t)number);
	fields_begin(&f, c->reply, FIELDS_SILENT);
	fields_number(&f, "socket", fd);
	fields_integer(&f, "connection", number);
	fields_end(&f);
	if (!c->reply->json)
		reply_add(&c->reply->out,
		    "Socket %llu belongs to connection %lld\n",
		    (unsigned long long)fd, (long long)number);
	return 0;
}

/* ---- flows ---- */

static void
emit_flow(
    struct reply *r, const struct process_role *t, const struct flow_info *i)
{
	char client[PEER_TEXT_MAX];
	struct fields f;

	fields_begin(&f, r, FIELDS_LINE);
	fields_number(&f, "flow", worker_number(t, i->number));
	fields_text(&f, "client", peer_format(&i->client, client));
	fields_integer(
	    &f, "server", i->server != NULL ? (int64_t)i->server->number : -1);
	fields_integer(&f, "fd", i->fd);
	fields_number(&f, "requests", i->requests);
	fields_number(&f, "responses", i->responses);
	fields_number(&f, "sx", i->up);
	fields_number(&f, "rx", i->down);
	fields_number(&f, "age_ms", i->age_ms);
	fields_number(&f, "idle_ms", i->idle_ms);
	fields_end(&f);
}

static int
run_flow(struct call *c, struct error *e)
{
	struct flow_info info;
	uint64_t n;

	if (serving(c, e) == NULL || parse_own(c, &n, e) < 0)
		return -1;
	if (!flows_find(frontend_flows(c->service->frontend), n, &info))
		return error_set(
		    e, "there is no flow %s", c->words->word[0]);
	emit_flow(c->reply, &c->pen->role, &info);
	return 0;
}

static bool
more_flows(struct reply *r, struct service *svc)
{
	struct flow_info info;
	bool found = true;

	while (buffer_length(&r->out) < REPLY_PIECE &&
	    (found = flows_next(frontend_flows(svc->frontend), r->at, &info))) {
		emit_flow(r, &svc->pen->role, &info);
		r->at = info.number + UINT64_C(1);
	}
	if (!found)
		fields_list_end(r);
	return found;
}

static int
run_flows(struct call *c, struct error *e)
{
	if (serving(c, e) == NULL)
		return -1;
	fields_list_begin(c->reply);
	c->reply->at = 0;
	c->reply->more = more_flows;
	return 0;
}

const struct command connection_commands[] = {
	{ .name = "listen",
	    .kind = KIND_CHANGE,
	    .run = run_listen,
	    .args = "[[ADDRESS:]PORT]",
	    .help = "prints or changes the listening address, at once" },
	{ .name = "connection",
	    .kind = KIND_REPORT,
	    .flags = ROW_LOOK | ROW_NUMBERS_WORKER | ROW_SERVICE,
	    .run = run_connection,
	    .args = "N",
	    .help = "prints a connection" },
	{ .name = "connections",
	    .kind = KIND_REPORT,
	    .flags = ROW_LOOK | ROW_EACH_WORKER | ROW_SERVICE,
	    .run = run_connections,
	    .help = "prints all connections" },
	{ .name = "close",
	    .kind = KIND_ACTION,
	    .flags =
		ROW_OPERATE | ROW_DRAINING | ROW_NUMBERS_WORKER | ROW_SERVICE,
	    .run = run_close,
	    .args = "N",
	    .help = "closes a connection" },
	{ .name = "socket",
	    .kind = KIND_REPORT,
	    .flags = ROW_LOOK | ROW_EACH_WORKER | ROW_SERVICE,
	    .run = run_socket,
	    .args = "FD",
	    .help = "prints which connection a descriptor belongs to" },
	{ .name = "flow",
	    .kind = KIND_REPORT,
	    .flags = ROW_LOOK | ROW_NUMBERS_WORKER | ROW_SERVICE,
	    .run = run_flow,
	    .args = "N",
	    .help = "prints a flow of datagrams" },
	{ .name = "flows",
	    .kind = KIND_REPORT,
	    .flags = ROW_LOOK | ROW_EACH_WORKER | ROW_SERVICE,
	    .run = run_flows,
	    .help = "prints all flows of datagrams" },
	{ .name = NULL },
};
