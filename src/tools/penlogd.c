/* penlogd.c: joins the logs of pen and of web servers, which come as datagrams.
 *
 *     + CLIENT SERVER REQUEST       of pen: is remembered
 *     BALANCER .. "REQUEST" ..      of a web server, which is where it comes
 *                                   from: written with CLIENT in front
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/addr.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "base/output.h"
#include "control/life/process.h"
#include "tools/log_line.h"
#include "tools/visits.h"

enum { DATAGRAM_MAX = 64 * 1024, BATCH = 256, TELL_MS = 60 * 1000 };

struct penlogd {
	int fd;
	FILE *out;
	const char *path; /* NULL: standard output */
	bool foreground, unbuffered;
	bool cut;	  /* the file may end within a line */
	uint64_t told_at; /* ms: that lines are lost; 0: never */
	struct process_options process;
	uint64_t entries, port;
	struct visits *visits;
	int64_t count; /* of pen's lines: the newest one counts */
	char text[DATAGRAM_MAX];
};

static volatile sig_atomic_t hangup, ended;

static void
on_signal(int signo)
{
	if (signo == SIGHUP)
		hangup = 1;
	else
		ended = 1;
}

static int
penlogd_complain(const char *what)
{
	fprintf(stderr, "penlogd: %s\n", what);
	return 1;
}

/* ---- writing ---- */

/* A disk that stays full is reported once a minute. */
static void
penlogd_lose(struct penlogd *d)
{
	uint64_t now = clock_monotonic_ms();

	if (d->told_at == 0 || now - d->told_at >= TELL_MS) {
		log_error("cannot write, lines are lost: %s", strerror(errno));
		d->told_at = now;
	}
	d->cut = true;
	clearerr(d->out);
}

static void
penlogd_flush(struct penlogd *d)
{
	if (fflush(d->out) != 0)
		penlogd_lose(d);
}

/* ---- lines ---- */

/* The address and the request that come again are of the client that came
 * last. */
static void
remember(struct penlogd *d, const char *line)
{
	struct pen_line p;

	if (pen_line_parse(&p, line, true) < 0) {
		log_debug("not a line of pen: %.200s", line);
		return;
	}
	if (visits_add(d->visits, ++d->count, p.client, p.server, p.request) <
	    0)
		log_error("out of memory");
}

/* A line that no visit belongs to is written as it came. */
static void
penlogd_write_line(
    struct penlogd *d, const char *line, const struct peer *server)
{
	char from[PEER_TEXT_MAX];
	const char *client, *begin = d->cut ? "\n" : "";
	struct web_line w;
	int rc;

	if (web_line_parse(&w, line, 0) < 0) {
		log_debug("not a line of a web server: %.200s", line);
		return;
	}
	client = visits_find(d->visits, d->count, 0,
	    peer_format_host(server, from), w.request);
	d->cut = false;
	if (client != NULL)
		rc = fprintf(d->out, "%s%s%s\n", begin, client, w.user);
	else
		rc = fprintf(d->out, "%s%s\n", begin, line);
	if (rc < 0) /* it had to write what was before it */
		penlogd_lose(d);
}

static void
take_datagram(struct penlogd *d, char *text, const struct peer *from)
{
	char *next;

	for (; *text != '\0'; text = next) {
		next = text + strcspn(text, "\n");
		if (*next != '\0')
			*next++ = '\0';
		text[strcspn(text, "\r")] = '\0';
		if (text[0] == '+')
			remember(d, text);
		else if (text[0] != '\0')
			penlogd_write_line(d, text, from);
	}
}

/* Returns whether there may be more. */
static bool
penlogd_take_batch(struct penlogd *d)
{
	char *text = d->text;
	struct peer from;
	struct addr a;
	ssize_t n;
	int i;

	for (i = 0; i < BATCH; i++) {
		a.len = sizeof(a.u);
		n = recvfrom(d->fd, text, sizeof(d->text) - 1, MSG_DONTWAIT,
		    &a.u.sa, &a.len);
		if (n < 0)
			return false;
		text[n] = '\0';
		peer_from_addr(&from, &a);
		take_datagram(d, text, &from);
		if (d->unbuffered)
			penlogd_flush(d);
	}
	return true;
}

/* ---- the file ---- */

/* A named pipe needs a reader, and is not waited for. */
static FILE *
penlogd_open_log(const char *path, struct error *e)
{
	struct error why;
	int fd = file_open_own(path,
	    O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644, &why);
	FILE *f = fd >= 0 ? fdopen(fd, "a") : NULL;

	if (f == NULL)
		error_set(e, "\"%.300s\": %.150s", path,
		    fd >= 0 ? strerror(errno) : why.text);
	return f;
}

static void
reopen(struct penlogd *d)
{
	struct error e;
	FILE *new;

	hangup = 0;
	if (d->path == NULL)
		return;
	new = penlogd_open_log(d->path, &e);
	if (new == NULL) {
		log_error("log not reopened: %s", e.text);
		return;
	}
	penlogd_flush(d);
	fclose(d->out);
	d->out = new;
	d->cut = false;
}

/* ---- running ---- */

static int
open_family(int family, uint16_t port)
{
	struct addr a = { .len = 0 };
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0), off = 0;

	if (fd < 0)
		return -1;
	a.u.sa.sa_family = (sa_family_t)family;
	addr_set_port(&a, port);
	a.len = family == AF_INET ? sizeof(a.u.in) : sizeof(a.u.in6);
	if (family == AF_INET6)
		(void)setsockopt(
		    fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, &a.u.sa, a.len) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Opens a socket for both families, or for IPv4 where there is no IPv6, with a
 * large buffer for bursts of lines. */
static int
penlogd_open_socket(struct penlogd *d, struct error *e)
{
	int most = 8 << 20;

	d->fd = open_family(AF_INET6, (uint16_t)d->port);
	if (d->fd < 0)
		d->fd = open_family(AF_INET, (uint16_t)d->port);
	if (d->fd < 0)
		return error_set(
		    e, "port %d: %s", (int)d->port, strerror(errno));
	(void)setsockopt(d->fd, SOL_SOCKET, SO_RCVBUF, &most, sizeof(most));
	return 0;
}

static void
penlogd_catch_signals(const struct penlogd *d, sigset_t *open)
{
	struct sigaction sa = { .sa_handler = on_signal };
	sigset_t closed;

	sigemptyset(&closed);
	sigaddset(&closed, SIGHUP);
	sigaddset(&closed, SIGTERM);
	sigaddset(&closed, SIGINT);
	sigprocmask(SIG_BLOCK, &closed, open);
	sigaction(SIGHUP, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	signal(SIGXFSZ, SIG_IGN); /* lines are lost, as on a full disk */
	if (d->path != NULL) /* a named pipe may get another reader */
		signal(SIGPIPE, SIG_IGN);
}

/* Handles pending signals now. */
static void
handle_pending_signals(const sigset_t *open)
{
	sigset_t closed;

	sigprocmask(SIG_SETMASK, open, &closed);
	sigprocmask(SIG_SETMASK, &closed, NULL);
}

/* Signals are handled only while it waits, or between two batches. What was
 * received is written before it waits. */
static void
penlogd_serve(struct penlogd *d, const sigset_t *open)
{
	fd_set in;

	while (!ended) {
		if (penlogd_take_batch(d)) {
			handle_pending_signals(open);
		} else {
			penlogd_flush(d);
			FD_ZERO(&in);
			FD_SET(d->fd, &in);
			(void)pselect(d->fd + 1, &in, NULL, NULL, NULL, open);
		}
		if (hangup)
			reopen(d);
	}
	(void)penlogd_take_batch(d);
	penlogd_flush(d);
}

/* ---- the start ---- */

static int
penlogd_usage(void)
{
	fputs("usage: penlogd [-bdf] [-j DIR] [-l FILE] [-n N] [-p FILE] "
	      "[-u USER] PORT\n",
	    stderr);
	return 1;
}

static int
penlogd_parse_options(struct penlogd *d, int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "bdfj:l:n:p:u:")) != -1) {
		switch (c) {
		case 'b':
			d->unbuffered = true;
			break;
		case 'd':
			log_level = LOG_LEVEL_DEBUG;
			break;
		case 'f':
			d->foreground = true;
			break;
		case 'j':
			d->process.directory = optarg;
			break;
		case 'l':
			d->path = optarg;
			break;
		case 'n':
			if (number_parse(optarg, 1, 1 << 30, &d->entries) < 0)
				return penlogd_complain(
				    "-n: not a number above 0");
			break;
		case 'p':
			d->process.pid_file = optarg;
			break;
		case 'u':
			d->process.user = optarg;
			break;
		default:
			return penlogd_usage();
		}
	}
	if (argc - optind != 1)
		return penlogd_usage();
	if (number_parse(argv[optind], 1, 65535, &d->port) < 0)
		return penlogd_complain("PORT is not a number from 1 to 65535");
	return 0;
}

/* Standard output is kept, where it is the log: the background has none. */
static int
penlogd_open_all(struct penlogd *d, struct process *p, struct error *e)
{
	int out;

	d->visits = visits_new(d->entries);
	if (d->visits == NULL)
		return error_set(e, "out of memory");
	if (penlogd_open_socket(d, e) < 0)
		return -1;
	if (d->path != NULL) {
		d->out = penlogd_open_log(d->path, e);
	} else {
		out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		d->out = out >= 0 ? fdopen(out, "a") : NULL;
		if (d->out == NULL)
			error_set(e, "standard output: %s", strerror(errno));
	}
	if (d->out == NULL ||
	    (d->process.pid_file != NULL &&
		process_lock_pid_file(
		    p, d->process.pid_file, false, e) < 0))
		return -1;
	return process_drop_privileges(&d->process, e);
}

int
main(int argc, char **argv)
{
	static struct penlogd d;
	struct process p;
	struct error e;
	sigset_t open;
	int rc;

	log_find_journal();
	d = (struct penlogd){ .fd = -1, .entries = 1000 };
	rc = penlogd_parse_options(&d, argc, argv);
	if (rc != 0)
		return rc;
	process_init(&p);
	output_fill_standard_files();
	rc = d.foreground ? -1 : process_background(&p, &e);
	if (rc >= 0)
		return rc;
	log_open_syslog(LOG_SYSLOG_PATH, "penlogd");
	penlogd_catch_signals(&d, &open);
	if (rc == -2 || penlogd_open_all(&d, &p, &e) < 0 ||
	    process_ready(&p, &e) < 0) {
		process_fini(&p);
		return penlogd_complain(e.text);
	}
	penlogd_serve(&d, &open);
	fclose(d.out);
	close(d.fd);
	visits_free(d.visits);
	process_fini(&p);
	return 0;
}
