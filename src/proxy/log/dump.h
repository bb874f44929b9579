/* dump.h: shows the data that passes, for debugging (-dd). */
#ifndef PEN_PROXY_DUMP_H
#define PEN_PROXY_DUMP_H

#include "net/dgram.h"
#include "net/pipe.h"

enum { DUMP_NONE, DUMP_HEX, DUMP_ASCII };

/* A pipe_share tap: logs every byte read from `from`, 16 a line in hex or
 * the whole as text; `arg` points at an unsigned of the enum above. */
void dump_bytes(
    void *arg, const struct stream *from, const char *bytes, size_t n);

/* The same of datagrams that came to `fd`; a line before each has its sender
 * and length. */
void dump_datagrams(unsigned kind, int fd, const struct dgram_batch *b);

/* dgram_receive_most(); what came is logged, but for DUMP_NONE. */
static inline int
dump_receive(unsigned kind, int fd, struct dgram_batch *b, int most)
{
	int n = dgram_receive_most(fd, b, most);

	if (kind != DUMP_NONE)
		dump_datagrams(kind, fd, b);
	return n;
}

/* The same of dgram_receive_answers(). */
static inline int
dump_receive_answers(
    unsigned kind, int fd, struct dgram_batch *b, uint8_t *alone)
{
	return kind != DUMP_NONE ? dump_receive(kind, fd, b, DGRAM_BATCH)
				 : dgram_receive_answers(fd, b, alone);
}

#endif
