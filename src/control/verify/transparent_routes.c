/* transparent_routes.c: Linux's routes and rules, by rtnetlink(7). Elsewhere
 * nothing is known of them. */
#include "config.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/verify/transparent_ways.h"

#ifdef HAVE_LINK_PACKET
#include <linux/fib_rules.h>

#include "dsr/link/netlink.h"

/* ---- one route ---- */

struct question {
	struct nlmsghdr head;
	struct rtmsg route;
	char attributes[128];
};

struct answer {
	int error; /* 0: there is a route */
	unsigned char type; /* RTN_LOCAL, RTN_UNICAST .. */
	unsigned interface;
	struct addr from; /* the address to use; len 0: not set */
};

static void
transparent_routes_add(
    struct question *q, unsigned short name, const void *value, size_t n)
{
	struct rtattr *at =
	    (void *)((char *)q + NLMSG_ALIGN(q->head.nlmsg_len));

	at->rta_type = name;
	at->rta_len = (unsigned short)RTA_LENGTH(n);
	memcpy(RTA_DATA(at), value, n);
	q->head.nlmsg_len =
	    (uint32_t)(NLMSG_ALIGN(q->head.nlmsg_len) + RTA_SPACE(n));
}

static size_t
ip_size(const struct addr *a)
{
	return a->u.sa.sa_family == AF_INET6 ? 16 : 4;
}

static const void *
ip_of(const struct addr *a)
{
	return a->u.sa.sa_family == AF_INET6
	    ? (const void *)&a->u.in6.sin6_addr
	    : (const void *)&a->u.in.sin_addr;
}

static void
transparent_routes_add_port(struct question *q, const struct addr *from)
{
	uint8_t protocol = IPPROTO_TCP;
	uint16_t port = htons(addr_port(from));

	transparent_routes_add(q, RTA_IP_PROTO, &protocol, sizeof(protocol));
	transparent_routes_add(q, RTA_SPORT, &port, sizeof(port));
}

/* Reads the kernel's answer about a route: type, interface, source address. */
static void
transparent_routes_take(
    struct answer *r, union netlink_answer *a, size_t n, int family)
{
	struct rtmsg *m = NLMSG_DATA(&a->head);
	struct rtattr *at;
	uint32_t index;

	r->type = m->rtm_type;
	at = netlink_attribute_of(a, n, sizeof(*m), RTA_OIF, sizeof(index));
	if (at != NULL) {
		memcpy(&index, RTA_DATA(at), sizeof(index));
		r->interface = index;
	}
	at = netlink_attribute_of(
	    a, n, sizeof(*m), RTA_PREFSRC, family == AF_INET6 ? 16 : 4);
	if (at == NULL)
		return;
	r->from.u.sa.sa_family = (sa_family_t)family;
	r->from.len = family == AF_INET6 ? sizeof(r->from.u.in6)
					 : sizeof(r->from.u.in);
	memcpy(family == AF_INET6 ? (void *)&r->from.u.in6.sin6_addr
				  : (void *)&r->from.u.in.sin_addr,
	    RTA_DATA(at), ip_size(&r->from));
}

/* The route to `to`; with `from`, of a packet that comes from there through
 * that interface, or, if it is 0, from its port by TCP on this machine. */
static struct answer
transparent_routes_ask_route(int fd, const struct addr *to,
    const struct addr *from, uint32_t interface, uint32_t mark)
{
	int family = to->u.sa.sa_family;
	struct question q = { .head = { .nlmsg_len =
					    NLMSG_LENGTH(sizeof(q.route)),
				  .nlmsg_type = RTM_GETROUTE,
				  .nlmsg_flags = NLM_F_REQUEST },
		.route = { .rtm_family = (unsigned char)family } };
	struct answer r = { .error = 0 };
	union netlink_answer a;
	size_t n;

	transparent_routes_add(&q, RTA_DST, ip_of(to), ip_size(to));
	q.route.rtm_dst_len = (unsigned char)(8 * ip_size(to));
	if (from != NULL) {
		transparent_routes_add(&q, RTA_SRC, ip_of(from), ip_size(from));
		q.route.rtm_src_len = (unsigned char)(8 * ip_size(from));
		if (interface != 0)
			transparent_routes_add(
			    &q, RTA_IIF, &interface, sizeof(interface));
		else
			transparent_routes_add_port(&q, from);
	}
	if (mark != 0)
		transparent_routes_add(&q, RTA_MARK, &mark, sizeof(mark));
	n = netlink_request(fd, &q.head, &a, RTM_NEWROUTE);
	if (n == 0)
		r.error = errno;
	else
		transparent_routes_take(&r, &a, n, family);
	return r;
}

/* ---- rules ---- */

/* The manual's table for answers. */
enum { USUAL_TABLE = 100, MARKS = 16 };

struct marks {
	unsigned count;
	struct {
		uint32_t mark, table;
	} at[MARKS];
};

static bool
transparent_routes_note_mark(const void *arg, struct nlmsghdr *m)
{
	struct marks *list = *(struct marks *const *)arg;
	struct fib_rule_hdr *h = NLMSG_DATA(m);
	size_t n = m->nlmsg_len - NLMSG_SPACE(sizeof(*h));
	struct rtattr *first = (void *)((char *)m + NLMSG_SPACE(sizeof(*h)));
	struct rtattr *at =
	    netlink_attribute(first, n, FRA_FWMARK, sizeof(uint32_t));

	if (at == NULL || list->count == MARKS)
		return false;
	memcpy(&list->at[list->count].mark, RTA_DATA(at), sizeof(uint32_t));
	list->at[list->count].table = h->table;
	at = netlink_attribute(first, n, FRA_TABLE, sizeof(uint32_t));
	if (at != NULL)
		memcpy(&list->at[list->count].table, RTA_DATA(at),
		    sizeof(uint32_t));
	list->count++;
	return false;
}

/* ---- return routes ---- */

/* The route to the server is by another interface; or, as marks count there,
 * too, by none: it is local. */
static bool
is_filtered(int error)
{
	return error == EXDEV || error == EINVAL;
}

/* The mark of the answer; others have marks for other things. */
static void
transparent_routes_note_answer(
    struct way *w, const struct answer *r, uint32_t mark, uint32_t table)
{
	bool usual = table == USUAL_TABLE && w->mark == 0;

	if (r->error == 0 && r->type == RTN_LOCAL)
		w->back = WAY_MARKED;
	else if (is_filtered(r->error) && (usual || w->back == WAY_NO_RULE))
		w->back = WAY_FILTERED;
	else if (w->back == WAY_NO_RULE && usual)
		w->back = WAY_NO_ROUTE;
	else
		return;
	w->mark = mark;
	w->table = table;
}

/* Which route what it answers to a client has when it comes in. */
static void
read_back(int fd, struct way *w, const struct addr *client, uint32_t interface,
    const struct marks *marks)
{
	struct answer r =
	    transparent_routes_ask_route(fd, client, &w->at, interface, 0);
	unsigned i;

	if (r.error == 0 && r.type == RTN_LOCAL) {
		w->back = WAY_LOCAL;
		return;
	}
	w->back = is_filtered(r.error) ? WAY_FILTERED : WAY_NO_RULE;
	for (i = 0; i < marks->count && w->back != WAY_MARKED; i++) {
		r = transparent_routes_ask_route(
		    fd, client, &w->at, interface, marks->at[i].mark);
		transparent_routes_note_answer(
		    w, &r, marks->at[i].mark, marks->at[i].table);
	}
}

/* Finds out how packets reach the server, and whether its replies to a client
 * would come back to this host. */
static void
read_way(int fd, struct way *w)
{
	struct answer r = transparent_routes_ask_route(fd, &w->at, NULL, 0, 0);
	struct marks marks = { .count = 0 }, *list = &marks;
	struct addr client;
	struct peer who;

	if (r.error != 0)
		return;
	ways_client(&who, w->at.u.sa.sa_family);
	addr_from_peer(&client, &who);
	w->own = r.from;
	if (r.type == RTN_LOCAL) {
		r = transparent_routes_ask_route(fd, &client, &w->at, 0, 0);
		w->own = w->at;
		w->back = r.error == 0 && r.type == RTN_LOCAL ? WAY_LOCAL
							      : WAY_HERE;
		return;
	}
	if (if_indextoname(r.interface, w->interface) == NULL)
		return;
	(void)netlink_any(RTM_GETRULE, (unsigned char)w->at.u.sa.sa_family,
	    transparent_routes_note_mark, &list);
	read_back(fd, w, &client, r.interface, &marks);
}

void
ways_read(struct way *list, unsigned n)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	unsigned i;

	for (i = 0; fd >= 0 && i < n; i++)
		read_way(fd, &list[i]);
	if (fd >= 0)
		close(fd);
}

#else

void
ways_read(struct way *list, unsigned n)
{
	(void)list;
	(void)n;
}

#endif
