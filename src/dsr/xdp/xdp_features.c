/* xdp_features.c: two requests to generic netlink: the number of the family
 * "netdev", which each boot chooses, and that family's data of an interface. */
#include "config.h"

#include "dsr/xdp/xdp_features.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dsr/link/netlink.h"

/* NETDEV_FAMILY_NAME, NETDEV_FAMILY_VERSION, NETDEV_CMD_DEV_GET,
 * NETDEV_A_DEV_IFINDEX and NETDEV_A_DEV_XDP_FEATURES of <linux/netdev.h>. */
static const char family_name[] = "netdev";
enum { FAMILY_VERSION = 1, GET_DEVICE = 1, IFINDEX = 1, FEATURES = 3 };

/* A message with one attribute. */
struct request {
	struct nlmsghdr head;
	struct genlmsghdr command;
	struct rtattr attribute;
	char value[12];
};

static void
request_make(struct request *q, unsigned short family, uint8_t command,
    uint8_t version, unsigned short name, const void *value, size_t size)
{
	memset(q, 0, sizeof(*q));
	q->head.nlmsg_len =
	    (uint32_t)(sizeof(*q) - sizeof(q->value) + RTA_ALIGN(size));
	q->head.nlmsg_type = family;
	q->head.nlmsg_flags = NLM_F_REQUEST;
	q->command.cmd = command;
	q->command.version = version;
	q->attribute.rta_type = name;
	q->attribute.rta_len = (unsigned short)RTA_LENGTH(size);
	memcpy(q->value, value, size);
}

/* Sends a request, and copies the value of one attribute of the answer. */
static int
features_request(int fd, const struct request *q, unsigned short name,
    void *value, size_t size)
{
	union netlink_answer a;
	size_t n = netlink_request(fd, &q->head, &a, q->head.nlmsg_type);
	struct rtattr *found;

	if (n == 0)
		return -1;
	found =
	    netlink_attribute_of(&a, n, sizeof(struct genlmsghdr), name, size);
	if (found == NULL) {
		errno = ENOENT;
		return -1;
	}
	memcpy(value, RTA_DATA(found), size);
	return 0;
}

int
xdp_features(unsigned ifindex, uint64_t *features)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	uint32_t index = ifindex;
	struct request q;
	uint16_t family;
	int got, error;

	if (fd < 0)
		return -1;
	request_make(&q, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1,
	    CTRL_ATTR_FAMILY_NAME, family_name, sizeof(family_name));
	got = features_request(
	    fd, &q, CTRL_ATTR_FAMILY_ID, &family, sizeof(family));
	if (got == 0) {
		request_make(&q, family, GET_DEVICE, FAMILY_VERSION, IFINDEX,
		    &index, sizeof(index));
		got = features_request(
		    fd, &q, FEATURES, features, sizeof(*features));
	}
	error = errno;
	close(fd);
	errno = error;
	return got;
}

enum xdp_peer
xdp_peer(unsigned ifindex)
{
	uint64_t features;

	if (xdp_features(ifindex, &features) != 0)
		return XDP_PEER_UNKNOWN;
	return features & XDP_FEATURE_NDO_XMIT ? XDP_PEER_TAKES
					       : XDP_PEER_DROPS;
}
