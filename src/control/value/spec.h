/* spec.h: the addresses of the command line.
 *
 *     listening  [ADDRESS:]PORTS | /PATH | @NAME, several joined by commas; the
 *                last colon separates the ports, so ::1:2222 and :::2222 work;
 *                PORTS is 80, or 80+443+8000-8010; with v6only among them
 *                all IPv6 addresses are no IPv4 addresses
 *     server     HOST[:PORT[:SOFT[:HARD[:WEIGHT[:PRIO]]]]] | [V6]:PORT... |
 *                /PATH | @NAME; PORT 0 is the one that the client came to
 *
 * Names of listening addresses are looked up here, which blocks: at the start
 * only. Those of servers are left alone; see names.h. Errors name the operand
 * and what was expected. */
#ifndef PEN_CONTROL_SPEC_H
#define PEN_CONTROL_SPEC_H

#include "base/addr.h"
#include "base/error.h"
#include "control/value/plan_acls.h"
#include "net/resolve/resolve.h"
#include "pool/pool.h"
#include "proxy/frontend/frontend.h"

enum { SPEC_ANY_PORT = -1, LISTEN_MAX = 1024, SPEC_TEXT_MAX = 400 };

struct listen_list {
	uint32_t count, room;
	struct frontend_address *entry; /* owned */
};

/* Makes *list, which was empty, a copy. Returns 0, or -1 with errno ENOMEM and
 * an empty list. */
int listen_list_copy(struct listen_list *list, const struct listen_list *from);
/* Makes it empty. */
void listen_list_fini(struct listen_list *list);

/* Adds the addresses of one argument, up to LISTEN_MAX in all. Returns 0, or -1
 * with a full message; some may have been added then. */
int spec_parse_listen(struct listen_list *list, const char *text,
    enum resolve_how how, struct error *e);
/* The same, but a port without an address is one of 127.0.0.1, not of all
 * addresses: of control sockets and pages. */
int spec_parse_local(struct listen_list *list, const char *text,
    enum resolve_how how, struct error *e);

bool listen_list_equal(
    const struct listen_list *a, const struct listen_list *b);

/* The port servers take that have none of their own: that of the first address
 * that has one, SPEC_ANY_PORT when they are for all ports, or 0. */
int spec_default_port(const struct listen_list *list);

/* A server as words and numbers, not looked up. */
struct server_plan {
	struct server_settings set; /* the first: see table_server.c */
	struct acl_ref acl; /* the access list of its clients; set.acl follows
			     * from it */
	char *host;  /* name, number or path; NULL: an empty slot */
	/* Of a host "NAME*" or a service, see expand.h: */
	char *address;	 /* the one that is this server; NULL: none yet */
	struct resolved_service service; /* the fields of its record */
	char *target;	 /* of a service: the host that has the address */
	unsigned parent; /* the operator's server, its number plus 1; 0: this */
	char *origin; /* FILE:LINE that named the host; NULL: not a file */
	uint16_t port;	/* 0: none, see same_port */
	bool same_port; /* the one that the client came to */
	bool out_now;	/* for blacklist_ms, once: when the plan is applied */
	int admin;	/* enum server_admin; -1: it stays as it is */
	char *check;	/* in words, or "off"; NULL: as all are checked */
	char *check_address; /* an IP address; NULL: the server's */
	unsigned check_port; /* 0: as all, or the server's */
};

/* Empty, with the defaults of a new one. */
#define SERVER_PLAN_NONE { .set.acl = -1, .acl = ACL_REF_NONE, .admin = -1 }
void server_plan_init(struct server_plan *s);
/* Whether the server needs a port, and none was given. */
bool server_plan_lacks_port(const struct server_plan *s);
/* Parses a server into `s`, which is empty. s->host is heap memory, the
 * caller's to free, also after an error (it may be NULL then). Returns 0, or -1
 * with a full message. */
int spec_parse_server(
    struct server_plan *s, const char *text, int default_port, struct error *e);

/* A server's port by itself: a number, a service, or 0. Returns 0, or -1 with a
 * full message. */
int spec_parse_server_port(
    struct server_plan *s, const char *text, struct error *e);

/* "host:80", "[::1]:80" or "/path": what names the server. Returns `text`. */
const char *spec_format_server(
    const struct server_plan *s, char text[SPEC_TEXT_MAX]);
/* The same with SOFT:HARD:WEIGHT:PRIO where one of them is not 0: what
 * spec_parse_server() reads back. Returns `text`. */
const char *spec_format_limits(
    const struct server_plan *s, char text[SPEC_TEXT_MAX]);

/* Parses a numeric "ADDRESS", "ADDRESS:PORT" or "[V6]:PORT"; without a port it
 * gets `port`. Returns 0 or -1. */
int spec_parse_ip(struct addr *a, const char *text, uint16_t port);
/* Splits HOST or [V6] or a numeric IPv6 address off the front of `text`: a heap
 * copy of the host without brackets, and *rest at ":..." or the end. NULL with
 * a short message in `e`. */
char *spec_split_host(const char *text, const char **rest, struct error *e);

/* "[ADDRESS:]PORT", of loopback without an address, or "/PATH". Returns 0, or
 * -1 with a short message. */
int spec_parse_web(struct addr *at, const char *text, struct error *e);

#endif
