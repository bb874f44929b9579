/* readmesite.c: web servers and clients of the network of README.md. */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/readme_fixture.h"
#include "support/suite.h"
#include "support/wait.h"

enum { HEAD_MAX = 4096, CURL_MS = 60000 };

struct backend *readme_webs[2];
struct site readme_sites[2] = { { .name = "web1" }, { .name = "web2" } };

/* Reads up to the empty line; false at the end. */
static bool
read_head(int fd, char head[HEAD_MAX])
{
	size_t n = 0;
	ssize_t got;

	while (n < HEAD_MAX - 1) {
		got = recv(fd, head + n, HEAD_MAX - 1 - n, 0);
		if (got <= 0)
			return false;
		n += (size_t)got;
		head[n] = '\0';
		if (strstr(head, "\r\n\r\n") != NULL)
			return true;
	}
	return false;
}

void
site_serve(struct backend *b, int fd)
{
	struct site *site = (struct site *)(uintptr_t)b->arg;
	char head[HEAD_MAX], page[HEAD_MAX + 256], answer[HEAD_MAX + 512];
	struct sockaddr_in peer = { .sin_family = AF_UNSPEC };
	socklen_t len = sizeof(peer);
	char ip[INET_ADDRSTRLEN] = "";
	int status, n;

	getpeername(fd, (struct sockaddr *)&peer, &len);
	inet_ntop(AF_INET, &peer.sin_addr, ip, sizeof(ip));
	while (read_head(fd, head)) {
		status = strncmp(head, "GET /health ", 12) == 0
		    ? atomic_load(&site->health)
		    : 0;
		snprintf(page, sizeof(page), "%s\nfrom %s\n%s", site->name, ip,
		    head);
		n = snprintf(answer, sizeof(answer),
		    "HTTP/1.1 %d Said\r\nContent-Length: %zu\r\n\r\n%s",
		    status != 0 ? status : 200, strlen(page), page);
		if (!backend_send(fd, answer, (size_t)n))
			return;
	}
}

void
webs_up_at(int port)
{
	unsigned i;

	for (i = 0; i < 2; i++)
		readme_webs[i] =
		    machine_serve(i, port, site_serve, &readme_sites[i]);
}

void
webs_up(void)
{
	webs_up_at(80);
}

void
webs_down(void)
{
	machine_stop(readme_webs[0]);
	machine_stop(readme_webs[1]);
}

const char *
client_run(int *status, ...)
{
	const char *argv[CHILD_ARGS];
	struct child c;
	va_list ap;
	int n = 0;

	va_start(ap, status);
	while (
	    n < CHILD_ARGS - 1 && (argv[n] = va_arg(ap, const char *)) != NULL)
		n++;
	va_end(ap);
	argv[n] = NULL;
	net_fixture_start(&readme_fixture, NET_FIXTURE_CLIENT, &c, argv);
	child_wait(&c, CURL_MS);
	if (status != NULL)
		*status = c.status;
	else
		ck_assert_msg(c.status == 0, "%s: exit %d: %s", argv[0],
		    c.status, child_err(&c));
	return child_out(&c);
}

const char *
fetch_names(int n, const char *url)
{
	const char *names = "", *page;

	while (n-- > 0) {
		page = fetch(url);
		names = text("%s%.*s ", names, (int)strcspn(page, "\n"), page);
	}
	return names;
}

void
expect_turns(const char *url)
{
	const char *names = fetch_names(4, url);

	ck_assert_msg(strcmp(names, "web1 web2 web1 web2 ") == 0 ||
		strcmp(names, "web2 web1 web2 web1 ") == 0,
	    "in turn: %s", names);
}

/* A server may have answered, and reset, by the time the client looks. */
static int
client_connect(const char *from, const char *to, int port)
{
	int fd = net_fixture_dial_from(
	    &readme_fixture, NET_FIXTURE_CLIENT, SOCK_STREAM, from, to, port);
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	ck_assert_int_eq(poll(&p, 1, 60000), 1);
	return fd;
}

int
client_dial(const char *from, const char *to, int port, const char *says)
{
	int fd = client_connect(from, to, port);

	if (*says != '\0')
		ck_assert_int_eq(send(fd, says, strlen(says), MSG_NOSIGNAL),
		    (int)strlen(says));
	return fd;
}

const char *
client_hears(int fd)
{
	char got[HEAD_MAX];
	ssize_t n;

	WAIT_FOR(net_fixture_is_readable(fd), 20000);
	n = recv(fd, got, sizeof(got) - 1, 0);
	return text("%.*s", n > 0 ? (int)n : 0, got);
}

int
client_try(const char *from, const char *to, int port, const char *says)
{
	int fd = client_connect(from, to, port);
	ssize_t n = (ssize_t)strlen(says);

	if (send(fd, says, (size_t)n, MSG_NOSIGNAL) == n &&
	    *client_hears(fd) != '\0')
		return fd;
	close(fd);
	return -1;
}
