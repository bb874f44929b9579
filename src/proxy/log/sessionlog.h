/* sessionlog.h: a line for each session, and each flow, of a service when it
 * has ended, to the destination of session_log, or of request_log one for each
 * request of HTTP; in the format of its record (log_format.h); the journal has
 * its own. Services with one destination share it, see log_target.h.
 *
 *     log         pen's own log, ten lines a second at most, and then the
 *                 number of those omitted
 *     FILE        gathered, written after a second at the latest; "stdout" and
 *                 "stderr" are those of the process
 *     udp:HOST:PORT      a datagram each
 *     syslog:HOST:PORT   the same, as RFC 5424 has it
 *     syslog      the log daemon of this machine
 *     journal     systemd-journald, with all fields
 *
 * Nothing waits for any of them: see net/sink.h. */
#ifndef PEN_PROXY_SESSIONLOG_H
#define PEN_PROXY_SESSIONLOG_H

#include "proxy/log/log_format.h"

struct list;
struct loop;
struct sessionlog;

struct sessionlog_options {
	bool requests; /* it is a log of these */
	const char *to;	    /* as above; NULL: nowhere */
	struct addr remote; /* of udp: and syslog:HOST:PORT */
	uint64_t sample; /* one of so many, and all that end with an error; 0:
			  * those alone */
};

/* NULL with a short message. What the options point to stays the caller's;
 * `all` has the destinations that are open, `formats` the formats in use. */
struct sessionlog *sessionlog_open(struct list *all, struct list *formats,
    struct loop *l, const struct sessionlog_options *o, struct error *e);
/* NULL is fine. What it loses from now on is counted there. */
void sessionlog_count_lost(struct sessionlog *g, uint64_t *lost);
/* NULL is fine. */
void sessionlog_free(struct sessionlog *g);

/* Whether a session, or a flow, that ended so has a line; counts it. `now` in
 * ms, as that of the loop. What has none costs no record. */
bool sessionlog_wants(
    struct sessionlog *g, enum reason why, bool is_flow, uint64_t now);
/* The same of a request with that answer; 4xx and 5xx are errors, too. */
bool sessionlog_wants_request(
    struct sessionlog *g, enum reason why, unsigned status, uint64_t now);
/* Whether a record in that format, NULL being the log's own, has to have what
 * is known of TLS. */
bool sessionlog_has_tls(
    const struct sessionlog *g, const struct log_format *format);
/* Writes the line of what it wants; fills in the time. */
void sessionlog_put(struct sessionlog *g, struct session_record *r);

#endif
