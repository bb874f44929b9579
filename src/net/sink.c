/* sink.c: lines to a file or a socket; owns either. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/output.h"
#include "net/sink.h"
#include "net/sock.h"

/* Lines are written when so many bytes of them wait, or the first for so long.
 */
enum { GATHER = 64 * 1024, FLUSH_MS = 1000 };

/* How often the log reports lost lines; after how long without a loss it
 * reports the end; how often a daemon that has exited is looked for. */
enum { TELL_MS = 60 * 1000, WELL_MS = 2000, CONNECT_MS = 100 };

struct sink {
	struct loop *loop;
	const char *what;
	int fd;
	bool shared;
	char *path;	/* NULL: not a file */
	struct addr to; /* of datagrams; len 0: none */
	char *lines;	/* GATHER bytes; NULL: none are waiting */
	size_t used;
	size_t rest; /* of them, of a line whose beginning is written */
	struct timer flush;
	uint64_t lost, *counter; /* the latter the caller's, or NULL */
	uint64_t lost_at, told_at; /* ms; 0: never */
	bool told; /* the log has reported last that lines are lost */
	uint64_t connected_at; /* ms: the last try */
};

/* ---- losses ---- */

/* Where lines go; "" if the process has it from its parent. */
static const char *
destination(const struct sink *s, char text[ADDR_TEXT_MAX])
{
	if (s->path != NULL)
		return s->path;
	return s->to.len > 0 ? addr_format(&s->to, text) : "";
}

/* A disk that stays full is worth a line now and then, not one for each
 * write. */
static void
note_lost(struct sink *s, uint64_t count, int error)
{
	uint64_t now = loop_now(s->loop);
	char text[ADDR_TEXT_MAX];
	const char *to;

	s->lost += count;
	if (s->counter != NULL)
		*s->counter += count;
	s->lost_at = now;
	if (count == 0 || (s->told_at != 0 && now - s->told_at < TELL_MS))
		return;
	s->told_at = now;
	s->told = true;
	to = destination(s, text);
	log_warn("%s log lines dropped count=%llu%s%s error=\"%s\"", s->what,
	    (unsigned long long)s->lost, *to != '\0' ? " to=" : "", to,
	    strerror(error));
}

static void
note_written(struct sink *s)
{
	if (!s->told || loop_now(s->loop) - s->lost_at < WELL_MS)
		return;
	s->told = false;
	log_info("%s log resumed dropped=%llu", s->what,
	    (unsigned long long)s->lost);
}

static uint64_t
count_lines(const char *lines, size_t n)
{
	const char *end = lines + n;
	uint64_t count = 0;

	while (lines < end &&
	    (lines = memchr(lines, '\n', (size_t)(end - lines))) != NULL) {
		count++;
		lines++;
	}
	return count;
}

/* ---- files ---- */

/* Whether the file was removed, so that lines written to it could not be
 * read. */
static bool
is_removed(const struct sink *s)
{
	struct stat st;

	return s->path != NULL && fstat(s->fd, &st) == 0 &&
	    S_ISREG(st.st_mode) && st.st_nlink == 0;
}

void
sink_set_owner(struct sink *s, uid_t user)
{
	struct stat st;

	if (s != NULL && s->path != NULL && fstat(s->fd, &st) == 0 &&
	    S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_nlink == 1 &&
	    fchown(s->fd, user, (gid_t)-1) < 0)
		log_warn("owner of log file not changed file=%s error=\"%s\"",
		    s->path, strerror(errno));
}

/* Returns how many bytes were written; fewer than `n`: with errno. */
static size_t
write_bytes(struct sink *s, const char *bytes, size_t n)
{
	size_t done = 0;
	ssize_t written;

	errno = ENOSPC;
	while (done < n) {
		written = s->shared
		    ? output_write(s->fd, bytes + done, n - done)
		    : write(s->fd, bytes + done, n - done);
		if (written <= 0)
			break;
		done += (size_t)written;
	}
	return done;
}

/* The rest of a line that is half written stays, to be written before all else:
 * a reader must not get half lines, or two as one. All else is lost. */
static void
sink_lose(struct sink *s, size_t done, int error)
{
	bool within = done > 0 ? s->lines[done - 1] != '\n' : s->rest > 0;
	const char *end = NULL;

	if (within)
		end = memchr(s->lines + done, '\n', s->used - done);
	s->rest = end != NULL ? (size_t)(end + 1 - (s->lines + done)) : 0;
	note_lost(s,
	    count_lines(s->lines + done + s->rest, s->used - done - s->rest),
	    error);
	memmove(s->lines, s->lines + done, s->rest);
	s->used = s->rest;
}

static void
sink_flush(struct sink *s)
{
	size_t done;

	timer_stop(&s->flush);
	if (s->used == 0)
		return;
	if (is_removed(s)) {
		s->rest = 0;
		note_lost(s, count_lines(s->lines, s->used), ENOENT);
		s->used = 0;
		return;
	}
	done = write_bytes(s, s->lines, s->used);
	if (done == s->used) {
		s->used = s->rest = 0;
		note_written(s);
		return;
	}
	sink_lose(s, done, errno);
	if (s->used > 0)
		(void)timer_start(s->loop, &s->flush, FLUSH_MS);
}

static void
sink_close_file(struct sink *s)
{
	free(s->lines);
	s->lines = NULL;
	s->used = s->rest = 0;
}

static void
on_flush(struct timer *t)
{
	struct sink *s = list_entry(t, struct sink, flush);

	sink_flush(s);
	if (s->used == 0)
		sink_close_file(s);
}

/* Writes the last lines and closes the file, before another one is opened. A
 * line of which only a part is written counts as lost. */
static void
sink_finish(struct sink *s)
{
	sink_flush(s);
	timer_stop(&s->flush);
	if (s->rest > 0)
		note_lost(s, 1, ENOSPC);
	sink_close_file(s);
}

static void
gather_line(struct sink *s, const char *line, size_t n)
{
	bool first;

	if (s->used + n > GATHER)
		sink_flush(s);
	if (s->lines == NULL)
		s->lines = malloc(GATHER);
	if (s->lines == NULL || s->used + n > GATHER) {
		note_lost(s, 1, ENOMEM);
		return;
	}
	first = s->used == 0;
	memcpy(s->lines + s->used, line, n);
	s->used += n;
	if (first && timer_start(s->loop, &s->flush, FLUSH_MS) < 0)
		sink_flush(s);
}

/* ---- datagrams ---- */

/* A daemon that was started again has a new socket of the same path; a host
 * may have another address. */
static bool
connect_again(struct sink *s)
{
	uint64_t now = loop_now(s->loop);
	int fd;

	if (now - s->connected_at < CONNECT_MS)
		return false;
	s->connected_at = now;
	fd = sock_connect_datagram(&s->to);
	if (fd < 0)
		return false;
	close(s->fd);
	s->fd = fd;
	return true;
}

/* Returns 0, or an errno. */
static int
send_once(struct sink *s, const char *line, size_t n)
{
	return sock_send(s->fd, line, n, false) >= 0 ? 0 : errno;
}

/* A UDP socket reports ECONNREFUSED for an earlier datagram, which was lost:
 * the present one has not been sent yet. */
static void
send_datagram(struct sink *s, const char *line, size_t n)
{
	bool local = s->to.u.sa.sa_family == AF_UNIX;
	int error = send_once(s, line, n);

	if (!local && error == ECONNREFUSED) {
		note_lost(s, 1, error);
		error = send_once(s, line, n);
	} else if (error != 0 && error != EAGAIN && error != ENOBUFS &&
	    error != EMSGSIZE && connect_again(s)) {
		error = send_once(s, line, n);
	}
	if (error != 0)
		note_lost(s, 1, error);
	else
		note_written(s);
}

/* ---- life ---- */

/* Takes `fd` over, also when it fails. */
static struct sink *
new_sink(struct loop *l, const char *what, int fd, struct error *e)
{
	struct sink *s = calloc(1, sizeof(*s));

	if (s == NULL) {
		close(fd);
		error_set(e, "%s", strerror(ENOMEM));
		return NULL;
	}
	s->loop = l;
	s->what = what;
	s->fd = fd;
	timer_init(&s->flush, on_flush);
	return s;
}

static int
open_file(const char *path, struct error *e)
{
	return file_open_own(
	    path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK, 0640, e);
}

struct sink *
sink_open_file(
    struct loop *l, const char *what, const char *path, struct error *e)
{
	int fd = open_file(path, e);
	struct sink *s = fd < 0 ? NULL : new_sink(l, what, fd, e);

	if (s != NULL && (s->path = strdup(path)) == NULL) {
		error_set(e, "%s", strerror(ENOMEM));
		sink_close(s);
		return NULL;
	}
	return s;
}

struct sink *
sink_open_shared(struct loop *l, const char *what, int fd, struct error *e)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	struct sink *s;

	if (copy < 0) {
		error_set(e, "%s", strerror(errno));
		return NULL;
	}
	s = new_sink(l, what, copy, e);
	if (s != NULL)
		s->shared = true;
	return s;
}

struct sink *
sink_open_datagram(
    struct loop *l, const char *what, const struct addr *to, struct error *e)
{
	int fd = sock_connect_datagram(to);
	struct sink *s;

	if (fd < 0) {
		error_set(e, "%s", strerror(errno));
		return NULL;
	}
	s = new_sink(l, what, fd, e);
	if (s != NULL)
		s->to = *to;
	return s;
}

void
sink_close(struct sink *s)
{
	if (s == NULL)
		return;
	sink_finish(s);
	timer_fini(&s->flush);
	close(s->fd);
	free(s->path);
	free(s);
}

static bool
is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* A file that was not moved may have half of a line, which is completed. */
int
sink_reopen(struct sink *s, struct error *e)
{
	struct stat there, here;
	int fd;

	if (s == NULL || s->path == NULL)
		return 0;
	fd = open_file(s->path, e);
	if (fd < 0)
		return error_of(e, "\"%.300s\"", s->path);
	if (fstat(fd, &there) == 0 && fstat(s->fd, &here) == 0 &&
	    is_same(&there, &here)) {
		close(fd);
		sink_flush(s);
		return 0;
	}
	sink_finish(s);
	close(s->fd);
	s->fd = fd;
	return 0;
}

void
sink_follow(struct sink *s)
{
	struct stat there, here;
	struct error e;

	if (s == NULL || s->path == NULL || stat(s->path, &there) < 0 ||
	    fstat(s->fd, &here) < 0 || is_same(&there, &here))
		return;
	(void)sink_reopen(s, &e);
}

bool
sink_is_datagram(const struct sink *s)
{
	return s->to.len > 0;
}

void
sink_put(struct sink *s, const char *line, size_t n)
{
	if (sink_is_datagram(s))
		send_datagram(s, line, n);
	else
		gather_line(s, line, n);
}

void
sink_count_lost(struct sink *s, uint64_t *counter)
{
	if (s != NULL)
		s->counter = counter;
}
