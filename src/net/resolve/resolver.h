/* resolver.h: names to addresses while the loop runs: it never blocks. It uses
 * /etc/hosts and the name servers of resolv.conf.
 *
 * With c-ares half an answer is known as such: the addresses of one family, or
 * of one target of a service, came, and those of another failed. */
#ifndef PEN_NET_RESOLVER_H
#define PEN_NET_RESOLVER_H

#include "net/loop/loop.h"
#include "net/resolve/resolve.h"

struct resolver;
struct lookup;

/* How long a lookup may take in all. */
enum { RESOLVER_LIMIT_MS = 5000 };

/* Embedded in its owner. */
struct query {
	struct resolved result; /* once done and not failed */
	struct error error;	/* a short message, when it failed, also in
				 * part */
	bool failed;
	bool partly; /* failed: see resolved_may_have() */
	/* Comes from the loop, once, and never from inside resolver_ask(). */
	void (*on_done)(struct query *q);
	struct task task;      /* private */
	struct lookup *lookup; /* private: under way */
};

/* Opens and reads nothing yet. NULL with errno ENOMEM. */
struct resolver *resolver_new(struct loop *l);
/* The version of c-ares. */
const char *resolver_library_version(void);
/* Queries under way are not answered any more; NULL is fine. */
void resolver_free(struct resolver *r);

/* Reads resolv.conf and hosts now, as before a chroot; else on first use. When
 * resolv.conf has changed it is read again before the next lookup.
 * Returns 0, or -1 when the resolver cannot be set up. */
int resolver_prepare(struct resolver *r);
/* Uses only this name server, not /etc/hosts, with that timeout. Returns 0, or
 * -1 when that cannot be set up. */
int resolver_use_server(
    struct resolver *r, const struct addr *at, uint64_t limit_ms);

void query_init(struct query *q);
/* Looks `host` (copied) up; the addresses get `port`. */
void resolver_ask(
    struct resolver *r, struct query *q, const char *host, uint16_t port);
/* No answer comes any more, and a result that came is freed. */
void query_fini(struct query *q);

#endif
