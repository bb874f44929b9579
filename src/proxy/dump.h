/* dump.h: shows the data that passes, for debugging (-dd). */
#ifndef PEN_PROXY_DUMP_H
#define PEN_PROXY_DUMP_H

#include "net/pipe.h"

enum { DUMP_NONE, DUMP_HEX, DUMP_ASCII };

/* A pipe_share tap: logs every byte read from `from`, 16 a line in hex or
 * the whole as text; `arg` points at an unsigned of the enum above. */
void dump_bytes(
    void *arg, const struct stream *from, const char *bytes, size_t n);

#endif
