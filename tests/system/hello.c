/* hello.c: extensions doubled, removed, swollen; lengths that lie. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "system/hello.h"

/* ---- apart ---- */

struct cursor {
	const unsigned char *at;
	size_t left;
};

static size_t
take_number(struct cursor *c, unsigned width)
{
	size_t x = 0;

	for (; width > 0 && c->left > 0; width--, c->left--)
		x = x << 8 | *c->at++;
	return x;
}

static void
set_part(struct hello_part *p, const void *bytes, size_t n)
{
	unsigned char *copy = malloc(n + 1);

	if (copy == NULL)
		abort();
	if (n > 0)
		memcpy(copy, bytes, n);
	free(p->at);
	p->at = copy;
	p->n = n;
}

static void
take_part(struct cursor *c, unsigned width, struct hello_part *p)
{
	size_t n = take_number(c, width);

	if (n > c->left)
		n = c->left;
	set_part(p, c->at, n);
	c->at += n;
	c->left -= n;
}

bool
hello_parse(struct hello *h, const struct bytes *wire)
{
	size_t n = record_length(wire, 0);
	struct cursor c = { wire->at + RECORD_HEAD + 4, n - RECORD_HEAD - 4 };

	memset(h, 0, sizeof(*h));
	if (n < 60 || wire->at[0] != RECORD_HANDSHAKE ||
	    wire->at[RECORD_HEAD] != 1)
		return false;
	h->version = take_number(&c, 2);
	memcpy(h->random, c.at, sizeof(h->random));
	c.at += sizeof(h->random);
	c.left -= sizeof(h->random);
	take_part(&c, 1, &h->session);
	take_part(&c, 2, &h->ciphers);
	take_part(&c, 1, &h->compression);
	(void)take_number(&c, 2);
	while (c.left > 0 && h->extensions < HELLO_EXTENSIONS) {
		struct hello_part *x = &h->extension[h->extensions++];

		x->type = take_number(&c, 2);
		take_part(&c, 2, x);
	}
	return h->extensions > 0;
}

void
hello_free(struct hello *h)
{
	free(h->session.at);
	free(h->ciphers.at);
	free(h->compression.at);
	while (h->extensions > 0)
		free(h->extension[--h->extensions].at);
}

/* ---- together ---- */

static void
put_length(struct hello *h, struct bytes *b, unsigned width, size_t n)
{
	if (++h->lengths == h->lie)
		n += h->lie_by;
	bytes_add_number(b, width, n);
}

static void
put_part(struct hello *h, struct bytes *b, unsigned width,
    const struct hello_part *p)
{
	put_length(h, b, width, p->n);
	bytes_add(b, p->at, p->n);
}

static size_t
extensions_length(const struct hello *h)
{
	size_t i, n = 0;

	for (i = 0; i < h->extensions; i++)
		n += 4 + h->extension[i].n;
	return n;
}

static void
build_message(struct hello *h, struct bytes *b)
{
	size_t n = extensions_length(h), i;

	h->lengths = 0;
	bytes_add_number(b, 1, 1);
	put_length(h, b, 3,
	    2 + sizeof(h->random) + 1 + h->session.n + 2 + h->ciphers.n + 1 +
		h->compression.n + 2 + n);
	bytes_add_number(b, 2, h->version);
	bytes_add(b, h->random, sizeof(h->random));
	put_part(h, b, 1, &h->session);
	put_part(h, b, 2, &h->ciphers);
	put_part(h, b, 1, &h->compression);
	put_length(h, b, 2, n);
	for (i = 0; i < h->extensions; i++) {
		bytes_add_number(b, 2, h->extension[i].type);
		put_part(h, b, 2, &h->extension[i]);
	}
}

void
hello_build(struct hello *h, struct bytes *wire)
{
	struct bytes *message = calloc(1, sizeof(*message));
	size_t at, n;

	if (message == NULL)
		abort();
	build_message(h, message);
	for (at = 0; at < message->n; at += n) {
		n = message->n - at;
		if (n > RECORD_MAX)
			n = RECORD_MAX;
		record_add(wire, RECORD_HANDSHAKE, message->at + at, n);
	}
	free(message);
}

/* ---- corrupting ---- */

static struct hello_part *
find(struct hello *h, size_t type)
{
	size_t i;

	for (i = 0; i < h->extensions; i++)
		if (h->extension[i].type == type)
			return &h->extension[i];
	return NULL;
}

/* At a place of its own, or where the dice say. NULL: no room. */
static struct hello_part *
add_extension(struct dice *d, struct hello *h, size_t type)
{
	size_t at = dice_below(d, h->extensions + 1);

	if (h->extensions == HELLO_EXTENSIONS)
		return NULL;
	memmove(&h->extension[at + 1], &h->extension[at],
	    (h->extensions - at) * sizeof(h->extension[0]));
	h->extensions++;
	h->extension[at] = (struct hello_part){ .type = type };
	set_part(&h->extension[at], NULL, 0);
	return &h->extension[at];
}

/* The one of that type, made when there is none. */
static struct hello_part *
want(struct dice *d, struct hello *h, size_t type)
{
	struct hello_part *x = find(h, type);

	return x != NULL ? x : add_extension(d, h, type);
}

static struct hello_part *
any_part(struct dice *d, struct hello *h)
{
	size_t i = dice_below(d, h->extensions + 3);

	return i < h->extensions     ? &h->extension[i]
	    : i == h->extensions     ? &h->session
	    : i == h->extensions + 1 ? &h->ciphers
				     : &h->compression;
}

static void
lie(struct dice *d, struct hello *h)
{
	static const size_t by[] = { 1, 2, 255, 256, 65535, 16384 };

	h->lie = 1 + (unsigned)dice_below(d, 5 + h->extensions);
	h->lie_by = by[dice_below(d, 6)];
	if (dice_says(d, 2))
		h->lie_by = 0 - h->lie_by;
}

static void
double_one(struct dice *d, struct hello *h)
{
	struct hello_part copy, *x;

	if (h->extensions == 0)
		return;
	copy = h->extension[dice_below(d, h->extensions)];
	/* its bytes stay where they are while others move */
	x = add_extension(d, h, copy.type);
	if (x != NULL)
		set_part(x, copy.at, copy.n);
}

static void
remove_one(struct dice *d, struct hello *h)
{
	size_t at;

	if (h->extensions == 0)
		return;
	at = dice_below(d, h->extensions);
	free(h->extension[at].at);
	memmove(&h->extension[at], &h->extension[at + 1],
	    (--h->extensions - at) * sizeof(h->extension[0]));
}

static void
swell(struct dice *d, struct hello *h)
{
	struct hello_part *x = any_part(d, h);
	size_t most = x == &h->session || x == &h->compression ? 255 : 60000;
	size_t n = x->n + 1 + dice_small(d, most);
	unsigned char *more = calloc(1, n + 1);

	if (more == NULL)
		abort();
	memcpy(more, x->at, x->n);
	memset(more + x->n, (int)dice_below(d, 256), n - x->n);
	set_part(x, more, n);
	free(more);
}

static void
shrink(struct dice *d, struct hello *h)
{
	struct hello_part *x = any_part(d, h);

	x->n = x->n > 0 ? dice_below(d, x->n) : 0;
}

static void
shuffle(struct dice *d, struct hello *h)
{
	size_t i, k;
	struct hello_part x;

	for (i = h->extensions; i > 1; i--) {
		k = dice_below(d, i);
		x = h->extension[i - 1];
		h->extension[i - 1] = h->extension[k];
		h->extension[k] = x;
	}
}

static void
flip(struct dice *d, struct hello *h)
{
	struct hello_part *x = any_part(d, h);
	size_t k = 1 + dice_small(d, 8);

	while (k-- > 0 && x->n > 0)
		x->at[dice_below(d, x->n)] ^=
		    (unsigned char)(1u << dice_below(d, 8));
}

/* A list of names (RFC 6066, 3), right but for what it says. */
static void
name(struct dice *d, struct hello *h)
{
	static const size_t sizes[] = { 0, 1, 63, 64, 253, 254, 255, 256, 1023,
		16384, 60000 };
	static const char letters[] = "a.*-_/\\\"\0%\xff\n";
	struct hello_part *x = want(d, h, EXTENSION_NAME);
	struct bytes *b = calloc(1, sizeof(*b));
	size_t n = sizes[dice_below(d, 11)], i;

	if (b == NULL)
		abort();
	bytes_add_number(b, 2, n + 3);
	bytes_add_number(b, 1, dice_says(d, 8));
	bytes_add_number(b, 2, n);
	for (i = 0; i < n; i++)
		bytes_add(b, letters + dice_small(d, sizeof(letters) - 1), 1);
	if (x != NULL)
		set_part(x, b->at, b->n);
	free(b);
}

static void
alpn(struct dice *d, struct hello *h)
{
	struct hello_part *x = want(d, h, EXTENSION_ALPN);
	struct bytes *b = calloc(1, sizeof(*b));
	size_t lists[] = { 0, 1, 2, 3, 255, 3000 };
	size_t n = lists[dice_below(d, 6)], i;
	/* empty names, long ones, names of nothing */
	unsigned char one = (unsigned char)dice_small(d, 256);

	if (b == NULL)
		abort();
	bytes_add_number(b, 2, n + (dice_says(d, 4) ? dice_below(d, 4) : 0));
	for (i = 0; i < n; i++)
		bytes_fill(b, dice_says(d, 4) ? 0 : one, 1);
	if (x != NULL)
		set_part(x, b->at, b->n);
	free(b);
}

/* Early data without a ticket, or before anything. */
static void
early_data(struct dice *d, struct hello *h)
{
	(void)want(d, h, EXTENSION_EARLY_DATA);
}

static void
key_shares(struct dice *d, struct hello *h)
{
	static const size_t groups[] = { 23, 24, 25, 29, 30, 256, 0x2a2a, 0 };
	struct hello_part *x = want(d, h, EXTENSION_KEY_SHARE);
	struct bytes *b = calloc(1, sizeof(*b));
	struct bytes *list = calloc(1, sizeof(*list));
	size_t n = dice_small(d, 40), k;

	if (b == NULL || list == NULL)
		abort();
	while (n-- > 0) {
		bytes_add_number(list, 2, groups[dice_below(d, 8)]);
		k = dice_says(d, 2) ? 32 : dice_small(d, 300);
		bytes_add_number(list, 2, k);
		dice_bytes(d, list, k);
	}
	bytes_add_number(b, 2, list->n);
	bytes_add(b, list->at, list->n);
	if (x != NULL)
		set_part(x, b->at, b->n);
	free(b);
	free(list);
}

static void
versions(struct dice *d, struct hello *h)
{
	struct hello_part *x = want(d, h, EXTENSION_VERSIONS);
	unsigned char list[256];
	size_t n = dice_small(d, 255), i;

	for (i = 1; i <= n; i++)
		list[i] = (unsigned char)(i % 2 == 1 ? 3 : dice_below(d, 6));
	list[0] = (unsigned char)n;
	if (x != NULL)
		set_part(x, list, n + 1);
	if (dice_says(d, 2))
		h->version = dice_below(d, 65536);
}

static void
unknown(struct dice *d, struct hello *h)
{
	size_t n = 1 + dice_below(d, HELLO_EXTENSIONS);

	while (n-- > 0)
		(void)add_extension(d, h, dice_below(d, 65536));
}

static const struct {
	const char *name;
	void (*corrupt)(struct dice *d, struct hello *h);
} ways[] = {
	{ "hello length", lie },
	{ "extension doubled", double_one },
	{ "extension removed", remove_one },
	{ "part swollen", swell },
	{ "part shrunk", shrink },
	{ "extensions shuffled", shuffle },
	{ "part flipped", flip },
	{ "name", name },
	{ "ALPN", alpn },
	{ "early data", early_data },
	{ "key shares", key_shares },
	{ "versions", versions },
	{ "unknown extensions", unknown },
};

const char *
hello_corrupt(struct dice *d, struct hello *h)
{
	size_t i = dice_below(d, sizeof(ways) / sizeof(ways[0]));

	ways[i].corrupt(d, h);
	return ways[i].name;
}
