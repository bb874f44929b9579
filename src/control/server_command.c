/* server_command.c: commands about servers and who may use them. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "control/command.h"
#include "control/pen.h"
#include "control/report.h"

enum { SERVERS_MAX = 100000 };

/* The loop must not wait for a resolver. */
static enum resolve_how
resolve_how(const struct pen *p)
{
	return p->loop == NULL ? RESOLVE_NAMES : RESOLVE_NUMERIC;
}

/* ---- server N ... ---- */

struct server_edit {
	struct server_spec spec;
	char *name;	/* heap; what spec.name points to */
	bool addressed; /* an address is known */
	uint16_t port;
	enum resolve_how how;
};

static int
edit_number(const char *word, uint64_t max, uint64_t *value, struct error *e)
{
	if (number_parse(word, 0, max, value) == 0)
		return 0;
	return error_set(e, "\"%.100s\" is no number 0..%llu", word,
	    (unsigned long long)max);
}

static int
edit_address(struct server_edit *s, const char *word, struct error *e)
{
	struct resolved r;
	struct error why;

	if (addr_is_unix_text(word)) {
		if (addr_parse_unix(&s->spec.addrs.addr[0], word) < 0)
			return error_set(e,
			    "\"%.150s\": no path of a Unix "
			    "socket",
			    word);
		s->spec.addrs.count = 1;
	} else {
		if (resolve_host(word, s->port, s->how, &r, &why) < 0)
			return error_set(
			    e, "\"%.150s\": %.250s", word, why.text);
		s->spec.addrs.count = r.count;
		memcpy(s->spec.addrs.addr, r.addr, r.count * sizeof(r.addr[0]));
	}
	free(s->name);
	s->name = strdup(word);
	s->addressed = true;
	return s->name != NULL ? 0 : error_set(e, "out of memory");
}

static int
edit_word(
    struct server_edit *s, const char *key, const char *word, struct error *e)
{
	static const struct {
		const char *name;
		uint64_t max;
	} keys[] = {
		{ "acl", ACL_LISTS - 1 },
		{ "max", UINT32_MAX },
		{ "hard", UINT32_MAX },
		{ "weight", SERVER_WEIGHT_MAX },
		{ "prio", INT32_MAX },
	};
	uint64_t n = 0;
	size_t i;

	if (strcmp(key, "address") == 0)
		return edit_address(s, word, e);
	if (strcmp(key, "port") == 0)
		return resolve_port(word, &s->port, e);
	if (strcmp(key, "blacklist") == 0) {
		if (number_parse_ms(
			word, 0, UINT32_MAX, &s->spec.blacklist_ms) == 0)
			return 0;
		return error_set(e, "\"%.100s\" is no number of seconds", word);
	}
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(key, keys[i].name) == 0)
			break;
	if (i == sizeof(keys) / sizeof(keys[0]))
		return error_set(e,
		    "\"%.100s\": expected acl, address, port, "
		    "max, hard, blacklist, weight or prio",
		    key);
	if (edit_number(word, keys[i].max, &n, e) < 0)
		return -1;
	if (strcmp(key, "max") == 0)
		s->spec.soft = n;
	else if (strcmp(key, "hard") == 0)
		s->spec.hard = n;
	else if (strcmp(key, "weight") == 0)
		s->spec.weight = (unsigned)n;
	else if (strcmp(key, "prio") == 0)
		s->spec.prio = (int)n;
	else
		s->spec.acl = (int)n;
	return 0;
}

/* Starts from what the server is now. */
static int
edit_begin(struct server_edit *s, const struct server *old, uint16_t port,
    struct error *e)
{
	memset(s, 0, sizeof(*s));
	server_spec_init(&s->spec);
	s->port = port;
	s->name = strdup(old != NULL && old->present ? old->name : "");
	if (s->name == NULL)
		return error_set(e, "out of memory");
	if (old == NULL || !old->present)
		return 0;
	s->spec.addrs = old->addrs;
	s->spec.soft = old->soft;
	s->spec.hard = old->hard;
	s->spec.weight = old->weight;
	s->spec.prio = old->prio;
	s->spec.acl = old->acl;
	s->spec.blacklist_ms = old->blacklist_ms;
	if (addr_port(&old->addrs.addr[0]) != 0)
		s->port = addr_port(&old->addrs.addr[0]);
	return 0;
}

static int
edit_words(struct server_edit *s, const struct words *w, struct error *e)
{
	unsigned i;
	int k;

	if (w->count % 2 == 0)
		return error_set(
		    e, "\"%.100s\" lacks its value", w->word[w->count - 1]);
	for (k = 1; k < w->count; k += 2)
		if (edit_word(s, w->word[k], w->word[k + 1], e) < 0)
			return -1;
	for (i = 0; i < s->spec.addrs.count; i++)
		addr_set_port(&s->spec.addrs.addr[i], s->port);
	if (s->spec.addrs.count > 0 && s->port == 0 &&
	    s->spec.addrs.addr[0].u.sa.sa_family != AF_UNIX)
		return error_set(e, "no port");
	return 0;
}

int
run_server(struct call *c, struct error *e)
{
	struct pen *p = c->pen;
	struct server_edit s;
	uint64_t n;
	int rc = 0;

	if (c->words->count == 0)
		return error_set(e, "expects %s", c->row->args);
	if (edit_number(c->words->word[0], SERVERS_MAX, &n, e) < 0)
		return -1;
	if (edit_begin(&s, pool_server(p->pool, (unsigned)n),
		spec_default_port(&p->listen), e) < 0)
		return -1;
	s.how = resolve_how(p);
	rc = edit_words(&s, c->words, e);
	s.spec.name = s.name;
	if (rc == 0 && pool_set_server(p->pool, (unsigned)n, &s.spec) == NULL)
		rc = error_set(e, "out of memory");
	free(s.name);
	return rc;
}

int
run_servers(struct call *c, struct error *e)
{
	(void)e;
	report_servers(c->pen, c->reply);
	return 0;
}

/* ---- reserves ---- */

static int
set_reserve(struct call *c, struct error *e,
    struct server *(*set)(struct pool *p, const struct server_spec *spec))
{
	struct server_spec spec;
	int rc;

	if (c->words->count != 1)
		return error_set(e, "expects %s", c->row->args);
	rc = spec_parse_server(&spec, c->words->word[0],
	    spec_default_port(&c->pen->listen), resolve_how(c->pen), e);
	if (rc == 0 && set(c->pen->pool, &spec) == NULL)
		rc = error_set(e, "out of memory");
	free(spec.name);
	return rc;
}

int
run_emergency(struct call *c, struct error *e)
{
	return set_reserve(c, e, pool_set_emergency);
}

int
run_abuse(struct call *c, struct error *e)
{
	return set_reserve(c, e, pool_set_abuse);
}

/* ---- access ---- */

int
run_acl(struct call *c, struct error *e)
{
	const struct words *w = c->words;
	struct acl *l;
	uint64_t n;
	bool permit;

	if (w->count < (c->no ? 1 : 3) || w->count > (c->no ? 1 : 4))
		return error_set(e, "expects %s", c->no ? "N" : c->row->args);
	if (edit_number(w->word[0], ACL_LISTS - 1, &n, e) < 0)
		return -1;
	l = pool_acl(c->pen->pool, (unsigned)n);
	if (c->no) {
		acl_clear(l);
		return 0;
	}
	permit = strcmp(w->word[1], "permit") == 0;
	if (!permit && strcmp(w->word[1], "deny") != 0)
		return error_set(
		    e, "\"%.100s\": expected permit or deny", w->word[1]);
	if (strcmp(w->word[2], "country") == 0)
		return error_set(e, "country: not implemented yet");
	if (acl_add(l, permit, w->word[2], w->word[3]) == 0)
		return 0;
	return error_set(e,
	    errno == ENOMEM ? "out of memory"
			    : "\"%.100s\" is no address with "
			      "an optional /LEN or mask",
	    w->word[2]);
}

int
run_source(struct call *c, struct error *e)
{
	struct addr *source = &c->pen->config.frontend.source;

	if (c->words->count != 1)
		return error_set(e, "expects %s", c->row->args);
	if (addr_parse_ip(source, c->words->word[0], 0) < 0)
		return error_set(
		    e, "\"%.100s\" is no IP address", c->words->word[0]);
	return pen_apply(c->pen, e);
}
