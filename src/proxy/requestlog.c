/* requestlog.c: lines to a file or a socket; owns either. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/list.h"
#include "base/log.h"
#include "net/sock.h"
#include "proxy/requestlog.h"

enum { LINE_MAX_LENGTH = 1000, GATHER = 64 * 1024, FLUSH_MS = 1000 };

struct requestlog {
	struct loop *loop;
	int fd;
	char *path; /* NULL: a socket */
	struct buffer lines;
	struct timer flush;
	uint64_t lost;
	bool torn; /* the file ends within a line */
};

/* ---- writing ---- */

static void
count_lost(struct requestlog *r, const char *lines, size_t n, int error)
{
	size_t i;

	for (i = 0; i < n; i++)
		r->lost += lines[i] == '\n';
	log_warn("requests not logged lost=%llu error=\"%s\"",
	    (unsigned long long)r->lost, strerror(error));
}

static void
flush(struct requestlog *r)
{
	const char *lines;
	size_t n = buffer_length(&r->lines);
	ssize_t written = -1;

	timer_stop(&r->flush);
	if (n == 0)
		return;
	lines = buffer_bytes(&r->lines);
	if (!r->torn || write(r->fd, "\n", 1) == 1) {
		r->torn = false;
		written = write(r->fd, lines, n);
	}
	if (written < (ssize_t)n) {
		size_t done = written > 0 ? (size_t)written : 0;
		int error = written < 0 ? errno : ENOSPC;

		if (done > 0)
			r->torn = lines[done - 1] != '\n';
		count_lost(r, lines + done, n - done, error);
	}
	buffer_fini(&r->lines);
}

static void
on_flush(struct timer *t)
{
	flush(list_entry(t, struct requestlog, flush));
}

static void
gather(struct requestlog *r, const char *line, size_t n)
{
	bool first = buffer_length(&r->lines) == 0;

	if (buffer_append(&r->lines, line, n) < 0) {
		count_lost(r, line, n, ENOMEM);
		return;
	}
	if (buffer_length(&r->lines) >= GATHER)
		flush(r);
	else if (first && timer_start(r->loop, &r->flush, FLUSH_MS) < 0)
		flush(r);
}

/* ---- life ---- */

/* Takes `fd` over, also when it fails. */
static struct requestlog *
new_log(struct loop *l, int fd, const char *path, struct error *e)
{
	struct requestlog *r = calloc(1, sizeof(*r));

	if (r != NULL && path != NULL && (r->path = strdup(path)) == NULL) {
		free(r);
		r = NULL;
	}
	if (r == NULL) {
		close(fd);
		error_set(e, "%s", strerror(ENOMEM));
		return NULL;
	}
	r->loop = l;
	r->fd = fd;
	buffer_init(&r->lines);
	timer_init(&r->flush, on_flush);
	return r;
}

static int
open_file(const char *path, struct error *e)
{
	return file_open_own(
	    path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK, 0644, e);
}

struct requestlog *
requestlog_open_file(struct loop *l, const char *path, struct error *e)
{
	int fd = open_file(path, e);

	return fd < 0 ? NULL : new_log(l, fd, path, e);
}

struct requestlog *
requestlog_open_udp(struct loop *l, const struct addr *to, struct error *e)
{
	int fd = sock_connect_datagram(to);

	if (fd < 0) {
		error_set(e, "%s", strerror(errno));
		return NULL;
	}
	return new_log(l, fd, NULL, e);
}

void
requestlog_close(struct requestlog *r)
{
	if (r == NULL)
		return;
	flush(r);
	timer_fini(&r->flush);
	close(r->fd);
	free(r->path);
	free(r);
}

int
requestlog_reopen(struct requestlog *r, struct error *e)
{
	struct error why;
	int fd;

	if (r->path == NULL)
		return 0;
	fd = open_file(r->path, &why);
	if (fd < 0)
		return error_set(e, "\"%.300s\": %s", r->path, why.text);
	flush(r);
	close(r->fd);
	r->fd = fd;
	r->torn = false;
	return 0;
}

uint64_t
requestlog_lost(const struct requestlog *r)
{
	return r->lost;
}

/* A refusal is of a datagram sent before: this one has not been sent yet. */
static void
send_datagram(struct requestlog *r, const char *line, size_t n)
{
	int tries, error = ECONNREFUSED;

	for (tries = 0; tries < 2 && error == ECONNREFUSED; tries++) {
		if (sock_send(r->fd, line, n, false) >= 0)
			return;
		error = errno;
		count_lost(r, line, n, error);
	}
}

/* ---- lines ---- */

static size_t
take_text(char *to, const char *bytes, size_t n)
{
	size_t i;

	for (i = 0; i < n && i < LINE_MAX_LENGTH; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (c == '\r' || c == '\n')
			break;
		to[i] = (c < 0x20 && c != '\t') || c == 0x7f ? '?' : (char)c;
	}
	return i;
}

void
requestlog_line(struct requestlog *r, const struct peer *client,
    const struct server *server, const char *bytes, size_t n)
{
	char line[PEER_TEXT_MAX + ADDR_TEXT_MAX + LINE_MAX_LENGTH + 32];
	char who[PEER_TEXT_MAX], at[ADDR_TEXT_MAX] = "none";
	size_t length;

	if (server != NULL && server->addrs.count > 0)
		addr_format_host(&server->addrs.addr[server->addr_first], at);
	peer_format_host(client, who);
	length = (size_t)(r->path != NULL
		? snprintf(line, sizeof(line), "%s %lld %s ", who,
		      (long long)time(NULL), at)
		: snprintf(line, sizeof(line), "+ %s %s ", who, at));
	length += take_text(line + length, bytes, n);
	line[length++] = '\n';
	if (r->path != NULL)
		gather(r, line, length);
	else
		send_datagram(r, line, length);
}
