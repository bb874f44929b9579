/* penlog.c: sends the log of a web server to penlogd, a datagram a line. */
#include "config.h"

#include <errno.h>
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

/* The address that the lines come from, by which penlogd identifies the server.
 * Returns 0, or -1 with a message. */
static int
bind_to(int fd, int family, const char *ip)
{
	struct addrinfo hints = { .ai_family = family,
		.ai_socktype = SOCK_DGRAM,
		.ai_flags = AI_NUMERICHOST };
	struct addrinfo *at;
	int rc = getaddrinfo(ip, NULL, &hints, &at);

	if (rc != 0) {
		(void)penlog_complain(ip, gai_strerror(rc));
		return -1;
	}
	rc = bind(fd, at->ai_addr, at->ai_addrlen);
	if (rc < 0)
		(void)penlog_complain(ip, strerror(errno));
	freeaddrinfo(at);
	return rc;
}

/* A socket that is connected to penlogd, or -1 with a message. */
static int
penlog_open_socket(const struct addrinfo *to, const char *own)
{
	int fd = socket(to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0) {
		(void)penlog_complain("socket", strerror(errno));
		return -1;
	}
	if (own != NULL && bind_to(fd, to->ai_family, own) < 0) {
		close(fd);
		return -1;
	}
	if (connect(fd, to->ai_addr, to->ai_addrlen) < 0) {
		(void)penlog_complain("connect", strerror(errno));
		close(fd);
		return -1;
	}
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
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM };
	struct addrinfo *to;
	int fd, rc;

	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		printf("penlog %s\n", VERSION);
		return 0;
	}
	if (argc < 3 || argc > 4 || argv[1][0] == '-') {
		fputs("usage: penlog HOST PORT [MY_IP]\n", stderr);
		return 1;
	}
	rc = getaddrinfo(argv[1], argv[2], &hints, &to);
	if (rc != 0)
		return penlog_complain(argv[1], gai_strerror(rc));
	fd = penlog_open_socket(to, argv[3]);
	freeaddrinfo(to);
	if (fd < 0)
		return 1;
	rc = send_lines(fd);
	close(fd);
	return rc;
}
