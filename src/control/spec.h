/* spec.h: the addresses of the command line.
 *
 *     listening  [ADDRESS:]PORT | /PATH | @NAME, several joined by commas; the
 *                last colon separates the port, so ::1:2222 and :::2222 work
 *     server     HOST[:PORT[:SOFT[:HARD[:WEIGHT[:PRIO]]]]] | [V6]:PORT... |
 *                /PATH | @NAME
 *
 * Names are resolved here, which blocks: at the start only. Errors name
 * the operand and what was expected. */
#ifndef PEN_CONTROL_SPEC_H
#define PEN_CONTROL_SPEC_H

#include "base/addr.h"
#include "base/error.h"
#include "net/resolve.h"
#include "pool/pool.h"

enum { LISTEN_MAX = 64 };

struct listen_list {
	unsigned count;
	struct {
		struct addr at;
		bool v6_only; /* an IPv4 twin listens on the same port */
	} entry[LISTEN_MAX];
};

/* Adds the addresses of one argument. Returns 0, or -1 with a sentence. */
int spec_parse_listen(
    struct listen_list *list, const char *text, struct error *e);

/* The port servers take that have none of their own: that of the first address
 * that has one, or 0. */
uint16_t spec_default_port(const struct listen_list *list);

/* Parses a server; spec->name is heap memory, the caller's to free, also
 * after an error (it may be NULL then). Returns 0, or -1 with a sentence. */
int spec_parse_server(struct server_spec *spec, const char *text,
    uint16_t default_port, enum resolve_how how, struct error *e);

/* Splits HOST or [V6] or a numeric IPv6 address off the front of `text`: a heap
 * copy of the host without brackets, and *rest at ":..." or the end. NULL with
 * a phrase in `e`. */
char *spec_split_host(const char *text, const char **rest, struct error *e);

#endif
