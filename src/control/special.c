/* special.c: printing, comparing and telling settings that have handlers of
 * their own. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "control/command.h"
#include "control/special.h"
#include "pool/balance.h"

enum { SOURCES_TEXT = SOURCES_MAX * ADDR_TEXT_MAX };

/* ---- choosing ---- */

static void
print_method(const struct plan *p, struct buffer *text)
{
	if (p->config.method != NULL)
		reply_add(text, "%s\n", p->config.method);
}

static void
tell_method(struct facts *f, const char *name, const struct plan *p)
{
	facts_text(f, name, p->config.method);
}

static void
print_balance(const struct plan *p, struct buffer *text)
{
	const struct mode_options *m = &p->config.mode;

	reply_add(text, "balance default\n");
	if (m->balance != NULL)
		reply_add(text, "balance %s\n", m->balance);
}

static void
tell_balance(struct facts *f, const char *name, const struct plan *p)
{
	facts_text(f, name, p->config.pool.balance->name);
}

/* Not there unless it was said: "balance default" forgets it. */
static void
print_sticky(const struct plan *p, struct buffer *text)
{
	const struct mode_options *m = &p->config.mode;

	if (m->sticky_set)
		reply_add(text, "%ssticky\n", m->sticky ? "" : "no ");
}

static void
tell_sticky(struct facts *f, const char *name, const struct plan *p)
{
	facts_flag(f, name, p->config.pool.sticky);
}

/* ---- connections ---- */

static const char *
fastclose_name(const struct plan *p)
{
	const struct frontend_options *o = &p->config.frontend;

	if (o->fastclose_up)
		return o->fastclose_down ? "both" : "up";
	return o->fastclose_down ? "down" : "off";
}

static void
print_fastclose(const struct plan *p, struct buffer *text)
{
	reply_add(text, "tcp_fastclose %s\n", fastclose_name(p));
}

static void
tell_fastclose(struct facts *f, const char *name, const struct plan *p)
{
	facts_text(f, name, fastclose_name(p));
}

static void
print_udp_proxy(const struct plan *p, struct buffer *text)
{
	reply_add(text, "udp_proxy %s\n",
	    mode_udp_proxy_name(p->config.frontend.udp_proxy));
}

static void
tell_udp_proxy(struct facts *f, const char *name, const struct plan *p)
{
	facts_text(f, name, mode_udp_proxy_name(p->config.frontend.udp_proxy));
}

static void
print_debug(const struct plan *p, struct buffer *text)
{
	reply_add(text, "debug %llu\n", (unsigned long long)p->config.debug);
}

static void
tell_debug(struct facts *f, const char *name, const struct plan *p)
{
	facts_number(f, name, p->config.debug);
}

/* "A B", or NULL for none. */
static const char *
sources_text(const struct sources *s, char *text, size_t size)
{
	char host[ADDR_TEXT_MAX];
	size_t n = 0;
	unsigned i;

	for (i = 0; i < s->count && n < size; i++)
		n += (size_t)snprintf(text + n, size - n, "%s%s",
		    i > 0 ? " " : "", addr_format_host(&s->at[i], host));
	return s->count > 0 ? text : NULL;
}

static void
print_source(const struct plan *p, struct buffer *text)
{
	char list[SOURCES_TEXT];

	if (sources_text(&p->config.frontend.source, list, sizeof(list)) ==
	    NULL)
		reply_add(text, "no source\n");
	else
		reply_add(text, "source %s\n", list);
}

static void
tell_source(struct facts *f, const char *name, const struct plan *p)
{
	char list[SOURCES_TEXT];

	facts_text(f, name,
	    sources_text(&p->config.frontend.source, list, sizeof(list)));
}

/* ---- direct server return ---- */

static void
print_dsr_ip(const struct plan *p, struct buffer *text)
{
	const struct addr *ip = p->config.dsr.ip;
	char host[ADDR_TEXT_MAX];
	int i;

	plan_print_text(text, "dsr_ip", NULL);
	for (i = 0; i < 2; i++)
		if (ip[i].len > 0)
			plan_print_text(
			    text, "dsr_ip", addr_format_host(&ip[i], host));
}

static void
tell_dsr_ip(struct facts *f, const char *name, const struct plan *p)
{
	const struct addr *ip = p->config.dsr.ip;
	char host[2][ADDR_TEXT_MAX];
	const char *list[2];
	unsigned n = 0, i;

	for (i = 0; i < 2; i++)
		if (ip[i].len > 0)
			list[n++] = addr_format_host(&ip[i], host[i]);
	facts_json_texts(f, name, list, n);
}

static const char *
forward_name(const struct plan *p)
{
	return p->config.dsr.tunnel ? "tunnel" : "mac";
}

static void
print_forward(const struct plan *p, struct buffer *text)
{
	reply_add(text, "dsr_forward %s\n", forward_name(p));
}

static void
tell_forward(struct facts *f, const char *name, const struct plan *p)
{
	facts_text(f, name, forward_name(p));
}

static void
print_tarpit(const struct plan *p, struct buffer *text)
{
	if (p->config.dsr.tarpit_acl < 0)
		plan_print_text(text, "tarpit_acl", NULL);
	else
		reply_add(text, "tarpit_acl %d\n", p->config.dsr.tarpit_acl);
}

static void
tell_tarpit(struct facts *f, const char *name, const struct plan *p)
{
	facts_integer(f, name, p->config.dsr.tarpit_acl);
}

static void
print_check(const struct plan *p, struct buffer *text)
{
	const struct check_settings *s = &p->config.checks;

	if (s->kind == CHECK_NONE)
		reply_add(text, "no check\n");
	else if (s->port == 0)
		reply_add(text, "check %s\n", check_kind_name(s->kind));
	else
		reply_add(
		    text, "check %s %u\n", check_kind_name(s->kind), s->port);
}

static void
tell_check(struct facts *f, const char *name, const struct plan *p)
{
	const struct check_settings *s = &p->config.checks;
	char text[64];

	snprintf(text, sizeof(text), s->port != 0 ? "%s %u" : "%s",
	    check_kind_name(s->kind), s->port);
	facts_text(f, name, text);
}

/* ---- TLS ---- */

#ifdef HAVE_OPENSSL
static void
print_certs(const struct plan *p, struct buffer *text)
{
	const struct tls_settings *s = &p->config.tls;
	unsigned i;

	reply_add(text, "no ssl_cert\n");
	for (i = 0; i < s->pairs; i++) {
		plan_print_text(text, "ssl_cert", s->pair[i].cert);
		if (s->pair[i].key != NULL)
			plan_print_text(text, "ssl_key", s->pair[i].key);
	}
}

static void
tell_certs(struct facts *f, const char *name, const struct plan *p)
{
	const struct tls_settings *s = &p->config.tls;
	const char *certs[TLS_PAIRS_MAX], *keys[TLS_PAIRS_MAX];
	unsigned i;

	for (i = 0; i < s->pairs; i++) {
		certs[i] = s->pair[i].cert;
		keys[i] = s->pair[i].key;
	}
	facts_json_texts(f, name, certs, s->pairs);
	facts_json_texts(f, "ssl_key", keys, s->pairs);
}

static void
print_min(const struct plan *p, struct buffer *text)
{
	reply_add(text, "ssl_min %s\n", tls_min_name(p->config.tls.min));
}

static void
tell_min(struct facts *f, const char *name, const struct plan *p)
{
	facts_text(f, name, tls_min_name(p->config.tls.min));
}

static void
print_options(const struct plan *p, struct buffer *text)
{
	unsigned bit;

	for (bit = 1; bit <= TLS_SERVER_PREFERENCE; bit *= 2)
		reply_add(text, "%sssl_option %s\n",
		    p->config.tls.options & bit ? "" : "no ",
		    tls_option_name(bit));
}

static void
tell_options(struct facts *f, const char *name, const struct plan *p)
{
	const char *list[8];
	unsigned bit, n = 0;

	for (bit = 1; bit <= TLS_SERVER_PREFERENCE; bit *= 2)
		if (p->config.tls.options & bit)
			list[n++] = tls_option_name(bit);
	facts_json_texts(f, name, list, n);
}
#endif

/* ---- all of them ---- */

static const struct special all[] = {
	{ "method", print_method, tell_method },
	{ "balance", print_balance, tell_balance },
	{ "sticky", print_sticky, tell_sticky },
	{ "tcp_fastclose", print_fastclose, tell_fastclose },
	{ "udp_proxy", print_udp_proxy, tell_udp_proxy },
	{ "debug", print_debug, tell_debug },
	{ "source", print_source, tell_source },
	{ "dsr_ip", print_dsr_ip, tell_dsr_ip },
	{ "dsr_forward", print_forward, tell_forward },
	{ "tarpit_acl", print_tarpit, tell_tarpit },
	{ "check", print_check, tell_check },
#ifdef HAVE_OPENSSL
	{ "ssl_cert", print_certs, tell_certs },
	{ "ssl_min", print_min, tell_min },
	{ "ssl_option", print_options, tell_options },
#endif
};

enum { SPECIALS = sizeof(all) / sizeof(all[0]) };

const struct special *
special_at(unsigned i)
{
	return i < SPECIALS ? &all[i] : NULL;
}

const struct special *
special_find(const char *row)
{
	unsigned i;

	for (i = 0; i < SPECIALS; i++)
		if (strcmp(all[i].name, row) == 0)
			return &all[i];
	return NULL;
}

bool
special_equal(
    const struct special *s, const struct plan *a, const struct plan *b)
{
	struct buffer x, y;
	bool equal;

	buffer_init(&x);
	buffer_init(&y);
	s->print(a, &x);
	s->print(b, &y);
	equal = buffer_length(&x) == buffer_length(&y) &&
	    (buffer_length(&x) == 0 ||
		memcmp(buffer_bytes(&x), buffer_bytes(&y), buffer_length(&x)) ==
		    0);
	buffer_fini(&x);
	buffer_fini(&y);
	return equal;
}
