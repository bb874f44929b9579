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

enum { HEADER = 12, QUESTION_MAX = 300, MESSAGE_MAX = 512 };
enum { TYPE_A = 1, TYPE_AAAA = 28, TYPE_SRV = 33, RECORD_MAX = 64 };
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

/* Appends the head of a record whose owner is the question's name. */
static size_t
add_head(uint8_t *m, size_t n, unsigned type, unsigned ttl, size_t length)
{
	put16(m + n, 0xc000 | HEADER);
	put16(m + n + 2, type);
	put16(m + n + 4, 1);
	put16(m + n + 6, ttl >> 16);
	put16(m + n + 8, ttl);
	put16(m + n + 10, (unsigned)length);
	return n + 12;
}

static unsigned
type_of(const char *address)
{
	return strchr(address, ':') != NULL ? TYPE_AAAA : TYPE_A;
}

/* Appends the addresses that are of that type. */
static size_t
add_addresses(const struct nameserver_name *known, unsigned type, uint8_t *m,
    size_t n, int *count)
{
	size_t length = type == TYPE_A ? 4 : 16;
	int i;

	for (i = 0; i < known->count; i++) {
		if (type_of(known->address[i]) != type)
			continue;
		n = add_head(m, n, type, known->ttl, length);
		inet_pton(type == TYPE_A ? AF_INET : AF_INET6,
		    known->address[i], m + n);
		n += length;
		++*count;
	}
	return n;
}

/* Writes a name as labels. Returns their length. */
static size_t
put_name(uint8_t *at, const char *name)
{
	size_t n = 0;

	while (*name != '\0') {
		size_t label = strcspn(name, ".");

		at[n] = (uint8_t)label;
		memcpy(at + n + 1, name, label);
		n += 1 + label;
		name += label + (name[label] == '.');
	}
	at[n] = 0;
	return n + 1;
}

static size_t
add_target(
    uint8_t *m, size_t n, const struct nameserver_target *t, unsigned ttl)
{
	uint8_t data[RECORD_MAX];
	size_t length;

	put16(data, (unsigned)t->prio);
	put16(data + 2, (unsigned)t->weight);
	put16(data + 4, (unsigned)t->port);
	length = 6 + put_name(data + 6, t->host);
	n = add_head(m, n, TYPE_SRV, ttl, length);
	memcpy(m + n, data, length);
	return n + length;
}

/* Appends what the name has of that type. Returns the length; *count: of the
 * records. */
static size_t
add_records(const struct nameserver_name *known, unsigned type, uint8_t *m,
    size_t n, int *count)
{
	int i;

	if (type == TYPE_A || type == TYPE_AAAA)
		return add_addresses(known, type, m, n, count);
	*count = type == TYPE_SRV ? known->targets : 0;
	for (i = 0; i < *count; i++)
		n = add_target(m, n, &known->target[i], known->ttl);
	return n;
}

static bool
is_to_fail(const struct nameserver_name *known, unsigned type)
{
	return known->fails != NULL &&
	    ((type == TYPE_A && strcmp(known->fails, "A") == 0) ||
		(type == TYPE_AAAA && strcmp(known->fails, "AAAA") == 0));
}

/* Makes the question its answer. Returns its length, 0: none. */
static size_t
answer(struct nameserver *s, uint8_t *m, size_t n)
{
	char name[QUESTION_MAX];
	const struct nameserver_name *known;
	size_t type = read_name(m, n, name);
	unsigned code = NO_ERROR;
	int count = 0;

	if (type == 0 || s->mode == NAMESERVER_SILENT)
		return 0;
	known = find(s, name);
	n = type + 4;
	if (s->mode == NAMESERVER_FAILS)
		code = SERVFAIL;
	else if (known == NULL)
		code = NXDOMAIN;
	else if (is_to_fail(known, m[type + 1]))
		code = SERVFAIL;
	else
		n = add_records(known, m[type + 1], m, n, &count);
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
	uint8_t m[MESSAGE_MAX + 2 * RECORD_MAX * NAMESERVER_ADDRESSES];
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

/* False when the port is taken. */
static bool
start_at(struct nameserver *s, uint32_t host, uint16_t port)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	socklen_t len = sizeof(in);

	memset(s, 0, sizeof(*s));
	s->ttl = 1;
	in.sin_addr.s_addr = htonl(host);
	in.sin_port = htons(port);
	s->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(s->fd, 0);
	if (bind(s->fd, (struct sockaddr *)&in, sizeof(in)) < 0) {
		close(s->fd);
		return false;
	}
	ck_assert_int_eq(
	    getsockname(s->fd, (struct sockaddr *)&in, &len), 0);
	inet_ntop(AF_INET, &in.sin_addr, s->host, sizeof(s->host));
	snprintf(s->text, sizeof(s->text), "%s:%u", s->host,
	    ntohs(in.sin_port));
	pthread_mutex_init(&s->lock, NULL);
	ck_assert_int_eq(pthread_create(&s->thread, NULL, serve, s), 0);
	return true;
}

void
nameserver_start(struct nameserver *s)
{
	ck_assert(start_at(s, INADDR_LOOPBACK, 0));
}

bool
nameserver_start_usual(struct nameserver *s)
{
	uint32_t first = 0x7f350000u + ((uint32_t)getpid() & 0xffff), i;

	for (i = 0; i < 100; i++)
		if (start_at(s, first + (i << 16), 53))
			return true;
	return false;
}

void
nameserver_stop(struct nameserver *s)
{
	shutdown(s->fd, SHUT_RDWR);
	pthread_join(s->thread, NULL);
	pthread_mutex_destroy(&s->lock);
	close(s->fd);
}

/* The entry of a name, or a new one. */
static struct nameserver_name *
entry(struct nameserver *s, const char *name)
{
	struct nameserver_name *known = s->names;

	while (known->name != NULL && strcmp(known->name, name) != 0)
		known++;
	*known = (struct nameserver_name){ .name = name, .ttl = s->ttl };
	return known;
}

void
nameserver_set_service(struct nameserver *s, const char *name,
    const struct nameserver_target *targets, int count)
{
	struct nameserver_name *known;

	pthread_mutex_lock(&s->lock);
	known = entry(s, name);
	for (; known->targets < count; known->targets++)
		known->target[known->targets] = targets[known->targets];
	pthread_mutex_unlock(&s->lock);
}

void
nameserver_set(struct nameserver *s, const char *name, ...)
{
	struct nameserver_name *known;
	const char *address;
	va_list ap;

	pthread_mutex_lock(&s->lock);
	known = entry(s, name);
	va_start(ap, name);
	while ((address = va_arg(ap, const char *)) != NULL)
		known->address[known->count++] = address;
	va_end(ap);
	pthread_mutex_unlock(&s->lock);
}

void
nameserver_fail(struct nameserver *s, const char *name, const char *family)
{
	int i;

	pthread_mutex_lock(&s->lock);
	for (i = 0; i < NAMESERVER_NAMES && s->names[i].name != NULL; i++)
		if (strcmp(s->names[i].name, name) == 0)
			s->names[i].fails = family;
	pthread_mutex_unlock(&s->lock);
}

void
nameserver_set_mode(struct nameserver *s, enum nameserver_mode mode)
{
	pthread_mutex_lock(&s->lock);
	s->mode = mode;
	pthread_mutex_unlock(&s->lock);
}
