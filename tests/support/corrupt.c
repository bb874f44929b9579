/* corrupt.c: records doubled, cut, split, lengthened, and worse. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "support/pattern.h"
#include "support/corrupt.h"

/* ---- bytes ---- */

void
bytes_add(struct bytes *b, const void *bytes, size_t n)
{
	if (n > BYTES_MAX - b->n)
		n = BYTES_MAX - b->n;
	if (n > 0)
		memcpy(b->at + b->n, bytes, n);
	b->n += n;
}

void
bytes_add_number(struct bytes *b, unsigned width, size_t number)
{
	unsigned char c;

	while (width-- > 0) {
		c = (unsigned char)(number >> 8 * width);
		bytes_add(b, &c, 1);
	}
}

void
bytes_fill(struct bytes *b, unsigned char c, size_t n)
{
	if (n > BYTES_MAX - b->n)
		n = BYTES_MAX - b->n;
	memset(b->at + b->n, c, n);
	b->n += n;
}

void
bytes_cut(struct bytes *b, size_t n)
{
	if (n < b->n)
		b->n = n;
}

void
bytes_replace(
    struct bytes *b, size_t where, size_t gone, const void *bytes, size_t n)
{
	size_t after = b->n - where - gone;

	if (n > BYTES_MAX - where)
		n = BYTES_MAX - where;
	if (after > BYTES_MAX - where - n)
		after = BYTES_MAX - where - n;
	memmove(b->at + where + n, b->at + where + gone, after);
	if (n > 0)
		memcpy(b->at + where, bytes, n);
	b->n = where + n + after;
}

/* ---- dice ---- */

uint64_t
dice_roll(struct dice *d)
{
	return pattern_mix(d->seed + pattern_mix(++d->rolled));
}

size_t
dice_below(struct dice *d, size_t n)
{
	return (size_t)(dice_roll(d) % n);
}

size_t
dice_small(struct dice *d, size_t n)
{
	size_t most = dice_below(d, n) + 1;

	return dice_below(d, dice_below(d, most) + 1);
}

bool
dice_says(struct dice *d, unsigned one_in)
{
	return dice_below(d, one_in) == 0;
}

void
dice_bytes(struct dice *d, struct bytes *b, size_t n)
{
	uint64_t x;

	for (; n > 0; n -= n < sizeof(x) ? n : sizeof(x)) {
		x = dice_roll(d);
		bytes_add(b, &x, n < sizeof(x) ? n : sizeof(x));
	}
}

/* ---- records ---- */

void
record_add(struct bytes *b, unsigned type, const void *payload, size_t n)
{
	bytes_add_number(b, 1, type);
	bytes_add_number(b, 2, 0x0303);
	bytes_add_number(b, 2, n);
	bytes_add(b, payload, n);
}

size_t
record_length(const struct bytes *b, size_t at)
{
	size_t n;

	if (at >= b->n)
		return 0;
	if (b->n - at < RECORD_HEAD)
		return b->n - at;
	n = RECORD_HEAD + ((size_t)b->at[at + 3] << 8 | b->at[at + 4]);
	return n < b->n - at ? n : b->n - at;
}

size_t
record_count(const struct bytes *b)
{
	size_t at, k, n = 0;

	for (at = 0; (k = record_length(b, at)) > 0; at += k)
		n++;
	return n;
}

size_t
record_place(const struct bytes *b, size_t i)
{
	size_t at = 0;

	while (i-- > 0)
		at += record_length(b, at);
	return at;
}

/* ---- corrupting records ---- */

/* The one that is corrupted; `n` its length. */
static size_t
any_record(struct dice *d, const struct bytes *b, size_t *n)
{
	size_t count = record_count(b);
	size_t at = count > 0 ? record_place(b, dice_below(d, count)) : 0;

	*n = record_length(b, at);
	return at;
}

static void
flip(struct dice *d, struct bytes *b)
{
	size_t k = 1 + dice_small(d, 16);

	while (k-- > 0 && b->n > 0)
		b->at[dice_below(d, b->n)] ^=
		    (unsigned char)(1u << dice_below(d, 8));
}

/* In the header, behind it, in the handshake's header, anywhere, at the end. */
static void
truncate_some(struct dice *d, struct bytes *b)
{
	static const size_t most[] = { RECORD_HEAD + 1, 12, 60 };
	size_t class = dice_below(d, 5);

	if (class < 3)
		bytes_cut(b, dice_below(d, most[class]));
	else if (class == 3)
		bytes_cut(b, dice_below(d, b->n + 1));
	else
		bytes_cut(b, b->n - (b->n > 3 ? 1 + dice_below(d, 3) : 0));
}

static void
set_length(struct bytes *b, size_t at, size_t length)
{
	if (b->n - at < RECORD_HEAD)
		return;
	b->at[at + 3] = (unsigned char)(length >> 8);
	b->at[at + 4] = (unsigned char)length;
}

static void
change_length(struct dice *d, struct bytes *b)
{
	static const size_t sizes[] = { 0, 1, 2, RECORD_MAX, RECORD_MAX + 1,
		RECORD_MAX + 256, RECORD_MAX + 257, 65535 };
	size_t n, at = any_record(d, b, &n);

	if (n < RECORD_HEAD)
		return;
	if (dice_says(d, 2))
		set_length(b, at, sizes[dice_below(d, 8)]);
	else
		set_length(b, at, n - RECORD_HEAD - 8 + dice_below(d, 17));
}

static void
change_head(struct dice *d, struct bytes *b)
{
	size_t n, at = any_record(d, b, &n);

	if (n < RECORD_HEAD)
		return;
	if (dice_says(d, 2))
		b->at[at] =
		    (unsigned char)(dice_says(d, 2) ? 20 + dice_below(d, 5)
						    : dice_roll(d));
	else
		b->at[at + 1 + dice_below(d, 2)] = (unsigned char)dice_roll(d);
}

/* Into records of one byte, or a few. */
static void
split(struct dice *d, struct bytes *b)
{
	struct bytes *made = calloc(1, sizeof(*made));
	size_t n, at = any_record(d, b, &n), k, one;

	if (made == NULL)
		abort();
	one = dice_says(d, 2) ? 1 : 1 + dice_below(d, 64);
	for (k = RECORD_HEAD; k < n; k += one)
		record_add(
		    made, b->at[at], b->at + at + k, n - k < one ? n - k : one);
	bytes_replace(b, at, n, made->at, made->n);
	free(made);
}

static void
join(struct dice *d, struct bytes *b)
{
	size_t n, at = any_record(d, b, &n);
	size_t next = record_length(b, at + n);

	if (n < RECORD_HEAD || next < RECORD_HEAD)
		return;
	bytes_replace(b, at + n, RECORD_HEAD, NULL, 0);
	set_length(b, at, n + next - (size_t)2 * RECORD_HEAD);
}

static void
double_one(struct dice *d, struct bytes *b)
{
	size_t n, at = any_record(d, b, &n), times = 1 + dice_small(d, 8);
	unsigned char copy[RECORD_MAX];

	if (n > sizeof(copy))
		return;
	memcpy(copy, b->at + at, n);
	while (times-- > 0)
		bytes_replace(b, at, 0, copy, n);
}

static void
remove_one(struct dice *d, struct bytes *b)
{
	size_t n, at = any_record(d, b, &n);

	bytes_replace(b, at, n, NULL, 0);
}

static void
swap(struct dice *d, struct bytes *b)
{
	size_t n, at = any_record(d, b, &n);
	unsigned char copy[RECORD_MAX];
	size_t next = record_length(b, at + n);

	if (n > sizeof(copy))
		return;
	memcpy(copy, b->at + at, n);
	bytes_replace(b, at + n + next, 0, copy, n);
	bytes_replace(b, at, n, NULL, 0);
}

/* Between two records, before the first, after the last: empty ones by the
 * hundred, alerts, changes of the cipher, too long ones, garbage. */
static void
insert(struct dice *d, struct bytes *b)
{
	struct bytes *made = calloc(1, sizeof(*made));
	size_t count = record_count(b);

	if (made == NULL)
		abort();
	(void)corrupt_make(d, made);
	bytes_replace(
	    b, record_place(b, dice_below(d, count + 1)), 0, made->at, made->n);
	free(made);
}

static const struct {
	const char *name;
	void (*corrupt)(struct dice *d, struct bytes *b);
} of_records[] = {
	{ "bits flipped", flip },
	{ "cut", truncate_some },
	{ "record length", change_length },
	{ "record type or version", change_head },
	{ "record split", split },
	{ "records joined", join },
	{ "record doubled", double_one },
	{ "record removed", remove_one },
	{ "records swapped", swap },
	{ "record inserted", insert },
};

const char *
corrupt_records(struct dice *d, struct bytes *b)
{
	size_t i = dice_below(d, sizeof(of_records) / sizeof(of_records[0]));

	of_records[i].corrupt(d, b);
	return of_records[i].name;
}

/* ---- corrupting handshake messages ---- */

enum { MESSAGE_HEAD = 4, MESSAGES_MAX = 32 };

/* The places of whole messages in plain records. */
static size_t
messages(const struct bytes *b, size_t place[MESSAGES_MAX],
    size_t length[MESSAGES_MAX])
{
	size_t at, n, k, m, count = 0;

	for (at = 0; (n = record_length(b, at)) > 0; at += n) {
		if (b->at[at] != RECORD_HANDSHAKE)
			continue;
		for (k = at + RECORD_HEAD;
		     k + MESSAGE_HEAD <= at + n && count < MESSAGES_MAX;
		     k += m) {
			m = MESSAGE_HEAD +
			    ((size_t)b->at[k + 1] << 16 |
				(size_t)b->at[k + 2] << 8 | b->at[k + 3]);
			if (m > at + n - k)
				break;
			place[count] = k;
			length[count++] = m;
		}
	}
	return count;
}

/* The same message, once more, in a record of its own at the end. */
static void
repeat_message(struct bytes *b, size_t place, size_t n)
{
	unsigned char copy[RECORD_MAX];

	if (n > sizeof(copy))
		return;
	memcpy(copy, b->at + place, n);
	record_add(b, RECORD_HANDSHAKE, copy, n);
}

const char *
corrupt_messages(struct dice *d, struct bytes *b)
{
	size_t place[MESSAGES_MAX], length[MESSAGES_MAX], at, n, i, k;
	size_t count = messages(b, place, length);

	if (count == 0)
		return corrupt_records(d, b);
	i = dice_below(d, count);
	at = place[i];
	n = length[i];
	switch (dice_below(d, 5)) {
	case 0:
		b->at[at + 1 + dice_below(d, 3)] += (unsigned char)(1 +
		    (dice_says(d, 2) ? 254 : dice_below(d, 255)));
		return "message length";
	case 1:
		b->at[at] = (unsigned char)dice_below(d, 30);
		return "message type";
	case 2:
		repeat_message(b, at, n);
		return "message repeated";
	case 3:
		/* a length inside is wrong, most likely */
		if (n > MESSAGE_HEAD)
			b->at[at + MESSAGE_HEAD +
			    dice_small(d, n - MESSAGE_HEAD)] =
			    (unsigned char)dice_roll(d);
		return "message byte";
	default:
		for (k = 0; k < 8 && n > MESSAGE_HEAD; k++)
			b->at[at + MESSAGE_HEAD +
			    dice_below(d, n - MESSAGE_HEAD)] ^=
			    (unsigned char)(1u << dice_below(d, 8));
		return "message bits";
	}
}
