/* mergelogs.c: one log of several web servers behind pen, in the order of time,
 * with clients in place of the balancer.
 *
 *     web server's log --\
 *     web server's log ---+-- the earliest line -- its visit -- output
 *     web server's log --/                           |
 *     pen's log ------------ read as far as that time plus the jitter
 *
 * No log is in memory as a whole. */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "tools/log_line.h"
#include "tools/visits.h"

enum { VISITS_MAX = 1000000, LINES_BETWEEN = 4096 };

/* A file that is read line by line. */
struct source {
	const char *path;
	FILE *file;
	char *line;
	size_t room;
	unsigned long long number, bytes;
	bool failed;
};

struct web_log {
	struct source source;
	char server[LOG_HOST_MAX];
	bool there; /* `now` is its next line */
	struct web_line now;
};

struct merge {
	struct web_log *logs;
	unsigned count;
	struct source pen;
	bool pen_there;
	struct pen_line visit; /* the next one of pen's log */
	struct visits *visits;
	int64_t jitter;
	int zone, debug;
	FILE *rejects; /* NULL: none */
	unsigned long long rejected, lines, size;
	time_t told; /* how far it is; 0: not on a terminal */
};

static int
mergelogs_complain(const char *what, const char *why)
{
	fprintf(stderr, "mergelogs: %s: %s\n", what, why);
	return -1;
}

/* ---- reading ---- */

static int
open_source(struct merge *m, struct source *s, const char *path)
{
	struct stat st;

	s->path = path;
	s->file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
	if (s->file == NULL)
		return mergelogs_complain(path, strerror(errno));
	if (fstat(fileno(s->file), &st) == 0 && S_ISREG(st.st_mode))
		m->size += (unsigned long long)st.st_size;
	return 0;
}

/* Reads the next line, without its end. Returns false at the end, and after an
 * error, which it has reported. */
static bool
source_next_line(struct source *s)
{
	ssize_t n = getline(&s->line, &s->room, s->file);

	if (n < 0) {
		s->failed = !feof(s->file);
		if (s->failed)
			mergelogs_complain(s->path, strerror(errno));
		return false;
	}
	s->number++;
	s->bytes += (unsigned long long)n;
	s->line[strcspn(s->line, "\r\n")] = '\0';
	return true;
}

static void
reject_line(struct merge *m, const struct source *s)
{
	if (m->rejected++ == 0)
		fprintf(stderr,
		    "mergelogs: %s:%llu: line in neither format, skipped\n",
		    s->path, s->number);
	if (m->rejects != NULL)
		fprintf(m->rejects, "%s\n", s->line);
}

/* A line without a time is of the same time as the one before. */
static void
next_web_line(struct merge *m, struct web_log *l)
{
	int64_t before = l->now.time;

	l->there = false;
	while (source_next_line(&l->source)) {
		l->now.time = before;
		if (web_line_parse(&l->now, l->source.line, m->zone) == 0) {
			l->there = true;
			return;
		}
		if (l->source.line[0] != '\0')
			reject_line(m, &l->source);
	}
}

static void
next_visit(struct merge *m)
{
	m->pen_there = false;
	while (source_next_line(&m->pen)) {
		if (pen_line_parse(&m->visit, m->pen.line, false) == 0) {
			m->pen_there = true;
			return;
		}
		if (m->pen.line[0] != '\0')
			reject_line(m, &m->pen);
	}
}

/* Reads lines until all visits that could be nearest to that time are known. */
static int
read_visits(struct merge *m, int64_t time)
{
	const struct pen_line *p = &m->visit;

	while (m->pen_there && p->time <= time + m->jitter) {
		if (visits_add(m->visits, p->time, p->client, p->server,
			p->request) < 0)
			return mergelogs_complain(m->pen.path, "out of memory");
		next_visit(m);
	}
	return 0;
}

/* ---- writing ---- */

static void
print_line(struct merge *m, const struct web_log *l)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	const struct web_line *w = &l->now;
	const char *client = visits_find(
	    m->visits, w->time, m->jitter, l->server, w->request);
	time_t when = (time_t)w->time;
	struct tm tm;

	if (m->debug > 0)
		fprintf(stderr, "%s:%llu: %s\n", l->source.path,
		    l->source.number, client != NULL ? client : "no visit");
	fputs(client != NULL ? client : l->server, stdout);
	fwrite(w->user, 1, (size_t)(w->begin - w->user), stdout);
	/* As "14/Nov/2023:22:13:20 +0000", whatever zone the web server is in,
	 * so that the merged log is in order. */
	if (w->has_time && gmtime_r(&when, &tm) != NULL)
		printf("%02d/%.3s/%04d:%02d:%02d:%02d +0000", tm.tm_mday,
		    months + 3 * tm.tm_mon, tm.tm_year + 1900, tm.tm_hour,
		    tm.tm_min, tm.tm_sec);
	else
		fwrite(w->begin, 1, (size_t)(w->end - w->begin), stdout);
	fputs(w->end, stdout);
	putchar('\n');
}

/* Now and then, on a terminal, how much has been read. */
static void
print_progress(struct merge *m, bool end)
{
	unsigned long long bytes = m->pen.bytes;
	time_t now;
	unsigned i;

	if (m->told == 0 || (!end && ++m->lines % LINES_BETWEEN != 0))
		return;
	now = time(NULL);
	if (!end && now == m->told)
		return;
	m->told = now;
	for (i = 0; i < m->count; i++)
		bytes += m->logs[i].source.bytes;
	fprintf(stderr, "\r%llu MB of %llu (%llu %%)%s", bytes >> 20,
	    m->size >> 20, m->size > 0 ? bytes * 100 / m->size : 100,
	    end ? "\n" : "");
}

/* The earliest line of all comes next. */
static int
merge(struct merge *m)
{
	struct web_log *l, *first;
	int error;

	for (;;) {
		first = NULL;
		for (l = m->logs; l < m->logs + m->count; l++)
			if (l->there &&
			    (first == NULL || l->now.time < first->now.time))
				first = l;
		if (first == NULL)
			break;
		if (read_visits(m, first->now.time) < 0)
			return -1;
		print_line(m, first);
		if (ferror(stdout)) { /* there may be room again at the end */
			error = errno;
			print_progress(m, true);
			return mergelogs_complain("output", strerror(error));
		}
		print_progress(m, false);
		next_web_line(m, first);
	}
	print_progress(m, true);
	if (m->rejected > 0)
		fprintf(stderr, "mergelogs: %llu lines skipped\n",
		    m->rejected);
	return fflush(stdout) == 0
	    ? 0
	    : mergelogs_complain("output", strerror(errno));
}

/* ---- the command line ---- */

static int
mergelogs_usage(void)
{
	fputs("usage: mergelogs -p PENLOG [-cd] [-j JITTER] [-n VISITS] "
	      "[-r REJECTS] [-t SECONDS]\n"
	      "                 SERVER:LOGFILE ...\n",
	    stderr);
	return -1;
}

/* "10.0.0.1:FILE" or "[::1]:FILE" */
static int
add_log(struct merge *m, char *text)
{
	struct web_log *l = &m->logs[m->count];
	char *host = text, *end = strchr(text, ':');

	if (text[0] == '[') {
		host++;
		end = strchr(text, ']');
		if (end != NULL) {
			*end++ = '\0';
			if (*end != ':')
				end = NULL;
		}
	}
	if (end == NULL || end == text || end[1] == '\0')
		return mergelogs_complain(text, "expected SERVER:LOGFILE");
	*end = '\0';
	log_host(l->server, host);
	if (open_source(m, &l->source, end + 1) < 0)
		return -1;
	m->count++;
	next_web_line(m, l);
	return 0;
}

static int
mergelogs_parse_number(
    const char *option, const char *text, int64_t min, int64_t *value)
{
	bool minus = min < 0 && text[0] == '-';
	uint64_t n;

	if (number_parse(text + minus, 0, INT32_MAX, &n) < 0)
		return mergelogs_complain(option, "is not a number");
	*value = minus ? -(int64_t)n : (int64_t)n;
	return 0;
}

static int
take_option(struct merge *m, int c, int64_t *visits)
{
	int64_t zone;

	switch (c) {
	case 'c':
		return 0;
	case 'd':
		m->debug++;
		return 0;
	case 'p':
		return open_source(m, &m->pen, optarg);
	case 'j':
		return mergelogs_parse_number("-j", optarg, 0, &m->jitter);
	case 'n':
		return mergelogs_parse_number("-n", optarg, 0, visits);
	case 'r':
		m->rejects = fopen(optarg, "w");
		return m->rejects != NULL
		    ? 0
		    : mergelogs_complain(optarg, strerror(errno));
	case 't':
		if (mergelogs_parse_number("-t", optarg, -1, &zone) < 0)
			return -1;
		m->zone = (int)zone;
		return 0;
	default:
		return mergelogs_usage();
	}
}

static int
merge_parse(struct merge *m, int argc, char **argv)
{
	int64_t visits = VISITS_MAX;
	int c, i;

	while ((c = getopt(argc, argv, "cdp:j:n:r:t:")) != -1)
		if (take_option(m, c, &visits) < 0)
			return -1;
	if (m->pen.file == NULL || optind == argc)
		return mergelogs_usage();
	m->visits = visits_new((size_t)visits + 1);
	m->logs = calloc((size_t)(argc - optind), sizeof(*m->logs));
	if (m->visits == NULL || m->logs == NULL)
		return mergelogs_complain("start", "out of memory");
	for (i = optind; i < argc; i++)
		if (add_log(m, argv[i]) < 0)
			return -1;
	next_visit(m);
	m->told = isatty(STDERR_FILENO) ? 1 : 0;
	return 0;
}

static int
close_rejects(FILE *f)
{
	bool failed = ferror(f) != 0;

	if (fclose(f) == 0 && !failed)
		return 0;
	return mergelogs_complain(
	    "rejects", failed ? "lines are lost" : strerror(errno));
}

/* Returns whether all of it was read, as far as it was wanted. */
static bool
close_source(struct source *s)
{
	if (s->file != NULL)
		fclose(s->file);
	free(s->line);
	return !s->failed;
}

int
main(int argc, char **argv)
{
	static struct merge m;
	unsigned i;
	int rc;

	m = (struct merge){ .jitter = 2 };
	rc = merge_parse(&m, argc, argv);
	if (rc == 0)
		rc = merge(&m);
	for (i = 0; i < m.count; i++)
		if (!close_source(&m.logs[i].source))
			rc = -1;
	if (!close_source(&m.pen))
		rc = -1;
	if (m.rejects != NULL && close_rejects(m.rejects) < 0)
		rc = -1;
	visits_free(m.visits);
	free(m.logs);
	return rc == 0 ? 0 : 1;
}
