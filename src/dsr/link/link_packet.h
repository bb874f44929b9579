/* link_packet.h: the inside of links by packet sockets, which two files share:
 * frames (link_packet.c), and how it is opened, and which frames come up
 * (link_packet_open.c). */
#ifndef PEN_DSR_LINK_PACKET_H
#define PEN_DSR_LINK_PACKET_H

#include <sys/socket.h>
#include <sys/uio.h>

#include "dsr/link/link_interface.h"

enum {
	PACKET_BATCH = 256, /* frames a system call */
	PACKET_BLOCK = 256 << 10,
	PACKET_LARGE = 65536 + 64, /* of frames longer than a slot */
	PACKET_LARGE_FRONT = 16,
	PACKET_LARGE_COUNT = 16 /* between two releases */
};

struct packet_position {
	unsigned block, index;
};

/* What the next process must know of the ring: it is in memory of its own. A
 * process that has another version cannot take the ring over. */
enum { PACKET_BOOK = 1 };
struct packet_book {
	uint32_t version;
	uint32_t features;     /* as in struct interface_changes */
	unsigned slot, blocks; /* bytes of a slot; blocks of the ring */
	struct packet_position head, tail;
	unsigned unreleased; /* slots from tail to head */
};

struct packet_ring {
	int out; /* sends; frames with offloads go by link.fd */
	unsigned char *ring;
	struct packet_book *book;
	int book_fd;
	unsigned in_block, slots; /* how many there are */
	unsigned char *large; /* owned: frames that are longer than a slot */
	unsigned large_used;
	int error; /* of the socket, reported instead of a long frame; or 0 */
	struct interface_changes changes;
	struct mmsghdr message[PACKET_BATCH];
	struct iovec part[PACKET_BATCH][2];
};

/* link_open() and link_close() of this kind. */
int packet_open(struct link *l, const struct link_filter *f, struct error *e);
void packet_close(struct link *l);
/* link_set_filter() of this kind: sets the program, and what it needs of the
 * interface. */
int packet_set_filter(
    struct link *l, const struct link_filter *f, struct error *e);

#endif
