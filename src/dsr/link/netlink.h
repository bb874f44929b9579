/* netlink.h: a request to Linux's kernel and its one answer, or a list of
 * them, netlink(7). */
#ifndef PEN_DSR_NETLINK_H
#define PEN_DSR_NETLINK_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stddef.h>

union netlink_answer {
	struct nlmsghdr head;
	char bytes[16384];
};

/* Sends a request of `nlmsg_len` bytes, and waits. Returns how many bytes an
 * answer of that type has; 0 with errno when there is another one: the kernel's
 * error, or EBADMSG. */
size_t netlink_request(int fd, const struct nlmsghdr *request,
    union netlink_answer *a, unsigned short type);

/* Gets from rtnetlink a list of interfaces, routes or neighbours (RTM_GETLINK
 * etc., of all families with AF_UNSPEC), and shows each message of that kind to
 * `is`. Returns whether it was true of one; false also without an answer. */
bool netlink_any(unsigned short type, unsigned char family,
    bool (*is)(const void *arg, struct nlmsghdr *m), const void *arg);

/* The attribute of that name among `bytes`, with a value of `least` bytes or
 * more; NULL: there is none. Those of generic netlink are laid out as
 * rtnetlink(7)'s. */
struct rtattr *netlink_attribute(
    struct rtattr *at, size_t bytes, unsigned short name, size_t least);
/* The same among those of an answer of n bytes, after a header of `head`. */
struct rtattr *netlink_attribute_of(union netlink_answer *a, size_t n,
    size_t head, unsigned short name, size_t least);

#endif
