/* log.h: messages for the operator.
 *
 * On stderr each line begins with "YYYY-MM-DD HH:MM:SS: " in local time, or,
 * where that is systemd's journal, which has the time, with the level as "<4>";
 * in the background lines go to syslog. With log_use_json() each is an object
 * of JSON. A call site may write ten lines a second, but
 * for debug lines; the others are dropped and counted in its next line. Writing
 * never blocks: a line for which stderr or the log daemon has no room is lost,
 * and the next line that is written has their number. The level and the
 * destination are the only mutable globals of the program. See output.h. */
#ifndef PEN_BASE_LOG_H
#define PEN_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum log_level {
	LOG_LEVEL_NONE = -1, /* of no line: nothing is written */
	LOG_LEVEL_ERROR,
	LOG_LEVEL_WARN,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG
};

/* The rate limit of one call site, made by the macros below. */
struct log_site {
	uint64_t second;  /* the current second of the monotonic clock */
	unsigned count;	  /* lines in that second */
	unsigned dropped; /* lines dropped since the last one written */
};

/* Lines above this level are not written, nor are their arguments evaluated.
 * INFO at the start. */
extern enum log_level log_level;

#if defined(__linux__)
#define LOG_SYSLOG_PATH "/dev/log"
#elif defined(__APPLE__)
#define LOG_SYSLOG_PATH "/var/run/syslog"
#else
#define LOG_SYSLOG_PATH "/var/run/log"
#endif

/* Connects to the socket of the log daemon, for lines under `ident`. If there
 * is no daemon, or it was started again, each line tries again. A connection
 * made before chroot() still works after it; a new one needs the path in the
 * new root, for a descriptor of the directory would lead out of that. */
void log_open_syslog(const char *path, const char *ident);
/* Sets the facility, one of syslog.h, of lines to the log daemon; LOG_DAEMON by
 * default. */
void log_use_facility(int facility);
int log_facility(void);
/* Sends lines to the log daemon from here on, no longer to stderr. */
void log_use_syslog(void);

/* Whether stderr is the journal: JOURNAL_STREAM is its device and inode
 * (systemd.exec(5)). */
void log_find_journal(void);
/* "<3>" and so on for a line on stderr that is not the log's (sd-daemon(3));
 * "" where stderr is not the journal. */
const char *log_prefix(enum log_level level);
/* Lines are objects from here on, or text again: time, level, message, and the
 * fields of the message, numbers where they are. What does not fit in 3 kB is
 * left out. */
void log_use_json(bool on);

/* Lines that are lost from now on are added to *counter, too. */
void log_count_lost(uint64_t *counter);
/* No longer, if they are. */
void log_stop_counting_lost(const uint64_t *counter);

/* Writes a line of at most 1023 bytes, without what a terminal would obey. With
 * `site` NULL there is no rate limit. */
void log_write(struct log_site *site, enum log_level level, const char *fmt,
    ...) __attribute__((format(printf, 3, 4)));

#define LOG_AT(level, ...)                                     \
	do {                                                   \
		if ((level) <= log_level) {                    \
			static struct log_site site_;          \
			log_write(&site_, level, __VA_ARGS__); \
		}                                              \
	} while (0)

#define log_error(...) LOG_AT(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...)  LOG_AT(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...)  LOG_AT(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) LOG_AT(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
