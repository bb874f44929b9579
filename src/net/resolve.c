/* resolve.c: getaddrinfo() for the start of the program. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <string.h>

#include "base/number.h"
#include "net/resolve.h"

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
	if (service == NULL)
		return error_set(
		    e, "\"%s\" is not a valid port or service name", text);
	*port = ntohs((uint16_t)service->s_port);
	return 0;
}

static bool
has_address(const struct resolved *r, const struct addr *a)
{
	unsigned i;

	for (i = 0; i < r->count; i++)
		if (addr_equal(&r->addr[i], a))
			return true;
	return false;
}

static void
add_address(struct resolved *r, const struct addrinfo *ai, uint16_t port)
{
	struct addr a;

	if (r->count == RESOLVE_MAX || ai->ai_addrlen > sizeof(a.u) ||
	    (ai->ai_family != AF_INET && ai->ai_family != AF_INET6))
		return;
	memset(&a, 0, sizeof(a));
	a.len = ai->ai_addrlen;
	memcpy(&a.u, ai->ai_addr, ai->ai_addrlen);
	addr_set_port(&a, port);
	if (!has_address(r, &a))
		r->addr[r->count++] = a;
}

unsigned
resolve_take(struct resolved *r, const struct addrinfo *list, uint16_t port)
{
	const struct addrinfo *ai;

	r->count = 0;
	for (ai = list; ai != NULL; ai = ai->ai_next)
		add_address(r, ai, port);
	return r->count;
}

int
resolve_host(const char *host, uint16_t port, enum resolve_how how,
    struct resolved *r, struct error *e)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list;
	int rc;

	r->count = 0;
	if (addr_parse_ip(&r->addr[0], host, port) == 0) {
		r->count = 1;
		return 0;
	}
	if (how == RESOLVE_NUMERIC)
		return error_set(e,
		    "names are looked up at the start only here; "
		    "use an IP address");
	rc = getaddrinfo(host, NULL, &hints, &list);
	if (rc != 0)
		return error_set(e, "%s",
		    rc == EAI_SYSTEM ? strerror(errno) : gai_strerror(rc));
	(void)resolve_take(r, list, port);
	freeaddrinfo(list);
	return r->count > 0 ? 0 : error_set(e, "no address");
}
