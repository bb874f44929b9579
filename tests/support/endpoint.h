/* endpoint.h: places to listen at, and blocking sockets with deadlines.
 *
 * Ports are the kernel's choice: a endpoint binds port 0 and keeps that socket,
 * never listening, so that nobody else gets the port until the test ends; with
 * SO_REUSEADDR a program can still bind and listen on it. */
#ifndef PEN_TEST_ENDPOINT_H
#define PEN_TEST_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

struct endpoint {
	struct sockaddr_storage addr;
	socklen_t len;
	int port;	/* 0: a Unix socket */
	char text[128]; /* as on pen's command line */
};

enum endpoint_kind {
	ENDPOINT_TCP4,
	ENDPOINT_TCP6,
	ENDPOINT_UNIX,
	ENDPOINT_ABSTRACT,
	ENDPOINT_KINDS
};

/* A free place of that kind. */
void endpoint_new(struct endpoint *s, enum endpoint_kind kind);
/* A Unix socket at that path. */
void endpoint_at_path(struct endpoint *s, const char *path);
/* "tcp4", "tcp6", "unix", "abstract". */
const char *endpoint_kind_name(enum endpoint_kind kind);
/* Can this machine do it? (IPv6 may be off, abstract names are Linux's.) */
bool endpoint_has_kind(enum endpoint_kind kind);
/* The same port at another host ("::1", "127.0.0.1", "127.0.0.2"). */
void endpoint_at_host(
    struct endpoint *s, const struct endpoint *from, const char *host);
/* Does anyone listen there? Found out without connecting. */
bool endpoint_is_listening(const struct endpoint *s);
/* Does anyone listen at that path, in whatever network namespace? Its file is
 * there a moment earlier. Found out by connecting. */
bool endpoint_path_listens(const char *path);
/* The permissions of a Unix socket's file. */
unsigned endpoint_mode(const struct endpoint *s);
/* A listening socket there. */
int endpoint_listen(const struct endpoint *s, int backlog);

/* Blocking connect; fails the test when it does not work in 10 s. Reads and
 * writes on it that take longer than 10 s fail. */
int endpoint_connect(const struct endpoint *s);
/* The same, but returns -1 with errno. */
int endpoint_try_connect(const struct endpoint *s);
/* Connects from another address of this machine, as another client. */
int endpoint_connect_from(const struct endpoint *s, const char *host);
/* The same, but returns -1 with errno. */
int endpoint_try_connect_from(const struct endpoint *s, const char *host);
/* Sets the deadline of reads and writes. */
void endpoint_set_deadline(int fd, int ms);

/* All of it or the test fails. */
void endpoint_send(int fd, const void *bytes, size_t n);
void endpoint_recv(int fd, void *bytes, size_t n);
/* Until the end of the stream; a string that lives until the test ends. Fails
 * on a reset. */
const char *endpoint_recv_all(int fd);
/* No more than the end, or a reset, is to be read next. */
void endpoint_expect_end(int fd);
void endpoint_expect_reset(int fd);
/* The rest is a page of pen's own with that status. */
void endpoint_expect_page(int fd, const char *status);
/* Sends a string and expects exactly that one back. */
void endpoint_expect_echo(int fd, const char *what);
/* Connects, and returns all that comes until the end. */
const char *endpoint_hear(const struct endpoint *s);
/* The same, after it has sent `what`. */
const char *endpoint_hear_after(const struct endpoint *s, const char *what);
/* Connects, sends `what`, ends, returns all that came back. */
const char *endpoint_ask(const struct endpoint *s, const char *what);
/* Closes with a reset. */
void endpoint_reset(int fd);

#endif
