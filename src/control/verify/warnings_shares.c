/* warnings_shares.c: what descriptors, limits and other programs leave for
 * listeners and services. */
#include "config.h"

#include "control/answer/reply.h"
#include "control/apply/shares.h"
#include "control/plan/origin.h"
#include "control/verify/warnings.h"
#include "net/sock.h"

static void
print_families(const struct plan *p, struct buffer *text)
{
	char at[ADDR_TEXT_MAX];
	unsigned i;

	for (i = 0; i < p->listen.count; i++)
		if (p->listen.entry[i].v4_taken)
			reply_add(text,
			    "listen %s: takes IPv6 only, because another "
			    "program has the port for IPv4 (v6only in the "
			    "list is the same)\n",
			    addr_format(&p->listen.entry[i].at, at));
}

/* With so few connections that are its own, a service may stand still while
 * others have many clients. */
enum { SMALL_SHARE = 8 };

/* Prints what descriptors leave for all services, and for each. */
static void
print_descriptors(const struct plan *p, struct buffer *text)
{
	unsigned long long workers = p->process->workers > 1
	    ? (unsigned long long)p->process->workers
	    : 1;
	size_t limit = sock_fd_limit();
	uint64_t max = p->process->conn_max_all, room;
	struct shares s;

	shares_find(&s, p, limit * workers);
	room = shares_room(&s, p);
	if (s.count < 2 || room == max)
		return;
	if (max > 0)
		reply_add(text,
		    "%.400s: all services together have %llu connections only, "
		    "with %zu descriptors\n",
		    origin_name(p, "conn_max_all"), (unsigned long long)room,
		    limit);
	if (room / (2 * s.count) < SMALL_SHARE)
		reply_add(text,
		    "%u services have %llu connections together, and each is "
		    "sure of %llu only, with %zu descriptors: raise their "
		    "limit (ulimit -n, LimitNOFILE)\n",
		    s.count, (unsigned long long)room,
		    (unsigned long long)(room + 2 * s.count - 1) /
			(2 * s.count),
		    limit);
}

/* Services that have no share may be left without a connection. */
static void
print_shares(const struct plan *p, struct buffer *text)
{
	uint64_t max = p->process->conn_max_all;
	unsigned n = max > 0 ? shares_count(p) : 1;

	if (n == 0)
		reply_add(text, "%.400s has no effect with udp or dsr_if\n",
		    origin_name(p, "conn_max_all"));
	else if (max > 0 && max < n)
		reply_add(text,
		    "%.400s keeps no share for %u services: it is less than "
		    "their number\n",
		    origin_name(p, "conn_max_all"), n);
}

void
warnings_print_shares(const struct plan *p, struct buffer *text)
{
	print_families(p, text);
	if (p->process != NULL) {
		print_shares(p, text);
		print_descriptors(p, text);
	}
}
