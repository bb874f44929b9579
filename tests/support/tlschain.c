/* tlschain.c: pen started and asked, certificates at hand. */
#include "config.h"

#include <check.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/suite.h"
#include "support/tlschain.h"
#include "support/wait.h"

enum { STATISTICS = 4096 };

void
tls_chain_begin(struct tls_chain *c)
{
	struct cert_wish ca = { .name = "authority", .is_ca = true };

	memset(c, 0, sizeof(*c));
	c->ca = cert_new(&ca);
	c->ca_file = cert_write(c->ca, "ca.pem");
	c->site = tls_chain_cert(
	    c, "site.pem", (struct cert_wish){ .name = "a.test,IP:127.0.0.1" });
	endpoint_new(&c->front, ENDPOINT_TCP4);
	endpoint_new(&c->ctl, ENDPOINT_UNIX);
}

void
tls_chain_end(struct tls_chain *c)
{
	cert_free(c->ca);
}

const char *
tls_chain_cert(const struct tls_chain *c, const char *file, struct cert_wish w)
{
	struct cert *made;
	const char *path;

	if (w.issuer == NULL)
		w.issuer = c->ca;
	made = cert_new(&w);
	path = cert_write_all(made, file);
	cert_free(made);
	return path;
}

void
tls_chain_up(struct tls_chain *c, const char *commands, ...)
{
	const char *argv[CHILD_ARGS] = { "-f", "-r", "-C", c->ctl.text };
	const char *server;
	size_t n = 4, k;
	va_list ap;

	for (; *commands != '\0'; commands += k + (commands[k] == ';')) {
		commands += strspn(commands, " ");
		k = strcspn(commands, ";");
		if (k == 0)
			continue;
		ck_assert_uint_lt(n, CHILD_ARGS - 10);
		argv[n++] = "-O";
		argv[n++] = text("%.*s", (int)k, commands);
	}
	argv[n++] = c->front.text;
	va_start(ap, commands);
	while ((server = va_arg(ap, const char *)) != NULL) {
		ck_assert_uint_lt(n, CHILD_ARGS - 1);
		argv[n++] = server;
	}
	va_end(ap);
	argv[n] = NULL;
	pen_up_words(&c->pen, &c->front, argv);
	WAIT_FOR(endpoint_is_listening(&c->ctl), 5000);
}

void
tls_chain_down(struct tls_chain *c)
{
	pen_down(&c->pen);
}

/* ---- control ---- */

const char *
tls_chain_ask(const struct tls_chain *c, const char *line)
{
	return endpoint_ask(&c->ctl, text("%s\n", line));
}

void
tls_chain_tell(const struct tls_chain *c, const char *line)
{
	const char *answer = tls_chain_ask(c, line);

	ck_assert_msg(*answer == '\0', "%s: %s", line, answer);
}

const char *
tls_chain_connection(const struct tls_chain *c)
{
	const char *all = tls_chain_ask(c, "connections json");
	const char *at = strstr(all, "\"connection\":");

	ck_assert_msg(at != NULL, "%s", all);
	return tls_chain_ask(
	    c, text("connection %ld json", strtol(at + 13, NULL, 10)));
}

/* Keeps nothing, for use while waiting. */
static void
statistics(const struct tls_chain *c, char *to, size_t room)
{
	int fd = endpoint_connect(&c->ctl);
	size_t n = 0;
	ssize_t k;

	endpoint_send(fd, "statistics\n", 11);
	shutdown(fd, SHUT_WR);
	while (n < room - 1 && (k = recv(fd, to + n, room - 1 - n, 0)) > 0)
		n += (size_t)k;
	to[n] = '\0';
	close(fd);
}

/* "NAME 12": 12. */
static long
number_of(const char *all, const char *name)
{
	size_t n = strlen(name);
	const char *at;

	for (at = all; at != NULL; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, name, n) == 0 && at[n] == ' ')
			return strtol(at + n, NULL, 10);
	}
	ck_abort_msg("no %s in %s", name, all);
	return -1;
}

long
tls_chain_count(const struct tls_chain *c, const char *name)
{
	char all[STATISTICS];

	statistics(c, all, sizeof(all));
	return number_of(all, name);
}

void
tls_chain_counts(const struct tls_chain *c, const char *name, long n)
{
	long long end = wait_now_ms() + wait_scaled(10000);
	char all[STATISTICS];

	for (statistics(c, all, sizeof(all)); number_of(all, name) != n;
	     statistics(c, all, sizeof(all))) {
		if (wait_now_ms() > end)
			ck_abort_msg("not %s %ld: %s", name, n, all);
		wait_nap();
	}
}

/* ---- clients ---- */

struct tls_peer *
tls_chain_opens(const struct tls_chain *c, const struct tls_wish *w)
{
	struct tls_peer *p = tls_peer_open(endpoint_connect(&c->front), w);

	ck_assert_msg(p != NULL, "%s", tls_peer_error());
	return p;
}

const char *
tls_chain_refused(const struct tls_chain *c, const struct tls_wish *w)
{
	struct tls_peer *p = tls_peer_open(endpoint_connect(&c->front), w);
	ssize_t n = -1;
	char byte;

	if (p != NULL && tls_peer_write(p, "x", 1))
		n = tls_peer_read(p, &byte, 1);
	ck_assert_msg(n < 0, "not refused: read %d", (int)n);
	tls_peer_close(p);
	return text("%s", tls_peer_error());
}

void
tls_chain_talks(const struct tls_chain *c, const struct tls_wish *w)
{
	struct tls_peer *p = tls_chain_opens(c, w);

	tls_peer_expect_echo(p, "hello");
	ck_assert_msg(tls_peer_half_close(p), "%s", tls_peer_error());
	tls_peer_expect_end(p);
	tls_peer_close(p);
}
