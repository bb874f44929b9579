/* penlog.c: sends the log of a web server to penlogd, a datagram a line. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* What penlogd takes in a datagram. */
enum { DATAGRAM_MAX = 16 * 1024 };

static int
penlog_complain(const char *what, const char *why)
{
	fprintf(stderr, "penlog: %s: %s\n", what, why);
	return 1;
}

/* NULL with a message if there is none. */
static struct addrinfo *
penlog_look_up(const char *host, const char *port, int family, int flags)
{
	struct addrinfo hints = { .ai_family = family,
		.ai_socktype = SOCK_DGRAM,
		.ai_flags = flags };
	struct addrinfo *found = NULL;
	int rc = getaddrinfo(host, port, &hints, &found);

	if (rc != 0)
		(void)penlog_complain(host, gai_strerror(rc));
	return rc == 0 ? found : NULL;
}

static int
penlog_fail(int fd, const char *what)
{
	(void)penlog_complain(what, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

/* A socket from one address, or any, that is connected to the other; or -1 with
 * a message. */
static int
penlog_connect(
    const struct addrinfo *from, const char *own, const struct addrinfo *to)
{
	int fd = socket(to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return penlog_fail(fd, "socket");
	if (from != NULL && bind(fd, from->ai_addr, from->ai_addrlen) < 0)
		return penlog_fail(fd, own);
	if (connect(fd, to->ai_addr, to->ai_addrlen) < 0)
		return penlog_fail(fd, "connect");
	return fd;
}

/* A socket that is connected to penlogd, or -1 with a message. Lines come from
 * the address `own`, by which penlogd identifies the server, and go to one of
 * its family. */
static int
penlog_open_socket(const char *host, const char *port, const char *own)
{
	struct addrinfo *from = NULL, *to = NULL;
	int fd = -1;

	if (own != NULL)
		from = penlog_look_up(own, NULL, AF_UNSPEC, AI_NUMERICHOST);
	if (own == NULL || from != NULL)
		to = penlog_look_up(host, port,
		    from != NULL ? from->ai_family : AF_UNSPEC, 0);
	if (to != NULL) {
		fd = penlog_connect(from, own, to);
		freeaddrinfo(to);
	}
	if (from != NULL)
		freeaddrinfo(from);
	return fd;
}

static int
send_lines(int fd)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	while ((n = getline(&line, &room, stdin)) > 0) {
		if (n > DATAGRAM_MAX)
			n = DATAGRAM_MAX;
		/* While penlogd is not there, each other call reports that the
		 * datagram before it was refused; it sends nothing then. Lines
		 * that are lost are not sent again: a web server must not wait
		 * for its log. */
		if (send(fd, line, (size_t)n, 0) < 0 &&
		    (errno == ECONNREFUSED || errno == EINTR))
			(void)send(fd, line, (size_t)n, 0);
	}
	free(line);
	return ferror(stdin)
	    ? penlog_complain("standard input", strerror(errno))
	    : 0;
}

int
main(int argc, char **argv)
{
	int fd, rc;

	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		printf("penlog %s\n", VERSION);
		return 0;
	}
	if (argc < 3 || argc > 4 || argv[1][0] == '-') {
		fputs("usage: penlog HOST PORT [MY_IP]\n", stderr);
		return 1;
	}
	if (strtol(argv[2], NULL, 10) > 65535) /* getaddrinfo() may cut it */
		return penlog_complain(argv[2], "not a port");
	if (fcntl(STDIN_FILENO, F_GETFD) < 0)
		return penlog_complain("standard input", strerror(errno));
	fd = penlog_open_socket(argv[1], argv[2], argv[3]);
	if (fd < 0)
		return 1;
	rc = send_lines(fd);
	close(fd);
	return rc;
}
