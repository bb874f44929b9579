/* session_record.c: the fields of a session's line in the log, one row each. */
#include "config.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/number.h"
#include "pool/server/server.h"
#include "proxy/log/session_record.h"
#include "tls/tls.h"

/* ---- values ---- */

static size_t
put_text(char *value, const char *text)
{
	size_t n = strlen(text);

	if (n > RECORD_VALUE_MAX)
		n = RECORD_VALUE_MAX;
	memcpy(value, text, n);
	return n;
}

/* With three digits after the point. */
static size_t
put_thousandths(char *value, uint64_t number)
{
	size_t n = number_format(value, number / 1000);
	unsigned rest = (unsigned)(number % 1000);

	value[n++] = '.';
	value[n++] = (char)('0' + rest / 100);
	value[n++] = (char)('0' + rest / 10 % 10);
	value[n++] = (char)('0' + rest % 10);
	return n;
}

/* ---- end, reason, client ---- */

static size_t
put_time(const struct session_record *r, char *value)
{
	size_t n = put_text(value, r->time->local);

	value[n++] = '.';
	value[n++] = (char)('0' + r->time_ms / 100 % 10);
	value[n++] = (char)('0' + r->time_ms / 10 % 10);
	value[n++] = (char)('0' + r->time_ms % 10);
	return n + put_text(value + n, r->time->zone);
}

static size_t
put_clf_time(const struct session_record *r, char *value)
{
	return put_text(value, r->time->clf);
}

static size_t
put_epoch(const struct session_record *r, char *value)
{
	return number_format(value, (uint64_t)r->time->second);
}

static size_t
put_reason(const struct session_record *r, char *value)
{
	return put_text(value, reason_name(r->reason));
}

static size_t
put_status(const struct session_record *r, char *value)
{
	return number_format(value, reason_status(r->reason, r->is_flow));
}

static size_t
put_client(const struct session_record *r, char *value)
{
	return strlen(peer_format(r->client, value));
}

static size_t
put_client_ip(const struct session_record *r, char *value)
{
	return strlen(peer_format_host(r->client, value));
}

/* Programs that read such logs take nothing but addresses; a Unix client is one
 * of this machine. */
static size_t
put_clf_host(const struct session_record *r, char *value)
{
	static const char local[] = "127.0.0.1";

	if (r->client->family != AF_UNIX)
		return put_client_ip(r, value);
	memcpy(value, local, sizeof(local));
	return sizeof(local) - 1;
}

static size_t
put_via(const struct session_record *r, char *value)
{
	return r->sender == NULL ? 0 : strlen(peer_format(r->sender, value));
}

/* It may be another program's, and any bytes. */
static size_t
put_id(const struct session_record *r, char *value)
{
	size_t i;

	for (i = 0; i < r->id_n && i < RECORD_VALUE_MAX; i++)
		value[i] = r->id[i] > ' ' && r->id[i] < 127 && r->id[i] != '"'
		    ? r->id[i]
		    : '?';
	return i;
}

static size_t
put_service(const struct session_record *r, char *value)
{
	return r->service == NULL ? 0 : put_text(value, r->service);
}

/* ---- the server ---- */

static size_t
put_server(const struct session_record *r, char *value)
{
	struct addr at;

	if (r->server_at == NULL)
		return 0;
	return strlen(addr_format(
	    addr_with_port(r->server_at, (uint16_t)r->port, &at), value));
}

static size_t
put_server_number(const struct session_record *r, char *value)
{
	return r->server == NULL ? 0 : number_format(value, r->server->number);
}

/* A server that was given as an address has that as its name: once is enough.
 */
static bool
is_address(const char *name)
{
	return name[strspn(name, "0123456789.")] == '\0' ||
	    strchr(name, ':') != NULL || strchr(name, '/') != NULL;
}

static size_t
session_record_put_name(const struct session_record *r, char *value)
{
	if (r->server == NULL || r->server->name == NULL ||
	    is_address(r->server->name))
		return 0;
	return put_text(value, r->server->name);
}

/* ---- how much, how long ---- */

static size_t
put_datagrams_up(const struct session_record *r, char *value)
{
	return r->is_flow ? number_format(value, r->datagrams_up) : 0;
}

static size_t
put_datagrams_down(const struct session_record *r, char *value)
{
	return r->is_flow ? number_format(value, r->datagrams_down) : 0;
}

static size_t
put_connect_ms(const struct session_record *r, char *value)
{
	return r->connect_us == 0 ? 0 : put_thousandths(value, r->connect_us);
}

static size_t
put_first_ms(const struct session_record *r, char *value)
{
	return r->first_ms == UINT64_MAX ? 0
					 : number_format(value, r->first_ms);
}

static size_t
put_tried(const struct session_record *r, char *value)
{
	return r->tried == NULL ? 0 : put_text(value, r->tried);
}

/* ---- TLS ---- */

static size_t
session_record_put_tls(const struct session_record *r, char *value)
{
	return r->client_tls == NULL ? 0
				     : put_text(value, r->client_tls->version);
}

static size_t
put_cipher(const struct session_record *r, char *value)
{
	return r->client_tls == NULL ? 0
				     : put_text(value, r->client_tls->cipher);
}

static size_t
put_sni(const struct session_record *r, char *value)
{
	return r->sni == NULL ? 0 : put_text(value, r->sni);
}

static size_t
put_alpn(const struct session_record *r, char *value)
{
	return r->client_tls == NULL ? 0 : put_text(value, r->client_tls->alpn);
}

static size_t
put_resumed(const struct session_record *r, char *value)
{
	return r->client_tls == NULL || !r->client_tls->resumed
	    ? 0
	    : put_text(value, "yes");
}

static size_t
put_subject(const struct session_record *r, char *value)
{
	return r->client_tls == NULL || !r->client_tls->certificate
	    ? 0
	    : put_text(value, r->client_tls->subject);
}

static size_t
put_server_tls(const struct session_record *r, char *value)
{
	return r->server_tls == NULL ? 0
				     : put_text(value, r->server_tls->version);
}

/* ---- the list ---- */

#define PLAIN	  .is_plain = true
#define ADDRESS	  .is_address = true
#define NUMBER	  .is_number = true, .is_plain = true
#define MEMBER(m) .at = offsetof(struct session_record, m), NUMBER
#define OR_NONE	  .or_none = true
#define ASKED	  .on_request = true
#define TLS	  .is_tls = true

const struct record_field record_fields[] = {
	{ .name = "time", .put = put_time, PLAIN },
	{ .name = "clf_time", .put = put_clf_time, PLAIN, ASKED },
	{ .name = "epoch", .put = put_epoch, NUMBER, ASKED },
	{ .name = "reason", .put = put_reason, PLAIN },
	{ .name = "status", .put = put_status, NUMBER, ASKED },
	{ .name = "client", .put = put_client, ADDRESS },
	{ .name = "client_ip", .put = put_client_ip, ADDRESS, ASKED },
	{ .name = "clf_host", .put = put_clf_host, ADDRESS, ASKED },
	{ .name = "via", .put = put_via, ADDRESS },
	{ .name = "id", .put = put_id },
	{ .name = "port", MEMBER(port), OR_NONE },
	{ .name = "service", .put = put_service },
	{ .name = "session", MEMBER(session), ASKED },
	{ .name = "server", .put = put_server, ADDRESS },
	{ .name = "number", .put = put_server_number, NUMBER, ASKED },
	{ .name = "name", .put = session_record_put_name },
	{ .name = "up", MEMBER(up) },
	{ .name = "down", MEMBER(down) },
	{ .name = "datagrams_up", .put = put_datagrams_up, NUMBER },
	{ .name = "datagrams_down", .put = put_datagrams_down, NUMBER },
	{ .name = "queue_ms", MEMBER(queued_ms), OR_NONE },
	{ .name = "connect_ms", .put = put_connect_ms, NUMBER },
	{ .name = "first_ms", .put = put_first_ms, NUMBER },
	{ .name = "ms", MEMBER(total_ms) },
	{ .name = "failures", MEMBER(failures), OR_NONE },
	{ .name = "tried", .put = put_tried },
	{ .name = "tls", .put = session_record_put_tls, TLS },
	{ .name = "cipher", .put = put_cipher, TLS },
	{ .name = "sni", .put = put_sni, TLS },
	{ .name = "alpn", .put = put_alpn, TLS },
	{ .name = "resumed", .put = put_resumed, PLAIN, TLS },
	{ .name = "subject", .put = put_subject, TLS },
	{ .name = "server_tls", .put = put_server_tls, TLS },
	{ .name = NULL },
};

size_t
record_put(
    const struct record_field *f, const struct session_record *r, char *value)
{
	const uint64_t *n = (const void *)((const char *)r + f->at);

	if (f->put != NULL)
		return f->put(r, value);
	return *n == 0 && f->or_none ? 0 : number_format(value, *n);
}

const struct record_field *
record_field_find(const char *name, size_t n)
{
	const struct record_field *f;

	for (f = record_fields; f->name != NULL; f++)
		if (strlen(f->name) == n && memcmp(f->name, name, n) == 0)
			return f;
	return NULL;
}

/* ---- servers that were tried ---- */

static size_t
put_tried_server(const struct server *s, uint16_t port, char *value)
{
	struct addr copy;
	const struct addr *at;
	size_t n;

	if (s->addrs.count == 0)
		return s->name == NULL ? 0 : put_text(value, s->name);
	at = addr_with_port(&s->addrs.addr[s->addr_first], port, &copy);
	/* several servers have this name */
	if (s->name == NULL || is_address(s->name) ||
	    strchr(s->name, '*') != NULL)
		return strlen(addr_format(at, value));
	n = put_text(value, s->name);
	if (n > RECORD_VALUE_MAX - 1 - NUMBER_TEXT_MAX)
		n = RECORD_VALUE_MAX - 1 - NUMBER_TEXT_MAX;
	value[n++] = ':';
	return n + number_format(value + n, addr_port(at));
}

static unsigned
count_tried(const char *list)
{
	unsigned n = 1;

	for (; (list = strchr(list, ',')) != NULL; list++)
		n++;
	return n;
}

char *
record_add_tried(char *list, const struct server *s, uint16_t port)
{
	char one[RECORD_VALUE_MAX + 1], *longer;
	size_t used = list == NULL ? 0 : strlen(list) + 1;
	size_t n = put_tried_server(s, port, one);

	if (n == 0 || used + n > RECORD_VALUE_MAX ||
	    (list != NULL && count_tried(list) >= RECORD_TRIED_MAX))
		return list;
	longer = realloc(list, used + n + 1);
	if (longer == NULL)
		return list;
	if (used > 0)
		longer[used - 1] = ',';
	memcpy(longer + used, one, n);
	longer[used + n] = '\0';
	return longer;
}

void
record_time_set(struct record_time *t, int64_t second)
{
	time_t now = (time_t)second;
	struct tm tm;

	if (t->second == second)
		return;
	t->second = second;
	if (localtime_r(&now, &tm) == NULL)
		memset(&tm, 0, sizeof(tm));
	strftime(t->local, sizeof(t->local), "%Y-%m-%dT%H:%M:%S", &tm);
	strftime(t->clf, sizeof(t->clf), "%d/%b/%Y:%H:%M:%S %z", &tm);
	clock_zone(&tm, t->zone);
}
