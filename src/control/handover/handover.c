/* handover.c: records of bytes. */
#include "config.h"

#include <string.h>

#include "base/hash.h"
#include "control/handover/handover.h"

static const char magic[8] = { 'p', 'e', 'n', 's', 't', 'a', 't', 'e' };

/* Lengths of the header, and of what is in front of a payload: length 4, type
 * 2, check 8. */
enum { HEADER = 12, TYPE_AT = 4, CHECK_AT = 6, FRONT = 14, TEXT_MAX = 255 };

/* ---- numbers ---- */

static void
handover_put(unsigned char *to, uint64_t value, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		to[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t
get_big_endian(const unsigned char *from, unsigned n)
{
	uint64_t value = 0;

	while (n-- > 0)
		value = value << 8 | from[n];
	return value;
}

/* A record whose type was damaged must not be taken for another. */
static uint64_t
check_of(unsigned type, const void *payload, size_t n)
{
	return hash_mix(hash_stable(payload, n) ^ type);
}

/* ---- writing ---- */

void
handover_go_on(struct handover_writer *w, struct buffer *out)
{
	*w = (struct handover_writer){ .out = out };
}

void
handover_begin(struct handover_writer *w, struct buffer *out)
{
	handover_go_on(w, out);
	handover_add(w, magic, sizeof(magic));
	handover_add_number(w, HANDOVER_VERSION, 4);
}

void
handover_add(struct handover_writer *w, const void *bytes, size_t n)
{
	if (!w->failed && buffer_append(w->out, bytes, n) < 0)
		w->failed = true;
}

void
handover_add_number(struct handover_writer *w, uint64_t value, unsigned n)
{
	unsigned char bytes[8];

	handover_put(bytes, value, n);
	handover_add(w, bytes, n);
}

void
handover_add_text(struct handover_writer *w, const char *text)
{
	size_t n = strnlen(text, TEXT_MAX);

	handover_add_number(w, n, 1);
	handover_add(w, text, n);
}

void
handover_add_addr(struct handover_writer *w, const struct addr *a)
{
	handover_add_number(w, a->len, 2);
	handover_add(w, &a->u, a->len);
}

void
handover_open(struct handover_writer *w, enum handover_type type)
{
	w->record = buffer_length(w->out);
	handover_add_number(w, 0, 4);
	handover_add_number(w, type, 2);
	handover_add_number(w, 0, 8);
}

/* The length and the check are known now. */
void
handover_close(struct handover_writer *w)
{
	unsigned char *front;
	size_t n;

	if (w->failed)
		return;
	n = buffer_length(w->out) - w->record - FRONT;
	front = (unsigned char *)w->out->data + w->out->start + w->record;
	handover_put(front, n, 4);
	handover_put(front + CHECK_AT,
	    check_of(
		(unsigned)get_big_endian(front + TYPE_AT, 2), front + FRONT, n),
	    8);
}

/* ---- reading ---- */

void
handover_reader_init(struct handover_reader *r)
{
	memset(r, 0, sizeof(*r));
	buffer_init(&r->in);
}

void
handover_reader_go_on(struct handover_reader *r)
{
	handover_reader_init(r);
	r->begun = true;
}

void
handover_reader_fini(struct handover_reader *r)
{
	buffer_fini(&r->in);
}

int
handover_feed(struct handover_reader *r, const void *bytes, size_t n)
{
	if (r->error != NULL || r->ended)
		return r->error != NULL ? -1 : 0;
	if (buffer_append(&r->in, bytes, n) == 0)
		return 0;
	r->error = "out of memory";
	return -1;
}

static const unsigned char *
bytes_of(const struct handover_reader *r)
{
	return (const unsigned char *)buffer_bytes(&r->in);
}

/* Returns whether the header has come and is right. */
static bool
handover_read_header(struct handover_reader *r)
{
	if (r->begun || buffer_length(&r->in) < HEADER)
		return r->begun;
	if (memcmp(bytes_of(r), magic, sizeof(magic)) != 0)
		r->error = "not the state of a pen process";
	else if (get_big_endian(bytes_of(r) + sizeof(magic), 4) !=
	    HANDOVER_VERSION)
		r->error = "a version that this process does not know";
	else
		r->begun = true;
	return r->begun;
}

/* Drops the header, or the record that was returned last: `used` bytes stay
 * valid until now. */
static void
drop_used(struct handover_reader *r)
{
	if (r->used > 0)
		buffer_consume(&r->in, r->used);
	r->used = 0;
}

bool
handover_next(struct handover_reader *r, struct handover_record *record)
{
	const unsigned char *front;
	size_t n;

	if (r->error != NULL || r->ended)
		return false;
	drop_used(r);
	if (!r->begun) {
		if (!handover_read_header(r))
			return false;
		buffer_consume(&r->in, HEADER);
	}
	if (buffer_length(&r->in) < FRONT)
		return false;
	front = bytes_of(r);
	n = (size_t)get_big_endian(front, 4);
	if (n > HANDOVER_PAYLOAD_MAX) {
		r->error = "a record that is too long";
		return false;
	}
	if (buffer_length(&r->in) < FRONT + n)
		return false;
	*record = (struct handover_record){ .at = front + FRONT, .left = n };
	record->type = (unsigned)get_big_endian(front + TYPE_AT, 2);
	if (get_big_endian(front + CHECK_AT, 8) !=
	    check_of(record->type, record->at, n)) {
		r->error = "a record that is damaged";
		return false;
	}
	r->used = FRONT + n;
	r->ended = record->type == HANDOVER_END;
	return !r->ended;
}

void
handover_get(struct handover_record *r, void *bytes, size_t n)
{
	if (n > r->left) {
		memset(bytes, 0, n);
		r->bad = true;
		r->left = 0;
		return;
	}
	memcpy(bytes, r->at, n);
	r->at += n;
	r->left -= n;
}

uint64_t
handover_get_number(struct handover_record *r, unsigned n)
{
	unsigned char bytes[8] = { 0 };

	handover_get(r, bytes, n);
	return get_big_endian(bytes, n);
}

void
handover_get_text(struct handover_record *r, char text[256])
{
	size_t n = (size_t)handover_get_number(r, 1);

	memset(text, 0, 256);
	handover_get(r, text, n);
	if (strlen(text) != n)
		r->bad = true;
}

/* Whether the length is one that an address of its family can have. */
static bool
is_possible(const struct addr *a)
{
	size_t path = offsetof(struct sockaddr_un, sun_path);

	switch (a->u.sa.sa_family) {
	case AF_INET:
		return a->len == sizeof(a->u.in);
	case AF_INET6:
		return a->len == sizeof(a->u.in6);
	case AF_UNIX:
		return a->len > path && a->len <= sizeof(a->u.un);
	}
	return false;
}

void
handover_get_addr(struct handover_record *r, struct addr *a)
{
	size_t n = (size_t)handover_get_number(r, 2);

	memset(a, 0, sizeof(*a));
	if (n < sizeof(a->u.sa.sa_family) || n > sizeof(a->u)) {
		r->bad = true;
		r->left = 0;
		return;
	}
	handover_get(r, &a->u, n);
	a->len = (socklen_t)n;
	if (r->bad || !is_possible(a)) {
		a->len = 0;
		r->bad = true;
	}
}
