/* test_frame_random.c: frames by dice, good and corrupted: what they are is
 * what their maker knows and what a model says. The seed of a bad one is
 * printed. */
#include "config.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/framegen.h"
#include "support/framemodel.h"
#include "support/suite.h"

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

/* Parses a copy that ends where its memory ends. Of one that is not corrupted
 * the maker knows, too, what it is. */
static void
check(const struct framegen_frame *m, bool corrupted, uint64_t seed,
    const char *way, struct seen *seen)
{
	unsigned char *copy = malloc(m->length == 0 ? 1 : m->length);
	struct frame is, model;
	struct ndp ndp;
	bool ok;

	if (copy == NULL)
		ck_abort_msg("no memory");
	memcpy(copy, m->bytes, m->length);
	frame_parse(&is, copy, m->length);
	framemodel_parse(&model, copy, m->length);
	compare(&is, &model, seed, way);
	if (!corrupted)
		compare(&is, &m->is, seed, way);
	ok = frame_checksum_ok(&is);
	if (ok != framemodel_checksum_ok(&is) ||
	    (!corrupted && ok != m->sum_ok))
		ck_abort_msg("seed %" PRIu64 " (%s): checksum", seed, way);
	(void)frame_read_ndp(&is, &ndp); /* sanitizers watch */
	if (memcmp(copy, m->bytes, m->length) != 0)
		ck_abort_msg("seed %" PRIu64 ": it was changed", seed);
	count(seen, &is);
	free(copy);
}

static void
run(bool corrupt, struct seen *seen)
{
	static struct framegen g = { .anybody = true };
	static struct framegen_frame m;
	uint64_t i;

	memset(seen, 0, sizeof(*seen));
	for (i = 0; i < FRAMES; i++) {
		framegen_seed(&g, i);
		framegen_next(&g, &m);
		check(&m, corrupt, i,
		    corrupt ? framegen_corrupt(&g, &m) : m.what, seen);
	}
}

/* No reader may find one bad that must pass. */
static void
run_for_director(bool v6, struct seen *seen)
{
	static struct framegen g;
	static struct framegen_frame m;
	struct frame f;
	uint64_t i;

	g = (struct framegen){ .v6 = v6, .port = 80 };
	framegen_seed(&g, v6);
	memset(seen, 0, sizeof(*seen));
	for (i = 0; i < FRAMES; i++) {
		framegen_next(&g, &m);
		check(&m, true, i, m.what, seen);
		framemodel_parse(&f, m.bytes, m.length);
		if (m.passes && f.kind < FRAME_FLOW)
			ck_abort_msg("frame %" PRIu64 ", %s, is bad: %s", i,
			    m.what, f.wrong);
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

START_TEST(frames_for_a_director)
{
	struct seen seen;

	run_for_director(_i, &seen);
	ck_assert_uint_gt(seen.kind[FRAME_BAD], FRAMES / 8);
	ck_assert_uint_gt(seen.kind[FRAME_FLOW], FRAMES / 8);
}
END_TEST

START_TEST(corrupted_frames)
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
	TCase *c = tcase_create("frames_for_a_director");

	SUITE_ADD(s, good_frames, 60);
	SUITE_ADD(s, corrupted_frames, 60);
	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, frames_for_a_director, 0, 2);
	suite_add_tcase(s, c);
	return s;
}
