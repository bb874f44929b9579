/* client_command.c: commands about the memory of clients, and where they go. */
#include "config.h"

#include <string.h>

#include "base/number.h"
#include "control/commands/commands.h"
#include "control/language/command.h"
#include "control/answer/fields.h"
#include "control/life/context.h"
#include "control/apply/server_find.h"
#include "pool/sticky/sticky.h"
#include "proxy/session/session.h"

enum { RECENT_SECONDS = 300, WALK = 2000 };

/* ---- all that were seen ---- */

static void
emit_client(struct reply *r, const struct sticky_client *client, uint64_t now)
{
	struct peer who = { .family = client->family };
	char text[PEER_TEXT_MAX];
	struct fields f;

	memcpy(who.ip, client->ip, sizeof(who.ip));
	fields_begin(&f, r, FIELDS_LINE);
	fields_text(&f, "client", peer_format_host(&who, text));
	fields_number(&f, "connects", client->connects);
	fields_number(&f, "sx", client->sent);
	fields_number(&f, "rx", client->received);
	fields_json_number(&f, "server", client->server);
	fields_json_number(&f, "age_ms", now - client->seen);
	fields_end(&f);
}

/* The next piece of those that were seen in the last r->arg ms. It also ends
 * after WALK clients, as older ones, which are skipped, take time, too. */
static bool
more_recent_clients(struct reply *r, struct service *svc)
{
	const struct sticky *clients = pool_sticky(svc->pool);
	size_t count = clients != NULL ? sticky_count(clients) : 0, walked;
	uint64_t now = loop_now(svc->pen->loop);

	for (walked = 0; r->at < count && walked < WALK &&
	     buffer_length(&r->out) < REPLY_PIECE;
	     walked++) {
		const struct sticky_client *client =
		    sticky_at(clients, (size_t)r->at++);

		if (client->seen + r->arg >= now)
			emit_client(r, client, now);
	}
	if (r->at < count)
		return true;
	fields_list_end(r);
	return false;
}

static int
run_recent(struct call *c, struct error *e)
{
	uint64_t ms = RECENT_SECONDS * 1000;

	if (call_needs_serving(c, e) < 0 || call_duration(c, &ms, e) < 0)
		return -1;
	if (pool_sticky(c->service->pool) == NULL)
		return error_set(
		    e, "no clients are remembered without \"sticky\"");
	fields_list_begin(c->reply);
	c->reply->at = 0;
	c->reply->arg = ms;
	c->reply->more = more_recent_clients;
	return 0;
}

/* ---- one of them ---- */

static int
refuse_unknown(const struct peer *who, struct error *e)
{
	char text[PEER_TEXT_MAX];

	return error_set(
	    e, "%s is not remembered", peer_format_host(who, text));
}

static int
emit_one(struct call *c, const struct peer *who, struct error *e)
{
	struct sticky *clients = pool_sticky(c->service->pool);
	uint64_t now = loop_now(c->pen->loop);
	const struct sticky_client *client;
	const struct sticky_away *away;
	char text[PEER_TEXT_MAX];
	sticky_hint hint = 0;
	struct fields f;

	client = sticky_find(clients, who, &hint, now,
	    pool_options(c->service->pool)->tracking_ms);
	if (client == NULL)
		return refuse_unknown(who, e);
	away = sticky_away(clients, hint);
	fields_begin(&f, c->reply, FIELDS_LINES);
	fields_text(&f, "client", peer_format_host(who, text));
	fields_number(&f, "server", client->server);
	if (away != NULL && away->home > 0)
		fields_number(&f, "home", away->home - 1);
	fields_number(&f, "age_ms", now - client->seen);
	fields_number(&f, "connects", client->connects);
	fields_number(&f, "sx", client->sent);
	fields_number(&f, "rx", client->received);
	fields_end(&f);
	return 0;
}

static int
client_move(struct call *c, const struct peer *who, struct error *e)
{
	const struct server *s;
	unsigned n;

	if (server_find(c, c->words->word[2], &n, e) < 0)
		return -1;
	s = pool_server(c->service->pool, n);
	if (s == NULL || !s->present)
		return server_find_refuse(c, n, e);
	if (sticky_move(pool_sticky(c->service->pool), who, s->number,
		loop_now(c->pen->loop)) < 0)
		return error_set(e, "out of memory");
	return 0;
}

static int
client_change(struct call *c, const struct peer *who, struct error *e)
{
	const struct words *w = c->words;

	if (w->count == 2 && strcmp(w->word[1], "forget") == 0)
		return sticky_remove(pool_sticky(c->service->pool), who)
		    ? 0
		    : refuse_unknown(who, e);
	if (w->count == 3 && strcmp(w->word[1], "move") == 0)
		return client_move(c, who, e);
	return error_set(e, "expects %s", c->row->args);
}

static int
run_client_command(struct call *c, struct error *e)
{
	const struct words *w = c->words;
	struct addr at;
	struct peer who;

	if (w->count == 0)
		return error_set(e, "expects %s", c->row->args);
	if (spec_parse_ip(&at, w->word[0], 0) < 0)
		return error_set(
		    e, "\"%.100s\" is not an IP address", w->word[0]);
	if (pool_sticky(c->service->pool) == NULL)
		return error_set(e, "clients are not remembered");
	peer_from_addr(&who, &at);
	return w->count == 1 ? emit_one(c, &who, e) : client_change(c, &who, e);
}

/* ---- where they go ---- */

static int
run_rebalance(struct call *c, struct error *e)
{
	uint64_t percent, asked;
	struct fields f;

	if (c->words->count != 1)
		return error_set(e, "expects %s", c->row->args);
	if (number_parse(c->words->word[0], 1, 100, &percent) < 0)
		return error_set(e, "\"%.100s\" is not a number from 1 to 100",
		    c->words->word[0]);
	if (sessions_rebalance(frontend_sessions(c->service->frontend),
		(unsigned)percent, &asked, e) < 0)
		return -1;
	fields_begin(&f, c->reply, FIELDS_LINE);
	fields_number(&f, "sessions", asked);
	fields_end(&f);
	return 0;
}

const struct command recent_commands[] = {
	{ .name = "recent",
	    .kind = KIND_REPORT,
	    .flags = ROW_LOOK | ROW_EACH_WORKER | ROW_SERVICE,
	    .run = run_recent,
	    .args = "[SEC]",
	    .help = "prints the clients seen in the last 300 or SEC seconds" },
	{ .name = NULL },
};

const struct command client_commands[] = {
	{ .name = "client",
	    .kind = KIND_ACTION,
	    .flags = ROW_OPERATE | ROW_PRINTS | ROW_CLIENTS_WORKER |
		ROW_SERVICE,
	    .run = run_client_command,
	    .args = "ADDRESS [forget|move SERVER]",
	    .help = "prints or changes the entry of a client in the client "
		    "table" },
	{ .name = "rebalance",
	    .kind = KIND_ACTION,
	    .flags = ROW_OPERATE | ROW_EACH_WORKER | ROW_SERVICE,
	    .run = run_rebalance,
	    .args = "PERCENT",
	    .help = "drains sessions over a server's share, at most PERCENT of "
		    "its sessions" },
	{ .name = NULL },
};
