/* corrupt_make.c: what no client of TLS would send. */
#include "config.h"

#include <string.h>

#include "support/corrupt.h"

static void
many_empty(struct dice *d, struct bytes *b)
{
	unsigned type = 20 + (unsigned)dice_below(d, 4);
	size_t n = 1 + dice_below(d, 500);

	while (n-- > 0)
		record_add(b, type, NULL, 0);
}

static void
alerts(struct dice *d, struct bytes *b)
{
	size_t n = dice_says(d, 2) ? 1 : 1 + dice_below(d, 200), k;

	while (n-- > 0) {
		k = dice_says(d, 9) ? 1 : 2;
		bytes_add_number(b, 1, RECORD_ALERT);
		bytes_add_number(b, 2, 0x0303);
		bytes_add_number(b, 2, k);
		bytes_fill(b, dice_says(d, 8) ? 2 : 1, 1);
		if (k == 2)
			bytes_fill(b, (unsigned char)dice_small(d, 256), 1);
	}
}

static void
changes_of_cipher(struct dice *d, struct bytes *b)
{
	size_t n = 1 + dice_below(d, 500);
	unsigned char c = (unsigned char)(dice_says(d, 8) ? dice_roll(d) : 1);

	while (n-- > 0)
		record_add(b, RECORD_CHANGE_CIPHER, &c, 1);
}

static void
too_long(struct dice *d, struct bytes *b)
{
	static const size_t sizes[] = { RECORD_MAX, RECORD_MAX + 1,
		RECORD_MAX + 256, RECORD_MAX + 257, 65535 };
	size_t n = sizes[dice_below(d, 5)];

	bytes_add_number(b, 1, 20 + dice_below(d, 4));
	bytes_add_number(b, 2, 0x0301 + dice_below(d, 3));
	bytes_add_number(b, 2, n);
	bytes_fill(b, (unsigned char)dice_roll(d), n);
}

static void
garbage(struct dice *d, struct bytes *b)
{
	dice_bytes(d, b, 1 + dice_small(d, 70000));
}

/* Data that nobody has a key for. */
static void
data(struct dice *d, struct bytes *b)
{
	size_t n = 1 + dice_small(d, 20), k;

	while (n-- > 0) {
		k = dice_small(d, RECORD_MAX + 256);
		bytes_add_number(b, 1, RECORD_DATA);
		bytes_add_number(b, 2, 0x0303);
		bytes_add_number(b, 2, k);
		dice_bytes(d, b, k);
	}
}

static void
http(struct dice *d, struct bytes *b)
{
	static const char *const texts[] = {
		"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
		"CONNECT a.test:443 HTTP/1.1\r\n\r\n", "POST ", "HEAD / ", "\n",
		"PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n", "SSH-2.0-x\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	};
	const char *s = texts[dice_below(d, 8)];

	bytes_add(b, s, strlen(s));
}

/* A hello of SSL 2 (RFC 6101, E.1), of any length it claims. */
static void
sslv2(struct dice *d, struct bytes *b)
{
	size_t ciphers = 3 * (1 + dice_below(d, 10));
	size_t n = 9 + ciphers + 16;

	bytes_add_number(b, 2, 0x8000 | (dice_says(d, 3) ? dice_roll(d) : n));
	bytes_add_number(b, 1, 1);
	bytes_add_number(b, 2, dice_says(d, 2) ? 0x0002 : 0x0303);
	bytes_add_number(b, 2, dice_says(d, 4) ? dice_roll(d) : ciphers);
	bytes_add_number(b, 2, 0);
	bytes_add_number(b, 2, dice_says(d, 4) ? dice_roll(d) : 16);
	dice_bytes(d, b, ciphers + 16);
}

/* A message that claims up to 16 MiB, and some of it. */
static void
endless_message(struct dice *d, struct bytes *b)
{
	unsigned char part[1024] = { (
	    unsigned char)(dice_says(d, 2) ? 1 : dice_below(d, 30)) };
	size_t n = 1 + dice_below(d, 200);

	part[1] =
	    (unsigned char)(dice_says(d, 2) ? dice_below(d, 4) : dice_roll(d));
	part[2] = 0xff;
	while (n-- > 0) {
		record_add(b, RECORD_HANDSHAKE, part, sizeof(part));
		memset(part, 0, 4);
	}
}

static void
post_handshake(struct dice *d, struct bytes *b)
{
	static const unsigned char says[][6] = { { 24, 0, 0, 1,
						     1 }, /* key update */
		{ 0, 0, 0, 0 },				  /* hello request */
		{ 20, 0, 0, 1, 0 },			  /* finished */
		{ 4, 0, 0, 2, 0, 0 } };
	size_t i = dice_below(d, 4);

	record_add(b, RECORD_HANDSHAKE, says[i], 4 + says[i][3]);
}

static const struct {
	const char *name;
	void (*make)(struct dice *d, struct bytes *b);
} makers[] = {
	{ "empty records", many_empty },
	{ "alerts", alerts },
	{ "changes of cipher", changes_of_cipher },
	{ "too long a record", too_long },
	{ "garbage", garbage },
	{ "data", data },
	{ "another protocol", http },
	{ "SSL 2", sslv2 },
	{ "endless message", endless_message },
	{ "message out of turn", post_handshake },
};

const char *
corrupt_make(struct dice *d, struct bytes *b)
{
	size_t i = dice_below(d, sizeof(makers) / sizeof(makers[0]));

	makers[i].make(d, b);
	return makers[i].name;
}
