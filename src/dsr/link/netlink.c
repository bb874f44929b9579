/* netlink.c: a request to Linux's kernel and its one answer, or a list. */
#include "config.h"

#include "dsr/link/netlink.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

size_t
netlink_request(int fd, const struct nlmsghdr *request, union netlink_answer *a,
    unsigned short type)
{
	struct nlmsgerr e = { .error = 0 };
	ssize_t got;
	size_t n;

	if (send(fd, request, request->nlmsg_len, 0) < 0)
		return 0;
	got = recv(fd, a, sizeof(*a), 0);
	if (got < 0)
		return 0;
	n = (size_t)got;
	if (!NLMSG_OK(&a->head, n)) {
		errno = EBADMSG;
		return 0;
	}
	n = a->head.nlmsg_len;
	if (a->head.nlmsg_type == type)
		return n;
	/* the kernel has its error as a negative number */
	if (a->head.nlmsg_type == NLMSG_ERROR && n >= NLMSG_LENGTH(sizeof(e)))
		memcpy(&e, NLMSG_DATA(&a->head), sizeof(e));
	errno = e.error < 0 ? -e.error : EBADMSG;
	return 0;
}

/* ---- lists ---- */

/* What requests for lists begin with; each has its own size. */
struct list_question {
	struct nlmsghdr head;
	union {
		struct ifinfomsg link;
		struct rtmsg route;
		struct ndmsg neighbor;
	} of;
};

static size_t
size_of(unsigned short type)
{
	return type == RTM_GETLINK ? sizeof(struct ifinfomsg)
	    : type == RTM_GETROUTE ? sizeof(struct rtmsg)
				   : sizeof(struct ndmsg);
}

/* Reads one answer. Returns true if it was the last one. */
static bool
look_through(void *bytes, size_t n, unsigned short type,
    bool (*is)(const void *arg, struct nlmsghdr *m), const void *arg,
    bool *found)
{
	struct nlmsghdr *m = bytes;

	for (; NLMSG_OK(m, n); m = NLMSG_NEXT(m, n)) {
		if (m->nlmsg_type != type)
			return true;
		*found = *found || is(arg, m);
	}
	return false;
}

bool
netlink_any(unsigned short type, unsigned char family,
    bool (*is)(const void *arg, struct nlmsghdr *m), const void *arg)
{
	struct list_question q = { .head = {
				       .nlmsg_type = type,
				       .nlmsg_flags =
					   NLM_F_REQUEST | NLM_F_DUMP,
				   } };
	union {
		struct nlmsghdr head;
		char bytes[32768];
	} a;
	bool found = false;
	ssize_t n;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0)
		return false;
	q.head.nlmsg_len = (uint32_t)NLMSG_LENGTH(size_of(type));
	/* all three begin with the family */
	q.of.route.rtm_family = family;
	/* answers are numbered one below requests: RTM_NEWLINK, RTM_GETLINK
	 * .. */
	if (send(fd, &q, q.head.nlmsg_len, 0) == (ssize_t)q.head.nlmsg_len)
		do
			n = recv(fd, &a, sizeof(a), 0);
		while (n > 0 && !found &&
		    !look_through(&a, (size_t)n,
			(unsigned short)(type + RTM_NEWLINK - RTM_GETLINK), is,
			arg, &found));
	close(fd);
	return found;
}

/* ---- attributes ---- */

struct rtattr *
netlink_attribute(
    struct rtattr *at, size_t bytes, unsigned short name, size_t least)
{
	int left = (int)bytes; /* may end below 0: what fills up the last one */

	for (; RTA_OK(at, left); at = RTA_NEXT(at, left))
		if ((at->rta_type & NLA_TYPE_MASK) == name)
			return RTA_PAYLOAD(at) >= least ? at : NULL;
	return NULL;
}

struct rtattr *
netlink_attribute_of(union netlink_answer *a, size_t n, size_t head,
    unsigned short name, size_t least)
{
	const size_t front = NLMSG_SPACE(head);

	return n < front ? NULL
			 : netlink_attribute((void *)(a->bytes + front),
			       n - front, name, least);
}
