/* status.h: the status page: servers and counters as HTML. */
#ifndef PEN_CONTROL_STATUS_H
#define PEN_CONTROL_STATUS_H

#include "base/buffer.h"
#include "base/error.h"

struct pen;

/* Appends the page, complete and well-formed; needs a frontend. */
void status_page(const struct pen *p, struct buffer *out);
/* Puts it into the file that web_stats names, at once, so that no reader sees
 * half of it. Nothing when none is named. Returns 0, or -1 with a full
 * message. */
int status_write(const struct pen *p, struct error *e);

#endif
