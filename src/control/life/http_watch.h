/* http_watch.h: which servers have answered with errors (5xx) in the last
 * minute, by samples of what they count; in the process that has the counters
 * of all. While no service wants that, no sample is taken.
 *
 * With `observe` a server with too many errors in a period is taken out of
 * rotation, unless more than half of them would be: then those that are out get
 * clients again. */
#ifndef PEN_CONTROL_HTTP_WATCH_H
#define PEN_CONTROL_HTTP_WATCH_H

struct http_watch;
struct pen;
struct plan;
struct server;
struct service;

/* The service has the settings of that plan from now on. */
void http_watch_follow(struct service *svc, const struct plan *wanted);
/* Begins anew: what was counted so far is not of the last minute. */
void http_watch_restart(struct pen *p);
void http_watch_free(struct http_watch *w); /* NULL is fine */
/* The service ends. */
void http_watch_remove(struct service *svc);

/* How much of what the server has answered in the last minute were errors, in
 * percent, where that is more than `http_errors`; else 0. */
unsigned http_watch_errors(const struct service *svc, const struct server *s);

#endif
