/* web_private.h: what the pages share. */
#ifndef PEN_CONTROL_WEB_PRIVATE_H
#define PEN_CONTROL_WEB_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

struct buffer;
struct http_exchange;
struct http_server;
struct pen;
struct service;
struct trends;
struct web;

struct web {
	struct pen *pen;
	struct http_server *server;
	struct trends *trends;
};

extern const char web_plain[], web_json[]; /* types */

/* Memory for where a long answer is, zeroed. NULL: the client got an error for
 * that. */
void *web_new_walk(struct http_exchange *x, size_t size);
/* The service that the query names, else the first one. False: there is no such
 * service, and the client got an error. */
bool web_find_service(const struct web *w, struct http_exchange *x,
    const struct service **svc, bool *named);

/* Writes the beginning of both pages, up to the body. */
void web_page_head(struct buffer *out);
/* /status.json */
void web_get_status(struct web *w, struct http_exchange *x);

#endif
