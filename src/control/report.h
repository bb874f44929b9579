/* report.h: what the program says about itself. */
#ifndef PEN_CONTROL_REPORT_H
#define PEN_CONTROL_REPORT_H

#include "base/buffer.h"

struct pen;

/* One line a server:
 * 0 addr 127.0.0.1 port 9001 conn 0 max 0 hard 0 weight 0 prio 0 sx 0 rx 0 */
void report_servers(const struct pen *p, struct buffer *reply);
/* The servers, then a line a counter: "NAME VALUE". */
void report_statistics(const struct pen *p, struct buffer *reply);

#endif
