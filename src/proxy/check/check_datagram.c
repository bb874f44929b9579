/* check_datagram.c: sends and receives for kinds of checks. */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/dgram.h"
#include "proxy/check/check_datagram.h"
#include "proxy/core/frontend_core.h"
#include "proxy/wire/proxy_header.h"

/* Datagrams read in one go, and the bytes of one that count. */
enum { READ_AT_ONCE = 16, READ_MAX = 4096 };

/* pen itself is the client, which has no address. */
static size_t
check_datagram_make_header(
    const struct check *c, char header[PROXY_HEADER_DATAGRAM])
{
	static const struct peer pen = { .family = AF_UNIX }, local;
	const struct udp_options *o = &c->frontend->options.udp;

	return o->on && o->proxy != UDP_PROXY_OFF &&
		check_is_where_clients_go(c)
	    ? proxy_header_datagram(header, &pen, &local)
	    : 0;
}

/* Ends a check after an error. Some errors are not the server's fault, as with
 * datagrams of clients; but a server that a filter of this host keeps from pen
 * (EPERM) is out of reach. */
static void
check_datagram_fail(struct check *c, int error)
{
	bool bad = dgram_error_blames(error) || error == EPERM;

	check_end(c, bad ? CHECK_BAD : CHECK_NONE, "%s", strerror(error));
}

/* Returns false when the check has ended. */
static bool
check_datagram_send(struct check_datagram *d)
{
	char header[PROXY_HEADER_DATAGRAM];
	size_t head = check_datagram_make_header(d->check, header);

	if (dgram_send(d->watch.fd, header, head, d->question.bytes,
		d->question.n) == 0 ||
	    errno == EAGAIN)
		return true;
	check_datagram_fail(d->check, errno);
	return false;
}

static void
on_half_time(struct timer *t)
{
	(void)check_datagram_send(
	    container_of(t, struct check_datagram, again));
}

static void
check_datagram_on_ready(struct watch *w, unsigned ready)
{
	struct check_datagram *d =
	    container_of(w, struct check_datagram, watch);
	char bytes[READ_MAX];
	ssize_t n;
	int i;

	(void)ready;
	for (i = 0; i < READ_AT_ONCE && !d->check->ended; i++) {
		n = recv(w->fd, bytes, sizeof(bytes), 0);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0)
			check_datagram_fail(d->check, errno);
		else
			d->question.on_answer(d->check, bytes, (size_t)n);
	}
}

void
check_datagram_start(struct check *c, const struct check_question *q)
{
	struct check_datagram *d = c->state;
	struct frontend_core *f = c->frontend;
	struct addr from;
	int fd = dgram_connect(&c->at,
	    sources_next(&f->options.source, c->at.u.sa.sa_family,
		&f->source_turn, &from));

	d->check = c;
	d->question = *q;
	watch_init(&d->watch);
	timer_init(&d->again, on_half_time);
	if (fd < 0) {
		check_datagram_fail(c, errno);
		return;
	}
	if (watch_start(c->loop, &d->watch, fd, READY_READ | WATCH_LEVEL,
		check_datagram_on_ready) < 0) {
		int error = errno;

		close(fd);
		check_datagram_fail(c, error);
	} else if (check_datagram_send(d) &&
	    timer_start(c->loop, &d->again, c->timeout_ms / 2) < 0) {
		check_datagram_fail(c, errno);
	}
}

void
check_datagram_stop(struct check *c)
{
	struct check_datagram *d = c->state;
	int fd = d->watch.fd;

	timer_fini(&d->again);
	if (fd < 0)
		return;
	watch_stop(c->loop, &d->watch);
	close(fd);
}
