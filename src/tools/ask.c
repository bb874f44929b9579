/* ask.c: connects, sends a line, reads the answer; with deadlines. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "net/sock.h"
#include "tools/ask.h"

/* How soon a Unix socket whose queue was full is tried again. */
enum { RETRY_MS = 10 };

/* ---- the target ---- */

static int
target_parse_unix(struct target *t, const char *text, struct error *e)
{
	t->at.count = 1;
	if (addr_parse_unix(&t->at.addr[0], text) == 0)
		return 0;
	return error_set(e, "%s",
	    errno == ENAMETOOLONG ? "path too long for a Unix socket"
				  : "not a path of a Unix socket");
}

/* `text` is cut at its last colon. */
static int
parse_host(struct target *t, char *text, struct error *e)
{
	char *colon = strrchr(text, ':'), *host = text;
	uint16_t port;

	if (colon != NULL) {
		*colon = '\0';
		if (host[0] == '[' && colon[-1] == ']') {
			colon[-1] = '\0';
			host++;
		}
	}
	if (resolve_port(colon != NULL ? colon + 1 : text, &port, e) < 0)
		return -1;
	if (colon == NULL || host[0] == '\0' || strcmp(host, "*") == 0)
		return resolve_host(
		    "localhost", port, RESOLVE_NAMES, &t->at, e);
	return resolve_host(host, port, RESOLVE_NAMES, &t->at, e);
}

int
target_parse(struct target *t, const char *text, struct error *e)
{
	char *copy = strdup(text);
	int rc;

	if (copy == NULL)
		return error_set(e, "out of memory");
	rc = addr_is_unix_text(copy) ? target_parse_unix(t, copy, e)
				     : parse_host(t, copy, e);
	free(copy);
	return rc == 0 ? 0 : error_of(e, "address \"%.200s\"", text);
}

bool
target_is_clearly(const char *word)
{
	if (word[0] == '/' || word[0] == '@' || word[0] == '[')
		return true;
	return strpbrk(word, ":/") != NULL && strpbrk(word, " \t") == NULL;
}

/* ---- connecting ---- */

/* Returns 0, or -1 with errno ETIMEDOUT, or EINTR after a signal. */
static int
ask_wait_for(int fd, short events, uint64_t deadline)
{
	struct pollfd p = { .fd = fd, .events = events };
	uint64_t now = clock_monotonic_ms();
	int n = 0;

	if (now < deadline)
		n = poll(&p, 1, (int)(deadline - now));
	if (n == 0)
		errno = ETIMEDOUT;
	return n > 0 ? 0 : -1;
}

static int
connect_one(const struct addr *to, uint64_t deadline)
{
	struct sock_connect_options o = { .sources = NULL };
	int fd, why;

	while ((fd = sock_connect(to, &o)) < 0)
		if (errno != EAGAIN || clock_monotonic_ms() >= deadline ||
		    poll(NULL, 0, RETRY_MS) < 0)
			return -1;
	why = ask_wait_for(fd, POLLOUT, deadline) < 0 ? errno : sock_error(fd);
	if (why == 0)
		return fd;
	close(fd);
	errno = why;
	return -1;
}

/* The first address that takes the connection. A silent one leaves the others
 * their share of the time. -1 with a full message about the last. */
static int
connect_any(const struct target *t, struct error *e)
{
	uint64_t end = clock_monotonic_ms() + t->timeout_ms, now;
	char at[ADDR_TEXT_MAX];
	unsigned i;
	int fd;

	for (i = 0; i < t->at.count; i++) {
		now = clock_monotonic_ms();
		fd = connect_one(&t->at.addr[i],
		    now + (end > now ? end - now : 0) / (t->at.count - i));
		if (fd >= 0)
			return fd;
		error_set(e, "%s: %s", addr_format(&t->at.addr[i], at),
		    strerror(errno));
		if (errno == EINTR)
			break;
	}
	return -1;
}

/* ---- the line ---- */

static int
send_all(int fd, const char *bytes, size_t n, const struct target *t)
{
	ssize_t sent;

	while (n > 0) {
		sent = sock_send(fd, bytes, n, false);
		if (sent < 0 && errno != EAGAIN)
			return -1;
		if (sent < 0 &&
		    ask_wait_for(
			fd, POLLOUT, clock_monotonic_ms() + t->timeout_ms) < 0)
			return -1;
		if (sent > 0) {
			bytes += sent;
			n -= (size_t)sent;
		}
	}
	return 0;
}

/* ---- the answer ---- */

/* Refusals in classic Pen's words are no longer than the first; what is read at
 * a time. */
enum { HELD_MAX = 64, CHUNK = 16384 };

static const char refusal[] = "error: ";

/* The beginning of each line is kept back while it could become a refusal. The
 * last line decides whether the answer is one: the other side stops there. */
struct answer {
	ask_take *take;
	void *arg;
	bool any;
	bool decided; /* what this line is; nothing of it is held any more */
	bool refused; /* that line, or the one before while it is held */
	bool error;   /* that line begins with "error: " */
	size_t n;     /* bytes held */
	char held[HELD_MAX];
	bool out_error; /* of what is passed on next, together */
	size_t out_n;
	char out[CHUNK];
};

/* Whether the bytes are a refusal of classic Pen, which the control socket
 * still gives in its words, or the beginning of one. */
static bool
fits_classic(const char *bytes, size_t n, bool whole)
{
	static const char connection[] = "Connection ", out[] = " out of range",
			  leave[] = "Exit is not enabled; restart with -X flag";
	size_t at = sizeof(connection) - 1, rest;

	if (n <= sizeof(leave) - 1 && memcmp(bytes, leave, n) == 0)
		return !whole || n == sizeof(leave) - 1;
	if (memcmp(bytes, connection, n < at ? n : at) != 0)
		return false;
	while (at < n && bytes[at] >= '0' && bytes[at] <= '9')
		at++;
	rest = n > at ? n - at : 0;
	return rest <= sizeof(out) - 1 && memcmp(bytes + at, out, rest) == 0 &&
	    (!whole || rest == sizeof(out) - 1);
}

/* Whether the line that begins so could become a refusal yet. */
static bool
answer_is_open(const struct answer *a)
{
	if (a->n < sizeof(refusal) - 1 && memcmp(a->held, refusal, a->n) == 0)
		return true;
	return a->n < HELD_MAX && fits_classic(a->held, a->n, false);
}

static int
answer_flush(struct answer *a)
{
	size_t n = a->out_n;

	a->out_n = 0;
	return n > 0 ? a->take(a->arg, a->out_error, a->out, n) : 0;
}

/* Up to CHUNK bytes. */
static int
answer_pass(struct answer *a, bool error, const char *bytes, size_t n)
{
	if ((a->out_error != error || n > sizeof(a->out) - a->out_n) &&
	    answer_flush(a) < 0)
		return -1;
	a->out_error = error;
	memcpy(a->out + a->out_n, bytes, n);
	a->out_n += n;
	return 0;
}

/* Decides what the line is, as far as it came, and passes on what was held.
 * What classic Pen printed goes where it always went. */
static int
answer_decide(struct answer *a)
{
	size_t n = a->n;
	bool error = n >= sizeof(refusal) - 1 &&
	    memcmp(a->held, refusal, sizeof(refusal) - 1) == 0;

	a->decided = true;
	a->refused = error || (n > 0 && fits_classic(a->held, n, true));
	a->n = 0;
	a->error = error;
	return answer_pass(a, error, a->held, n);
}

/* A piece of a line, with its newline or without. */
static int
answer_line(struct answer *a, const char *bytes, size_t n, bool ends)
{
	size_t text = n - ends;

	while (!a->decided && text > 0) {
		a->held[a->n++] = *bytes++;
		n--;
		text--;
		if (!answer_is_open(a) && answer_decide(a) < 0)
			return -1;
	}
	if (!ends && !a->decided)
		return 0;
	if (!a->decided && answer_decide(a) < 0)
		return -1;
	a->decided = !ends;
	return answer_pass(a, a->error, bytes, n);
}

static enum ask_status
answer_add(struct answer *a, const char *bytes, size_t n)
{
	const char *newline;
	size_t piece;

	a->any = true;
	while (n > 0) {
		newline = memchr(bytes, '\n', n);
		piece = newline != NULL ? (size_t)(newline - bytes) + 1 : n;
		if (answer_line(a, bytes, piece, newline != NULL) < 0)
			return ASK_STOPPED;
		bytes += piece;
		n -= piece;
	}
	return answer_flush(a) < 0 ? ASK_STOPPED : ASK_ANSWERED;
}

/* Reads to the end. -1 with errno when there is none in time. */
static int
answer_read(
    struct answer *a, int fd, const struct target *t, enum ask_status *status)
{
	char chunk[CHUNK];
	ssize_t n;

	for (;;) {
		n = recv(fd, chunk, sizeof(chunk), 0);
		if (n == 0)
			return 0;
		if (n > 0) {
			*status = answer_add(a, chunk, (size_t)n);
			if (*status == ASK_STOPPED)
				return 0;
		} else if (errno != EAGAIN) {
			return -1;
		} else if (ask_wait_for(fd, POLLIN,
			       clock_monotonic_ms() + t->timeout_ms) < 0) {
			return -1;
		}
	}
}

static enum ask_status
no_answer(struct error *e, int why, const struct answer *a)
{
	if (why == ETIMEDOUT)
		error_set(e,
		    a->any ? "incomplete reply: timed out"
			   : "timed out waiting for a reply");
	else if (why == EPIPE || why == ECONNRESET)
		error_set(e, "no reply: connection closed by pen");
	else
		error_set(e, "no reply: %s", strerror(why));
	return ASK_NO_ANSWER;
}

int
ask_append(void *arg, bool error, const char *bytes, size_t n)
{
	(void)error;
	return buffer_append(arg, bytes, n);
}

enum ask_status
ask(const struct target *t, const char *line, size_t n, ask_take *take,
    void *arg, struct error *e)
{
	struct answer a = { .take = take, .arg = arg };
	enum ask_status status = ASK_ANSWERED;
	int fd = connect_any(t, e), unsent = 0, why = 0;

	if (fd < 0)
		return ASK_NO_ANSWER;
	if (send_all(fd, line, n, t) < 0 || send_all(fd, "\n", 1, t) < 0)
		unsent = errno;
	/* A peer that did not read all of a line may have sent the reason. */
	if (unsent == 0 || unsent == EPIPE || unsent == ECONNRESET)
		why = answer_read(&a, fd, t, &status) < 0 ? errno : 0;
	close(fd);
	/* what is held at the end is a line too */
	if (status == ASK_STOPPED ||
	    (!a.decided && a.n > 0 && answer_decide(&a) < 0) ||
	    answer_flush(&a) < 0)
		return ASK_STOPPED;
	if (a.refused && why != ETIMEDOUT && why != EINTR)
		return ASK_REFUSED;
	if (why != 0 || (unsent != 0 && !a.any))
		return no_answer(e, why != 0 ? why : unsent, &a);
	return ASK_ANSWERED;
}
