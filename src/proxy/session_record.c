/* session_record.c: the fields of a session's line in the log, one row each. */
#include "config.h"

#include <string.h>
#include <time.h>

#include "pool/server.h"
#include "proxy/session_record.h"
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

/* printf(3) is what a line would spend most of its time in. */
static size_t
put_number(char *value, uint64_t number)
{
	char digits[20];
	size_t n = sizeof(digits);

	do
		digits[--n] = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	memcpy(value, digits + n, sizeof(digits) - n);
	return sizeof(digits) - n;
}

/* With three digits behind the point. */
static size_t
put_thousandths(char *value, uint64_t number)
{
	size_t n = put_number(value, number / 1000);
	unsigned rest = (unsigned)(number % 1000);

	value[n++] = '.';
	value[n++] = (char)('0' + rest / 100);
	value[n++] = (char)('0' + rest / 10 % 10);
	value[n++] = (char)('0' + rest % 10);
	return n;
}

/* ---- when, why, who ---- */

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
	return put_number(value, (uint64_t)r->time->second);
}

static size_t
put_reason(const struct session_record *r, char *value)
{
	return put_text(value, reason_name(r->reason));
}

static size_t
put_client(const struct session_record *r, char *value)
{
	char text[PEER_TEXT_MAX];

	return put_text(value, peer_format(r->client, text));
}

static size_t
put_client_ip(const struct session_record *r, char *value)
{
	char text[PEER_TEXT_MAX];

	return put_text(value, peer_format_host(r->client, text));
}

static size_t
put_via(const struct session_record *r, char *value)
{
	char text[PEER_TEXT_MAX];

	if (r->sender == NULL)
		return 0;
	return put_text(value, peer_format(r->sender, text));
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
put_port(const struct session_record *r, char *value)
{
	return r->port == 0 ? 0 : put_number(value, r->port);
}

static size_t
put_session(const struct session_record *r, char *value)
{
	return put_number(value, r->session);
}

/* ---- the server ---- */

static size_t
put_server(const struct session_record *r, char *value)
{
	char text[ADDR_TEXT_MAX];

	if (r->server == NULL || r->server->addrs.count == 0)
		return 0;
	return put_text(value,
	    addr_format(&r->server->addrs.addr[r->server->addr_first], text));
}

static size_t
put_server_number(const struct session_record *r, char *value)
{
	return r->server == NULL ? 0 : put_number(value, r->server->number);
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
put_name(const struct session_record *r, char *value)
{
	if (r->server == NULL || r->server->name == NULL ||
	    is_address(r->server->name))
		return 0;
	return put_text(value, r->server->name);
}

/* ---- how much, how long ---- */

static size_t
put_up(const struct session_record *r, char *value)
{
	return put_number(value, r->up);
}

static size_t
put_down(const struct session_record *r, char *value)
{
	return put_number(value, r->down);
}

static size_t
put_queue_ms(const struct session_record *r, char *value)
{
	return r->queued_ms == 0 ? 0 : put_number(value, r->queued_ms);
}

static size_t
put_connect_ms(const struct session_record *r, char *value)
{
	return r->connect_us == 0 ? 0 : put_thousandths(value, r->connect_us);
}

static size_t
put_first_ms(const struct session_record *r, char *value)
{
	return r->first_ms == UINT64_MAX ? 0 : put_number(value, r->first_ms);
}

static size_t
put_ms(const struct session_record *r, char *value)
{
	return put_number(value, r->total_ms);
}

static size_t
put_failures(const struct session_record *r, char *value)
{
	return r->failures == 0 ? 0 : put_number(value, r->failures);
}

/* ---- TLS ---- */

static size_t
put_tls(const struct session_record *r, char *value)
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

const struct record_field record_fields[] = {
	{ .name = "time", .put = put_time },
	{ .name = "clf_time", .put = put_clf_time, .on_request = true },
	{ .name = "epoch",
	    .put = put_epoch,
	    .is_number = true,
	    .on_request = true },
	{ .name = "reason", .put = put_reason },
	{ .name = "client", .put = put_client },
	{ .name = "client_ip", .put = put_client_ip, .on_request = true },
	{ .name = "via", .put = put_via },
	{ .name = "id", .put = put_id },
	{ .name = "port", .put = put_port, .is_number = true },
	{ .name = "session",
	    .put = put_session,
	    .is_number = true,
	    .on_request = true },
	{ .name = "server", .put = put_server },
	{ .name = "number",
	    .put = put_server_number,
	    .is_number = true,
	    .on_request = true },
	{ .name = "name", .put = put_name },
	{ .name = "up", .put = put_up, .is_number = true },
	{ .name = "down", .put = put_down, .is_number = true },
	{ .name = "queue_ms", .put = put_queue_ms, .is_number = true },
	{ .name = "connect_ms", .put = put_connect_ms, .is_number = true },
	{ .name = "first_ms", .put = put_first_ms, .is_number = true },
	{ .name = "ms", .put = put_ms, .is_number = true },
	{ .name = "failures", .put = put_failures, .is_number = true },
	{ .name = "tls", .put = put_tls },
	{ .name = "cipher", .put = put_cipher },
	{ .name = "sni", .put = put_sni },
	{ .name = "alpn", .put = put_alpn },
	{ .name = "resumed", .put = put_resumed },
	{ .name = "subject", .put = put_subject },
	{ .name = "server_tls", .put = put_server_tls },
	{ .name = NULL },
};

const struct record_field *
record_field_find(const char *name, size_t n)
{
	const struct record_field *f;

	for (f = record_fields; f->name != NULL; f++)
		if (strlen(f->name) == n && memcmp(f->name, name, n) == 0)
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
