/* takeover.c: reads the messages of the old process; see takeover.h. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/number.h"
#include "base/output.h"
#include "control/life/http_watch.h"
#include "control/handover/handover.h"
#include "control/handover/handover_state.h"
#include "control/life/context.h"
#include "control/life/process.h"
#include "control/report/trend.h"
#include "control/upgrade/takeover.h"
#include "control/upgrade/upgrade_private.h"
#include "dsr/director/director.h"
#include "net/sock.h"

/* How long the old process may take for all of it: longer than it gives us. */
enum { WAIT_MS = 60000 };

/* ---- what was passed ---- */

/* A descriptor that is open and no standard file; -1: not so. Programs that we
 * start do not get it. */
static int
descriptor(const char *text)
{
	uint64_t fd;

	if (number_parse(text, STDERR_FILENO + 1, INT32_MAX, &fd) < 0 ||
	    fcntl((int)fd, F_SETFD, FD_CLOEXEC) < 0)
		return -1;
	return (int)fd;
}

/* "7+,8-": descriptors; with + the file of the socket is ours. */
static void
take_sockets(struct pen *p, char *list)
{
	struct error e;
	char *item, *rest = list;
	size_t n;
	bool ours;
	int fd;

	while ((item = strsep(&rest, ",")) != NULL) {
		n = strlen(item);
		if (n < 2)
			continue;
		ours = item[n - 1] == '+';
		item[n - 1] = '\0';
		fd = descriptor(item);
		if (fd < 0 ||
		    inherited_add(&p->sockets.inherited, fd, ours, &e) == 0)
			continue;
		log_warn("inherited descriptor closed fd=%d error=\"%s\"", fd,
		    e.text);
		close(fd);
	}
}

/* "eth0/packet/7,8": an interface that it has, how, and descriptors. */
static void
take_link(struct pen *p, char *text)
{
	char *interface = strsep(&text, "/"), *kind = strsep(&text, "/"), *item;
	struct link_past *past = kind == NULL || text == NULL
	    ? NULL
	    : predecessor_add_link(&p->predecessor, interface, kind);

	while (past != NULL && past->count < DIRECTOR_FDS_MAX &&
	    (item = strsep(&text, ",")) != NULL)
		if (*item != '\0')
			past->fd[past->count++] = descriptor(item);
}

/* One "name=value". */
static void
takeover_take_word(struct pen *p, struct process *proc, char *word)
{
	char *value = strchr(word, '=');
	uint64_t us = 0;

	if (value == NULL)
		return;
	*value++ = '\0';
	if (strcmp(word, "state") == 0)
		p->predecessor.fd = descriptor(value);
	else if (strcmp(word, "errors") == 0)
		p->predecessor.error_fd = descriptor(value);
	else if (strcmp(word, "pid") == 0)
		process_take_pid_file(proc, descriptor(value));
	else if (strcmp(word, "notify") == 0)
		notify_take(&p->notify, descriptor(value));
	else if (strcmp(word, "watchdog") == 0 &&
	    number_parse(value, 1, UINT64_MAX, &us) == 0)
		p->notify.watchdog_us = us;
	else if (strcmp(word, "rooted") == 0)
		p->predecessor.rooted = true;
	else if (strcmp(word, "reports") == 0)
		p->predecessor.reports = true;
	else if (strcmp(word, "flows") == 0)
		p->predecessor.flows = true;
	else if (strcmp(word, "link") == 0)
		take_link(p, value);
	else if (strcmp(word, "sockets") == 0)
		take_sockets(p, value);
}

void
takeover_begin(struct pen *p, struct process *proc)
{
	const char *given = getenv("PEN_UPGRADE");
	char *copy, *word, *rest;

	if (given == NULL)
		return;
	copy = rest = strdup(given);
	unsetenv("PEN_UPGRADE");
	while (copy != NULL && (word = strsep(&rest, " ")) != NULL)
		takeover_take_word(p, proc, word);
	free(copy);
}

/* ---- its state ---- */

static void
takeover_send(const struct predecessor *t, char word)
{
	/* one that has exited needs no report */
	(void)sock_send(t->fd, &word, 1, false);
}

/* Receives `n` bytes. Returns how many came: fewer when the old process is
 * gone, or -1 when it is silent. */
static ssize_t
takeover_receive(struct predecessor *t, void *bytes, size_t n, uint64_t end)
{
	struct pollfd p = { .fd = t->fd, .events = POLLIN };
	struct iovec v;
	size_t done = 0;
	uint64_t now;
	ssize_t k;

	while (done < n) {
		now = clock_monotonic_ms();
		if (now >= end)
			return -1;
		if (poll(&p, 1, (int)(end - now)) <= 0)
			continue;
		v.iov_base = (char *)bytes + done;
		v.iov_len = n - done;
		k = passed_receive(&t->sockets, t->fd, &v, 1);
		if (k > 0)
			done += (size_t)k;
		else if (k == 0 || (errno != EINTR && errno != EAGAIN))
			break;
	}
	return (ssize_t)done;
}

/* A part of the state; one that is not understood is read all the same. Returns
 * what takeover_receive() does: 0 means that it is over. */
static ssize_t
takeover_read_part(struct predecessor *t, struct handover_reader *r,
    struct handover_state_reader *l, uint64_t end)
{
	char part[TAKEOVER_PART_MAX];
	struct handover_record record;
	uint32_t length;
	ssize_t n = takeover_receive(t, &length, sizeof(length), end);

	if (n < (ssize_t)sizeof(length) || length > sizeof(part))
		return n < 0 ? n : 0;
	n = takeover_receive(t, part, length, end);
	if (n < (ssize_t)length)
		return n < 0 ? n : 0;
	(void)handover_feed(r, part, (size_t)n);
	while (handover_next(r, &record))
		handover_state_read(l, &record);
	return 1;
}

/* Until the old process has stopped accepting, or is gone. Returns 0, or -1
 * when it is silent. */
static int
listen_to(struct predecessor *t, struct handover_reader *r,
    struct handover_state_reader *l)
{
	uint64_t end = clock_monotonic_ms() + WAIT_MS;
	ssize_t n;
	char what;

	while ((n = takeover_receive(t, &what, 1, end)) > 0)
		switch (what) {
		case TAKEOVER_STATE:
			n = takeover_read_part(t, r, l, end);
			if (n <= 0)
				return (int)n;
			break;
		case TAKEOVER_ASK:
			handover_state_settle(l);
			takeover_send(t, TAKEOVER_LOADED);
			break;
		default: /* GO */
			return 0;
		}
	return (int)n;
}

void
takeover_report(const struct pen *p)
{
	const struct predecessor *t = &p->predecessor;
	const struct inherited *in = &p->sockets.inherited;
	int number = STDERR_FILENO, fd;
	unsigned i;

	if (!t->reports)
		return;
	for (i = 0; i < in->count; i++) {
		fd = in->list[i].fd;
		while (number < fd)
			takeover_send(t,
			    ++number < fd ? TAKEOVER_TAKEN : TAKEOVER_UNTAKEN);
	}
}

int
takeover_wait(struct pen *p, struct error *e)
{
	struct handover_reader r;
	struct handover_state_reader l;
	int rc;

	handover_reader_init(&r);
	handover_state_reader_init(&l, p);
	l.sockets = &p->predecessor.sockets;
	if (p->predecessor.flows)
		takeover_send(&p->predecessor, TAKEOVER_SOCKETS);
	takeover_send(&p->predecessor, TAKEOVER_PREPARED);
	rc = listen_to(&p->predecessor, &r, &l);
	if (r.error != NULL)
		log_warn("invalid state from the old process error=\"%s\"",
		    r.error);
	handover_state_reader_end(&l);
	handover_reader_fini(&r);
	/* what was counted before is no growth */
	trends_stop(p);
	http_watch_restart(p);
	p->predecessor.blame_fd =
	    fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (p->predecessor.error_fd >= 0)
		(void)dup2(p->predecessor.error_fd, STDERR_FILENO);
	output_own(STDERR_FILENO);
	log_find_journal();
	log_use_json(p->plan->process->log_lines != 0);
	return rc == 0 ? 0
		       : error_set(e,
			     "the old process sent nothing in time");
}

void
takeover_blame(const struct pen *p, const struct error *e)
{
	if (p->predecessor.blame_fd >= 0)
		(void)dprintf(p->predecessor.blame_fd, "pen: %s\n", e->text);
}

void
takeover_finish(struct pen *p)
{
	if (!predecessor_is_there(&p->predecessor))
		return;
	socket_set_own_files(&p->sockets);
	takeover_send(&p->predecessor, TAKEOVER_SERVING);
	predecessor_fini(&p->predecessor);
}
