/* nameserver.c: see nameserver.h. Messages as in RFC 1035, 4.1. */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/nameserver.h"

enum { HEADER = 12, QUESTION_MAX = 300, MESSAGE_MAX = 512, TYPE_A = 1 };
enum { NO_ERROR = 0, SERVFAIL = 2, NXDOMAIN = 3 };

static void
put16(uint8_t *at, unsigned n)
{
	at[0] = (uint8_t)(n >> 8);
	at[1] = (uint8_t)n;
}

/* Reads the question's name as text. Returns where its type stands, 0 for a
 * message that has none. */
static size_t
read_name(const uint8_t *m, size_t n, char text[QUESTION_MAX])
{
	size_t at = HEADER, length = 0;

	while (at < n && m[at] != 0) {
		size_t label = m[at];

		if (at + 1 + label >= n || length + label + 2 > QUESTION_MAX)
			return 0;
		memcpy(text + length, m + at + 1, label);
		length += label;
		text[length++] = '.';
		at += 1 + label;
	}
	text[length > 0 ? length - 1 : 0] = '\0';
	return at + 5 <= n ? at + 1 : 0;
}

static const struct nameserver_name *
find(const struct nameserver *s, const char *name)
{
	int i;

	for (i = 0; i < NAMESERVER_NAMES; i++)
		if (s->names[i].name != NULL &&
		    strcasecmp(s->names[i].name, name) == 0)
			return &s->names[i];
	return NULL;
}

/* Appends an address whose owner is the question's name. */
static size_t
add_record(uint8_t *m, size_t n, const char *address)
{
	put16(m + n, 0xc000 | HEADER);
	put16(m + n + 2, TYPE_A);
	put16(m + n + 4, 1);
	put16(m + n + 6, 0);
	put16(m + n + 8, 1);
	put16(m + n + 10, 4);
	inet_pton(AF_INET, address, m + n + 12);
	return n + 16;
}

/* Makes the question its answer. Returns its length, 0: none. */
static size_t
answer(struct nameserver *s, uint8_t *m, size_t n)
{
	char name[QUESTION_MAX];
	const struct nameserver_name *known;
	size_t type = read_name(m, n, name);
	unsigned code = NO_ERROR;
	int i, count = 0;

	if (type == 0 || s->mode == NAMESERVER_SILENT)
		return 0;
	known = find(s, name);
	n = type + 4;
	if (s->mode == NAMESERVER_FAILS)
		code = SERVFAIL;
	else if (known == NULL)
		code = NXDOMAIN;
	else if (m[type + 1] == TYPE_A)
		count = known->count;
	for (i = 0; i < count; i++)
		n = add_record(m, n, known->address[i]);
	put16(m + 2, 0x8180 | code);
	put16(m + 6, (unsigned)count);
	put16(m + 8, 0);
	put16(m + 10, 0);
	return n;
}

static void *
serve(void *arg)
{
	struct nameserver *s = arg;
	struct sockaddr_in from;
	uint8_t m[MESSAGE_MAX + 64 * NAMESERVER_ADDRESSES];
	ssize_t n;
	size_t size;

	for (;;) {
		socklen_t len = sizeof(from);

		n = recvfrom(s->fd, m, MESSAGE_MAX, 0,
		    (struct sockaddr *)&from, &len);
		if (n <= 0)
			return NULL;
		atomic_fetch_add(&s->questions, 1);
		pthread_mutex_lock(&s->lock);
		size = n > HEADER ? answer(s, m, (size_t)n) : 0;
		pthread_mutex_unlock(&s->lock);
		if (size > 0)
			(void)!sendto(s->fd, m, size, 0,
			    (struct sockaddr *)&from, len);
	}
}

void
nameserver_start(struct nameserver *s)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	socklen_t len = sizeof(in);

	memset(s, 0, sizeof(*s));
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	s->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(s->fd, 0);
	ck_assert_int_eq(bind(s->fd, (struct sockaddr *)&in, sizeof(in)), 0);
	ck_assert_int_eq(
	    getsockname(s->fd, (struct sockaddr *)&in, &len), 0);
	snprintf(s->text, sizeof(s->text), "127.0.0.1:%u",
	    ntohs(in.sin_port));
	pthread_mutex_init(&s->lock, NULL);
	ck_assert_int_eq(pthread_create(&s->thread, NULL, serve, s), 0);
}

void
nameserver_stop(struct nameserver *s)
{
	shutdown(s->fd, SHUT_RDWR);
	pthread_join(s->thread, NULL);
	pthread_mutex_destroy(&s->lock);
	close(s->fd);
}

void
nameserver_set(struct nameserver *s, const char *name, ...)
{
	struct nameserver_name *known = s->names;
	const char *address;
	va_list ap;

	pthread_mutex_lock(&s->lock);
	while (known->name != NULL && strcmp(known->name, name) != 0)
		known++;
	*known = (struct nameserver_name){ .name = name };
	va_start(ap, name);
	while ((address = va_arg(ap, const char *)) != NULL)
		known->address[known->count++] = address;
	va_end(ap);
	pthread_mutex_unlock(&s->lock);
}

void
nameserver_set_mode(struct nameserver *s, enum nameserver_mode mode)
{
	pthread_mutex_lock(&s->lock);
	s->mode = mode;
	pthread_mutex_unlock(&s->lock);
}
