/* sessionlog.h: a line for each session, and each flow, when it is over, to
 * where the operator wants it, in the format of its record, which log_format.h
 * makes; the journal has its own.
 *
 *     log         pen's own log, ten lines a second at most; how many more
 *                 there were is said
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

struct loop;
struct sessionlog;

struct sessionlog_options {
	const char *to;	    /* as above; NULL: nowhere */
	struct addr remote; /* of udp: and syslog:HOST:PORT */
	uint64_t sample;    /* one session of so many, and all that end with an
			       error; 0: those alone */
};

/* Whether a file could be written to. Returns 0, or -1 with a phrase. */
int sessionlog_check(const struct sessionlog_options *o, struct error *e);
/* NULL with a phrase. What the options point to stays the caller's. */
struct sessionlog *sessionlog_open(
    struct loop *l, const struct sessionlog_options *o, struct error *e);
/* Lines that are lost from now on are added to *counter; NULL: to none. */
void sessionlog_count_lost(struct sessionlog *g, uint64_t *counter);
/* NULL is fine. */
void sessionlog_free(struct sessionlog *g);
/* Opens a file again, after somebody moved it away. Returns 0, or -1 with a
 * phrase; then it goes on with the old one. */
int sessionlog_reopen(struct sessionlog *g, struct error *e);
/* The same if it was, at once or the next time. */
void sessionlog_follow(struct sessionlog *g);
/* Makes that user the owner of its file; see sink_give(). */
void sessionlog_give(struct sessionlog *g, uid_t user);

/* Whether a session, or a flow, that ended so has a line; counts it. `now` in
 * ms, as that of the loop. What has none costs no record. */
bool sessionlog_wants(
    struct sessionlog *g, enum reason why, bool is_flow, uint64_t now);
/* Writes the line of a session that it wants; fills in the time. */
void sessionlog_put(struct sessionlog *g, struct session_record *r);

#endif
