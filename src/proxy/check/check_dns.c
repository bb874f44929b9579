/* check_dns.c: "dns NAME [TYPE] [tcp] [nxdomain]": queries a name server, by
 * UDP or TCP (RFC 1035, 4.2), and it answers that question.
 *
 * NOERROR is good, but with a TYPE only if there is a record: a server that has
 * lost the zone, or a resolver that reaches no server, returns SERVFAIL,
 * REFUSED or NXDOMAIN. "nxdomain" takes that name's absence for an answer,
 * too. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "proxy/check/check_datagram.h"
#include "proxy/check/check_stream.h"
#include "proxy/wire/dns_message.h"

enum { PREFIX = DNS_PREFIX, TYPE_A = 1 };

struct dns_settings {
	char query[DNS_QUERY_MAX];
	size_t n;
	bool records; /* one at least is wanted */
	bool tcp, nxdomain;
};

struct dns_state {
	union {
		struct check_datagram datagram;
		struct check_stream stream;
	} by;
	char query[PREFIX + DNS_QUERY_MAX];
	/* Of TCP: the beginning of the answer, which has the question. */
	char answer[PREFIX + DNS_QUERY_MAX];
	size_t heard;
};

/* ---- settings ---- */

static int
parse_word(
    struct dns_settings *s, unsigned *type, const char *word, struct error *e)
{
	if (strcmp(word, "tcp") == 0)
		s->tcp = true;
	else if (strcmp(word, "nxdomain") == 0)
		s->nxdomain = true;
	else if (s->records || (*type = dns_type(word)) == 0)
		return error_set(e,
		    "\"%.100s\": expected a type of records, tcp or nxdomain",
		    word);
	else
		s->records = true;
	return 0;
}

static int
check_dns_parse(void *settings, const struct words *w, struct error *e)
{
	struct dns_settings *s = settings;
	unsigned type = TYPE_A;
	int i;

	if (w->count < 1)
		return error_set(e, "expects NAME [TYPE] [tcp] [nxdomain]");
	for (i = 1; i < w->count; i++)
		if (parse_word(s, &type, w->word[i], e) < 0)
			return -1;
	s->n = dns_make_query(s->query, 0, w->word[0], type);
	if (s->n == 0)
		return error_set(
		    e, "\"%.100s\" is not a domain name", w->word[0]);
	return 0;
}

static bool
check_dns_sends_datagrams(const void *settings)
{
	const struct dns_settings *s = settings;

	return !s->tcp;
}

/* ---- the answer ---- */

static void
check_dns_judge(struct check *c, const char *m)
{
	const struct dns_settings *s = c->settings;
	unsigned code = dns_code(m), records = dns_records(m);

	if (code == DNS_NXDOMAIN && s->nxdomain)
		check_end(c, CHECK_GOOD, "NXDOMAIN");
	else if (code != DNS_NOERROR)
		check_end(c, CHECK_BAD, "%s", dns_code_name(code));
	else if (s->records && records == 0 && !dns_is_truncated(m))
		check_end(c, CHECK_BAD, "NOERROR without a record");
	else
		check_end(c, CHECK_GOOD, "NOERROR, records: %u", records);
}

/* A message with another id does not match the query: it is forged, or comes
 * very late. */
static void
on_datagram(struct check *c, const char *bytes, size_t n)
{
	const struct dns_settings *s = c->settings;
	const struct dns_state *state = c->state;
	const char *query = state->query + PREFIX;

	if (n < DNS_HEADER || dns_id(bytes) != dns_id(query))
		return;
	check_reached(c);
	if (dns_answers(bytes, n, query, s->n))
		check_dns_judge(c, bytes);
	else
		check_end(c, CHECK_BAD, "malformed answer");
}

static size_t
smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* As much as the question fills is enough to know: the records are not read. */
static void
check_dns_on_bytes(struct check *c, const char *bytes, size_t n)
{
	const struct dns_settings *s = c->settings;
	struct dns_state *state = c->state;
	const char *m = state->answer + PREFIX, *query = state->query + PREFIX;
	size_t left = sizeof(state->answer) - state->heard, length;

	memcpy(state->answer + state->heard, bytes, smaller(n, left));
	state->heard += smaller(n, left);
	if (state->heard < PREFIX + DNS_HEADER)
		return;
	length = dns_length(state->answer);
	if (state->heard - PREFIX < smaller(length, s->n))
		return;
	if (dns_id(m) == dns_id(query) &&
	    dns_answers(m, smaller(length, state->heard - PREFIX), query, s->n))
		check_dns_judge(c, m);
	else
		check_end(c, CHECK_BAD, "malformed answer");
}

/* ---- a check ---- */

/* Returns the query, after its length, with an id that cannot be guessed. */
static const char *
make_query(struct dns_state *state, const struct dns_settings *s)
{
	struct hash_key random;

	hash_key_init(&random);
	memcpy(state->query + PREFIX, s->query, s->n);
	dns_set_length(state->query, s->n);
	dns_set_id(state->query + PREFIX, (uint16_t)random.k0);
	return state->query;
}

static void
check_dns_start(struct check *c)
{
	const struct dns_settings *s = c->settings;
	struct dns_state *state = c->state;
	const char *query = make_query(state, s);
	struct check_talk talk = { .say = query,
		.length = PREFIX + s->n,
		.reset = true,
		.on_bytes = check_dns_on_bytes };
	struct check_question q = {
		.bytes = query + PREFIX, .n = s->n, .on_answer = on_datagram
	};

	if (s->tcp)
		check_stream_start(c, &talk);
	else
		check_datagram_start(c, &q);
}

static void
check_dns_stop(struct check *c)
{
	const struct dns_settings *s = c->settings;

	if (s->tcp)
		check_stream_stop(c);
	else
		check_datagram_stop(c);
}

const struct check_kind check_dns = {
	.name = "dns",
	.args = "NAME [TYPE] [tcp] [nxdomain]",
	.settings_size = sizeof(struct dns_settings),
	.parse = check_dns_parse,
	.needs_port = true,
	.sends_datagrams = check_dns_sends_datagrams,
	.state_size = sizeof(struct dns_state),
	.start = check_dns_start,
	.stop = check_dns_stop,
};
