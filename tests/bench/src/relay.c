/* relay.c: a bare relay, which has no feature but to pass on what comes: about what a
 * balancer in user space cannot do without.
 *
 *     relay [-u] LISTEN SERVER ...
 *
 * Servers in turn; a FIN is passed on as a FIN. Reads into one buffer, and moves
 * long streams in the kernel. -u: datagrams, a socket for each client. */
#include "common.h"

#include <fcntl.h>

enum { PIPE_SIZE = 1 << 20, FULL = 65536, SERVERS = 16 };

struct session;

/* One direction: from its socket to that of the other one. */
struct side {
	int fd, pipe[2];
	struct session *session;
	char *kept; /* what the other socket did not take */
	size_t kept_at, kept_end, piped;
	int full; /* reads in a row that filled the buffer */
	bool ended, finished;
};

struct session {
	struct side side[2];
	struct session *next; /* of those that have ended */
	bool over;
};

static struct sockaddr_in servers[SERVERS];
static int ep, turn, count, listener;
static struct session *done;

static struct side *
other(struct side *a)
{
	return &a->session->side[a == a->session->side];
}

static void
end(struct session *s)
{
	if (s->over)
		return;
	s->over = true;
	for (int i = 0; i < 2; i++) {
		close(s->side[i].fd);
		free(s->side[i].kept);
		if (s->side[i].pipe[1] > 0) {
			close(s->side[i].pipe[0]);
			close(s->side[i].pipe[1]);
		}
	}
	s->next = done;
	done = s;
}

/* Returns whether all that had come from a is gone. */
static bool
flush(struct side *a)
{
	struct side *b = other(a);

	while (a->kept != NULL || a->piped > 0) {
		ssize_t w = a->kept != NULL
		    ? send(b->fd, a->kept + a->kept_at,
			  a->kept_end - a->kept_at, MSG_NOSIGNAL)
		    : splice(a->pipe[0], NULL, b->fd, NULL, a->piped,
			  SPLICE_F_NONBLOCK | SPLICE_F_MOVE);

		if (w <= 0) {
			if (errno != EAGAIN && errno != ENOTCONN)
				end(a->session);
			return false;
		}
		if (a->kept == NULL)
			a->piped -= (size_t)w;
		else if ((a->kept_at += (size_t)w) == a->kept_end) {
			free(a->kept);
			a->kept = NULL;
		}
	}
	return true;
}

static ssize_t
pass_on(struct side *a)
{
	ssize_t r, w;

	if (a->full >= 2) {
		if (a->pipe[1] == 0) {
			if (pipe2(a->pipe, O_NONBLOCK) < 0)
				return -1;
			fcntl(a->pipe[1], F_SETPIPE_SZ, PIPE_SIZE);
		}
		r = splice(a->fd, NULL, a->pipe[1], NULL, PIPE_SIZE,
		    SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
		if (r > 0)
			a->piped = (size_t)r;
		return r;
	}
	r = recv(a->fd, input, FULL, 0);
	if (r <= 0)
		return r;
	a->full = r == FULL ? a->full + 1 : 0;
	w = send(other(a)->fd, input, (size_t)r, MSG_NOSIGNAL);
	if (w < 0 && errno != EAGAIN && errno != ENOTCONN)
		return -1;
	if (w < r) {
		w = w < 0 ? 0 : w;
		a->kept_end = (size_t)(r - w);
		a->kept_at = 0;
		a->kept = malloc(a->kept_end);
		memcpy(a->kept, input + w, a->kept_end);
	}
	return r;
}

static void
pump(struct side *a, bool may_have_ended)
{
	while (!a->session->over && flush(a) && !a->ended) {
		ssize_t r = pass_on(a);

		if (r < 0 && errno != EAGAIN)
			end(a->session);
		if (r < 0)
			return;
		if (r == 0)
			a->ended = true;
		else if (r < FULL && a->full == 0 && a->kept == NULL &&
		    !may_have_ended)
			return;
	}
	if (a->session->over || !a->ended || a->finished || !flush(a))
		return;
	a->finished = true;
	if (other(a)->finished)
		end(a->session);
	else
		shutdown(other(a)->fd, SHUT_WR);
}

static void
accept_all(void)
{
	const uint32_t events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
		struct session *s = calloc(1, sizeof(*s));
		struct sockaddr_in *to = &servers[turn++ % count];
		int up = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

		set(up, IPPROTO_TCP, TCP_NODELAY, 1);
		if (connect(up, (struct sockaddr *)to, sizeof(*to)) < 0 &&
		    errno != EINPROGRESS)
			give_up("connect");
		s->side[0].fd = fd;
		s->side[1].fd = up;
		s->side[0].session = s->side[1].session = s;
		watch(ep, fd, events, &s->side[0]);
		watch(ep, up, events, &s->side[1]);
	}
}

static void
relay_streams(const char *where)
{
	struct epoll_event e[256];

	listener = bound(SOCK_STREAM, where);
	watch(ep, listener, EPOLLIN, NULL);
	for (;;) {
		int n = epoll_wait(ep, e, 256, -1);

		for (int i = 0; i < n; i++) {
			struct side *a = e[i].data.ptr;
			uint32_t got = e[i].events;

			if (a == NULL) {
				accept_all();
				continue;
			}
			/* after an error, too: the last bytes came before it */
			if (got & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
				pump(a, got & (EPOLLRDHUP | EPOLLHUP | EPOLLERR));
			if (got & EPOLLOUT && !a->session->over &&
			    (other(a)->kept != NULL || other(a)->piped > 0))
				pump(other(a), true);
		}
		while (done != NULL) {
			struct session *s = done;

			done = s->next;
			free(s);
		}
	}
}

struct flow {
	int fd;
	struct sockaddr_in client;
	struct flow *next;
};

enum { FLOWS = 65536 };

static struct flow *flows[FLOWS];

static struct flow *
flow_of(const struct sockaddr_in *client)
{
	uint32_t key = client->sin_addr.s_addr * 2654435761u ^ client->sin_port;
	struct flow **at = &flows[key % FLOWS], *f;
	struct sockaddr_in *to = &servers[turn % count];

	for (f = *at; f != NULL; f = f->next)
		if (f->client.sin_port == client->sin_port &&
		    f->client.sin_addr.s_addr == client->sin_addr.s_addr)
			return f;
	f = calloc(1, sizeof(*f));
	f->fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	if (connect(f->fd, (struct sockaddr *)to, sizeof(*to)) < 0) {
		free(f);
		return NULL;
	}
	turn++;
	f->client = *client;
	f->next = *at;
	*at = f;
	watch(ep, f->fd, EPOLLIN, f);
	return f;
}

static void
relay_datagrams(const char *where)
{
	struct epoll_event e[256];
	struct sockaddr_in from;

	listener = bound(SOCK_DGRAM, where);
	watch(ep, listener, EPOLLIN, NULL);
	for (;;) {
		int n = epoll_wait(ep, e, 256, -1);

		for (int i = 0; i < n; i++) {
			struct flow *f = e[i].data.ptr;
			socklen_t size = sizeof(from);
			ssize_t r;

			if (f != NULL && (r = recv(f->fd, input, 2048, 0)) >= 0)
				sendto(listener, input, (size_t)r, 0,
				    (struct sockaddr *)&f->client,
				    sizeof(f->client));
			for (int k = 0; f == NULL && k < 64; k++) {
				struct flow *to;

				r = recvfrom(listener, input, 2048, 0,
				    (struct sockaddr *)&from, &size);
				if (r < 0)
					break;
				to = flow_of(&from);
				if (to != NULL)
					send(to->fd, input, (size_t)r, 0);
			}
		}
	}
}

int
main(int argc, char **argv)
{
	bool datagrams = argc > 1 && strcmp(argv[1], "-u") == 0;

	argv += datagrams;
	argc -= datagrams;
	if (argc < 3 || argc - 2 > SERVERS)
		return 2;
	common_init();
	ep = epoll_create1(0);
	for (count = 0; count < argc - 2; count++)
		servers[count] = address(argv[2 + count]);
	if (datagrams)
		relay_datagrams(argv[1]);
	else
		relay_streams(argv[1]);
}
