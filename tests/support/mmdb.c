/* mmdb.c: see mmdb.h. A tree over the 128 bits of IPv6 addresses, in which IPv4
 * is ::/96, with records of 24 bits. */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/mmdb.h"

enum { COUNTRIES = 26 * 26 };

/* A child: a node's number; 0: nothing; below that, minus a country. */
struct node {
	int child[2];
};

struct mmdb {
	enum mmdb_shape shape;
	struct node *node; /* number 0 is the root */
	uint32_t count, room;
};

static int
add_node(struct mmdb *m, int both)
{
	if (m->count == m->room) {
		m->room = m->room > 0 ? 2 * m->room : 64;
		m->node = realloc(m->node, m->room * sizeof(*m->node));
		ck_assert_ptr_nonnull(m->node);
	}
	m->node[m->count] = (struct node){ { both, both } };
	return (int)m->count++;
}

struct mmdb *
mmdb_new(enum mmdb_shape shape)
{
	struct mmdb *m = calloc(1, sizeof(*m));

	ck_assert_ptr_nonnull(m);
	m->shape = shape;
	add_node(m, 0);
	return m;
}

/* The bits of a network among those of IPv6; returns how many count. */
static unsigned
parse(const char *network, uint8_t ip[16])
{
	char host[64];
	unsigned length;

	ck_assert_int_eq(sscanf(network, "%63[^/]/%u", host, &length), 2);
	memset(ip, 0, 16);
	if (inet_pton(AF_INET, host, ip + 12) == 1)
		return length + 96;
	ck_assert_int_eq(inet_pton(AF_INET6, host, ip), 1);
	return length;
}

void
mmdb_add(struct mmdb *m, const char *network, const char *country)
{
	uint8_t ip[16];
	unsigned bits = parse(network, ip), i;
	int at = 0, bit, next;

	for (i = 0;; i++) {
		bit = ip[i / 8] >> (7 - i % 8) & 1;
		next = m->node[at].child[bit];
		if (i + 1 == bits)
			break;
		if (next <= 0) {
			next = add_node(m, next);
			m->node[at].child[bit] = next;
		}
		at = next;
	}
	m->node[at].child[bit] = country[0] == '\0'
	    ? 0
	    : -1 - (26 * (country[0] - 'A') + country[1] - 'A');
}

/* ---- data ---- */

static void
put(FILE *b, const void *bytes, size_t n)
{
	ck_assert_uint_eq(fwrite(bytes, 1, n, b), n);
}

/* A control byte: a type of 1 to 7 and a size below 29. */
static void
put_type(FILE *b, unsigned type, unsigned size)
{
	unsigned char c = (unsigned char)(type << 5 | size);

	put(b, &c, 1);
}

static void
put_text(FILE *b, const char *text)
{
	put_type(b, 2, (unsigned)strlen(text));
	put(b, text, strlen(text));
}

static void
put_map(FILE *b, unsigned pairs)
{
	put_type(b, 7, pairs);
}

/* A number of `size` bytes: 2, 4 or 8. Types above 7 have a byte of their
 * own. */
static void
put_number(FILE *b, const char *key, uint64_t n, unsigned size)
{
	unsigned char byte;

	put_text(b, key);
	put_type(b, size == 2 ? 5 : size == 4 ? 6 : 0, size);
	if (size == 8)
		put(b, "\2", 1);
	while (size-- > 0) {
		byte = (unsigned char)(n >> 8 * size);
		put(b, &byte, 1);
	}
}

static void
put_country(FILE *b, enum mmdb_shape shape, int number)
{
	const char code[3] = { (char)('A' + number / 26),
		(char)('A' + number % 26), '\0' };

	put_map(b, 1);
	put_text(b,
	    shape == MMDB_CODE	      ? "country_code"
		: shape == MMDB_OTHER ? "organization"
				      : "country");
	if (shape == MMDB_NESTED) {
		put_map(b, 1);
		put_text(b, "iso_code");
	}
	put_text(b, code);
}

/* ---- the file ---- */

static void
put_record(FILE *b, uint32_t n)
{
	unsigned char bytes[3] = { (unsigned char)(n >> 16),
		(unsigned char)(n >> 8), (unsigned char)n };

	put(b, bytes, 3);
}

static void
put_metadata(FILE *b, const struct mmdb *m, uint64_t made)
{
	put(b, "\xab\xcd\xefMaxMind.com", 14);
	put_map(b, 9);
	put_number(b, "node_count", m->count, 4);
	put_number(b, "record_size", 24, 2);
	put_number(b, "ip_version", 6, 2);
	put_text(b, "database_type");
	put_text(b, m->shape == MMDB_OTHER ? "Test-ASN" : "Test-Country");
	put_text(b, "languages");
	put(b, "\0\4", 2);
	put_number(b, "binary_format_major_version", 2, 2);
	put_number(b, "binary_format_minor_version", 0, 2);
	put_number(b, "build_epoch", made, 8);
	put_text(b, "description");
	put_map(b, 0);
}

/* Where each country's data is, which all its networks share. */
static void
put_tree(FILE *b, const struct mmdb *m, const uint32_t *offset)
{
	uint32_t i;
	int side, child;

	for (i = 0; i < m->count; i++)
		for (side = 0; side < 2; side++) {
			child = m->node[i].child[side];
			put_record(b,
			    child > 0	    ? (uint32_t)child
				: child < 0 ? m->count + 16 + offset[-1 - child]
					    : m->count);
		}
}

void
mmdb_write(struct mmdb *m, const char *path, uint64_t made)
{
	static const char gap[16];
	uint32_t offset[COUNTRIES];
	FILE *file = fopen(path, "w"), *data;
	char *text = NULL;
	size_t size = 0;
	int i;

	data = open_memstream(&text, &size);
	ck_assert(file != NULL && data != NULL);
	for (i = 0; i < COUNTRIES; i++) {
		offset[i] = (uint32_t)ftell(data);
		put_country(data, m->shape, i);
	}
	ck_assert_int_eq(fclose(data), 0);
	put_tree(file, m, offset);
	put(file, gap, sizeof(gap));
	put(file, text, size);
	put_metadata(file, m, made);
	ck_assert_int_eq(fclose(file), 0);
	free(text);
	free(m->node);
	free(m);
}
