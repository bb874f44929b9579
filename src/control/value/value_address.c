/* value_address.c: values that are addresses. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "control/value/spec.h"
#include "control/value/value_private.h"
#include "net/sources.h"

/* ---- local addresses towards servers ---- */

/* Adds the addresses of a word, "A" or "A,B". */
static int
add_sources(struct sources *s, const char *word, struct error *e)
{
	char one[ADDR_TEXT_MAX];
	struct addr at;
	unsigned i;
	size_t n;

	for (;; word += n + 1) {
		n = strcspn(word, ",");
		if (s->count == SOURCES_MAX)
			return error_set(
			    e, "more than %d addresses", SOURCES_MAX);
		snprintf(one, sizeof(one), "%.*s", (int)n, word);
		if (n >= sizeof(one) || addr_parse_ip(&at, one, 0) < 0)
			return error_set(
			    e, "\"%.100s\" is not an IP address", one);
		peer_from_addr(&s->at[s->count], &at);
		for (i = 0; i < s->count; i++)
			if (peer_same_host(&s->at[i], &s->at[s->count]))
				return error_set(
				    e, "\"%.100s\" is given twice", one);
		s->count++;
		if (word[n] == '\0')
			return 0;
	}
}

static int
set_source(const struct command *row, void *value, const struct words *w,
    bool no, struct error *e)
{
	struct sources list = { .count = 0 };
	int i;

	if (no != (w->count == 0))
		return value_expects(row, e);
	for (i = 0; i < w->count; i++)
		if (add_sources(&list, w->word[i], e) < 0)
			return -1;
	*(struct sources *)value = list;
	return 0;
}

static bool
source_words(const struct command *row, const void *value, struct buffer *out)
{
	const struct sources *s = value;
	char host[PEER_TEXT_MAX];
	unsigned i;

	(void)row;
	for (i = 0; i < s->count; i++)
		reply_add(out, "%s%s", i > 0 ? " " : "",
		    peer_format_host(&s->at[i], host));
	return s->count > 0;
}

static bool
equal_sources(const struct command *row, const void *a, const void *b)
{
	(void)row;
	return sources_equal(a, b);
}

const struct value_kind value_kind_source = {
	.set = set_source,
	.words = source_words,
	.equal = equal_sources,
};

/* ---- own addresses, one of each family ---- */

enum { FAMILIES = 2 };

static int
set_own(const struct command *row, void *value, const struct words *w, bool no,
    struct error *e)
{
	struct addr *own = value, a;

	if (no && w->count == 0) {
		memset(own, 0, FAMILIES * sizeof(*own));
		return 0;
	}
	if (no || w->count != 1)
		return value_expects(row, e);
	if (addr_parse_ip(&a, w->word[0], 0) < 0)
		return error_set(
		    e, "\"%.100s\" is not an IP address", w->word[0]);
	own[a.u.sa.sa_family == AF_INET6] = a;
	return 0;
}

static void
print_own(const struct command *row, const void *value, struct buffer *out)
{
	const struct addr *own = value;
	char host[ADDR_TEXT_MAX];
	int i;

	reply_add(out, "no %s\n", row->name);
	for (i = 0; i < FAMILIES; i++)
		if (own[i].len > 0)
			reply_add(out, "%s %s\n", row->name,
			    addr_format_host(&own[i], host));
}

static void
value_address_emit_own(struct fields *f, const char *key,
    const struct command *row, const void *value)
{
	const struct addr *own = value;
	char host[FAMILIES][ADDR_TEXT_MAX];
	const char *list[FAMILIES];
	unsigned n = 0, i;

	(void)row;
	for (i = 0; i < FAMILIES; i++)
		if (own[i].len > 0)
			list[n++] = addr_format_host(&own[i], host[i]);
	fields_json_texts(f, key, list, n);
}

static bool
equal_own(const struct command *row, const void *a, const void *b)
{
	const struct addr *x = a, *y = b;
	int i;

	(void)row;
	for (i = 0; i < FAMILIES; i++)
		if (x[i].len != y[i].len ||
		    (x[i].len > 0 && !addr_equal(&x[i], &y[i])))
			return false;
	return true;
}

const struct value_kind value_kind_own_addresses = {
	.set = set_own,
	.print = print_own,
	.emit = value_address_emit_own,
	.equal = equal_own,
};

/* ---- the port of a server ---- */

static int
set_port(const struct command *row, void *value, const struct words *w, bool no,
    struct error *e)
{
	(void)row, (void)no;
	return spec_parse_server_port(value, w->word[0], e);
}

static bool
port_words(const struct command *row, const void *value, struct buffer *out)
{
	const struct server_plan *s = value;

	(void)row;
	reply_add(out, "%u", s->port);
	return s->port != 0 || s->same_port;
}

static void
emit_port(struct fields *f, const char *key, const struct command *row,
    const void *value)
{
	(void)row;
	fields_number(f, key, ((const struct server_plan *)value)->port);
}

static bool
equal_ports(const struct command *row, const void *a, const void *b)
{
	const struct server_plan *x = a, *y = b;

	(void)row;
	return x->port == y->port && x->same_port == y->same_port;
}

const struct value_kind value_kind_port = {
	.set = set_port,
	.words = port_words,
	.emit = emit_port,
	.equal = equal_ports,
};
