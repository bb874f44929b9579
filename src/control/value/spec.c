/* spec.c: parsing of listening addresses and servers. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/number.h"
#include "control/value/spec.h"
#include "control/value/spec_mistake.h"

static int
spec_parse_unix(struct addr *a, const char *text, struct error *e)
{
	if (addr_parse_unix(a, text) == 0)
		return 0;
	if (errno == ENAMETOOLONG)
		return error_set(e,
		    "path is longer than the %zu bytes of a "
		    "socket address",
		    sizeof(a->u.un.sun_path) - 1);
	return error_set(e, "not a path of a Unix socket");
}

/* ---- listening ---- */

static const char all_hosts[] = "0.0.0.0";

static int
add_listener(struct listen_list *list, const struct addr *a, struct error *e)
{
	struct frontend_address *entry;

	if (list->count == LISTEN_MAX)
		return error_set(e, "more than %d addresses", LISTEN_MAX);
	entry = array_grow(
	    list->entry, &list->room, sizeof(*entry), list->count);
	if (entry == NULL)
		return error_set(e, "out of memory");
	list->entry = entry;
	entry[list->count++] = (struct frontend_address){ .at = *a };
	return 0;
}

int
listen_list_copy(struct listen_list *list, const struct listen_list *from)
{
	*list = (struct listen_list){ .count = 0 };
	if (from->count == 0)
		return 0;
	list->entry = calloc(from->count, sizeof(*list->entry));
	if (list->entry == NULL)
		return -1;
	memcpy(list->entry, from->entry, from->count * sizeof(*list->entry));
	list->count = list->room = from->count;
	return 0;
}

void
listen_list_fini(struct listen_list *list)
{
	free(list->entry);
	*list = (struct listen_list){ .count = 0 };
}

/* Port 0 is all of them, of direct return. */
static int
parse_listen_port(const char *text, uint16_t *port, struct error *e)
{
	*port = 0;
	return strcmp(text, "0") == 0 ? 0 : resolve_port(text, port, e);
}

struct ports {
	unsigned count;
	uint16_t port[LISTEN_MAX];
};

static int
spec_add_port(struct ports *p, uint16_t port, struct error *e)
{
	if (p->count == LISTEN_MAX)
		return error_set(e, "more than %d ports", LISTEN_MAX);
	p->port[p->count++] = port;
	return 0;
}

/* "FIRST-LAST", or one. */
static int
parse_range(struct ports *p, char *text, struct error *e)
{
	size_t digits = strspn(text, "0123456789");
	bool range = digits > 0 && text[digits] == '-';
	uint16_t first, last;

	if (range)
		text[digits] = '\0';
	if ((range ? resolve_port(text, &first, e)
		   : parse_listen_port(text, &first, e)) < 0)
		return -1;
	last = first;
	if (range && resolve_port(text + digits + 1, &last, e) < 0)
		return -1;
	if (last < first)
		return error_set(e,
		    "ports %u-%u: the first is higher than the last", first,
		    last);
	for (; first < last; first++)
		if (spec_add_port(p, first, e) < 0)
			return -1;
	return spec_add_port(p, last, e);
}

/* Several are joined by '+', which is in the name of few services. */
static int
spec_parse_ports(struct ports *p, char *text, struct error *e)
{
	char *rest = text, *one;
	struct error none;
	uint16_t port;

	p->count = 0;
	if (parse_listen_port(text, &port, &none) == 0)
		return spec_add_port(p, port, e);
	while (rest != NULL) {
		one = rest;
		rest = strchr(one, '+');
		if (rest != NULL)
			*rest++ = '\0';
		if (parse_range(p, one, e) < 0)
			return -1;
	}
	return 0;
}

/* Parses one address of a list; a port without a host is one of the host
 * `bare`. */
static int
spec_parse_one(struct listen_list *list, char *text, const char *bare,
    enum resolve_how how, struct error *e)
{
	char *colon = strrchr(text, ':');
	const char *host = colon != NULL ? text : bare;
	struct resolved r;
	struct addr a;
	struct ports p;
	unsigned i, k;

	if (addr_is_unix_text(text))
		return spec_parse_unix(&a, text, e) < 0
		    ? -1
		    : add_listener(list, &a, e);
	if (colon != NULL) {
		*colon = '\0';
		if (text[0] == '[' && colon[-1] == ']') {
			colon[-1] = '\0';
			host++;
		}
	}
	if (host[0] == '\0' || strcmp(host, "*") == 0)
		host = all_hosts;
	if (spec_parse_ports(&p, colon != NULL ? colon + 1 : text, e) < 0 ||
	    resolve_host(host, 0, how, &r, e) < 0)
		return -1;
	for (k = 0; k < p.count; k++)
		for (i = 0; i < r.count; i++) {
			addr_set_port(&r.addr[i], p.port[k]);
			if (add_listener(list, &r.addr[i], e) < 0)
				return -1;
		}
	return 0;
}

/* A wildcard IPv6 listener takes IPv4 too, unless its port has one of IPv4. */
static void
part_twins(struct listen_list *list)
{
	unsigned i, k;

	for (i = 0; i < list->count; i++)
		for (k = 0; k < list->count; k++)
			if (list->entry[i].at.u.sa.sa_family == AF_INET6 &&
			    list->entry[k].at.u.sa.sa_family == AF_INET &&
			    addr_is_any(&list->entry[i].at) &&
			    addr_port(&list->entry[i].at) ==
				addr_port(&list->entry[k].at))
				list->entry[i].v6_only = true;
}

/* The word v6only is of the wildcard addresses of its list. */
static int
spec_set_v6_only(struct listen_list *list, struct error *e)
{
	bool any = false;
	unsigned i;

	for (i = 0; i < list->count; i++)
		if (list->entry[i].at.u.sa.sa_family == AF_INET6 &&
		    addr_is_any(&list->entry[i].at))
			any = list->entry[i].v6_only = true;
	return any ? 0
		   : error_set(
			 e, "v6only needs all IPv6 addresses, as [::]:80");
}

static int
spec_parse_list(struct listen_list *list, const char *text, const char *bare,
    enum resolve_how how, struct error *e)
{
	bool v6_only = false;
	char *copy = strdup(text), *rest = copy, *one;
	int rc = 0;

	if (copy == NULL)
		return error_set(e, "out of memory");
	while (rc == 0 && rest != NULL) {
		one = rest;
		rest = strchr(one, ',');
		if (rest != NULL)
			*rest++ = '\0';
		if (bare == all_hosts && strcmp(one, "v6only") == 0) {
			v6_only = true;
			continue;
		}
		rc = spec_refuse_url(one, e);
		if (rc == 0)
			rc = spec_parse_one(list, one, bare, how, e);
	}
	free(copy);
	if (rc == 0 && v6_only)
		rc = spec_set_v6_only(list, e);
	if (rc < 0)
		return error_of(e, "listening address \"%.200s\"", text);
	part_twins(list);
	return 0;
}

int
spec_parse_listen(struct listen_list *list, const char *text,
    enum resolve_how how, struct error *e)
{
	return spec_parse_list(list, text, all_hosts, how, e);
}

int
spec_parse_local(struct listen_list *list, const char *text,
    enum resolve_how how, struct error *e)
{
	unsigned i;

	if (spec_parse_list(list, text, "127.0.0.1", how, e) < 0)
		return -1;
	for (i = 0; i < list->count; i++)
		if (list->entry[i].at.u.sa.sa_family != AF_UNIX &&
		    addr_port(&list->entry[i].at) == 0)
			return error_set(e,
			    "listening address \"%.200s\": port out of range "
			    "1..65535",
			    text);
	return 0;
}

bool
listen_list_equal(const struct listen_list *a, const struct listen_list *b)
{
	unsigned i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++)
		if (!addr_equal(&a->entry[i].at, &b->entry[i].at) ||
		    a->entry[i].v6_only != b->entry[i].v6_only)
			return false;
	return true;
}

int
spec_default_port(const struct listen_list *list)
{
	unsigned i;

	for (i = 0; i < list->count; i++)
		if (addr_port(&list->entry[i].at) != 0)
			return addr_port(&list->entry[i].at);
	for (i = 0; i < list->count; i++)
		if (list->entry[i].at.u.sa.sa_family != AF_UNIX)
			return SPEC_ANY_PORT;
	return 0;
}

/* ---- servers ---- */

char *
spec_split_host(const char *text, const char **rest, struct error *e)
{
	struct addr a;
	const char *end;
	char *host;

	if (text[0] == '[') {
		end = strchr(++text, ']');
		if (end == NULL) {
			error_set(e, "missing ] after the IPv6 address");
			return NULL;
		}
		*rest = end + 1;
	} else if (addr_parse_ip(&a, text, 0) == 0) {
		end = *rest = text + strlen(text);
	} else {
		end = *rest = text + strcspn(text, ":");
	}
	/* it is printed without brackets: one within, or the @ of a socket,
	 * would not be read again */
	if (end == text || text[0] == '@' ||
	    (**rest != ':' && **rest != '\0') ||
	    strcspn(text, "[]") < (size_t)(end - text)) {
		error_set(e,
		    "no host (an IPv6 address needs brackets: "
		    "[::1]:80)");
		return NULL;
	}
	host = strndup(text, (size_t)(end - text));
	if (host == NULL)
		error_set(e, "out of memory");
	return host;
}

int
spec_parse_ip(struct addr *a, const char *text, uint16_t port)
{
	const char *rest = "";
	uint64_t given = port;
	struct error e;
	char *host = spec_split_host(text, &rest, &e);
	int rc = -1;

	if (host != NULL && addr_parse_ip(a, host, 0) == 0 &&
	    (rest[0] == '\0' ||
		number_parse(rest + 1, 0, UINT16_MAX, &given) == 0))
		rc = 0;
	free(host);
	if (rc == 0)
		addr_set_port(a, (uint16_t)given);
	return rc;
}

struct field {
	const char *name;
	uint64_t max;
	uint64_t value;
};

/* The numbers after the port; empty ones keep their value. */
static int
parse_fields(struct field *fields, unsigned count, char *rest, struct error *e)
{
	unsigned i;
	char *next;

	for (i = 0; rest != NULL; i++, rest = next) {
		next = strchr(rest, ':');
		if (next != NULL)
			*next++ = '\0';
		if (i == count)
			return error_set(e, "too many fields");
		if (*rest == '\0' ||
		    number_parse(rest, 0, fields[i].max, &fields[i].value) == 0)
			continue;
		if (errno == ERANGE)
			return error_set(e, "%s out of range 0..%llu",
			    fields[i].name, (unsigned long long)fields[i].max);
		return error_set(
		    e, "%s \"%s\" is not a number", fields[i].name, rest);
	}
	return 0;
}

int
spec_parse_server_port(struct server_plan *s, const char *text, struct error *e)
{
	s->same_port = strcmp(text, "0") == 0;
	if (!s->same_port)
		return resolve_port(text, &s->port, e);
	s->port = 0;
	return 0;
}

/* Everything after the host: ":PORT:SOFT:HARD:WEIGHT:PRIO", cut in place. */
static int
spec_parse_rest(struct server_plan *s, char *rest, struct error *e)
{
	struct field fields[] = {
		{ "soft limit", UINT32_MAX, 0 },
		{ "hard limit", UINT32_MAX, 0 },
		{ "weight", SERVER_WEIGHT_MAX, 0 },
		{ "priority", INT32_MAX, 0 },
	};
	char *next;

	if (*rest == '\0')
		return 0;
	next = strchr(++rest, ':');
	if (next != NULL)
		*next++ = '\0';
	if (*rest != '\0' && spec_parse_server_port(s, rest, e) < 0)
		return -1;
	if (parse_fields(fields, 4, next, e) < 0)
		return -1;
	s->set.soft = fields[0].value;
	s->set.hard = fields[1].value;
	s->set.weight = (unsigned)fields[2].value;
	s->set.prio = (int)fields[3].value;
	return 0;
}

static int
parse_host_server(
    struct server_plan *s, const char *text, bool any_port, struct error *e)
{
	const char *rest;
	char *copy;
	int rc;

	s->host = spec_split_host(text, &rest, e);
	if (s->host == NULL || spec_refuse_port(text, s->host, e) < 0)
		return -1;
	copy = strdup(rest);
	if (copy == NULL)
		return error_set(e, "out of memory");
	rc = spec_parse_rest(s, copy, e);
	free(copy);
	if (rc == 0 && s->port == 0 && !s->same_port && !any_port)
		return error_set(
		    e, "no port, and the listening address has none");
	return rc;
}

static int
parse_unix_server(struct server_plan *s, const char *text, struct error *e)
{
	struct addr a;

	if (spec_parse_unix(&a, text, e) < 0)
		return -1;
	s->port = 0;
	s->host = strdup(text);
	return s->host != NULL ? 0 : error_set(e, "out of memory");
}

void
server_plan_init(struct server_plan *s)
{
	*s = (struct server_plan)SERVER_PLAN_NONE;
}

bool
server_plan_lacks_port(const struct server_plan *s)
{
	return s->host != NULL && s->port == 0 && !s->same_port &&
	    !addr_is_unix_text(s->host);
}

int
spec_parse_server(
    struct server_plan *s, const char *text, int default_port, struct error *e)
{
	int rc;

	server_plan_init(s);
	s->port = default_port > 0 ? (uint16_t)default_port : 0;
	rc = spec_refuse_url(text, e) < 0 || spec_refuse_list(text, e) < 0 ? -1
	    : addr_is_unix_text(text)
	    ? parse_unix_server(s, text, e)
	    : parse_host_server(s, text, default_port == SPEC_ANY_PORT, e);
	return rc == 0 ? 0 : error_of(e, "server \"%.200s\"", text);
}

const char *
spec_format_server(const struct server_plan *s, char text[SPEC_TEXT_MAX])
{
	if (s->port == 0 && !s->same_port)
		snprintf(text, SPEC_TEXT_MAX, "%.300s", s->host);
	else if (strchr(s->host, ':') != NULL)
		snprintf(text, SPEC_TEXT_MAX, "[%.300s]:%u", s->host, s->port);
	else
		snprintf(text, SPEC_TEXT_MAX, "%.300s:%u", s->host, s->port);
	return text;
}

const char *
spec_format_limits(const struct server_plan *s, char text[SPEC_TEXT_MAX])
{
	size_t n = strlen(spec_format_server(s, text));
	bool brackets = strchr(s->host, ':') != NULL;

	/* a path takes all that follows for itself, so it has none */
	if (addr_is_unix_text(s->host) ||
	    (s->set.soft == 0 && s->set.hard == 0 && s->set.weight == 0 &&
		s->set.prio == 0))
		return text;
	if (s->port == 0 && !s->same_port)
		n = (size_t)snprintf(text, SPEC_TEXT_MAX,
		    brackets ? "[%.300s]:0" : "%.300s:0", s->host);
	snprintf(text + n, SPEC_TEXT_MAX - n, ":%llu:%llu:%u:%d",
	    (unsigned long long)s->set.soft, (unsigned long long)s->set.hard,
	    s->set.weight, s->set.prio);
	return text;
}

/* ---- pages ---- */

int
spec_parse_web(struct addr *at, const char *text, struct error *e)
{
	struct listen_list list = { .count = 0 };
	int rc = spec_parse_local(&list, text, RESOLVE_NUMERIC, e);

	if (rc == 0 && list.count != 1)
		rc = error_set(e, "expects one address");
	if (rc == 0)
		*at = list.entry[0].at;
	listen_list_fini(&list);
	return rc;
}
