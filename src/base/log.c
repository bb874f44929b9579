/* log.c: where lines go. Owns the choice of stderr or syslog. */
#include "config.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <syslog.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"

enum { LINES_A_SECOND = 10 };

enum log_level log_level = LOG_LEVEL_INFO;

static bool to_syslog;

void
log_use_syslog(const char *ident)
{
	openlog(ident, LOG_PID, LOG_DAEMON);
	to_syslog = true;
}

static void
write_line(enum log_level level, const char *line)
{
	static const int priority[] = { LOG_ERR, LOG_WARNING, LOG_INFO,
		LOG_DEBUG };
	char stamp[32];
	time_t now = time(NULL);
	struct tm tm;

	if (to_syslog) {
		syslog(priority[level], "%s", line);
		return;
	}
	localtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S", &tm);
	fprintf(stderr, "%s: %s\n", stamp, line);
}

/* Whether this line of the site is one too many; debug lines never are. */
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
	char line[1024];
	unsigned dropped;
	va_list args;

	if (is_too_much(site, level, &dropped))
		return;
	if (dropped > 0) {
		snprintf(line, sizeof(line), "similar lines not shown count=%u",
		    dropped);
		write_line(level, line);
	}
	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	write_line(level, line);
}
