/* penctl.c: sends commands to a control socket and prints the answers.
 *
 *     penctl [--timeout SEC] ADDRESS command ...
 *     penctl [--timeout SEC] ADDRESS < lines
 *
 * Exit status: 0, 1 when a command was refused, 2 when nobody answers. */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/number.h"
#include "control/spec.h"
#include "net/sock.h"

enum { REFUSED = 1, UNREACHABLE = 2 };

struct target {
	struct listen_list at; /* the addresses to try */
	uint64_t timeout_ms;
};

static int
complain(int status, const char *what)
{
	fprintf(stderr, "penctl: %s\n", what);
	return status;
}

static int
wait_for(int fd, short events, uint64_t deadline)
{
	struct pollfd p = { .fd = fd, .events = events };
	uint64_t now = clock_monotonic_ms();

	if (now >= deadline || poll(&p, 1, (int)(deadline - now)) <= 0) {
		errno = ETIMEDOUT;
		return -1;
	}
	return 0;
}

/* The first address that takes the connection; -1 with errno of the last. */
static int
connect_any(const struct target *t, uint64_t deadline)
{
	struct sock_connect_options o = { .keepalive = false };
	unsigned i;
	int fd;

	for (i = 0; i < t->at.count; i++) {
		fd = sock_connect(&t->at.entry[i].at, &o);
		if (fd < 0)
			continue;
		if (wait_for(fd, POLLOUT, deadline) == 0 &&
		    (errno = sock_error(fd)) == 0)
			return fd;
		close(fd);
	}
	return -1;
}

static int
send_all(int fd, const char *bytes, size_t n, uint64_t deadline)
{
	ssize_t sent;

	while (n > 0) {
		sent = sock_send(fd, bytes, n, false);
		if (sent < 0 && errno != EAGAIN)
			return -1;
		if (sent < 0 && wait_for(fd, POLLOUT, deadline) < 0)
			return -1;
		if (sent > 0) {
			bytes += sent;
			n -= (size_t)sent;
		}
	}
	return 0;
}

/* Prints the answer up to its end; a refusal goes to stderr. */
static int
print_answer(int fd, const struct target *t)
{
	static const char refusal[] = "error: ";
	char chunk[4096];
	bool first = true, refused = false;
	ssize_t n;

	for (;;) {
		n = recv(fd, chunk, sizeof(chunk), 0);
		if (n == 0)
			return refused ? REFUSED : 0;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return complain(UNREACHABLE, strerror(errno));
		if (n < 0) {
			if (wait_for(fd, POLLIN,
				clock_monotonic_ms() + t->timeout_ms) < 0)
				return complain(UNREACHABLE, "no answer");
			continue;
		}
		if (first && (size_t)n >= sizeof(refusal) - 1)
			refused =
			    memcmp(chunk, refusal, sizeof(refusal) - 1) == 0;
		first = false;
		fwrite(chunk, 1, (size_t)n, refused ? stderr : stdout);
	}
}

static int
ask(const struct target *t, const char *line)
{
	uint64_t deadline = clock_monotonic_ms() + t->timeout_ms;
	int fd = connect_any(t, deadline), status;

	if (fd < 0)
		return complain(UNREACHABLE, strerror(errno));
	if (send_all(fd, line, strlen(line), deadline) < 0 ||
	    send_all(fd, "\n", 1, deadline) < 0)
		status = complain(UNREACHABLE, strerror(errno));
	else
		status = print_answer(fd, t);
	close(fd);
	return status;
}

/* ---- the line ---- */

/* A word as the other side reads it back: quoted when it has to be. */
static int
add_word(struct buffer *line, const char *word)
{
	bool quote = word[0] == '\0' || strpbrk(word, " \t\"'#\\") != NULL;

	if (quote && buffer_append(line, "\"", 1) < 0)
		return -1;
	for (; *word != '\0'; word++)
		if ((quote && (*word == '"' || *word == '\\') &&
			buffer_append(line, "\\", 1) < 0) ||
		    buffer_append(line, word, 1) < 0)
			return -1;
	return quote ? buffer_append(line, "\"", 1) : 0;
}

static int
ask_words(const struct target *t, char **words)
{
	struct buffer line;
	int status, i;

	buffer_init(&line);
	for (i = 0; words[i] != NULL; i++)
		if ((i > 0 && buffer_append(&line, " ", 1) < 0) ||
		    add_word(&line, words[i]) < 0)
			return complain(UNREACHABLE, "out of memory");
	if (buffer_append(&line, "", 1) < 0)
		return complain(UNREACHABLE, "out of memory");
	status = ask(t, buffer_bytes(&line));
	buffer_fini(&line);
	return status;
}

/* A command a line; goes on after a refusal, and remembers it. */
static int
ask_lines(const struct target *t)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	int status = 0, one;

	while ((n = getline(&line, &room, stdin)) > 0) {
		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		one = ask(t, line);
		if (one > status)
			status = one;
		if (one == UNREACHABLE)
			break;
	}
	free(line);
	return status;
}

/* ---- the command line ---- */

static int
usage(FILE *to, int status)
{
	fputs("usage: penctl [--timeout SEC] [ADDRESS] [command ...]\n"
	      "       ADDRESS = host:port, [v6]:port, /path or @name; without "
	      "it PENCTL in the\n"
	      "       environment. Without a command, lines are read from "
	      "standard input.\n",
	    to);
	return status;
}

int
main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "timeout", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ NULL, 0, NULL, 0 },
	};
	struct target t = { .timeout_ms = 10000 };
	const char *at = getenv("PENCTL");
	struct error e;
	int found;

	while ((found = getopt_long(argc, argv, "+", longs, NULL)) != -1) {
		if (found == 'h')
			return usage(stdout, 0);
		if (found == 'v')
			return printf("penctl %s\n", PACKAGE_VERSION) < 0;
		if (found != 't')
			return usage(stderr, UNREACHABLE);
		if (number_parse_ms(optarg, 1, 86400000, &t.timeout_ms) < 0)
			return complain(UNREACHABLE,
			    "--timeout: no number of "
			    "seconds");
	}
	/* PENCTL stands in for the address alone. */
	if (at == NULL)
		at = optind < argc ? argv[optind++] : NULL;
	if (at == NULL)
		return usage(stderr, UNREACHABLE);
	if (spec_parse_listen(&t.at, at, &e) < 0)
		return complain(UNREACHABLE, e.text);
	return argv[optind] != NULL ? ask_words(&t, argv + optind)
				    : ask_lines(&t);
}
