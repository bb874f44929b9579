/* load.c: clients that count, time and check what they are answered.
 *
 *     load [OPTIONS] ADDRESS:PORT
 *
 *     -c N     so many connections, or sockets, at once (1)
 *     -d S     seconds that count (1), after -w S that do not (0.1)
 *     -q N     bytes of a request (100); 0: a connection is opened and closed
 *     -s N     bytes of its answer (100)
 *     -k       connections are kept for further requests
 *     -e       the server closes; else the client does, first
 *     -H       the client half-closes after its request
 *     -b       the answer comes while the request is still being sent
 *     -R N     so many requests a second, whatever is answered; a request that
 *              has to wait for a free connection is as late as it is
 *     -T       TLS 1.3; -r: connections resume a session
 *     -h       HTTP/1.1: a GET whose path has the request, without -q; the
 *              answer is a body
 *     -N NAME  with -e: a TLS ClientHello for NAME precedes each request; the
 *              server drops it
 *     -S N     clients have N addresses, in turn
 *     -n N     stops after N requests, or datagrams
 *     -i       a request on each connection, then HOLD, and again after a line
 *     -x       a request on each connection, whose answer is not read; HOLD
 *     -z N     slow clients: each takes, or sends, N bytes in 50 ms, some half of
 *              that and some half as much again; with -i HOLD after -w, and on
 *              until a line comes
 *     -u       datagrams; -p: each from a new port
 *
 * Prints START when counting begins, at the end one line of JSON. `busy_ns` is how
 * long a fixed piece of work takes at the time, on the first processor. */
#include "common.h"

#include <openssl/ssl.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>

enum { TIMEOUT_NS = 1000000000, FINE = 6, KINDS = 64 << FINE, BATCH = 256 };

struct conn {
	int fd; /* -1: none */
	bool busy, shaken;
	unsigned headed, ends; /* bytes of an answer's header, of its end */
	SSL *tls;
	uint64_t since, sent, got, reads, moved;
	struct ask ask;
};

/* What can go wrong with an answer. */
static struct {
	const char *name;
	uint64_t times;
} faults[] = { { "wrong", 0 }, { "short", 0 }, { "long", 0 }, { "refused", 0 },
	{ "reset", 0 }, { "late", 0 } };

enum fault { WRONG, SHORT, LONG, REFUSED, RESET, LATE, FAULTS };

static int connections = 1, sources, ep;
static double seconds = 1, warm_up = 0.1, rate;
/* `request` includes what goes before struct ask: `greeting_size` bytes */
static uint32_t request = 100, reply = 100, number, slow, greeting_size;
static char greeting[2048];
static bool keep, server_closes, half_close, at_once, tls, resume, hold, stall,
    datagrams, new_ports, measuring, http;
static struct sockaddr_in target;
static SSL_CTX *context;
static SSL_SESSION *session;
static struct conn *conns, **idle;
static unsigned idle_first, idle_count;
static uint64_t asked, answered, bytes, resumed, histogram[KINDS], lost;
static uint64_t started_ns, counted_from, ends_ns, next_place;

static uint64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void
count_time(uint64_t since, uint64_t now)
{
	uint64_t ns = now > since ? now - since : 1;
	unsigned octave = 63 - (unsigned)__builtin_clzll(ns | 1 << FINE);

	histogram[((octave - FINE + 1) << FINE) +
	    ((ns >> (octave - FINE)) & ((1 << FINE) - 1))]++;
}

static double
quantile_us(double part)
{
	uint64_t all = 0, seen = 0;
	unsigned i;

	for (i = 0; i < KINDS; i++)
		all += histogram[i];
	for (i = 0; i < KINDS; i++) {
		seen += histogram[i];
		if (all > 0 && (double)seen >= part * (double)all)
			return i >> FINE == 0 ? 0
			    : (double)((uint64_t)((1 << FINE) + (i & ((1 << FINE) - 1)))
				  << ((i >> FINE) - 1)) / 1000;
	}
	return 0;
}

/* A fixed piece of work: the median of some, on the first processor. */
static double
busy_ns(void)
{
	static uint64_t table[8192];
	cpu_set_t first, mine;
	uint64_t times[15];

	sched_getaffinity(0, sizeof(mine), &mine);
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
	for (int i = 0; i < 15; i++) {
		uint64_t began = now_ns(), h = began;
		int k;

		for (k = 0; k < 8192; k++) {
			h = (h ^ table[k]) * 0x9e3779b97f4a7c15u;
			table[h >> 51] += h;
		}
		for (k = 0; k < 100; k++)
			syscall(SYS_getppid);
		times[i] = now_ns() - began;
		for (k = i; k > 0 && times[k - 1] > times[k]; k--) {
			uint64_t t = times[k];

			times[k] = times[k - 1];
			times[k - 1] = t;
		}
	}
	sched_setaffinity(0, sizeof(mine), &mine);
	return (double)times[7];
}

static int
new_socket(int type)
{
	static uint32_t next;
	int fd = socket(AF_INET, type | SOCK_NONBLOCK, 0);

	if (fd < 0)
		give_up("socket");
	if (sources > 0) {
		struct sockaddr_in a = { .sin_family = AF_INET };

		a.sin_addr.s_addr = htonl(0x7f100000u + next++ % (unsigned)sources);
		set(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
		if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
			give_up("bind");
	}
	if (connect(fd, (struct sockaddr *)&target, sizeof(target)) < 0 &&
	    errno != EINPROGRESS) {
		close(fd);
		return -1;
	}
	return fd;
}

static int
on_session(SSL *s, SSL_SESSION *made)
{
	(void)s;
	if (session != NULL)
		SSL_SESSION_free(session);
	session = made;
	return 1;
}

static void
hang_up(struct conn *c)
{
	if (c->tls != NULL) {
		/* else its session could not be resumed */
		SSL_set_quiet_shutdown(c->tls, 1);
		SSL_shutdown(c->tls);
		SSL_free(c->tls);
		c->tls = NULL;
	}
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

static void
free_conn(struct conn *c)
{
	c->busy = false;
	idle[(idle_first + idle_count++) % (unsigned)connections] = c;
}

static void
failed(struct conn *c, enum fault why)
{
	faults[why].times++;
	hang_up(c);
	free_conn(c);
}

static void
succeeded(struct conn *c)
{
	uint64_t now = now_ns();

	answered++;
	if (measuring)
		count_time(c->since, now);
	if (!keep || server_closes)
		hang_up(c);
	free_conn(c);
}

/* Whether a read drops its bytes unseen: those of long streams, mostly. */
static bool
skips(const struct conn *c)
{
	return c->tls == NULL && slow == 0 && !http && c->reads % 16 != 15 &&
	    reply - c->got > BLOCK;
}

/* Like recv() and send(), by TLS if need be; EAGAIN if they would block. */
static ssize_t
move_bytes(struct conn *c, bool in, void *p, size_t n)
{
	bool skip = in && skips(c);
	ssize_t r;

	if (slow > 0) { /* else all of them fill and empty their buffers at once */
		size_t turn = slow / 2 + slow * (size_t)(c - conns) /
			(unsigned)connections;

		n = n < turn ? n : turn;
	}
	if (c->tls == NULL)
		return in ? recv(c->fd, p, n, skip ? MSG_TRUNC : 0)
			  : send(c->fd, p, n, MSG_NOSIGNAL);
	r = in ? SSL_read(c->tls, p, (int)n) : SSL_write(c->tls, p, (int)n);
	if (r > 0)
		return r;
	switch (SSL_get_error(c->tls, (int)r)) {
	case SSL_ERROR_ZERO_RETURN:
		return 0;
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		errno = EAGAIN;
		return -1;
	default:
		errno = EPROTO;
		return -1;
	}
}

/* Returns whether the handshake is over. */
static bool
shake(struct conn *c)
{
	int r;

	if (!tls || c->shaken)
		return true;
	if (c->tls == NULL) {
		c->tls = SSL_new(context);
		SSL_set_fd(c->tls, c->fd);
		SSL_set_connect_state(c->tls);
		if (resume && session != NULL)
			SSL_set_session(c->tls, session);
	}
	r = SSL_do_handshake(c->tls);
	if (r == 1) {
		c->shaken = true;
		resumed += (uint64_t)SSL_session_reused(c->tls);
		return true;
	}
	r = SSL_get_error(c->tls, r);
	if (r != SSL_ERROR_WANT_READ && r != SSL_ERROR_WANT_WRITE)
		failed(c, REFUSED);
	return false;
}

/* A GET that begins with struct ask, in hexadecimal digits: GET_SIZE bytes. */
static void
make_get(const struct ask *ask, char *to)
{
	const unsigned char *bytes = (const unsigned char *)ask;
	char *digit = to + sizeof(GET_START) - 1;

	for (size_t i = 0; i < sizeof(*ask); i++) {
		*digit++ = "0123456789abcdef"[bytes[i] >> 4];
		*digit++ = "0123456789abcdef"[bytes[i] & 15];
	}
	memcpy(to, GET_START, sizeof(GET_START) - 1);
	memcpy(to + sizeof(GET_START) - 1 + 2 * sizeof(*ask), GET_END,
	    sizeof(GET_END) - 1);
}

/* Writes the first bytes of a request, at most `size`. Returns their number. */
static size_t
make_first(const struct conn *c, char *first, size_t size)
{
	size_t n = request < size ? request : size;

	if (http) {
		make_get(&c->ask, first);
		return n;
	}
	memcpy(first, greeting, greeting_size);
	memcpy(first + greeting_size, pattern_at(c->ask.place, 0),
	    n - greeting_size);
	memcpy(first + greeting_size, &c->ask, sizeof(c->ask));
	return n;
}

/* Returns -1 if the connection failed. */
static int
send_request(struct conn *c)
{
	while (c->sent < request) {
		const char *from =
		    pattern_at(c->ask.place, c->sent - greeting_size);
		size_t n = request - c->sent;
		char first[4096];
		ssize_t w;

		if (http || c->sent < greeting_size + sizeof(c->ask)) {
			n = make_first(c, first, sizeof(first)) - c->sent;
			from = first + c->sent;
		} else if (n > BLOCK)
			n = BLOCK;
		w = move_bytes(c, false, (char *)from, n);
		if (w < 0 && (errno == EAGAIN || errno == ENOTCONN))
			return 0;
		if (w < 0) {
			failed(c, c->sent == 0 ? REFUSED : RESET);
			return -1;
		}
		c->sent += (uint64_t)w;
		if (keep && (uint64_t)request + reply > BLOCK)
			bytes += (uint64_t)w;
		if (c->sent == request && half_close)
			shutdown(c->fd, SHUT_WR);
		if (slow > 0)
			break;
	}
	return 0;
}

/* How many of these bytes are of the answer's header, which ends with an empty
 * line; -1: they are not of the header of a good answer. */
static ssize_t
header_part(struct conn *c, const char *p, size_t n)
{
	static const char good[] = "HTTP/1.1 200", end[] = "\r\n\r\n";
	size_t i;

	for (i = 0; i < n && c->ends < sizeof(end) - 1; i++, c->headed++) {
		if (c->headed < sizeof(good) - 1 && p[i] != good[c->headed])
			return -1;
		c->ends = p[i] == end[c->ends] ? c->ends + 1 : p[i] == end[0];
	}
	return (ssize_t)i;
}

static void
step(struct conn *c)
{
	if (!shake(c) || send_request(c) < 0)
		return;
	if (stall) {
		if (c->sent == request)
			succeeded(c);
		return;
	}
	for (;; c->reads++) {
		ssize_t r = move_bytes(c, true, input, BLOCK);
		bool real = !skips(c), ended = r == 0;
		ssize_t head = http && r > 0 ? header_part(c, input, (size_t)r) : 0;

		if (r < 0) {
			if (errno != EAGAIN && errno != ENOTCONN)
				failed(c, c->sent < request ? REFUSED : RESET);
			return;
		}
		r -= head;
		if (ended && c->got == reply && server_closes)
			succeeded(c);
		else if (ended)
			failed(c, SHORT);
		else if (head < 0)
			failed(c, WRONG);
		else if (c->got + (uint64_t)r > reply)
			failed(c, LONG);
		else if (real &&
		    memcmp(input + head, pattern_at(c->ask.place, c->got),
			(size_t)r))
			failed(c, WRONG);
		else {
			c->got += (uint64_t)r;
			bytes += (uint64_t)r;
			if (c->got < reply || c->sent < request || server_closes) {
				if (slow > 0)
					return;
				continue;
			}
			succeeded(c);
		}
		return;
	}
}

static void
on_event(struct conn *c, uint32_t events)
{
	int e = 0;
	socklen_t n = sizeof(e);

	if (!c->busy && c->fd >= 0 && events & (EPOLLRDHUP | EPOLLHUP))
		hang_up(c); /* a kept one, between requests */
	if (!c->busy || c->fd < 0)
		return;
	if (request > 0) {
		step(c);
		return;
	}
	if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &e, &n) < 0 || e != 0)
		failed(c, REFUSED);
	else if (events & EPOLLOUT)
		succeeded(c);
}

static void
begin(uint64_t since)
{
	struct conn *c = idle[idle_first++ % (unsigned)connections];
	const uint16_t flags = (server_closes ? ASK_CLOSE : 0) |
	    (at_once ? ASK_AT_ONCE : 0);

	idle_count--;
	asked++;
	c->busy = true;
	c->since = since;
	c->sent = c->got = c->reads = 0;
	c->headed = c->ends = 0;
	c->ask = (struct ask){ ASK_MAGIC, request - greeting_size, reply,
		(uint16_t)(next_place++ * 7919 % PERIOD), flags };
	if (c->fd < 0) {
		c->fd = new_socket(SOCK_STREAM);
		c->shaken = false;
		if (c->fd < 0) {
			failed(c, REFUSED);
			return;
		}
		set(c->fd, IPPROTO_TCP, TCP_NODELAY, 1);
		watch(ep, c->fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, c);
	}
	if (request > 0)
		step(c);
}

static uint64_t
due_ns(uint64_t n)
{
	return started_ns + (uint64_t)((double)n * 1e9 / rate);
}

/* Waits for events, with -R until the next request is due; returns their number. */
static int
wait_for(struct epoll_event e[BATCH], bool waiting)
{
	uint64_t now = now_ns(), until = now + 10000000;
	struct timespec t = { 0, 0 };

	if (rate > 0 && waiting && due_ns(asked) < until)
		until = due_ns(asked);
	if (until > now)
		t.tv_nsec = (long)(until - now);
	return epoll_pwait2(ep, e, BATCH, &t, NULL);
}

static void
start_counting(void)
{
	if (measuring || now_ns() < counted_from)
		return;
	measuring = true;
	counted_from = now_ns();
	ends_ns = counted_from + (uint64_t)(seconds * 1e9);
	asked = rate > 0 ? asked : 0;
	answered = bytes = lost = 0;
	printf(hold ? "HOLD %d\n" : "START\n", connections);
	fflush(stdout);
}

static void
drop_late(void)
{
	static uint64_t last;
	uint64_t now = now_ns();
	/* one that is due to be idle is not late; bulk has its own time */
	uint64_t limit = (uint64_t)request + reply > BLOCK ? 20 : 4;

	if (now - last < 100000000)
		return;
	last = now;
	for (int i = 0; i < connections; i++)
		if (conns[i].busy && now > conns[i].since &&
		    now - conns[i].since > limit * TIMEOUT_NS)
			failed(&conns[i], LATE);
}

/* With a limit, until so many are answered or have failed. */
static void
run_streams(uint64_t limit)
{
	struct epoll_event e[BATCH];
	uint64_t begun = 0;
	/* not more at a time than any backlog takes */
	unsigned spare = limit > 0 && connections > 64
	    ? (unsigned)connections - 64 : 0;

	while (limit > 0 ? begun < limit || idle_count < (unsigned)connections
			  : !measuring || now_ns() < ends_ns) {
		int n;

		if (limit == 0)
			start_counting();
		while (idle_count > spare && (limit == 0 || begun < limit) &&
		    (rate == 0 || due_ns(asked) <= now_ns())) {
			begin(rate > 0 ? due_ns(asked) : now_ns());
			begun++;
			if (rate == 0 && begun % 64 == 0)
				break;
		}
		if (limit > 0 && begun == limit)
			spare = 0;
		n = wait_for(e, idle_count > 0);
		for (int i = 0; i < n; i++)
			on_event(e[i].data.ptr, e[i].events);
		drop_late();
	}
}

static void
run_held(void)
{
	run_streams((uint64_t)connections);
	printf("HOLD %llu\n", (unsigned long long)answered);
	fflush(stdout);
	getchar();
	answered = 0;
	if (hold)
		run_streams((uint64_t)connections);
}

/* Each client has a turn in 50 ms. */
static void
run_slow(void)
{
	struct pollfd line = { 0, POLLIN, 0 };
	uint64_t now = 0;

	for (int i = 0; i < connections; i++)
		begin(now_ns());
	for (uint64_t turn = 0; !measuring || hold || now < ends_ns; turn++) {
		struct conn *c = &conns[turn % (unsigned)connections];
		uint64_t due = started_ns +
		    turn * 50000000 / (unsigned)connections;

		while ((now = now_ns()) < due)
			usleep((useconds_t)((due - now) / 1000 + 1));
		if (!measuring && now >= counted_from) {
			start_counting();
			for (int i = 0; i < connections; i++)
				conns[i].moved = conns[i].sent + conns[i].got;
		}
		if (measuring && hold && turn % 64 == 0 && poll(&line, 1, 0) > 0)
			break;
		if (c->busy)
			step(c);
		else
			begin(now);
	}
	for (int i = 0; i < connections; i++)
		if (conns[i].busy && conns[i].moved == conns[i].sent + conns[i].got)
			failed(&conns[i], LATE);
}

/* A DNS query whose number, with the socket, says which one it is. */
static void
send_query(struct conn *c, uint64_t since)
{
	static const unsigned char name[] = "\1\0\0\1\0\0\0\0\0\0\4name\7example"
					    "\3com\0\0\1\0\1";
	unsigned char query[2 + sizeof(name) - 1];

	if (new_ports && c->fd >= 0)
		hang_up(c);
	if (c->fd < 0) {
		c->fd = new_socket(SOCK_DGRAM);
		watch(ep, c->fd, EPOLLIN, c);
	}
	c->ask.place = (uint16_t)(next_place++ * 40503 + 12345);
	memcpy(query, &c->ask.place, 2);
	memcpy(query + 2, name, sizeof(name) - 1);
	query[13] = (unsigned char)('a' + next_place % 16);
	c->ask.flags = query[13];
	c->since = since;
	c->busy = true;
	asked++;
	if (send(c->fd, query, sizeof(query), 0) < 0)
		faults[REFUSED].times++;
}

static void
on_datagram(struct conn *c)
{
	ssize_t r = recv(c->fd, input, 2048, 0);

	if (r < 0)
		return;
	/* not what a query that was given up may still be answered with */
	if (!c->busy || memcmp(input, &c->ask.place, 2) != 0) {
		faults[LATE].times += 1;
		return;
	}
	if (r != 34 || input[13] != (char)c->ask.flags || !(input[2] & 0x80))
		faults[WRONG].times++;
	else {
		answered++;
		if (measuring)
			count_time(c->since, now_ns());
	}
	free_conn(c);
}

/* With a limit, until so many are answered, by what may be slow. */
static void
run_datagrams(uint64_t limit)
{
	uint64_t patience = limit > 0 ? 10u * (uint64_t)TIMEOUT_NS
				      : TIMEOUT_NS / 2;
	struct epoll_event e[BATCH];
	uint64_t checked = 0;

	while (limit > 0 ? answered + faults[WRONG].times < limit
			 : !measuring || now_ns() < ends_ns) {
		int n;

		start_counting();
		while (idle_count > 0 && (limit == 0 || asked < limit + lost) &&
		    (rate == 0 || due_ns(asked) <= now_ns())) {
			idle_count--;
			send_query(idle[idle_first++ % (unsigned)connections],
			    rate > 0 ? due_ns(asked) : now_ns());
		}
		n = wait_for(e, idle_count > 0);
		for (int i = 0; i < n; i++)
			on_datagram(e[i].data.ptr);
		if (now_ns() - checked < 20000000)
			continue;
		checked = now_ns();
		for (int i = 0; i < connections; i++)
			if (conns[i].busy && checked > conns[i].since &&
			    checked - conns[i].since > patience) {
				lost++;
				hang_up(&conns[i]);
				free_conn(&conns[i]);
			}
	}
}

static void
report(double before)
{
	double took = (double)(now_ns() - counted_from) / 1e9;
	double after = busy_ns();

	printf("{\"seconds\": %.4f, \"answered\": %llu, \"bytes\": %llu, "
	       "\"p50\": %.1f, \"p99\": %.1f, \"p999\": %.1f, \"lost\": %llu, "
	       "\"resumed\": %llu, \"busy_ns\": %.0f",
	    took, (unsigned long long)answered, (unsigned long long)bytes,
	    quantile_us(0.5), quantile_us(0.99), quantile_us(0.999),
	    (unsigned long long)lost, (unsigned long long)resumed,
	    before > after ? before : after);
	for (int i = 0; i < FAULTS; i++)
		printf(", \"%s\": %llu", faults[i].name,
		    (unsigned long long)faults[i].times);
	puts("}");
}

static void
make_greeting(const char *name)
{
	SSL_CTX *x = SSL_CTX_new(TLS_client_method());
	SSL *s = SSL_new(x);
	int n;

	SSL_set1_groups_list(s, "X25519:P-256");
	SSL_set_bio(s, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
	SSL_set_tlsext_host_name(s, name);
	SSL_connect(s);
	n = BIO_read(SSL_get_wbio(s), greeting, sizeof(greeting));
	if (n <= 0)
		give_up("ClientHello");
	greeting_size = (uint32_t)n;
	SSL_free(s);
	SSL_CTX_free(x);
}

static void
read_options(int argc, char **argv)
{
	int o;

	while ((o = getopt(argc, argv, "c:d:w:q:s:keHbR:TrS:n:ixz:uphN:")) != -1)
		switch (o) {
		case 'c': connections = atoi(optarg); break;
		case 'd': seconds = atof(optarg); break;
		case 'w': warm_up = atof(optarg); break;
		case 'q': request = (uint32_t)atol(optarg); break;
		case 's': reply = (uint32_t)atol(optarg); break;
		case 'k': keep = true; break;
		case 'e': server_closes = true; break;
		case 'H': half_close = server_closes = true; break;
		case 'b': at_once = true; break;
		case 'R': rate = atof(optarg); break;
		case 'T': tls = true; break;
		case 'r': resume = true; break;
		case 'S': sources = atoi(optarg); break;
		case 'n': number = (uint32_t)atol(optarg); break;
		case 'i': hold = keep = true; break;
		case 'x': stall = keep = true; break;
		case 'z': slow = (uint32_t)atol(optarg); break;
		case 'u': datagrams = true; break;
		case 'p': new_ports = true; break;
		case 'h': http = true; break;
		case 'N': make_greeting(optarg); break;
		default: exit(2);
		}
	request = http ? GET_SIZE : request > 0 ? request + greeting_size : 0;
	if (optind != argc - 1 || connections < 1 ||
	    (request > 0 && request < greeting_size + sizeof(struct ask)))
		exit(2);
	target = address(argv[optind]);
}

int
main(int argc, char **argv)
{
	double before;

	common_init();
	read_options(argc, argv);
	if (tls) {
		context = SSL_CTX_new(TLS_client_method());
		SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
		SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256");
		SSL_CTX_set1_groups_list(context, "X25519:P-256");
		SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF);
		SSL_CTX_set_session_cache_mode(context,
		    SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
		SSL_CTX_sess_set_new_cb(context, on_session);
	}
	before = busy_ns();
	ep = epoll_create1(0);
	conns = calloc((size_t)connections, sizeof(*conns));
	idle = calloc((size_t)connections, sizeof(struct conn *));
	for (int i = 0; i < connections; i++) {
		conns[i].fd = -1;
		free_conn(&conns[i]);
	}
	started_ns = now_ns();
	counted_from = started_ns + (uint64_t)(warm_up * 1e9);
	if (slow > 0)
		run_slow();
	else if (hold || stall)
		run_held();
	else {
		if (number > 0)
			counted_from = started_ns;
		start_counting();
		if (datagrams)
			run_datagrams(number);
		else
			run_streams(number);
	}
	report(before);
	return 0;
}
