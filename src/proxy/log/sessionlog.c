/* sessionlog.c: which sessions, or requests, have a line, and what goes around
 * it. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "net/loop/loop.h"
#include "net/sink.h"
#include "net/sock.h"
#include "proxy/log/sessionlog.h"

enum { LINES_A_SECOND = 10, HOST_MAX = 256, ENVELOPE_MAX = 512 };

/* RFC 5424, section 6.2.1: severity informational; RFC 3164 has the same. */
static int
priority(void)
{
	return log_facility() | LOG_INFO;
}

static const char journal_path[] = "/run/systemd/journal/socket";

struct sessionlog {
	const char *what;	   /* "session", "request" */
	struct sink *sink;	   /* NULL: the program's own log */
	struct log_format *format; /* of records without one */
	bool is_journal;	   /* which has no other */
	/* Writes what stands before a line; NULL: nothing does. */
	size_t (*envelope)(struct sessionlog *g, const struct session_record *r,
	    char text[ENVELOPE_MAX]);
	uint64_t sample;
	uint64_t seen; /* without an error */
	struct record_time time;
	char host[HOST_MAX];
	uint64_t second; /* of the loop: of these lines */
	uint64_t lines;	 /* in the program's log, in this second */
	uint64_t not_shown;
	struct loop *loop;
	struct timer tell; /* how many were not shown */
};

static const char *
sessionlog_kind(const struct session_record *r)
{
	return r->request != NULL ? "request" : r->is_flow ? "flow" : "session";
}

/* ---- envelopes ---- */

/* RFC 5424, section 6: a header, no structured data; the message is UTF-8 or
 * not. */
static size_t
envelope_5424(struct sessionlog *g, const struct session_record *r,
    char text[ENVELOPE_MAX])
{
	return (size_t)snprintf(text, ENVELOPE_MAX,
	    "<%d>1 %s.%03u%s %s pen %ld %s - ", priority(), g->time.local,
	    r->time_ms, g->time.zone, g->host, (long)getpid(),
	    sessionlog_kind(r));
}

/* What log daemons take from programs of their own machine: RFC 3164, section
 * 4.1, without a host. */
static size_t
envelope_local(struct sessionlog *g, const struct session_record *r,
    char text[ENVELOPE_MAX])
{
	time_t now = (time_t)g->time.second;
	char stamp[32] = "";
	struct tm tm;

	(void)r;
	if (localtime_r(&now, &tm) != NULL)
		strftime(stamp, sizeof(stamp), "%b %e %H:%M:%S", &tm);
	return (size_t)snprintf(text, ENVELOPE_MAX,
	    "<%d>%s pen[%ld]: ", priority(), stamp, (long)getpid());
}

/* ---- life ---- */

static void
set_unix(struct addr *a, const char *path)
{
	memset(a, 0, sizeof(*a));
	a->u.un.sun_family = AF_UNIX;
	snprintf(a->u.un.sun_path, sizeof(a->u.un.sun_path), "%s", path);
	a->len = sizeof(a->u.un);
}

/* Words that are no names of files. */
static const char *const words[] = { "log", "stdout", "stderr", "syslog",
	"journal" };

static bool
is_file(const struct sessionlog_options *o)
{
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(o->to, words[i]) == 0)
			return false;
	return o->remote.len == 0;
}

/* The socket of a log daemon; len 0: it is no socket. */
static struct addr
socket_of(const struct sessionlog_options *o)
{
	struct addr at = o->remote;

	if (strcmp(o->to, "syslog") == 0)
		set_unix(&at, LOG_SYSLOG_PATH);
	if (strcmp(o->to, "journal") == 0)
		set_unix(&at, journal_path);
	return at;
}

/* NULL with a short message. Not for the program's own log. */
static struct sink *
open_sink(struct loop *l, const char *what, const struct sessionlog_options *o,
    struct error *e)
{
	struct addr at = socket_of(o);

	if (is_file(o))
		return sink_open_file(l, what, o->to, e);
	if (strcmp(o->to, "stdout") == 0)
		return sink_open_shared(l, what, STDOUT_FILENO, e);
	if (strcmp(o->to, "stderr") == 0)
		return sink_open_shared(l, what, STDERR_FILENO, e);
	return sink_open_datagram(l, what, &at, e);
}

static int
try_socket(const struct addr *at, struct error *e)
{
	int fd = sock_connect_datagram(at);
	char text[ADDR_TEXT_MAX];

	if (fd < 0)
		return error_set(
		    e, "%s: %s", addr_format(at, text), strerror(errno));
	close(fd);
	return 0;
}

int
sessionlog_check(const struct sessionlog_options *o, struct error *e)
{
	struct addr at;

	if (o->to == NULL)
		return 0;
	if (!is_file(o)) {
		at = socket_of(o);
		return at.len > 0 ? try_socket(&at, e) : 0;
	}
	/* with a colon alone it was meant as the address of a collector */
	if (strchr(o->to, '/') == NULL &&
	    (strchr(o->to, '.') == NULL || strchr(o->to, ':') != NULL))
		return error_set(e,
		    "neither a destination nor a file, whose "
		    "name has a slash, or a dot and no colon");
	return file_may_write(o->to, e);
}

static void
tell_not_shown(struct sessionlog *g)
{
	timer_stop(&g->tell);
	if (g->not_shown > 0)
		log_write(NULL, LOG_LEVEL_INFO, "%ss not shown count=%llu",
		    g->what, (unsigned long long)g->not_shown);
	g->not_shown = 0;
}

static void
on_tell(struct timer *t)
{
	tell_not_shown(list_entry(t, struct sessionlog, tell));
}

struct sessionlog *
sessionlog_open(
    struct loop *l, const struct sessionlog_options *o, struct error *e)
{
	struct sessionlog *g = calloc(1, sizeof(*g));

	if (g == NULL) {
		error_set(e, "%s", strerror(ENOMEM));
		return NULL;
	}
	g->what = o->requests ? "request" : "session";
	g->sample = o->sample;
	g->loop = l;
	timer_init(&g->tell, on_tell);
	if (strcmp(o->to, "syslog") == 0)
		g->envelope = envelope_local;
	else if (strncmp(o->to, "syslog:", 7) == 0)
		g->envelope = envelope_5424;
	if (gethostname(g->host, sizeof(g->host) - 1) < 0 || g->host[0] == '\0')
		snprintf(g->host, sizeof(g->host), "-");
	g->is_journal = strcmp(o->to, "journal") == 0;
	g->format = log_format_new(g->is_journal ? "journal" : "logfmt",
	    o->requests ? RECORD_REQUEST : RECORD_SESSION, e);
	if (g->format != NULL && strcmp(o->to, "log") == 0)
		return g;
	if (g->format != NULL)
		g->sink = open_sink(l, g->what, o, e);
	if (g->sink != NULL)
		return g;
	sessionlog_free(g);
	return NULL;
}

struct sink *
sessionlog_sink(struct sessionlog *g)
{
	return g != NULL ? g->sink : NULL;
}

void
sessionlog_free(struct sessionlog *g)
{
	if (g == NULL)
		return;
	tell_not_shown(g);
	timer_fini(&g->tell);
	sink_close(g->sink);
	log_format_free(g->format);
	free(g);
}

/* ---- which ---- */

/* Of the program's own log others read more than sessions. */
static bool
fits_log(struct sessionlog *g, uint64_t now)
{
	uint64_t second = now / 1000;

	if (g->second != second) {
		tell_not_shown(g);
		g->second = second;
		g->lines = 0;
	}
	if (g->lines == LINES_A_SECOND) {
		if (g->not_shown++ == 0)
			(void)timer_start(g->loop, &g->tell, 1000 - now % 1000);
		return false;
	}
	g->lines++;
	return true;
}

/* That a flow is silent is its usual end; that it makes space for others, too,
 * while strangers send from as many addresses as they please. */
static bool
is_flow_error(enum reason why)
{
	return why == REASON_NO_SERVER || why == REASON_NO_RESOURCES ||
	    why == REASON_SERVER_RESET || why == REASON_SERVER_DOWN;
}

static bool
wants(struct sessionlog *g, bool failed, uint64_t now)
{
	if (g->sample != 1 && !failed &&
	    (g->sample == 0 || g->seen++ % g->sample != 0))
		return false;
	return g->sink != NULL || log_level >= LOG_LEVEL_DEBUG ||
	    fits_log(g, now);
}

bool
sessionlog_wants(
    struct sessionlog *g, enum reason why, bool is_flow, uint64_t now)
{
	return wants(g,
	    is_flow ? is_flow_error(why) : reason_end(why) != SERVER_END_GOOD,
	    now);
}

bool
sessionlog_wants_request(
    struct sessionlog *g, enum reason why, unsigned status, uint64_t now)
{
	return wants(
	    g, status >= 400 || reason_end(why) != SERVER_END_GOOD, now);
}

/* ---- lines ---- */

static const struct log_format *
format_for(const struct sessionlog *g, const struct log_format *format)
{
	return format != NULL && !g->is_journal ? format : g->format;
}

bool
sessionlog_has_tls(const struct sessionlog *g, const struct log_format *format)
{
	return log_format_has_tls(format_for(g, format));
}

void
sessionlog_put(struct sessionlog *g, struct session_record *r)
{
	char text[ENVELOPE_MAX + LOG_FORMAT_ROOM], *line = text;
	bool timed = g->sink != NULL && g->envelope == NULL;
	struct timespec now = { 0, 0 };
	size_t n;

	clock_gettime(CLOCK_REALTIME, &now);
	record_time_set(&g->time, now.tv_sec);
	r->time = &g->time;
	r->time_ms = (unsigned)(now.tv_nsec / 1000000);
	if (g->envelope != NULL)
		line += g->envelope(g, r, text);
	n = log_format_line(format_for(g, r->format), r, timed, line);
	if (n == 0)
		return;
	if (g->sink == NULL) {
		log_write(NULL, LOG_LEVEL_INFO, "%s %s %.*s",
		    sessionlog_kind(r), r->request != NULL ? "ended" : "closed",
		    (int)n, line);
		return;
	}
	line += n;
	if (!sink_is_datagram(g->sink))
		*line++ = '\n';
	sink_put(g->sink, text, (size_t)(line - text));
}
