/* corrupt.h: bytes on their way between two ends of TLS, and dice to corrupt
 * them with. A number and its case make the same dice again: what was rolled
 * can be repeated, up to the random bytes that OpenSSL puts in. */
#ifndef PEN_TEST_CORRUPT_H
#define PEN_TEST_CORRUPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes; what does not fit is dropped without a word. */
enum { BYTES_MAX = 256 * 1024 };
struct bytes {
	size_t n;
	unsigned char at[BYTES_MAX];
};

void bytes_add(struct bytes *b, const void *bytes, size_t n);
/* The low `width` bytes of a number, the highest first. */
void bytes_add_number(struct bytes *b, unsigned width, size_t number);
void bytes_fill(struct bytes *b, unsigned char c, size_t n);
/* Replaces `gone` bytes at `where` by `n` others, which are not b's own. */
void bytes_replace(
    struct bytes *b, size_t where, size_t gone, const void *bytes, size_t n);
void bytes_cut(struct bytes *b, size_t n); /* keeps the first n */

struct dice {
	uint64_t seed, rolled;
};

uint64_t dice_roll(struct dice *d);
size_t dice_below(struct dice *d, size_t n); /* n > 0 */
/* Below n, and most of the time far below. */
size_t dice_small(struct dice *d, size_t n);
bool dice_says(struct dice *d, unsigned one_in);
void dice_bytes(struct dice *d, struct bytes *b, size_t n);

enum {
	RECORD_CHANGE_CIPHER = 20,
	RECORD_ALERT,
	RECORD_HANDSHAKE,
	RECORD_DATA,
	RECORD_HEAD = 5,
	RECORD_MAX = 16384
};

void record_add(struct bytes *b, unsigned type, const void *payload, size_t n);
/* The record at `at`: its length with the header, cut at the end of the bytes;
 * 0: there is none. */
size_t record_length(const struct bytes *b, size_t at);
/* How many there are; the place of the `i`th. */
size_t record_count(const struct bytes *b);
size_t record_place(const struct bytes *b, size_t i);

/* Spoils records as they are on the wire, in one way of many. Returns the name
 * of what it did. */
const char *corrupt_records(struct dice *d, struct bytes *b);
/* Spoils the handshake messages in plain records: lengths, types, order. */
const char *corrupt_messages(struct dice *d, struct bytes *b);
/* Bytes of our own: what no client of TLS would send. */
const char *corrupt_make(struct dice *d, struct bytes *b);

#endif
