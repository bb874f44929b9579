/* log_format.h: how a line is written of the log of sessions, or of that of
 * requests. Pure.
 *
 *     logfmt      time=... reason=done client=192.0.2.1:40000 ...
 *     jsonl       {"time":"...","reason":"done",...}; "json" is the same
 *     journal     a line PEN_REASON=done for each field, as systemd-journald's
 *                 native protocol has it, with MESSAGE as logfmt
 *     common      the Common Log Format of Apache; of a connection as if a
 *                 client had requested it, and then reason and port
 *     combined    of a request: the same with referer and user agent
 *     a template  text with {field}; {{ is a brace. A field without a value is
 *                 "-"
 *
 * All fields are listed in session_record.h. What could end a line or a quoted
 * value, or steer a terminal, is escaped: \" \\ and \u00HH, as in JSON, also
 * in the quotes of logfmt; \xHH in a template and in the journal. JSON and what
 * has quotes in logfmt is UTF-8: bytes that are not are taken for Latin-1. */
#ifndef PEN_PROXY_LOG_FORMAT_H
#define PEN_PROXY_LOG_FORMAT_H

#include "base/error.h"
#include "base/list.h"
#include "proxy/log/session_record.h"

struct log_format;

/* A line is at most so long, of a session, and of a request; one more value is
 * written after it before it is cut. All that strangers choose of a request
 * fits, also when each byte is escaped (http_log.h). */
enum {
	LOG_FORMAT_LINE_MAX = 4096,
	LOG_FORMAT_REQUEST_MAX = 24 * 1024,
	LOG_FORMAT_ROOM = LOG_FORMAT_REQUEST_MAX + RECORD_LONG_MAX + 64
};

/* `text` is one of the words above or a template, of sessions or of requests.
 * NULL with a short message. */
struct log_format *log_format_new(
    const char *text, enum record_scope scope, struct error *e);
/* The same, shared with all that have this text and scope, and `all`, the list
 * of them; each frees it. */
struct log_format *log_format_share(struct list *all, const char *text,
    enum record_scope scope, struct error *e);
/* NULL is fine. */
void log_format_free(struct log_format *f);
/* Whether any of its fields is about TLS, which costs more than others. */
bool log_format_has_tls(const struct log_format *f);

/* Writes a line without a newline and without a NUL. With `timed` false, a
 * line of logfmt begins after its time, for a log that has one of its own.
 * What is longer is cut, or, of JSON, left out as a whole. Returns its
 * length. */
size_t log_format_line(const struct log_format *f,
    const struct session_record *r, bool timed, char line[LOG_FORMAT_ROOM]);

#endif
