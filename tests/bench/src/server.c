/* server.c: answers the requests of load.c, by TCP and UDP.
 *
 *     server ADDRESS:PORT ...
 *
 * A PROXY header and a TLS ClientHello before a request are dropped.
 * A datagram comes back with the bit set that makes a DNS query an answer. To a
 * request whose bytes are not as sent, the answer is a wrong one, too. */
#include "common.h"

struct conn {
	int fd;
	struct ask ask;
	uint64_t got, left, position; /* of the request; of the answer */
	uint16_t place;
	bool ended, http, header_due;
	char head[4096]; /* what goes before a request, or is one of HTTP, so far */
	size_t head_n;
};

enum kind { STREAMS, DATAGRAMS };

/* What epoll hands back is a conn, or one of these, whose fd comes first, too. */
struct listener {
	int fd;
	enum kind kind;
};

static struct listener listeners[16];
static int ep, count;

/* Sends the header of an HTTP answer. Returns -1 if the connection is closed, 1
 * if it has to wait. */
static int
answer_header(struct conn *c)
{
	char text[160];
	int n = snprintf(text, sizeof(text),
	    "HTTP/1.1 200 OK\r\nServer: server\r\n"
	    "Content-Type: application/octet-stream\r\nContent-Length: %llu\r\n\r\n",
	    (unsigned long long)c->left);
	ssize_t w = send(c->fd, text, (size_t)n, MSG_NOSIGNAL | MSG_MORE);

	if (w < 0 && errno == EAGAIN)
		return 1;
	c->header_due = false;
	return w == n ? 0 : -1;
}

/* Returns -1 if the connection is gone. */
static int
answer(struct conn *c)
{
	int waits = c->header_due ? answer_header(c) : 0;

	if (waits != 0)
		return waits < 0 ? -1 : 0;
	while (c->left > 0) {
		size_t n = c->left < BLOCK ? c->left : BLOCK;
		ssize_t w = send(c->fd, pattern_at(c->place, c->position), n,
		    MSG_NOSIGNAL);

		if (w < 0 && errno == EAGAIN)
			return 0;
		if (w < 0)
			return -1;
		c->left -= (uint64_t)w;
		c->position += (uint64_t)w;
	}
	if (c->ended)
		return -1;
	if (c->ask.flags & ASK_CLOSE && c->got == c->ask.length)
		return -1;
	return 0;
}

static void
begin_answer(struct conn *c, bool right)
{
	c->left = c->ask.answer;
	c->position = 0;
	c->place = right ? c->ask.place : (uint16_t)(c->ask.place + 1);
	c->header_due = c->http;
}

/* Whether the bytes that were gathered are complete: the record of a
 * ClientHello, a PROXY header of version 2 or 1, or an HTTP request. */
static bool
is_whole(const struct conn *c)
{
	const unsigned char *h = (const unsigned char *)c->head;
	size_t n = c->head_n;

	switch (h[0]) {
	case 0x16:
		return n >= 5 && n == 5 + ((size_t)h[3] << 8 | h[4]);
	case '\r':
		return n >= 16 && n == 16 + ((size_t)h[14] << 8 | h[15]);
	case 'P':
		return h[n - 1] == '\n';
	default:
		return n >= 4 && memcmp(h + n - 4, "\r\n\r\n", 4) == 0;
	}
}

static bool
begins_before(char first)
{
	return first == 0x16 || first == '\r' || first == 'P' || first == 'G';
}

/* The value of a digit; of another byte a wrong one, which the answer shows. */
static unsigned
nibble(char digit)
{
	return (unsigned)(digit <= '9' ? digit - '0' : digit - 'a' + 10) & 15;
}

static void
take_get(struct conn *c)
{
	unsigned char *bytes = (unsigned char *)&c->ask;
	const char *digits = c->head + sizeof(GET_START) - 1;

	for (size_t i = 0; i < sizeof(c->ask); i++)
		bytes[i] = (unsigned char)(nibble(digits[2 * i]) << 4 |
		    nibble(digits[2 * i + 1]));
	if (c->ask.magic != ASK_MAGIC)
		c->ask = (struct ask){ 0, 16, 1, 0, ASK_CLOSE };
	c->http = true;
	c->got = c->ask.length;
	begin_answer(c, c->ask.magic == ASK_MAGIC);
}

/* How many bytes to take before is_whole(): those of an HTTP request, which
 * mostly comes as a whole, or one. */
static size_t
portion(const struct conn *c, const char *p, size_t n)
{
	const char *end = c->head_n == 0 && *p == 'G'
	    ? memmem(p, n, "\r\n\r\n", 4) : NULL;

	return end != NULL ? (size_t)(end - p) + 4 : 1;
}

/* Takes bytes that precede a request. Returns how many, or 0 if there is no
 * room for them. */
static size_t
take_before(struct conn *c, const char *p, size_t n)
{
	n = portion(c, p, n);
	if (n > sizeof(c->head) - c->head_n)
		return 0;
	memcpy(c->head + c->head_n, p, n);
	c->head_n += n;
	if (is_whole(c)) {
		if (c->head[0] == 'G')
			take_get(c);
		c->head_n = 0;
	}
	return n;
}

/* Takes what was received; n may hold the end of one request and the next one. */
static void
take(struct conn *c, const char *p, size_t n)
{
	while (n > 0) {
		size_t want;

		if (c->got == c->ask.length && c->got >= sizeof(c->ask))
			c->got = 0;
		if (c->got == 0 && (c->head_n > 0 || begins_before(*p))) {
			size_t taken = take_before(c, p, n);

			if (taken == 0) {
				c->ended = true;
				return;
			}
			p += taken;
			n -= taken;
			continue;
		}
		want = c->got < sizeof(c->ask) ? sizeof(c->ask) - c->got
					       : c->ask.length - c->got;
		if (want > n)
			want = n;
		if (c->got < sizeof(c->ask)) {
			memcpy((char *)&c->ask + c->got, p, want);
			c->got += want;
			if (c->got == sizeof(c->ask) &&
			    (c->ask.magic != ASK_MAGIC ||
				c->ask.length < sizeof(c->ask))) {
				c->ask = (struct ask){ 0, 16, 1, 0, ASK_CLOSE };
				begin_answer(c, false);
				return;
			}
			if (c->got == sizeof(c->ask) &&
			    c->ask.flags & ASK_AT_ONCE)
				begin_answer(c, true);
		} else {
			if (memcmp(p, pattern_at(c->ask.place, c->got), want))
				c->ask.magic = 0;
			c->got += want;
		}
		if (c->got == c->ask.length && !(c->ask.flags & ASK_AT_ONCE))
			begin_answer(c, c->ask.magic == ASK_MAGIC);
		else if (c->ask.magic != ASK_MAGIC)
			c->place = (uint16_t)(c->ask.place + 1);
		p += want;
		n -= want;
	}
}

static int
serve(struct conn *c)
{
	for (unsigned reads = 0; !c->ended; reads++) {
		bool skip = c->got >= sizeof(c->ask) && reads % 16 != 15 &&
		    c->ask.length - c->got > BLOCK;
		ssize_t r = recv(c->fd, input, BLOCK, skip ? MSG_TRUNC : 0);

		if (r < 0)
			return errno == EAGAIN ? answer(c) : -1;
		if (r == 0)
			c->ended = true;
		else if (skip)
			c->got += (uint64_t)r;
		else
			take(c, input, (size_t)r);
		if ((r == 0 || c->ask.flags & ASK_AT_ONCE ||
			c->got == c->ask.length) && answer(c) < 0)
			return -1;
	}
	return answer(c);
}

static void
greet(int listener)
{
	for (int i = 0; i < 64; i++) {
		int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
		struct conn *c;

		if (fd < 0)
			return;
		c = calloc(1, sizeof(*c));
		c->fd = fd;
		if (serve(c) < 0) {
			close(fd);
			free(c);
		} else
			watch(ep, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, c);
	}
}

static void
echo(int fd)
{
	enum { BATCH = 64, SIZE = 2048 };
	static char text[BATCH][SIZE];
	static struct sockaddr_in from[BATCH];
	struct iovec iov[BATCH];
	struct mmsghdr m[BATCH];
	int i, n, w;

	memset(m, 0, sizeof(m));
	for (i = 0; i < BATCH; i++) {
		iov[i] = (struct iovec){ text[i], SIZE };
		m[i].msg_hdr = (struct msghdr){ .msg_name = &from[i],
			.msg_namelen = sizeof(from[i]), .msg_iov = &iov[i],
			.msg_iovlen = 1 };
	}
	n = recvmmsg(fd, m, BATCH, MSG_DONTWAIT, NULL);
	for (i = 0; i < n; i++) {
		iov[i].iov_len = m[i].msg_len;
		text[i][2] |= (char)0x80;
	}
	for (i = 0; i < n; i += w > 0 ? w : 1)
		w = sendmmsg(fd, m + i, (unsigned)(n - i), 0);
}

int
main(int argc, char **argv)
{
	struct epoll_event e[256];

	common_init();
	ep = epoll_create1(0);
	for (int i = 1; i < argc && count < 15; i++)
		for (enum kind k = STREAMS; k <= DATAGRAMS; k++) {
			struct listener *l = &listeners[count++];

			l->kind = k;
			l->fd = bound(k == STREAMS ? SOCK_STREAM : SOCK_DGRAM,
			    argv[i]);
			watch(ep, l->fd, EPOLLIN, l);
		}
	for (;;) {
		int n = epoll_wait(ep, e, 256, -1);

		for (int i = 0; i < n; i++) {
			struct listener *l = e[i].data.ptr;
			struct conn *c = e[i].data.ptr;

			if (l < listeners || l >= listeners + count) {
				if (serve(c) < 0) {
					close(c->fd);
					free(c);
				}
			} else if (l->kind == STREAMS)
				greet(l->fd);
			else
				echo(l->fd);
		}
	}
}
