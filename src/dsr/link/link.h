/* link.h: whole Ethernet frames of one network interface, in batches.
 *
 *     receive -> read, change bytes -> send -> release
 *
 * A kind of link is a method of the system for this; link.c has those of this
 * build. A link receives ARP, NDP, and IP packets to the addresses of its
 * filter, in frames to this interface or to a group, with one 802.1Q tag or
 * without. It does not receive what this machine itself sends.
 *
 * Frames may be longer than the MTU: the card or the kernel has joined several
 * TCP segments or datagrams (GRO), or a sender on this machine has not split
 * them (TSO). Their checksums may be left to the network card. `offload` has
 * that. The kernel or the card segments and sums a frame that is sent with the
 * offload it came with, and with no change but to its MACs; offload.h does it
 * for frames that change more. */
#ifndef PEN_DSR_LINK_H
#define PEN_DSR_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/error.h"
#include "dsr/frame/dsr_key.h"
#include "dsr/frame/frame_count.h"
#include "dsr/frame/mac.h"

/* Laid out as struct virtio_net_hdr (OASIS Virtual I/O Device, 5.1.6), in host
 * byte order; all zero: one packet with its checksums done. */
struct link_offload {
	uint8_t flags;	       /* LINK_CHECKSUM: see the last two */
	uint8_t type;	       /* LINK_GSO_; 0: one packet */
	uint16_t header;       /* bytes of headers; a hint */
	uint16_t segment_size; /* payload of each but the last */
	uint16_t sum_start;  /* the checksum from here to the end is missing */
	uint16_t sum_offset; /* where it belongs, counted from there; that
				* field has the pseudo header's sum */
};

enum {
	LINK_CHECKSUM = 1,
	/* types; the last is a flag: the CWR of the first segment is set */
	LINK_GSO_TCP4 = 1,
	LINK_GSO_TCP6 = 4,
	LINK_GSO_UDP = 5,
	LINK_GSO_ECN = 0x80
};

struct link_frame {
	unsigned char *bytes; /* Ethernet header first, without its checksum */
	unsigned length;
	struct link_offload offload;
};

/* All addresses of one family that begin like this one. */
struct link_net {
	struct peer ip; /* zero after the prefix */
	uint8_t bits;	/* 0 to 32 of IPv4, to 128 of IPv6 */
};

/* The fast path: none; one if the driver runs its program; one in any way. */
enum link_fast_mode { LINK_FAST_OFF, LINK_FAST_AUTO, LINK_FAST_ON };

/* What a link receives. */
struct link_filter {
	const struct peer *address; /* their ports do not count */
	unsigned count;
	const struct link_net *net; /* and all of these */
	unsigned nets;
	/* Whether, and how many flows the kernel may forward by itself. Read by
	 * link_open() only. */
	enum link_fast_mode fast;
	uint32_t fast_flows;
	/* The link of the process that this one replaces; NULL: there is none.
	 * Read by link_open() only: see link_take(). */
	struct link_past *past;
};

/* A link that another process had: its kind, and its descriptors as link_fds()
 * has listed them. Those that link_open() has taken are -1 then. */
struct link_past {
	const char *kind;
	int *fd;
	unsigned count;
};
/* Those of the fast path, if there is one, follow those of the kind. */
enum { LINK_KIND_FDS = 3, LINK_FAST_FDS = 5 };
enum { LINK_FDS_MAX = LINK_KIND_FDS + LINK_FAST_FDS };

/* The descriptors of the fast path among those of the past; NULL: there is
 * none. */
static inline int *
link_past_fast(const struct link_past *p)
{
	return p->count >= LINK_FDS_MAX && p->fd[LINK_KIND_FDS] >= 0
	    ? p->fd + LINK_KIND_FDS
	    : NULL;
}

struct link_counters {
	uint64_t received, sent;
	uint64_t merged;   /* of those received, joined by GRO */
	uint64_t missed;   /* the kernel had no room; as of link_refresh() */
	uint64_t cut;	   /* received in part, so dropped */
	uint64_t refused;  /* a full queue, or bytes that are no frame */
	uint64_t too_long; /* longer than the MTU, so not sent */
};

struct link;

/* The fast path's entry of a server: where the server's frames are sent. */
struct link_entry {
	struct mac to;
	uint16_t longest; /* bytes of a frame; 0: disabled */
	uint32_t epoch;	  /* of the flows that it serves */
};

/* The fast path's data of an offloaded flow. */
struct link_offloaded {
	uint64_t frames, bytes;
	uint64_t idle_ms; /* since the last one, or since link_fast.add() */
	uint32_t epoch;	  /* that add() was given */
};

/* The fast path. It forwards a frame of an offloaded flow to the flow's entry,
 * with the entry's MAC and the link's. It passes a frame to user space if the
 * entry is disabled, if its epoch differs from the flow's, or if the frame is
 * not plain: to the link's own MAC, without tag, options or extension headers,
 * whole, of right lengths and IPv4 checksum, UDP, or TCP with ACK and none of
 * SYN, FIN and RST. Entries are numbered from 0 on, and disabled at first. */
struct link_fast {
	uint32_t entries; /* how many there are, from 0 on */
	/* Sets one of them. A frame sees the old entry or the new one. */
	void (*set_entry)(
	    struct link *l, uint32_t entry, const struct link_entry *g);
	/* Disables all of them. Returns the highest epoch of one. */
	uint32_t (*clear)(struct link *l);
	/* Offloads a flow, whose counters begin at zero. Returns 0, or -1 with
	 * errno: E2BIG: there is no room for more; EPERM: this kernel
	 * requires privileges for that. */
	int (*add)(struct link *l, const struct dsr_key *key, uint32_t entry,
	    uint32_t epoch);
	/* False: it is not offloaded. */
	bool (*find)(const struct link *l, const struct dsr_key *key,
	    struct link_offloaded *c);
	/* Passes its frames to user space from now on. `c` is what was known
	 * of it. False: it was not offloaded. */
	bool (*remove)(struct link *l, const struct dsr_key *key,
	    struct link_offloaded *c);
	/* All frames forwarded since the link was opened. */
	struct frame_count (*totals)(const struct link *l);
	/* As those of the link, which calls these. */
	void (*refresh)(struct link *l);
	unsigned (*fds)(const struct link *l, int *list);
	void (*close)(struct link *l);
};

struct link_ops;

/* Between link_open() and link_close(). Read only but for paused and left, and
 * for ops and inside, which are the kind's. */
struct link {
	const struct link_ops *ops;
	int fd; /* readable: link_receive(); close-on-exec */
	struct mac mac;
	unsigned mtu; /* of IP packets; as of link_refresh() */
	int ifindex;
	bool up;   /* has a carrier and may send */
	bool gone; /* there is no such interface any more: for good */
	/* Another process has the frames, until link_take(): none is to be
	 * received, what is sent is dropped, and no filter is set. */
	bool paused;
	/* Another process has the interface: link_close() changes nothing. */
	bool left;
	char name[16];
	struct link_counters count;
	const struct link_fast *fast; /* NULL: there is no fast path */
	const char *mode; /* of the fast path; NULL: there is none */
	/* Frames would be lost there now; as of link_refresh(). */
	bool fast_fails;
	/* What was changed at the interface; NULL: nothing ever is */
	struct interface_changes *changes;
	void *inside, *fast_inside;
};

struct link_ops {
	const char *name;
	int (*open)(struct link *l, const struct link_filter *f,
	    struct error *e); /* name is set; leaves nothing behind on -1 */
	int (*set_filter)(
	    struct link *l, const struct link_filter *f, struct error *e);
	int (*receive)(struct link *l, struct link_frame *list, unsigned most);
	int (*send)(
	    struct link *l, const struct link_frame *list, unsigned count);
	void (*release)(struct link *l);
	bool (*more)(const struct link *l); /* NULL: cannot be known */
	void (*refresh)(struct link *l);
	void (*close)(struct link *l);
	/* See below; NULL: this kind cannot be handed over. Lists
	 * LINK_KIND_FDS. */
	void (*fds)(const struct link *l, int *list);
	void (*take)(struct link *l);
};

/* A link is handed over to another process while both have it open:
 *
 *     link_fds()            link_open() with filter.past
 *     paused = true          link_take()
 *     left = true, link_close()
 *
 * Lists the descriptors that the other process needs, those of the fast path
 * included. Returns how many; 0: this kind cannot be handed over. */
unsigned link_fds(const struct link *l, int list[LINK_FDS_MAX]);
/* From now on this process gets the frames: those that the other process has
 * not received, and all new ones that pass the filter. The process that had the
 * link calls it, too, if the other one has failed. Returns 0, or -1 with a full
 * message. */
int link_take(struct link *l, const struct link_filter *f, struct error *e);

/* Frees all; the interface is as it was before. Features that were switched off
 * need CAP_NET_ADMIN to come back; without it they remain off, with a line in
 * the log. */
void link_close(struct link *l);

/* Sets what the link receives; frames that the kernel has already received may
 * be others. Returns 0, or -1 with a full message in `e`: the old filter
 * remains. */
int link_set_filter(
    struct link *l, const struct link_filter *f, struct error *e);

/* Receives frames into `list`. The bytes belong to the link; they may be
 * changed, and sent, until link_release(). Returns how many; when fewer than
 * `most`, there are no more for now, or there is no room before a release.
 * -1 with errno: ENETDOWN: the interface went down (reported once; frames
 * come again when it is up); ENODEV: it is gone for good, only link_close()
 * makes sense. */
int link_receive(struct link *l, struct link_frame *list, unsigned most);
/* Gives back all frames received. */
void link_release(struct link *l);
/* Whether frames have come that link_receive() would hand up. Reads memory
 * only, so it is cheaper than to wait again. False also when that cannot be
 * known. */
bool link_has_more(const struct link *l);

/* Sends frames received, or of the caller's own memory, which is not needed
 * afterwards. Returns how many were taken, in order: what is refused for good
 * is counted as taken, and in `count`; fewer than `n`: no room, and no event
 * when there is. -1 with errno when the interface is down (ENETDOWN) or gone
 * (ENXIO, ENODEV) and nothing was taken. */
int link_send(struct link *l, const struct link_frame *list, unsigned n);

/* Reads again what changes without an event: mtu, up, gone, count.missed,
 * and the name, should the interface have got another one. */
void link_refresh(struct link *l);

#endif
