/* reply.h: answers of commands and reports, as text in a buffer. */
#ifndef PEN_CONTROL_REPLY_H
#define PEN_CONTROL_REPLY_H

#include "base/buffer.h"

/* Appends formatted text, up to 511 bytes of it. What memory has no room for is
 * missing. */
void reply_add(struct buffer *reply, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
