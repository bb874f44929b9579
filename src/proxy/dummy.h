/* dummy.h: a minimal web server inside the balancer: answers every request
 * itself, for trying a set-up out without any backend.
 *
 * HTTP/1.0 and 1.1 with kept connections (RFC 9112); any method and path get
 * 200 and a small page whose text is "pen dummy server ADDRESS". Request
 * bodies with a Content-Length are read and dropped; others end the
 * connection. So does idle_timeout (a minute if that is 0) without a complete
 * request, a byte of a body, or the answer being taken. */
#ifndef PEN_PROXY_DUMMY_H
#define PEN_PROXY_DUMMY_H

struct frontend;

/* Prepares the frontend's queue for them. */
void dummy_init_timeouts(struct frontend *f);

/* Serves the client on `fd`, which it takes over. */
void dummy_start(struct frontend *f, int fd);
/* Ends all of them. */
void dummy_close_all(struct frontend *f);

#endif
