/* resolve.c: getaddrinfo() for the start of the program. */
#include "config.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/words.h"
#include "net/resolve/resolve.h"

int
resolve_port(const char *text, uint16_t *port, struct error *e)
{
	struct servent *service;
	uint64_t n;

	if (number_parse(text, 1, 65535, &n) == 0) {
		*port = (uint16_t)n;
		return 0;
	}
	if (errno == ERANGE)
		return error_set(e, "port out of range 1..65535");
	service = text[0] != '\0' ? getservbyname(text, "tcp") : NULL;
	if (service == NULL && text[0] != '\0')
		service = getservbyname(text, NULL);
	if (service == NULL)
		return error_set(
		    e, "\"%s\" is not a valid port or service name", text);
	*port = ntohs((uint16_t)service->s_port);
	return 0;
}

static bool
resolved_has(const struct resolved *r, const struct addr *a)
{
	unsigned i;

	for (i = 0; i < r->count; i++)
		if (addr_equal(&r->addr[i], a))
			return true;
	return false;
}

/* An order of addresses that every answer gives alike. */
static int
resolve_compare(const struct addr *a, const struct addr *b)
{
	bool v6 = a->u.sa.sa_family == AF_INET6;
	int rc;

	if (a->u.sa.sa_family != b->u.sa.sa_family)
		return v6 ? 1 : -1;
	rc = v6 ? memcmp(&a->u.in6.sin6_addr, &b->u.in6.sin6_addr,
		      sizeof(a->u.in6.sin6_addr))
		: memcmp(&a->u.in.sin_addr, &b->u.in.sin_addr,
		      sizeof(a->u.in.sin_addr));
	return rc != 0 ? rc : (int)addr_port(a) - (int)addr_port(b);
}

/* Where an address is kept: after the others, or instead of the highest one
 * when there are too many, RESOLVE_MAX if it is the highest. Name servers like
 * to give them in another order each time: which are kept does not depend on
 * that. */
static unsigned
index_for(const struct resolved *r, const struct addr *a)
{
	unsigned i, highest = 0;

	if (r->count < RESOLVE_MAX)
		return r->count;
	for (i = 1; i < r->count; i++)
		if (resolve_compare(&r->addr[i], &r->addr[highest]) > 0)
			highest = i;
	return resolve_compare(a, &r->addr[highest]) < 0 ? highest
							 : RESOLVE_MAX;
}

bool
resolve_is_service(const char *host)
{
	const char *dot = strchr(host, '.');

	return host[0] == '_' && dot != NULL && dot[1] == '_';
}

void
resolved_init(struct resolved *r)
{
	r->count = r->hosts = 0;
	r->ttl_ms = 0;
	r->host = NULL;
}

void
resolved_fini(struct resolved *r)
{
	while (r->hosts > 0)
		free(r->host[--r->hosts].name);
	free(r->host);
	r->host = NULL;
}

int
resolved_add_host(struct resolved *r, const char *name)
{
	struct resolved_host *h =
	    realloc(r->host, (r->hosts + 1) * sizeof(*h));

	if (h == NULL)
		return -1;
	r->host = h;
	h += r->hosts;
	h->failed = RESOLVE_IPV4 | RESOLVE_IPV6;
	h->name = name != NULL ? strdup(name) : NULL;
	if (name != NULL && h->name == NULL)
		return -1;
	return (int)r->hosts++;
}

const char *
resolved_target(const struct resolved *r, unsigned i)
{
	return r->of[i] < r->hosts ? r->host[r->of[i]].name : NULL;
}

bool
resolved_may_have(
    const struct resolved *r, const char *target, const struct addr *a)
{
	unsigned family =
	    a->u.sa.sa_family == AF_INET6 ? RESOLVE_IPV6 : RESOLVE_IPV4;
	unsigned i;

	for (i = 0; i < r->hosts; i++)
		if ((r->host[i].failed & family) != 0 &&
		    text_equal(r->host[i].name, target))
			return true;
	return false;
}

void
resolve_add(struct resolved *r, const struct sockaddr *sa, socklen_t len,
    uint16_t port, unsigned host, const struct resolved_service *is)
{
	static const struct resolved_service none = { .there = false };
	struct addr a;
	unsigned i;

	if (len > sizeof(a.u) ||
	    (sa->sa_family != AF_INET && sa->sa_family != AF_INET6))
		return;
	memset(&a, 0, sizeof(a));
	a.len = len;
	memcpy(&a.u, sa, len);
	addr_set_port(&a, port);
	i = resolved_has(r, &a) ? RESOLVE_MAX : index_for(r, &a);
	if (i == RESOLVE_MAX)
		return;
	r->service[i] = is != NULL ? *is : none;
	r->of[i] = host;
	r->addr[i] = a;
	r->count += i == r->count;
}

unsigned
resolve_take(struct resolved *r, const struct addrinfo *list, uint16_t port)
{
	const struct addrinfo *ai;

	resolved_init(r);
	for (ai = list; ai != NULL; ai = ai->ai_next)
		resolve_add(r, ai->ai_addr, ai->ai_addrlen, port, 0, NULL);
	return r->count;
}

/* ---- addresses ---- */

/* How many characters of a part of "127.1" are a number (inet_aton(3)); 0: it
 * is none. */
static size_t
number_length(const char *part)
{
	size_t n = strspn(part, "0123456789");

	if (part[0] == '0' && (part[1] == 'x' || part[1] == 'X'))
		n = 2 + strspn(part + 2, "0123456789abcdefABCDEF");
	return part[n] == '.' || part[n] == '\0' ? n : 0;
}

/* Whether it is nothing but numbers; *zero: one has a zero in front. */
static bool
is_numbers(const char *host, bool *zero)
{
	size_t n;

	*zero = false;
	for (;; host += n + 1) {
		n = number_length(host);
		if (n == 0)
			return false;
		*zero |= n > 1 && host[0] == '0';
		if (host[n] == '\0')
			return true;
	}
}

/* 010.0.0.1 is 8.0.0.1 to getaddrinfo(3), and 10.0.0.1 to c-ares. */
int
resolve_address(
    const char *host, uint16_t port, struct resolved *r, struct error *e)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	bool zero;

	if (addr_parse_ip(&r->addr[0], host, port) == 0) {
		r->service[0].there = false;
		r->of[0] = 0;
		r->count = 1;
		return 1;
	}
	if (strchr(host, '%') != NULL)
		return error_set(e,
		    "not an IPv6 address with an interface of this host");
	if (!is_numbers(host, &zero))
		return 0;
	if (zero)
		return error_set(e,
		    "an IPv4 address has decimal numbers without leading "
		    "zeros");
	if (inet_aton(host, &in.sin_addr) == 0)
		return 0;
	resolve_add(r, (const struct sockaddr *)&in, sizeof(in), port, 0, NULL);
	return 1;
}

int
resolve_host(const char *host, uint16_t port, enum resolve_how how,
    struct resolved *r, struct error *e)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list;
	int rc;

	resolved_init(r);
	rc = resolve_address(host, port, r, e);
	if (rc != 0)
		return rc < 0 ? -1 : 0;
	if (how == RESOLVE_NUMERIC)
		return error_set(e,
		    "names are looked up only at startup: use an IP address");
	rc = getaddrinfo(host, NULL, &hints, &list);
	if (rc != 0)
		return error_set(e, "%s",
		    rc == EAI_SYSTEM ? strerror(errno) : gai_strerror(rc));
	(void)resolve_take(r, list, port);
	freeaddrinfo(list);
	return r->count > 0 ? 0 : error_set(e, "no address");
}
