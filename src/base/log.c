/* log.c: writes log lines to stderr or to the system's log daemon, and owns the
 * socket to that. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/output.h"
#include "base/words.h"

enum { LINES_A_SECOND = 10, LINE_MAX_LENGTH = 1024, JSON_MAX_LENGTH = 3072 };

enum log_level log_level = LOG_LEVEL_INFO;

static struct {
	bool on;
	int fd; /* -1: not connected */
	struct sockaddr_un at;
	char ident[32];
	int facility;
} to_syslog = { .fd = -1, .facility = LOG_DAEMON };

static unsigned lost;	       /* lines since the last one written */
static uint64_t *lost_counter; /* of all of them; NULL: none */
static bool half; /* of a line was written to stderr, not its end */
static bool to_journal; /* stderr is it */
static bool as_json;

static const int priorities[] = { LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

/* ---- syslog ---- */

static int
connect_syslog(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	if (fd < 0)
		return -1;
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ||
	    fcntl(fd, F_SETFL, O_NONBLOCK) < 0 ||
	    connect(fd, (const struct sockaddr *)&to_syslog.at,
		sizeof(to_syslog.at)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

void
log_open_syslog(const char *path, const char *ident)
{
	to_syslog.at.sun_family = AF_UNIX;
	snprintf(
	    to_syslog.at.sun_path, sizeof(to_syslog.at.sun_path), "%s", path);
	snprintf(to_syslog.ident, sizeof(to_syslog.ident), "%s", ident);
	if (to_syslog.fd >= 0)
		close(to_syslog.fd);
	to_syslog.fd = connect_syslog();
}

void
log_use_facility(int facility)
{
	to_syslog.facility = facility;
}

int
log_facility(void)
{
	return to_syslog.facility;
}

void
log_use_syslog(void)
{
	to_syslog.on = true;
}

/* RFC 3164, section 4.1: priority, local time, tag, process id. */
static bool
write_syslog(int priority, const struct tm *tm, const char *line)
{
	char message[JSON_MAX_LENGTH + 96], stamp[32];
	int n, tries;

	strftime(stamp, sizeof(stamp), "%b %e %H:%M:%S", tm);
	n = snprintf(message, sizeof(message), "<%d>%s %s[%ld]: %s",
	    to_syslog.facility | priority, stamp, to_syslog.ident,
	    (long)getpid(), line);
	/* Sends one message. A log daemon that was restarted needs a new
	 * connection. If its queue is full the message is lost: pen does not
	 * wait. */
	for (tries = 0; tries < 2; tries++) {
		if (to_syslog.fd < 0 && (to_syslog.fd = connect_syslog()) < 0)
			return false;
		if (send(to_syslog.fd, message, (size_t)n, 0) >= 0)
			return true;
		if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS)
			return false;
		close(to_syslog.fd);
		to_syslog.fd = -1;
	}
	return false;
}

/* ---- JSON ---- */

struct json {
	char text[JSON_MAX_LENGTH];
	size_t length; /* without the closing brace */
	bool full;
};

static void
json_put(struct json *j, const char *bytes, size_t n)
{
	j->full = j->full || j->length + n + sizeof("}") > sizeof(j->text);
	if (j->full)
		return;
	memcpy(j->text + j->length, bytes, n);
	j->length += n;
}

/* Puts a string, which is UTF-8 without controls but tabs: see text_show(). */
static void
json_put_string(struct json *j, const char *bytes, size_t n)
{
	size_t i;

	json_put(j, "\"", 1);
	for (i = 0; i < n; i++) {
		if (bytes[i] == '"' || bytes[i] == '\\')
			json_put(j, "\\", 1);
		if (bytes[i] == '\t')
			json_put(j, "\\t", 2);
		else
			json_put(j, bytes + i, 1);
	}
	json_put(j, "\"", 1);
}

/* Whole, or not at all. Digits are a number if it is exact in each reader. */
static void
json_add(struct json *j, const char *key, size_t key_length, const char *value,
    size_t n)
{
	size_t before = j->length;
	bool is_number = n > 0 && n < 16 && strspn(value, "0123456789") >= n &&
	    (value[0] != '0' || n == 1);

	json_put(j, before == 0 ? "{" : ",", 1);
	json_put_string(j, key, key_length);
	json_put(j, ":", 1);
	if (is_number)
		json_put(j, value, n);
	else
		json_put_string(j, value, n);
	if (j->full)
		j->length = before;
	j->full = false;
}

/* How many bytes of `text`, after a blank, are the key in front of a "=". */
static size_t
key_length(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return text[n] == '=' ? n : 0;
}

/* The next blank that a key follows, from a blank on, or the end. */
static const char *
next_key(const char *at)
{
	while (at != NULL && (*at != ' ' || key_length(at + 1) == 0))
		at = *at != '\0' ? strchr(at + 1, ' ') : NULL;
	return at;
}

/* The end of a value: a quote that a key or nothing follows, or a blank. */
static const char *
value_end(const char *value)
{
	const char *at = value[0] == '"' ? strstr(value + 1, "\"") : value;

	while (value[0] == '"' && at != NULL && at[1] != '\0' &&
	    next_key(at + 1) != at + 1)
		at = strchr(at + 1, '"');
	at = value[0] == '"' ? (at != NULL ? at + 1 : NULL) : next_key(at);
	return at != NULL ? at : value + strlen(value);
}

/* A message may have an "=" without being a field: what follows the first key
 * is taken to be fields. */
static void
line_to_json(struct json *j, enum log_level level, time_t now, const char *line)
{
	static const char *const levels[] = { "error", "warning", "info",
		"debug" };
	const char *at = next_key(line), *value, *end;
	char stamp[CLOCK_TEXT_MAX];
	size_t n;

	j->length = 0;
	j->full = false;
	(void)clock_text((int64_t)now, stamp);
	json_add(j, "time", 4, stamp, strlen(stamp));
	json_add(j, "level", 5, levels[level], strlen(levels[level]));
	json_add(j, "message", 7, line,
	    at != NULL ? (size_t)(at - line) : strlen(line));
	for (; at != NULL && *at == ' '; at = end) {
		n = key_length(++at);
		value = at + n + 1;
		end = value_end(value);
		if (value[0] == '"' && end - value > 1)
			json_add(j, at, n, value + 1,
			    (size_t)(end - value - 1) - (end[-1] == '"'));
		else
			json_add(j, at, n, value, (size_t)(end - value));
	}
	memcpy(j->text + j->length, "}", sizeof("}"));
}

void
log_use_json(bool on)
{
	as_json = on;
}

/* ---- stderr ---- */

void
log_find_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	char name[64];
	struct stat st;

	to_journal = false;
	if (stream == NULL || fstat(STDERR_FILENO, &st) < 0)
		return;
	snprintf(name, sizeof(name), "%llu:%llu",
	    (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
	to_journal = strcmp(name, stream) == 0;
}

const char *
log_prefix(enum log_level level)
{
	static const char *const prefixes[] = { "<3>", "<4>", "<6>", "<7>" };

	return to_journal ? prefixes[level] : "";
}

/* While a terminal that was stopped with Ctrl-S, or a pipe without a reader, is
 * full, lines to it are lost. Half a line ends before the next one. */
static bool
write_stderr(enum log_level level, const struct tm *tm, const char *line)
{
	char text[JSON_MAX_LENGTH + 32];
	ssize_t written;
	size_t n = 0;

	if (half)
		text[n++] = '\n';
	if (!to_journal && !as_json)
		n += strftime(text + n, 31, "%Y-%m-%d %H:%M:%S: ", tm);
	n += (size_t)snprintf(
	    text + n, sizeof(text) - n, "%s%s\n", log_prefix(level), line);
	written = output_write(STDERR_FILENO, text, n);
	if (written > 0)
		half = written < (ssize_t)n;
	return written == (ssize_t)n;
}

/* ---- lines ---- */

static bool
put_line(enum log_level level, const char *line)
{
	time_t now = time(NULL);
	struct json object;
	struct tm tm;

	localtime_r(&now, &tm);
	if (as_json) {
		line_to_json(&object, level, now, line);
		line = object.text;
	}
	return to_syslog.on ? write_syslog(priorities[level], &tm, line)
			    : write_stderr(level, &tm, line);
}

void
log_count_lost(uint64_t *counter)
{
	lost_counter = counter;
}

void
log_stop_counting_lost(const uint64_t *counter)
{
	if (lost_counter == counter)
		lost_counter = NULL;
}

static void
log_write_line(enum log_level level, const char *line)
{
	char text[64];

	if (lost > 0) {
		snprintf(text, sizeof(text), "log lines lost count=%u", lost);
		if (put_line(LOG_LEVEL_WARN, text))
			lost = 0;
	}
	if (lost == 0 && put_line(level, line))
		return;
	lost++;
	if (lost_counter != NULL)
		++*lost_counter;
}

/* Whether a quote before this text is the end of a value. */
static bool
ends_value(const char *rest)
{
	size_t n = strspn(rest, "abcdefghijklmnopqrstuvwxyz_ ");

	return rest[0] == '\0' || (rest[0] == ' ' && rest[n] == '=');
}

/* A value in quotes may have some inside, as an error that quotes a name has:
 * they become single ones, so that scripts find its end. */
static void
keep_quotes_apart(char *line)
{
	char *at = line;

	while ((at = strstr(at, "=\"")) != NULL) {
		at += 2;
		while ((at = strchr(at, '"')) != NULL && !ends_value(at + 1)) {
			if (at[-1] != '\\')
				*at = '\'';
			at++;
		}
		if (at == NULL)
			return;
		at++;
	}
}

/* Whether the call site is over its limit. Debug lines have none. */
static bool
is_too_much(struct log_site *site, enum log_level level, unsigned *dropped)
{
	uint64_t second = clock_monotonic_ms() / 1000;

	*dropped = 0;
	if (site == NULL || level == LOG_LEVEL_DEBUG)
		return false;
	if (site->second != second) {
		site->second = second;
		site->count = 0;
		*dropped = site->dropped;
		site->dropped = 0;
	}
	if (site->count < LINES_A_SECOND) {
		site->count++;
		return false;
	}
	site->dropped++;
	return true;
}

void
log_write(struct log_site *site, enum log_level level, const char *fmt, ...)
{
	char line[LINE_MAX_LENGTH];
	unsigned dropped;
	va_list args;

	if (level > log_level || is_too_much(site, level, &dropped))
		return;
	if (dropped > 0) {
		snprintf(line, sizeof(line), "similar lines not shown count=%u",
		    dropped);
		log_write_line(level, line);
	}
	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	text_show(line, sizeof(line));
	keep_quotes_apart(line);
	log_write_line(level, line);
}
