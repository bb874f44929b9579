/* sink.c: lines to a file or a socket; owns either. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/log.h"
#include "net/sink.h"
#include "net/sock.h"

enum { GATHER = 64 * 1024, FLUSH_MS = 1000 };

/* What a pipe takes at once, or not at all, without blocking its writer when
 * poll(2) has said that it is writable (pipe(7)). */
enum { SHARED_PIECE = 4096 };

struct sink {
	struct loop *loop;
	const char *what;
	int fd;
	bool shared;
	char *path;	/* NULL: not a file */
	struct addr to; /* of datagrams; len 0: none */
	struct buffer lines;
	struct timer flush;
	uint64_t lost;
	bool torn; /* the file ends within a line */
};

/* ---- files ---- */

static void
count_lost(struct sink *s, const char *lines, size_t n, int error)
{
	const char *end = lines + n;
	uint64_t lost = 0;

	while (lines < end &&
	    (lines = memchr(lines, '\n', (size_t)(end - lines))) != NULL) {
		lost++;
		lines++;
	}
	s->lost += sink_is_datagram(s) ? 1 : lost;
	log_warn("%s not logged lost=%llu error=\"%s\"", s->what,
	    (unsigned long long)s->lost, strerror(error));
}

/* As many bytes as the far side of a shared descriptor takes now. */
static ssize_t
write_shared(struct sink *s, const char *bytes, size_t n)
{
	struct pollfd p = { .fd = s->fd, .events = POLLOUT };
	size_t done = 0, piece;
	ssize_t written;

	while (done < n) {
		errno = EAGAIN;
		if (poll(&p, 1, 0) != 1)
			break;
		piece = n - done < SHARED_PIECE ? n - done : SHARED_PIECE;
		written = write(s->fd, bytes + done, piece);
		if (written <= 0)
			break;
		done += (size_t)written;
	}
	return done > 0 ? (ssize_t)done : -1;
}

static ssize_t
write_bytes(struct sink *s, const char *bytes, size_t n)
{
	return s->shared ? write_shared(s, bytes, n) : write(s->fd, bytes, n);
}

static void
flush(struct sink *s)
{
	const char *lines;
	size_t n = buffer_length(&s->lines);
	ssize_t written = -1;

	timer_stop(&s->flush);
	if (n == 0)
		return;
	lines = buffer_bytes(&s->lines);
	if (!s->torn || write_bytes(s, "\n", 1) == 1) {
		s->torn = false;
		written = write_bytes(s, lines, n);
	}
	if (written < (ssize_t)n) {
		size_t done = written > 0 ? (size_t)written : 0;
		int error = written < 0 || s->shared ? errno : ENOSPC;

		if (done > 0)
			s->torn = lines[done - 1] != '\n';
		count_lost(s, lines + done, n - done, error);
	}
	buffer_fini(&s->lines);
}

static void
on_flush(struct timer *t)
{
	flush(list_entry(t, struct sink, flush));
}

static void
gather(struct sink *s, const char *line, size_t n)
{
	bool first = buffer_length(&s->lines) == 0;

	if (buffer_append(&s->lines, line, n) < 0) {
		count_lost(s, line, n, ENOMEM);
		return;
	}
	if (buffer_length(&s->lines) >= GATHER)
		flush(s);
	else if (first && timer_start(s->loop, &s->flush, FLUSH_MS) < 0)
		flush(s);
}

/* ---- datagrams ---- */

/* A daemon that was started again has a new socket of the same path. */
static bool
connect_again(struct sink *s)
{
	int fd = sock_connect_datagram(&s->to);

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

/* With UDP a refusal is of a datagram sent before, which was lost: this one has
 * not been sent yet. */
static void
send_datagram(struct sink *s, const char *line, size_t n)
{
	bool local = s->to.u.sa.sa_family == AF_UNIX;
	int error = send_once(s, line, n);

	if (!local && error == ECONNREFUSED) {
		count_lost(s, line, n, error);
		error = send_once(s, line, n);
	} else if (local && error != 0 && error != EAGAIN && error != ENOBUFS &&
	    error != EMSGSIZE && connect_again(s)) {
		error = send_once(s, line, n);
	}
	if (error != 0)
		count_lost(s, line, n, error);
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
	buffer_init(&s->lines);
	timer_init(&s->flush, on_flush);
	return s;
}

static int
open_file(const char *path, struct error *e)
{
	return file_open_own(
	    path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK, 0644, e);
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
	flush(s);
	timer_fini(&s->flush);
	close(s->fd);
	free(s->path);
	free(s);
}

int
sink_reopen(struct sink *s, struct error *e)
{
	struct error why;
	int fd;

	if (s->path == NULL)
		return 0;
	fd = open_file(s->path, &why);
	if (fd < 0)
		return error_set(e, "\"%.300s\": %s", s->path, why.text);
	flush(s);
	close(s->fd);
	s->fd = fd;
	s->torn = false;
	return 0;
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
		gather(s, line, n);
}

uint64_t
sink_lost(const struct sink *s)
{
	return s->lost;
}
