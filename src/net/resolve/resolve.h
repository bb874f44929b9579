/* resolve.h: names to addresses, only at startup: it blocks. See resolver.h for
 * later.
 *
 * Numeric addresses never need the resolver, so they work on hosts without a
 * configured interface. Service names are looked up as ports. */
#ifndef PEN_NET_RESOLVE_H
#define PEN_NET_RESOLVE_H

#include <stdbool.h>

#include "base/addr.h"
#include "base/error.h"

enum { RESOLVE_MAX = 32 };

/* The fields of a service's record for an address (RFC 2782). */
struct resolved_service {
	bool there; /* else the name is none of a service */
	uint16_t port, prio, weight;
};

/* Families of addresses, as bits. */
enum { RESOLVE_IPV4 = 1, RESOLVE_IPV6 = 2 };

/* A host that is looked up: the name itself, or a target of a service. */
struct resolved_host {
	char *name;	 /* owned; NULL: the name itself */
	unsigned failed; /* the families that nothing is known of */
};

struct resolved {
	unsigned count;
	struct addr addr[RESOLVE_MAX];
	struct resolved_service service[RESOLVE_MAX];
	unsigned of[RESOLVE_MAX]; /* the host that has the address */
	uint64_t ttl_ms; /* of the first address that expires; 0: not known */
	struct resolved_host *host; /* owned; of resolver.h, none elsewhere */
	unsigned hosts;
};

/* A port number 1..65535, or the name of a service, of TCP if that has it.
 * Returns 0, or -1 with a short message such as "port out of range
 * 1..65535". */
int resolve_port(const char *text, uint16_t *port, struct error *e);

/* Whether names may be looked up: only while nothing is served yet. */
enum resolve_how { RESOLVE_NAMES, RESOLVE_NUMERIC };

/* Whether the name is one of a service, "_http._tcp.web.test". */
bool resolve_is_service(const char *host);
void resolved_init(struct resolved *r);
/* Frees the hosts. */
void resolved_fini(struct resolved *r);
/* Notes a host that is looked up; nothing is known of it yet. Returns its
 * number, or -1 with errno ENOMEM. */
int resolved_add_host(struct resolved *r, const char *name);
/* Of an address at index `i`: the target of the service, NULL if it is none. */
const char *resolved_target(const struct resolved *r, unsigned i);
/* Whether the answer leaves open if the name still has an address, that was an
 * address of `target` (NULL: of the name itself): the name server failed. */
bool resolved_may_have(
    const struct resolved *r, const char *target, const struct addr *a);
/* Adds an IP address, unless it is there; of too many the lowest are kept. Of a
 * service, `is` has the fields of its record, else it is NULL. */
void resolve_add(struct resolved *r, const struct sockaddr *sa, socklen_t len,
    uint16_t port, unsigned host, const struct resolved_service *is);
/* Fills `r` with the different IP addresses of a list. Returns how many. */
struct addrinfo;
unsigned resolve_take(
    struct resolved *r, const struct addrinfo *list, uint16_t port);

/* Takes `host` as an address, without a lookup: as inet_aton(3) does, 127.1
 * included, but for numbers with a leading zero, which may be octal or not. An
 * interface after '%' must be there. Of an empty `r`. Returns 1; 0: it is a
 * name; -1 with a short message. */
int resolve_address(
    const char *host, uint16_t port, struct resolved *r, struct error *e);

/* All stream addresses of `host` (a name or a numeric address, no brackets) in
 * the resolver's order, with `port`. Returns 0, or -1 with a short message. */
int resolve_host(const char *host, uint16_t port, enum resolve_how how,
    struct resolved *r, struct error *e);

#endif
