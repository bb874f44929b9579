/* test_frame_random.c: frames by dice, good and spoiled: what they are is what
 * their maker knows and what a model says. The seed of a bad one is printed. */
#include "config.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/suite.h"
#include "unit/dsr/model.h"

enum { FRAMES = 10000, KINDS = FRAME_ICMP + 1 };

static const char *const words[] = { "short", "arp", "header", "length",
	"checksum", "address", "routing", "fragment", "transport", "quote",
	"hops" };
enum { WORDS = sizeof(words) / sizeof(*words) };

struct seen {
	unsigned kind[KINDS], word[WORDS];
};

static void
count(struct seen *seen, const struct frame *f)
{
	size_t i;

	seen->kind[f->kind]++;
	for (i = 0; f->kind == FRAME_BAD && i < WORDS; i++)
		seen->word[i] += strcmp(words[i], f->wrong) == 0;
}

static bool
same(const struct frame *a, const struct frame *b)
{
	if (a->kind != b->kind || (a->wrong == NULL) != (b->wrong == NULL))
		return false;
	if (a->kind == FRAME_BAD)
		return strcmp(a->wrong, b->wrong) == 0;
	return a->vlan == b->vlan && a->net == b->net &&
	    a->transport == b->transport && a->packet == b->packet &&
	    a->family == b->family && a->protocol == b->protocol &&
	    a->tcp_flags == b->tcp_flags &&
	    a->first_fragment == b->first_fragment &&
	    a->fragment_id == b->fragment_id &&
	    memcmp(&a->from, &b->from, sizeof(a->from)) == 0 &&
	    memcmp(&a->to, &b->to, sizeof(a->to)) == 0;
}

static const char *
words_of(const struct frame *f, char *text, size_t n)
{
	snprintf(text, n,
	    "kind %d %s vlan %u net %u transport %u packet %u family %u "
	    "protocol %u flags %u first %d id %u ports %u %u",
	    (int)f->kind, f->wrong == NULL ? "" : f->wrong, f->vlan, f->net,
	    f->transport, (unsigned)f->packet, f->family, f->protocol,
	    f->tcp_flags, f->first_fragment, (unsigned)f->fragment_id,
	    f->from.port, f->to.port);
	return text;
}

static void
compare(const struct frame *is, const struct frame *want, uint64_t seed,
    const char *way)
{
	char a[300], b[300];

	if (!same(is, want))
		ck_abort_msg("seed %" PRIu64 " (%s):\n  %s\nnot\n  %s", seed,
		    way, words_of(is, a, sizeof(a)),
		    words_of(want, b, sizeof(b)));
}

/* Parses a copy that ends where its memory ends. */
static void
look(const struct made *m, const struct frame *want, uint64_t seed,
    const char *way, struct seen *seen)
{
	unsigned char *copy = malloc(m->n == 0 ? 1 : m->n);
	struct frame is, model;
	struct ndp ndp;
	bool ok;

	if (copy == NULL)
		ck_abort_msg("no memory");
	memcpy(copy, m->bytes, m->n);
	frame_parse(&is, copy, m->n);
	model_parse(&model, copy, m->n);
	compare(&is, &model, seed, way);
	if (want != NULL)
		compare(&is, want, seed, "as made");
	ok = frame_checksum_ok(&is);
	if (ok != model_checksum_ok(&is) || (want != NULL && ok != m->sum_ok))
		ck_abort_msg("seed %" PRIu64 " (%s): checksum", seed, way);
	(void)frame_read_ndp(&is, &ndp); /* sanitizers watch */
	if (memcmp(copy, m->bytes, m->n) != 0)
		ck_abort_msg("seed %" PRIu64 ": it was changed", seed);
	count(seen, &is);
	free(copy);
}

/* Where the transport begins only the model knows. */
static void
complete(struct made *m)
{
	struct frame f;

	model_parse(&f, m->bytes, m->n);
	m->is.net = (uint16_t)m->net;
	m->is.transport = f.transport;
}

static void
run(bool spoil, struct seen *seen)
{
	static struct made m;
	int i;

	memset(seen, 0, sizeof(*seen));
	for (i = 0; i < FRAMES; i++) {
		uint64_t seed = (uint64_t)i;
		const char *way = "good";

		made_frame(&m, &seed);
		complete(&m);
		if (m.is.kind == FRAME_ARP)
			m.sum_ok = false;
		if (spoil)
			way = made_spoil(&m, &seed);
		look(&m, spoil ? NULL : &m.is, (uint64_t)i, way, seen);
	}
}

START_TEST(good_frames)
{
	struct seen seen;
	int i;

	run(false, &seen);
	ck_assert_uint_eq(seen.kind[FRAME_BAD] + seen.kind[FRAME_OTHER], 0);
	for (i = FRAME_ARP; i < KINDS; i++)
		ck_assert_msg(
		    seen.kind[i] > 20, "kind %d: %u", i, seen.kind[i]);
}
END_TEST

START_TEST(spoiled_frames)
{
	struct seen seen;
	size_t i;

	run(true, &seen);
	for (i = 0; i < KINDS; i++)
		ck_assert_msg(
		    seen.kind[i] > 20, "kind %zu: %u", i, seen.kind[i]);
	for (i = 0; i < WORDS; i++)
		ck_assert_msg(seen.word[i] > 0, "never %s", words[i]);
}
END_TEST

SUITE(test_frame_random)
{
	Suite *s = suite_create("frame_random");

	SUITE_ADD(s, good_frames, 60);
	SUITE_ADD(s, spoiled_frames, 60);
	return s;
}
