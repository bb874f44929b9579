/* listener.c: the accept loop. A pause that the listener makes itself always
 * ends by its own timer, so that it never stops accepting for good. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/list.h"
#include "base/log.h"
#include "base/shortcuts.h"
#include "net/listener.h"
#include "net/sock_try.h"
#include "net/socket_set.h"

/* How long to wait for descriptors or memory before trying again. */
enum { RETRY_MS = 100, LOG_MS = 60000 };
/* The maximum backlog, even if the setting is higher. */
enum { QUEUE_MAX = 1 << 16 };

/* Watches the socket unless the owner paused it or resources are short. Returns
 * 0, or -1 with errno. */
static int
apply(struct listener *l)
{
	bool go = !l->paused && !l->starved;

	if (go && l->watch.fd < 0)
		return watch_start(l->loop, &l->watch, l->fd,
		    READY_READ | WATCH_LEVEL, l->watch.on_ready);
	if (!go && l->watch.fd >= 0)
		watch_stop(l->loop, &l->watch);
	return 0;
}

static void
wait_for_resources(struct listener *l, int error)
{
	uint64_t now = loop_now(l->loop);
	char text[ADDR_TEXT_MAX];

	if (l->logged_ms == 0 || now - l->logged_ms >= LOG_MS) {
		l->logged_ms = now;
		log_warn("accept failed, listener paused listener=%s "
			 "error=\"%s\"",
		    addr_format(&l->at, text), strerror(error));
	}
	l->starved = true;
	(void)apply(l); /* stopping always can */
	timer_start(l->loop, &l->retry, RETRY_MS);
}

static void
on_retry(struct timer *t)
{
	struct listener *l = container_of(t, struct listener, retry);

	l->starved = false;
	if (apply(l) < 0)
		wait_for_resources(l, errno);
}

/* How many connections to accept now. One a turn while clients come singly, so
 * that no accept() is wasted on an empty queue; twice as many each time the
 * queue was not empty after that, which is so when the very next poll reports
 * the listener again. */
static unsigned
next_burst(struct listener *l)
{
	unsigned turn = loop_turn(l->loop);

	if (turn - l->turn > 1)
		l->burst = 1;
	else if (l->burst < l->budget)
		l->burst *= 2;
	l->turn = turn;
	return l->burst < l->budget ? l->burst : l->budget;
}

void
listener_accept_waiting(struct listener *l)
{
	struct dgram_batch *b = l->waiting_batch;
	int fd = l->waiting;

	l->waiting = -1;
	l->waiting_batch = NULL;
	if (fd >= 0)
		l->on_accept(l, fd, &l->waiting_who);
	if (b != NULL)
		l->on_batch(l, b);
	free(b);
}

/* Passes a new client on. If the loop's number has changed, the change behind
 * it must take effect first: the client may have waited for it. If that pauses
 * or closes the listener, the client is treated like those in the backlog. */
static void
hand_over(struct listener *l, int fd, const struct peer *who)
{
	if (!loop_number_changed(l->loop)) {
		l->on_accept(l, fd, who);
		return;
	}
	l->waiting = fd;
	l->waiting_who = *who;
	(void)loop_check_number(l->loop);
	if (!l->paused)
		listener_accept_waiting(l);
}

static void
listener_on_ready(struct watch *w, unsigned ready)
{
	struct listener *l = container_of(w, struct listener, watch);
	unsigned i, burst = next_burst(l);

	(void)ready;
	if (l->datagram) {
		l->on_datagrams(l);
		return;
	}
	for (i = 0; i < burst && !l->paused && !l->starved && l->fd >= 0; i++) {
		struct peer who;
		int fd = sock_accept(l->fd, &who);

		if (fd >= 0) {
			hand_over(l, fd, &who);
			continue;
		}
		l->burst = 1;
		if (errno != EAGAIN && errno != EWOULDBLOCK)
			wait_for_resources(l, errno);
		return;
	}
}

void
listener_drain(struct listener *l)
{
	char text[ADDR_TEXT_MAX];
	struct peer who;
	unsigned i;
	int fd;

	listener_accept_waiting(l);
	if (l->datagram || l->replaced)
		return;
	/* The kernel queues one more than the backlog. */
	for (i = 0; i <= l->backlog; i++) {
		fd = sock_accept(l->fd, &who);
		if (fd < 0)
			break;
		l->on_accept(l, fd, &who);
	}
	if (i <= l->backlog && errno != EAGAIN && errno != EWOULDBLOCK)
		log_warn("accept failed, clients lost listener=%s error=\"%s\"",
		    addr_format(&l->at, text), strerror(errno));
}

int
listener_open(struct listener *l, struct loop *loop, const struct addr *at,
    const struct sock_listen_options *o, struct error *e)
{
	watch_init(&l->watch);
	l->watch.on_ready = listener_on_ready;
	timer_init(&l->retry, on_retry);
	l->loop = loop;
	l->at = *at;
	l->datagram = o->datagram;
	l->alone = false;
	l->replies = (struct dgram_replies){ .count = 0 };
	l->backlog = o->backlog < QUEUE_MAX ? (unsigned)o->backlog : QUEUE_MAX;
	l->burst = 1;
	l->turn = 0;
	l->paused = true;
	l->starved = false;
	l->logged_ms = 0;
	l->v6_only = o->v6_only;
	l->mode = o->unix_mode;
	l->goes = false;
	l->draining = false;
	l->replaced = false;
	l->passed = 0;
	l->waiting = -1;
	l->waiting_batch = NULL;
	l->group = NULL;
	l->group_count = 0;
	list_init(&l->row);
	l->file = (struct sock_file){ .inode = 0 };
	l->fd = sock_listen(at, o, &l->file, e);
	if (l->fd < 0)
		return -1;
	if (o->sockets != NULL)
		list_append(&o->sockets->rows, &l->row);
	return 0;
}

static bool
listener_overlaps(const struct listener *l, const struct addr *at)
{
	return sock_takes(&l->at, false, at) || sock_takes(at, false, &l->at);
}

/* An address is in use while a socket listens there; one that is shut down
 * stays bound, and can listen again. */
int
listener_replace(struct listener *l, struct loop *loop, const struct addr *at,
    const struct sock_listen_options *o, const struct listener *before,
    struct error *e)
{
	int rc = listener_open(l, loop, at, o, e);

	if (rc == 0 || before == NULL || !listener_overlaps(before, at))
		return rc;
	(void)shutdown(before->fd, SHUT_RD);
	return listener_open(l, loop, at, o, e);
}

void
listener_listen_again(struct listener *l)
{
	char text[ADDR_TEXT_MAX];

	if (listen(l->fd, (int)l->backlog) < 0)
		log_error("no longer listening: \"%s\": %s",
		    addr_format(&l->at, text), strerror(errno));
}

void
listener_close(struct listener *l)
{
	if (l->fd < 0)
		return;
	timer_fini(&l->retry);
	watch_stop(l->loop, &l->watch);
	sock_file_remove(&l->file, &l->at);
	if (l->waiting >= 0)
		close(l->waiting);
	free(l->waiting_batch);
	l->waiting_batch = NULL;
	dgram_replies_close(&l->replies);
	list_remove(&l->row);
	close(l->fd);
	l->waiting = l->fd = -1;
}

bool
listener_take(struct listener *l, struct dgram_batch *b)
{
	if (!loop_number_changed(l->loop)) {
		l->on_batch(l, b);
		return true;
	}
	free(l->waiting_batch);
	l->waiting_batch = dgram_batch_copy(b); /* lost without memory */
	(void)loop_check_number(l->loop);
	if (!l->paused)
		listener_accept_waiting(l);
	return l->fd >= 0 && !l->paused;
}

int
listener_reply_fd(struct listener *l, const struct dgram_local **from)
{
	static const struct dgram_local bound = { .family = 0 };
	int fd = SHORTCUT_REPLY_SOCKETS
	    ? dgram_reply_from(&l->replies, *from)
	    : -1;

	if (fd < 0)
		return l->fd;
	*from = &bound;
	return fd;
}

void
listener_set_mode(struct listener *l)
{
	char text[ADDR_TEXT_MAX];

	if (sock_file_set_mode(&l->file, &l->at) < 0)
		log_warn("mode of the socket file not changed listener=%s "
			 "error=\"%s\"",
		    addr_format(&l->at, text), strerror(errno));
}

void
listener_own(struct listener *l)
{
	listener_set_mode(l);
	l->file.shared = false;
}

void
listener_pause(struct listener *l)
{
	l->paused = true;
	(void)apply(l);
}

int
listener_resume(struct listener *l)
{
	int error;

	l->paused = false;
	listener_accept_waiting(l);
	if (apply(l) == 0)
		return 0;
	error = errno;
	wait_for_resources(l, error);
	errno = error;
	return -1;
}
