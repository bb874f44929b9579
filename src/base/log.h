/* log.h: messages for the operator: levels, destinations, rate limit.
 *
 * On stderr each line begins with "YYYY-MM-DD HH:MM:SS: " (local time); in the
 * background lines go to syslog. A call site, but of debug lines, is cut short
 * after ten lines a second and says how many it dropped before its next one.
 * Writing never waits: lines that stderr or the log daemon has no room for are
 * lost, and the next line that is written says how many. The level and the
 * destination are the program's only mutable globals. */
#ifndef PEN_BASE_LOG_H
#define PEN_BASE_LOG_H

#include <stdint.h>

enum log_level {
	LOG_LEVEL_ERROR,
	LOG_LEVEL_WARN,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG
};

/* One per call site, made by the macros below. */
struct log_site {
	uint64_t second;  /* the one being counted, of the monotonic clock */
	unsigned count;	  /* lines in it */
	unsigned dropped; /* lines not written since the last one that was */
};

/* Lines above it are not made, nor their arguments evaluated; INFO at start. */
extern enum log_level log_level;

#if defined(__linux__)
#define LOG_SYSLOG_PATH "/dev/log"
#elif defined(__APPLE__)
#define LOG_SYSLOG_PATH "/var/run/syslog"
#else
#define LOG_SYSLOG_PATH "/var/run/log"
#endif

/* Connects to the log daemon's socket, for lines under `ident`; one that is not
 * there is looked for again with each line. A connection that is made before a
 * chroot serves after it. */
void log_open_syslog(const char *path, const char *ident);
/* From here on lines go there, no longer to stderr. */
void log_use_syslog(void);

/* Writes a line, cut at 1023 bytes; without a site there is no rate limit. */
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
