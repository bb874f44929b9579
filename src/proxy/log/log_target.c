/* log_target.c: see log_target.h. */
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
#include "base/words.h"
#include "net/loop/loop.h"
#include "net/sink.h"
#include "net/sock.h"
#include "proxy/log/log_target.h"
#include "proxy/log/sessionlog.h"

enum { LINES_A_SECOND = 10, HOST_MAX = 256, ENVELOPE_MAX = 512 };

static const char journal_path[] = "/run/systemd/journal/socket";

struct log_target {
	struct list link;	   /* of all */
	struct list uses;	   /* struct log_use */
	char *to;		   /* as the setting has it */
	bool requests;
	const char *what;	   /* "session", "request" */
	struct sink *sink;	   /* NULL: the program's own log */
	/* Writes what stands before a line; NULL: nothing does. */
	size_t (*envelope)(struct log_target *t, const struct session_record *r,
	    char text[ENVELOPE_MAX]);
	struct record_time time;
	char host[HOST_MAX];
	uint64_t second; /* of the loop: of these lines */
	uint64_t lines;	 /* in the program's log, in this second */
	uint64_t not_shown;
	struct loop *loop;
	struct timer summary; /* how many were not shown */
};

/* ---- envelopes ---- */

/* RFC 5424, section 6.2.1: severity informational; RFC 3164 has the same. */
static int
priority(void)
{
	return log_facility() | LOG_INFO;
}

static const char *
record_kind(const struct session_record *r)
{
	return r->request != NULL ? "request" : r->is_flow ? "flow" : "session";
}

/* RFC 5424, section 6: a header, no structured data; the message is UTF-8 or
 * not. */
static size_t
envelope_5424(struct log_target *t, const struct session_record *r,
    char text[ENVELOPE_MAX])
{
	return (size_t)snprintf(text, ENVELOPE_MAX,
	    "<%d>1 %s.%03u%s %s pen %ld %s - ", priority(), t->time.local,
	    r->time_ms, t->time.zone, t->host, (long)getpid(),
	    record_kind(r));
}

/* Puts the beginning of a line for the log daemon of this host: RFC 3164,
 * section 4.1, without a host. */
static size_t
envelope_local(struct log_target *t, const struct session_record *r,
    char text[ENVELOPE_MAX])
{
	time_t now = (time_t)t->time.second;
	char stamp[32] = "";
	struct tm tm;

	(void)r;
	if (localtime_r(&now, &tm) != NULL)
		strftime(stamp, sizeof(stamp), "%b %e %H:%M:%S", &tm);
	return (size_t)snprintf(text, ENVELOPE_MAX,
	    "<%d>%s pen[%ld]: ", priority(), stamp, (long)getpid());
}

/* ---- destinations ---- */

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
log_target_check(const struct sessionlog_options *o, struct error *e)
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

/* ---- the program's own log ---- */

static void
log_not_shown(struct log_target *t)
{
	timer_stop(&t->summary);
	if (t->not_shown > 0)
		log_write(NULL, LOG_LEVEL_INFO, "%ss not shown count=%llu",
		    t->what, (unsigned long long)t->not_shown);
	t->not_shown = 0;
}

static void
on_summary(struct timer *t)
{
	log_not_shown(list_entry(t, struct log_target, summary));
}

/* Whether this second has room for another line in the program's own log, which
 * is not read for sessions only. */
static bool
fits_log(struct log_target *t, uint64_t now)
{
	uint64_t second = now / 1000;

	if (t->second != second) {
		log_not_shown(t);
		t->second = second;
		t->lines = 0;
	}
	if (t->lines == LINES_A_SECOND) {
		if (t->not_shown++ == 0)
			(void)timer_start(
			    t->loop, &t->summary, 1000 - now % 1000);
		return false;
	}
	t->lines++;
	return true;
}

bool
log_use_has_room(struct log_use *u, uint64_t now)
{
	struct log_target *t = u->target;

	return t->sink != NULL || log_level >= LOG_LEVEL_DEBUG ||
	    fits_log(t, now);
}

/* ---- life ---- */

static void
target_free(struct log_target *t)
{
	log_not_shown(t);
	timer_fini(&t->summary);
	sink_close(t->sink);
	list_remove(&t->link);
	free(t->to);
	free(t);
}

static void
target_set_envelope(struct log_target *t)
{
	if (strcmp(t->to, "syslog") == 0)
		t->envelope = envelope_local;
	else if (strncmp(t->to, "syslog:", 7) == 0)
		t->envelope = envelope_5424;
	if (gethostname(t->host, sizeof(t->host) - 1) < 0 || t->host[0] == '\0')
		snprintf(t->host, sizeof(t->host), "-");
}

static struct log_target *
target_open(
    struct loop *l, const struct sessionlog_options *o, struct error *e)
{
	struct log_target *t = calloc(1, sizeof(*t));

	if (t == NULL || text_set(&t->to, o->to) < 0) {
		free(t);
		error_set(e, "%s", strerror(ENOMEM));
		return NULL;
	}
	list_init(&t->link);
	list_init(&t->uses);
	t->requests = o->requests;
	t->what = o->requests ? "request" : "session";
	t->loop = l;
	timer_init(&t->summary, on_summary);
	target_set_envelope(t);
	if (strcmp(o->to, "log") == 0)
		return t;
	t->sink = open_sink(l, t->what, o, e);
	if (t->sink != NULL)
		return t;
	target_free(t);
	return NULL;
}

static struct log_target *
target_find(struct list *all, const struct sessionlog_options *o)
{
	struct log_target *t;
	struct list *at;

	for (at = all->next; at != all; at = at->next) {
		t = list_entry(at, struct log_target, link);
		if (t->requests == o->requests && strcmp(t->to, o->to) == 0)
			return t;
	}
	return NULL;
}

int
log_use_open(struct log_use *u, struct list *all, struct loop *l,
    const struct sessionlog_options *o, struct error *e)
{
	struct log_target *t = target_find(all, o);

	if (t == NULL) {
		t = target_open(l, o, e);
		if (t == NULL)
			return -1;
		list_append(all, &t->link);
	}
	u->target = t;
	u->lost = NULL;
	list_append(&t->uses, &u->link);
	return 0;
}

/* The first use that counts has what is lost. */
static void
target_count(struct log_target *t)
{
	const struct log_use *u;
	struct list *at;
	uint64_t *lost = NULL;

	for (at = t->uses.next; at != &t->uses && lost == NULL; at = at->next) {
		u = list_entry(at, struct log_use, link);
		lost = u->lost;
	}
	sink_count_lost(t->sink, lost);
}

void
log_use_count(struct log_use *u, uint64_t *lost)
{
	u->lost = lost;
	target_count(u->target);
}

void
log_use_close(struct log_use *u)
{
	struct log_target *t = u->target;

	if (t == NULL)
		return;
	u->target = NULL;
	list_remove(&u->link);
	if (list_is_empty(&t->uses))
		target_free(t);
	else
		target_count(t);
}

struct sink *
log_target_next(struct list *all, struct list **at, const char **what)
{
	const struct log_target *t;

	for (*at = *at == NULL ? all->next : (*at)->next; *at != all;
	     *at = (*at)->next) {
		t = list_entry(*at, struct log_target, link);
		*what = t->requests ? "request log" : "session log";
		if (t->sink != NULL)
			return t->sink;
	}
	return NULL;
}

/* ---- lines ---- */

void
log_use_put(struct log_use *u, const struct log_format *format,
    struct session_record *r)
{
	struct log_target *t = u->target;
	char text[ENVELOPE_MAX + LOG_FORMAT_ROOM], *line = text;
	bool timed = t->sink != NULL && t->envelope == NULL;
	struct timespec now = { 0, 0 };
	size_t n;

	clock_gettime(CLOCK_REALTIME, &now);
	record_time_set(&t->time, now.tv_sec);
	r->time = &t->time;
	r->time_ms = (unsigned)(now.tv_nsec / 1000000);
	if (t->envelope != NULL)
		line += t->envelope(t, r, text);
	n = log_format_line(format, r, timed, line);
	if (n == 0)
		return;
	if (t->sink == NULL) {
		log_write(NULL, LOG_LEVEL_INFO, "%s %s %.*s", record_kind(r),
		    r->request != NULL ? "ended" : "closed", (int)n, line);
		return;
	}
	line += n;
	if (!sink_is_datagram(t->sink))
		*line++ = '\n';
	sink_put(t->sink, text, (size_t)(line - text));
}
