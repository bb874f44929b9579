/* spot.h: places to listen at, and blocking sockets with deadlines.
 *
 * Ports are the kernel's choice: a spot binds port 0 and keeps that socket,
 * never listening, so that nobody else gets the port until the test ends; with
 * SO_REUSEADDR a program can still bind and listen on it. */
#ifndef PEN_TEST_SPOT_H
#define PEN_TEST_SPOT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

struct spot {
	struct sockaddr_storage addr;
	socklen_t len;
	int port;	/* 0: a Unix socket */
	char text[128]; /* as on pen's command line */
};

enum spot_kind { SPOT_TCP4, SPOT_TCP6, SPOT_UNIX, SPOT_ABSTRACT, SPOT_KINDS };

/* A free place of that kind. */
void spot_new(struct spot *s, enum spot_kind kind);
/* "tcp4", "tcp6", "unix", "abstract". */
const char *spot_kind_name(enum spot_kind kind);
/* Can this machine do it? (IPv6 may be off, abstract names are Linux's.) */
bool spot_has_kind(enum spot_kind kind);
/* The same port at another host ("::1", "127.0.0.1", "127.0.0.2"). */
void spot_at_host(struct spot *s, const struct spot *from, const char *host);
/* Does anyone listen there? Found out without connecting. */
bool spot_is_listening(const struct spot *s);
/* Does anyone listen at that path, in whatever network namespace? Its file is
 * there a moment earlier. Found out by connecting. */
bool spot_path_listens(const char *path);
/* A listening socket there. */
int spot_listen(const struct spot *s, int backlog);

/* Blocking connect; fails the test when it does not work in 10 s. Reads and
 * writes on it that take longer than 10 s fail. */
int spot_connect(const struct spot *s);
/* The same, but returns -1 with errno. */
int spot_try_connect(const struct spot *s);
/* Connects from another address of this machine, as another client. */
int spot_connect_from(const struct spot *s, const char *host);
/* Sets the deadline of reads and writes. */
void spot_set_deadline(int fd, int ms);

/* All of it or the test fails. */
void spot_send(int fd, const void *bytes, size_t n);
void spot_recv(int fd, void *bytes, size_t n);
/* Until the end of the stream; a string that lives until the test ends. Fails
 * on a reset. */
const char *spot_recv_all(int fd);
/* No more than the end, or a reset, is to be read next. */
void spot_expect_end(int fd);
void spot_expect_reset(int fd);
/* The rest is a page of pen's own with that status. */
void spot_expect_page(int fd, const char *status);
/* Sends a string and expects exactly that one back. */
void spot_expect_echo(int fd, const char *what);
/* Connects, and returns all that comes until the end. */
const char *spot_hear(const struct spot *s);
/* Connects, sends `what`, ends, returns all that came back. */
const char *spot_ask(const struct spot *s, const char *what);
/* Closes with a reset. */
void spot_reset(int fd);

#endif
