/* addr.c: socket addresses: parse, print, compare. No lookups. */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "base/addr.h"
#include "base/addr_text.h"
#include "base/number.h"

/* The zone after '%' (RFC 4007, 11): an interface name or number. */
static int
parse_scope(const char *zone, uint32_t *scope)
{
	uint64_t n;

	*scope = if_nametoindex(zone);
	if (*scope != 0)
		return 0;
	if (number_parse(zone, 0, UINT32_MAX, &n) < 0)
		return -1;
	*scope = (uint32_t)n;
	return 0;
}

static int
parse_ip6(struct addr *a, const char *text)
{
	char host[INET6_ADDRSTRLEN + IF_NAMESIZE + 2], *zone;

	if (strlen(text) >= sizeof(host))
		return -1;
	strcpy(host, text);
	zone = strchr(host, '%');
	if (zone != NULL)
		*zone++ = '\0';
	if (inet_pton(AF_INET6, host, &a->u.in6.sin6_addr) != 1)
		return -1;
	if (zone != NULL && parse_scope(zone, &a->u.in6.sin6_scope_id) < 0)
		return -1;
	a->u.in6.sin6_family = AF_INET6;
	a->len = sizeof(a->u.in6);
	return 0;
}

int
addr_parse_ip(struct addr *a, const char *text, uint16_t port)
{
	struct addr new;

	memset(&new, 0, sizeof(new));
	if (inet_pton(AF_INET, text, &new.u.in.sin_addr) == 1) {
		new.u.in.sin_family = AF_INET;
		new.len = sizeof(new.u.in);
	} else if (parse_ip6(&new, text) < 0) {
		return -1;
	}
	addr_set_port(&new, port);
	*a = new;
	return 0;
}

bool
addr_is_unix_text(const char *text)
{
	return text[0] == '@' || strchr(text, '/') != NULL;
}

int
addr_parse_unix(struct addr *a, const char *path)
{
	size_t n = strlen(path);
	bool abstract = path[0] == '@';
	size_t header = offsetof(struct sockaddr_un, sun_path);

	if (n <= (abstract ? 1u : 0u)) {
		errno = EINVAL;
		return -1;
	}
#ifndef __linux__
	if (abstract) {
		errno = EINVAL;
		return -1;
	}
#endif
	/* A path ends with a NUL inside sun_path; an abstract name begins with
	 * one and has the length of the address. */
	if (n + (abstract ? 0u : 1u) > sizeof(a->u.un.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memset(a, 0, sizeof(*a));
	a->u.un.sun_family = AF_UNIX;
	memcpy(a->u.un.sun_path, path, n);
	if (abstract)
		a->u.un.sun_path[0] = '\0';
	a->len = (socklen_t)(header + n + (abstract ? 0 : 1));
	return 0;
}

static void
addr_format_unix(const struct addr *a, char *text)
{
	size_t header = offsetof(struct sockaddr_un, sun_path);
	size_t n = a->len > header ? a->len - header : 0, i;

	if (n > 0 && a->u.un.sun_path[0] == '\0') {
		text[0] = '@';
		for (i = 1; i < n; i++)
			text[i] = a->u.un.sun_path[i];
		text[n] = '\0';
		return;
	}
	n = strnlen(a->u.un.sun_path, n);
	memcpy(text, a->u.un.sun_path, n);
	text[n] = '\0';
}

static struct addr_text
addr_host_text(const struct addr *a)
{
	return a->u.sa.sa_family == AF_INET
	    ? (struct addr_text){ .ip = (const uint8_t *)&a->u.in.sin_addr }
	    : (struct addr_text){ .is_ip6 = true,
		      .ip = a->u.in6.sin6_addr.s6_addr,
		      .scope = a->u.in6.sin6_scope_id };
}

char *
addr_format_host(const struct addr *a, char text[ADDR_TEXT_MAX])
{
	struct addr_text ip;

	text[0] = '\0';
	if (a->len > 0 && a->u.sa.sa_family == AF_UNIX) {
		addr_format_unix(a, text);
	} else if (a->len > 0) {
		ip = addr_host_text(a);
		addr_text_host(text, &ip);
	}
	return text;
}

char *
addr_format(const struct addr *a, char text[ADDR_TEXT_MAX])
{
	struct addr_text ip;

	if (a->len == 0 || a->u.sa.sa_family == AF_UNIX)
		return addr_format_host(a, text);
	ip = addr_host_text(a);
	addr_text_with_port(text, &ip, addr_port(a));
	return text;
}

uint16_t
addr_port(const struct addr *a)
{
	if (a->len == 0)
		return 0;
	if (a->u.sa.sa_family == AF_INET)
		return ntohs(a->u.in.sin_port);
	if (a->u.sa.sa_family == AF_INET6)
		return ntohs(a->u.in6.sin6_port);
	return 0;
}

void
addr_set_port(struct addr *a, uint16_t port)
{
	if (a->u.sa.sa_family == AF_INET)
		a->u.in.sin_port = htons(port);
	else if (a->u.sa.sa_family == AF_INET6)
		a->u.in6.sin6_port = htons(port);
}

const struct addr *
addr_with_port(const struct addr *a, uint16_t port, struct addr *copy)
{
	if (a->u.sa.sa_family == AF_UNIX || addr_port(a) != 0)
		return a;
	*copy = *a;
	addr_set_port(copy, port);
	return copy;
}

bool
addr_equal(const struct addr *a, const struct addr *b)
{
	if (a->len == 0 || b->len == 0)
		return a->len == b->len;
	if (a->u.sa.sa_family != b->u.sa.sa_family)
		return false;
	if (a->u.sa.sa_family == AF_INET)
		return a->u.in.sin_port == b->u.in.sin_port &&
		    a->u.in.sin_addr.s_addr == b->u.in.sin_addr.s_addr;
	if (a->u.sa.sa_family == AF_INET6)
		return a->u.in6.sin6_port == b->u.in6.sin6_port &&
		    a->u.in6.sin6_scope_id == b->u.in6.sin6_scope_id &&
		    memcmp(&a->u.in6.sin6_addr, &b->u.in6.sin6_addr, 16) == 0;
	return a->len == b->len && memcmp(&a->u.un, &b->u.un, a->len) == 0;
}

bool
addr_is_any(const struct addr *a)
{
	if (a->len == 0)
		return false;
	if (a->u.sa.sa_family == AF_INET)
		return a->u.in.sin_addr.s_addr == htonl(INADDR_ANY);
	return a->u.sa.sa_family == AF_INET6 &&
	    IN6_IS_ADDR_UNSPECIFIED(&a->u.in6.sin6_addr);
}

bool
addr_is_multicast(const struct addr *a)
{
	const uint8_t *ip6 = a->u.in6.sin6_addr.s6_addr;

	if (a->len == 0)
		return false;
	if (a->u.sa.sa_family == AF_INET)
		return IN_MULTICAST(ntohl(a->u.in.sin_addr.s_addr));
	if (a->u.sa.sa_family != AF_INET6)
		return false;
	return IN6_IS_ADDR_V4MAPPED(&a->u.in6.sin6_addr)
	    ? ip6[12] >> 4 == 0xe
	    : IN6_IS_ADDR_MULTICAST(&a->u.in6.sin6_addr);
}

bool
addr_is_group(const struct addr *a)
{
	return addr_is_multicast(a) ||
	    (a->len > 0 && a->u.sa.sa_family == AF_INET &&
		ntohl(a->u.in.sin_addr.s_addr) >= 0xe0000000);
}

bool
addr_is_loopback(const struct addr *a)
{
	if (a->len == 0)
		return false;
	if (a->u.sa.sa_family == AF_INET)
		return ntohl(a->u.in.sin_addr.s_addr) >> 24 == 127;
	return a->u.sa.sa_family == AF_INET6 &&
	    (IN6_IS_ADDR_LOOPBACK(&a->u.in6.sin6_addr) ||
		(IN6_IS_ADDR_V4MAPPED(&a->u.in6.sin6_addr) &&
		    a->u.in6.sin6_addr.s6_addr[12] == 127));
}
