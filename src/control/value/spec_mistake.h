/* spec_mistake.h: what is written of an address by habit, as of other programs,
 * and would be taken for something else. Each function returns 0, or -1 with
 * what to write instead. */
#ifndef PEN_CONTROL_SPEC_MISTAKE_H
#define PEN_CONTROL_SPEC_MISTAKE_H

#include "base/error.h"

/* Refuses SCHEME://.., unix:/PATH, and HOST:PORT/... */
int spec_refuse_url(const char *text, struct error *e);
/* Refuses a list with commas, which listening addresses may be. */
int spec_refuse_list(const char *text, struct error *e);
/* Refuses a server that is only a port: `host` is the host in `text`. */
int spec_refuse_port(const char *text, const char *host, struct error *e);
/* Accepts a host or the path of a Unix socket, and nothing else: no URL, no
 * port, no brackets. */
int spec_check_host(const char *text, struct error *e);

#endif
