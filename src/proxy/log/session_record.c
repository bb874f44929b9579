/* session_record.c: the fields of a line in the log of sessions, and in that of
 * requests, one row each. */
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

size_t
record_put_text(char *value, const char *text, size_t most)
{
	size_t n = strlen(text);

	if (n > most)
		n = most;
	memcpy(value, text, n);
	return n;
}

static size_t
put_text(char *value, const char *text)
{
	return record_put_text(value, text, RECORD_VALUE_MAX);
}

/* Puts thousandths as a number with three digits after the point. */
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

static size_t
put_client_port(const struct session_record *r, char *value)
{
	return r->client->family == AF_UNIX
	    ? 0
	    : number_format(value, r->client->port);
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

static size_t
put_bytes(struct record_text t, char *value)
{
	size_t n = t.length < RECORD_LONG_MAX ? t.length : RECORD_LONG_MAX;

	if (n > 0)
		memcpy(value, t.at, n);
	return n;
}

/* Puts the identifier of the request, which may be another program's and have
 * any bytes. */
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
put_request_id(const struct session_record *r, char *value)
{
	return put_bytes(r->request_id, value);
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
bool
record_is_address(const char *name)
{
	return name[strspn(name, "0123456789.")] == '\0' ||
	    strchr(name, ':') != NULL || strchr(name, '/') != NULL;
}

static size_t
session_record_put_name(const struct session_record *r, char *value)
{
	if (r->server == NULL || r->server->name == NULL ||
	    record_is_address(r->server->name))
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

/* ---- requests ---- */

static size_t
put_request(const struct session_record *r, char *value)
{
	return put_bytes(r->request->line, value);
}

static size_t
put_method(const struct session_record *r, char *value)
{
	return put_bytes(r->request->method, value);
}

static size_t
put_path(const struct session_record *r, char *value)
{
	return put_bytes(r->request->path, value);
}

static size_t
put_protocol(const struct session_record *r, char *value)
{
	return put_bytes(r->request->protocol, value);
}

/* Puts a request line that is malformed, in place of its parts, which it does
 * not have. */
static size_t
put_malformed(const struct session_record *r, char *value)
{
	return r->request->method.length > 0
	    ? 0
	    : put_bytes(r->request->line, value);
}

static size_t
session_record_put_host(const struct session_record *r, char *value)
{
	return put_bytes(r->request->host, value);
}

static size_t
put_user_agent(const struct session_record *r, char *value)
{
	return put_bytes(r->request->user_agent, value);
}

static size_t
put_referer(const struct session_record *r, char *value)
{
	return put_bytes(r->request->referer, value);
}

static size_t
put_request_status(const struct session_record *r, char *value)
{
	return number_format(value, r->request->status);
}

static size_t
put_body(const struct session_record *r, char *value)
{
	return number_format(value, r->request->body);
}

static size_t
put_retries(const struct session_record *r, char *value)
{
	return r->request->retries == 0
	    ? 0
	    : number_format(value, r->request->retries);
}

static size_t
put_request_first_ms(const struct session_record *r, char *value)
{
	return r->request->first_us == UINT64_MAX
	    ? 0
	    : put_thousandths(value, r->request->first_us);
}

static size_t
put_request_ms(const struct session_record *r, char *value)
{
	return put_thousandths(value, r->request->total_us);
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
#define SESSION	  .scope = RECORD_SESSION
#define REQUEST	  .scope = RECORD_REQUEST

const struct record_field record_fields[] = {
	{ .name = "time", .put = put_time, PLAIN },
	{ .name = "clf_time", .put = put_clf_time, PLAIN, ASKED },
	{ .name = "epoch", .put = put_epoch, NUMBER, ASKED },
	{ .name = "reason", .put = put_reason, PLAIN },
	{ .name = "status", .put = put_status, NUMBER, ASKED, SESSION },
	{ .name = "client", .put = put_client, ADDRESS },
	{ .name = "client_ip", .put = put_client_ip, ADDRESS, ASKED },
	{ .name = "client_port", .put = put_client_port, NUMBER, ASKED },
	{ .name = "clf_host", .put = put_clf_host, ADDRESS, ASKED },
	{ .name = "via", .put = put_via, ADDRESS },
	{ .name = "id", .put = put_id },
	{ .name = "request_id", .put = put_request_id },
	{ .name = "port", MEMBER(port), OR_NONE },
	{ .name = "service", .put = put_service },
	{ .name = "session", MEMBER(session), ASKED },
	{ .name = "request", .put = put_request, ASKED, REQUEST },
	{ .name = "method", .put = put_method, REQUEST },
	{ .name = "path", .put = put_path, REQUEST },
	{ .name = "protocol", .put = put_protocol, REQUEST },
	{ .name = "malformed", .put = put_malformed, REQUEST },
	{ .name = "host", .put = session_record_put_host, REQUEST },
	{ .name = "status", .put = put_request_status, NUMBER, REQUEST },
	{ .name = "server", .put = put_server, ADDRESS },
	{ .name = "number", .put = put_server_number, NUMBER, ASKED },
	{ .name = "name", .put = session_record_put_name },
	{ .name = "up", MEMBER(up) },
	{ .name = "down", MEMBER(down) },
	{ .name = "body", .put = put_body, NUMBER, ASKED, REQUEST },
	{ .name = "datagrams_up", .put = put_datagrams_up, NUMBER, SESSION },
	{ .name = "datagrams_down",
	    .put = put_datagrams_down,
	    NUMBER,
	    SESSION },
	{ .name = "queue_ms", MEMBER(queued_ms), OR_NONE, SESSION },
	{ .name = "connect_ms", .put = put_connect_ms, NUMBER, SESSION },
	{ .name = "first_ms", .put = put_first_ms, NUMBER, SESSION },
	{ .name = "first_ms", .put = put_request_first_ms, NUMBER, REQUEST },
	{ .name = "ms", MEMBER(total_ms), SESSION },
	{ .name = "ms", .put = put_request_ms, NUMBER, REQUEST },
	{ .name = "failures", MEMBER(failures), OR_NONE, SESSION },
	{ .name = "tried", .put = put_tried, SESSION },
	{ .name = "retries", .put = put_retries, NUMBER, REQUEST },
	{ .name = "referer", .put = put_referer, REQUEST },
	{ .name = "user_agent", .put = put_user_agent, REQUEST },
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
record_field_find(const char *name, size_t n, enum record_scope scope)
{
	const struct record_field *f;

	for (f = record_fields; f->name != NULL; f++)
		if (strlen(f->name) == n && memcmp(f->name, name, n) == 0 &&
		    record_field_is_of(f, scope))
			return f;
	return NULL;
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
