/* tls_command.c: commands about certificates and protocols of TLS. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "control/command.h"
#include "control/facts.h"
#include "control/pen.h"
#include "control/secure.h"

/* ---- certificates and keys ---- */

static int
out_of_memory(struct error *e)
{
	return error_set(e, "out of memory");
}

static void
forget_pairs(struct tls_settings *s)
{
	unsigned i;

	for (i = 0; i < TLS_PAIRS_MAX; i++) {
		(void)plan_set_text(&s->pair[i].cert, NULL);
		(void)plan_set_text(&s->pair[i].key, NULL);
	}
	s->pairs = 0;
}

/* The same file again is the same certificate; a key that came before its
 * certificate waits in the place of the next. */
int
run_ssl_cert(struct call *c, struct error *e)
{
	struct tls_settings *s = &c->plan->config.tls;
	unsigned i;

	if (c->no) {
		forget_pairs(s);
		return 0;
	}
	if (c->words->count == 0) {
		for (i = 0; i < s->pairs; i++)
			reply_add(&c->reply->out, "%s\n", s->pair[i].cert);
		return 0;
	}
	if (c->words->count > 2)
		return error_set(e, "expects %s", c->row->args);
	for (i = 0; i < s->pairs; i++)
		if (strcmp(s->pair[i].cert, c->words->word[0]) == 0)
			break;
	if (i == TLS_PAIRS_MAX)
		return error_set(e, "%d are enough", TLS_PAIRS_MAX);
	if (plan_set_text(&s->pair[i].cert, c->words->word[0]) < 0 ||
	    (c->words->count == 2 &&
		plan_set_text(&s->pair[i].key, c->words->word[1]) < 0))
		return out_of_memory(e);
	if (i == s->pairs)
		s->pairs++;
	return 0;
}

int
run_ssl_key(struct call *c, struct error *e)
{
	struct tls_settings *s = &c->plan->config.tls;
	unsigned i, at = s->pairs > 0 ? s->pairs - 1 : 0;

	if (c->words->count == 0) {
		for (i = 0; i < TLS_PAIRS_MAX; i++)
			if (s->pair[i].key != NULL)
				reply_add(
				    &c->reply->out, "%s\n", s->pair[i].key);
		return 0;
	}
	if (c->words->count > 1)
		return error_set(e, "expects %s", c->row->args);
	return plan_set_text(&s->pair[at].key, c->words->word[0]) == 0
	    ? 0
	    : out_of_memory(e);
}

/* ---- protocols ---- */

const char *
tls_min_name(unsigned min)
{
	return min == 13 ? "tls1.3" : "tls1.2";
}

static int
set_min(struct call *c, const char *word, struct error *e)
{
	if (strcmp(word, "tls1.2") == 0)
		c->plan->config.tls.min = 12;
	else if (strcmp(word, "tls1.3") == 0)
		c->plan->config.tls.min = 13;
	else
		return error_set(
		    e, "expects tls1.2 or tls1.3, got \"%.100s\"", word);
	return 0;
}

int
run_ssl_min(struct call *c, struct error *e)
{
	if (c->words->count > 1)
		return error_set(e, "expects %s", c->row->args);
	if (c->words->count == 1)
		return set_min(c, c->words->word[0], e);
	reply_add(
	    &c->reply->out, "%s\n", tls_min_name(c->plan->config.tls.min));
	return 0;
}

/* Classic Pen's choice; what is broken is refused rather than taken for
 * something else. */
int
run_ssl_protocol(struct call *c, struct error *e)
{
	static const struct {
		const char *word, *why;
	} broken[] = {
		{ "ssl2", "SSL 2 is broken and refused (RFC 6176)" },
		{ "ssl3", "SSL 3 is broken and refused (RFC 7568)" },
		{ "tls1", "TLS 1.0 is obsolete and refused (RFC 8996)" },
		{ "tls1.0", "TLS 1.0 is obsolete and refused (RFC 8996)" },
		{ "tls1.1", "TLS 1.1 is obsolete and refused (RFC 8996)" },
	};
	const char *word;
	size_t i;

	if (c->words->count != 1)
		return error_set(e, "expects ssl23, tls1.2 or tls1.3");
	word = c->words->word[0];
	for (i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
		if (strcmp(broken[i].word, word) == 0)
			return error_set(e, "%s", broken[i].why);
	if (strcmp(word, "ssl23") == 0)
		word = "tls1.2";
	return set_min(c, word, e);
}

/* A bit each; those of 0 are what is so anyway. */
static const struct {
	const char *word;
	unsigned bit;
} options[] = {
	{ "no_sslv2", 0 },
	{ "no_sslv3", 0 },
	{ "no_tlsv1", 0 },
	{ "no_tlsv1.1", 0 },
	{ "no_tlsv1.2", TLS_NO_1_2 },
	{ "no_tlsv1.3", TLS_NO_1_3 },
	{ "cipher_server_preference", TLS_SERVER_PREFERENCE },
};

enum { OPTIONS = sizeof(options) / sizeof(options[0]) };

const char *
tls_option_name(unsigned bit)
{
	int i;

	for (i = 0; i < OPTIONS; i++)
		if (options[i].bit == bit)
			return options[i].word;
	return "";
}

int
run_ssl_option(struct call *c, struct error *e)
{
	unsigned *set = &c->plan->config.tls.options;
	int i;

	for (i = 0; c->words->count == 1 && i < OPTIONS; i++)
		if (strcmp(options[i].word, c->words->word[0]) == 0) {
			if (c->no && options[i].bit == 0)
				return error_set(
				    e, "%s stays", options[i].word);
			*set = c->no ? *set & ~options[i].bit
				     : *set | options[i].bit;
			return 0;
		}
	return error_set(e,
	    "expects no_sslv2, no_sslv3, no_tlsv1, no_tlsv1.1, no_tlsv1.2, "
	    "no_tlsv1.3 or cipher_server_preference");
}

/* ---- what is served ---- */

static void
tell_certificate(struct reply *r, const struct tls_certificate *c)
{
	char ends[32] = "?";
	struct facts f;
	struct tm day;

	if (gmtime_r(&c->ends, &day) != NULL)
		strftime(ends, sizeof(ends), "%Y-%m-%dT%H:%M:%SZ", &day);
	facts_begin(&f, r, FACTS_LINE);
	facts_text(&f, "cert", c->name);
	facts_text(&f, "file", c->file);
	facts_text(&f, "ends", ends);
	facts_integer(&f, "days", secure_days_left(c->ends));
	facts_text(&f, "for",
	    c->to_servers    ? "servers"
		: c->by_name ? "name"
			     : "default");
	facts_number(&f, "used", c->used);
	facts_end(&f);
}

static bool
more_certificates(struct reply *r, struct pen *p)
{
	struct tls_certificate c;

	while (buffer_length(&r->out) < REPLY_PIECE) {
		if (!secure_certificate(p, (unsigned)r->at, &c)) {
			facts_list_end(r);
			return false;
		}
		tell_certificate(r, &c);
		r->at++;
	}
	return true;
}

int
run_certs(struct call *c, struct error *e)
{
	(void)e;
	facts_list_begin(c->reply);
	c->reply->at = 0;
	c->reply->more = more_certificates;
	return 0;
}
