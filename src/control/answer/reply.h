/* reply.h: the answer of a command: text, or JSON, and how it goes on.
 *
 * A short answer is complete when the handler returns. A list of any length is
 * made in pieces: the handler sets `more`, which is called again whenever what
 * it had made was taken, until it returns false. */
#ifndef PEN_CONTROL_REPLY_H
#define PEN_CONTROL_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

struct service;

struct reply {
	struct buffer out;
	bool json;
	bool classic; /* a refusal is in classic Pen's words, as it is */
	/* Adds the next piece; false: that was the last. */
	bool (*more)(struct reply *r, struct service *svc);
	uint64_t at, arg; /* of `more`: where it continues, the request */
	void *kept;	  /* the same: from the heap, freed with the reply */
	bool in_list;	  /* of JSON */
	bool listed;	  /* an item of it is there: a comma before the next */
};

/* Bytes after which a piece is long enough; pieces in a turn of the loop, for
 * all callers together: traffic waits for the end of a turn. */
enum { REPLY_PIECE = 16 * 1024, REPLY_PIECES = 4 };

void reply_init(struct reply *r);
void reply_fini(struct reply *r);

/* Makes the rest of the answer at once, however long: where another follows
 * it. */
void reply_finish(struct reply *r, struct service *svc);

/* Appends formatted text, up to 511 bytes of it. What memory has no room for is
 * missing. */
void reply_add(struct buffer *out, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Appends a line of any length. */
void reply_line(struct buffer *out, const char *line);
/* Appends a command: "NAME WORD", or "no NAME" where the word is NULL. */
void reply_command(struct buffer *out, const char *name, const char *word);

#endif
