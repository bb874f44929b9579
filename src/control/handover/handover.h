/* handover.h: the state that one pen sends to the one that replaces it, as
 * bytes.
 *
 *     "penstate"  version     once
 *     length  type  check  payload     a record; as many as there are
 *     length  END   check              the last one
 *
 * Numbers are little-endian; `length` is that of the payload, at most
 * HANDOVER_PAYLOAD_MAX, and `check` a hash of type and payload. The reader may
 * be older or newer than the writer: it skips records of an unknown type, and
 * what is after the end of the known ones; an unknown version is no state at
 * all. Nothing that comes is trusted: bytes that are not right end the reading,
 * and what came before them counts. Uses no descriptors. */
#ifndef PEN_CONTROL_HANDOVER_H
#define PEN_CONTROL_HANDOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/buffer.h"

enum { HANDOVER_VERSION = 1, HANDOVER_PAYLOAD_MAX = 64 * 1024 };

/* What a record is about. A number is never used for another thing. */
enum handover_type {
	HANDOVER_END = 1,
	HANDOVER_SERVER = 2,
	HANDOVER_COUNTER = 3,
	HANDOVER_CLIENTS = 4,	/* several of the memory of clients */
	HANDOVER_FLOWS = 5,	/* several flows of datagrams */
	HANDOVER_TLS_KEYS = 6,	/* of session tickets */
	HANDOVER_SERVICE = 7,	/* whose the records after it are; none in front
			       * of those of the first service */
	HANDOVER_DSR_FLOWS = 8, /* several flows of direct server return */
	HANDOVER_DSR_TABLE = 9, /* struct director_export, and several flows
				 * with what they have become */
	HANDOVER_DSR_VLAN = 10, /* to a peer: the tag of its segment */
	HANDOVER_FLOW_SOCKETS = 11, /* of flows of the next HANDOVER_FLOWS:
				     * sockets, which come along */
	HANDOVER_DSR_ROLE = 12,	    /* of a director: active or standby, since
				 * when, and who has claimed a VIP */

	/* between peers only: */
	/* servers named so far are void; to the sender: all is requested
	 * again */
	HANDOVER_AGAIN = 32,
	HANDOVER_PING = 33, /* a number, to be sent back */
	HANDOVER_PONG = 34  /* that number */
};

/* ---- writing ---- */

/* Appends to a buffer, which stays the caller's. Without memory it sets
 * `failed`, and what is in the buffer is of no use. */
struct handover_writer {
	struct buffer *out;
	size_t record; /* where the open one begins, from the buffer's start */
	bool failed;
};

/* Begins with the header. */
void handover_begin(struct handover_writer *w, struct buffer *out);
/* Goes on in a buffer whose beginning was taken away. */
void handover_go_on(struct handover_writer *w, struct buffer *out);
/* Between these two the payload is added. */
void handover_open(struct handover_writer *w, enum handover_type type);
void handover_close(struct handover_writer *w);

void handover_add(struct handover_writer *w, const void *bytes, size_t n);
/* The lowest `n` bytes, 1..8, of a number. */
void handover_add_number(struct handover_writer *w, uint64_t value, unsigned n);
/* Cut to 255 bytes. */
void handover_add_text(struct handover_writer *w, const char *text);
void handover_add_addr(struct handover_writer *w, const struct addr *a);

/* ---- reading ---- */

struct handover_reader {
	struct buffer in; /* not read yet, but for the record read last */
	size_t used;	  /* bytes of that */
	bool begun;	  /* the header was right */
	bool ended;	  /* END has come */
	const char *error; /* why nothing more is read; NULL: no error */
};

/* A record that was read; valid until the reader is used again. */
struct handover_record {
	unsigned type;
	const unsigned char *at;
	size_t left;
	bool bad; /* something was missing or impossible */
};

void handover_reader_init(struct handover_reader *r);
/* Begins with bytes that have no header. */
void handover_reader_go_on(struct handover_reader *r);
void handover_reader_fini(struct handover_reader *r);
/* More bytes have come. Returns 0, or -1 without memory: then it is over, with
 * an error. */
int handover_feed(struct handover_reader *r, const void *bytes, size_t n);
/* Returns whether there is another record, which is not END. */
bool handover_next(struct handover_reader *r, struct handover_record *record);

/* Reads `n` bytes. Missing ones are zero, and make the record bad. */
void handover_get(struct handover_record *r, void *bytes, size_t n);
uint64_t handover_get_number(struct handover_record *r, unsigned n);
/* A zero inside is bad, too. */
void handover_get_text(struct handover_record *r, char text[256]);
/* An IPv4, IPv6 or Unix address; anything else has length 0, and is bad. */
void handover_get_addr(struct handover_record *r, struct addr *a);

#endif
