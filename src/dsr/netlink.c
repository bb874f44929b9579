/* netlink.c: a question to Linux's kernel and its one answer. */
#include "config.h"

#include "dsr/netlink.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* The kernel's error, which it has as a negative number. */
static int
error_of(union netlink_answer *a, size_t n)
{
	struct nlmsgerr e;

	if (a->head.nlmsg_type != NLMSG_ERROR || n < NLMSG_LENGTH(sizeof(e)))
		return EBADMSG;
	memcpy(&e, NLMSG_DATA(&a->head), sizeof(e));
	return e.error < 0 ? -e.error : EBADMSG;
}

size_t
netlink_ask(int fd, const struct nlmsghdr *question, union netlink_answer *a,
    unsigned short type)
{
	ssize_t got;
	size_t n;

	if (send(fd, question, question->nlmsg_len, 0) < 0)
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
	errno = error_of(a, n);
	return 0;
}

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
