/* log.h: messages for the operator: levels, destinations, rate limit.
 *
 * On stderr each line begins with "YYYY-MM-DD HH:MM:SS: " (local time); in the
 * background lines go to syslog. A call site, but of debug lines, is cut short
 * after ten lines a second and says how many it dropped before its next one.
 * The level and the destination are the program's only mutable globals. */
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

/* From here on lines go to syslog under `ident`, no longer to stderr. */
void log_use_syslog(const char *ident);

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
