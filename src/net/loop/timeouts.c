/* timeouts.c: the timing wheel. A slot whose things were all cancelled stays in
 * use, and the timer as it is: that costs one idle wake-up instead of a change
 * per thing. */
#include "config.h"

#include "base/list.h"
#include "net/loop/timeouts.h"

enum { DIGIT = TIMEOUTS_SLOTS - 1 };

static unsigned
lowest_bit(uint64_t bits)
{
	return (unsigned)__builtin_ctzll(bits);
}

/* ---- chains ---- */

/* Takes the first expiry off its chain. The write to the one after it also
 * loads that into the cache before its turn. */
static void
chain_out(struct expiry *x)
{
	*x->from = x->next;
	if (x->next != NULL)
		x->next->from = x->from;
	x->from = NULL;
}

/* Takes one thing out of the open slot; NULL: none is left. */
static struct expiry *
timeouts_take_one(struct timeouts *t)
{
	struct expiry *x;
	unsigned i;

	for (i = 0; i < TIMEOUTS_CHAINS; i++) {
		x = t->open.chain[t->out++ % TIMEOUTS_CHAINS];
		if (x != NULL) {
			chain_out(x);
			return x;
		}
	}
	return NULL;
}

/* ---- slots ---- */

/* When a slot begins: its time has the wheel's digits above its own. */
static uint64_t
slot_start(const struct timeouts *t, unsigned level, unsigned slot)
{
	unsigned shift = level * TIMEOUTS_BITS;

	return (((t->at >> shift) & ~(uint64_t)DIGIT) | slot) << shift;
}

static struct timeouts_slot *
use_slot(struct timeouts *t, unsigned level, unsigned slot)
{
	struct timeouts_slot *s = &t->slot[level][slot];
	uint64_t bit = UINT64_C(1) << slot;

	if (!(t->used[level] & bit)) {
		*s = (struct timeouts_slot){ { NULL } };
		t->used[level] |= bit;
		t->levels |= 1u << level;
	}
	return s;
}

/* Links a thing into its slot. An overdue thing goes into the slot of now; one
 * that is due later than the wheel reaches goes into the last slot. Returns
 * when the slot begins. */
static uint64_t
timeouts_insert(struct timeouts *t, struct expiry *x)
{
	uint64_t due = x->due > t->at ? x->due : t->at;
	struct expiry **chain;
	unsigned level, slot;

	level = (63u - (unsigned)__builtin_clzll((due ^ t->at) | 1)) /
	    TIMEOUTS_BITS;
	if (level < TIMEOUTS_LEVELS) {
		slot = (unsigned)(due >> (level * TIMEOUTS_BITS)) & DIGIT;
	} else {
		level = TIMEOUTS_LEVELS - 1;
		slot = DIGIT;
	}
	chain = &use_slot(t, level, slot)->chain[t->in++ % TIMEOUTS_CHAINS];
	x->next = *chain;
	x->from = chain;
	if (x->next != NULL)
		x->next->from = &x->next;
	*chain = x;
	return slot_start(t, level, slot);
}

/* Moves the things of a slot to the open slot, which is empty; the slot is then
 * unused. */
static void
open_slot(struct timeouts *t, unsigned level, unsigned slot)
{
	struct timeouts_slot *s = &t->slot[level][slot];
	unsigned i;

	for (i = 0; i < TIMEOUTS_CHAINS; i++) {
		t->open.chain[i] = s->chain[i];
		if (s->chain[i] != NULL)
			s->chain[i]->from = &t->open.chain[i];
	}
	t->used[level] &= ~(UINT64_C(1) << slot);
	if (t->used[level] == 0)
		t->levels &= ~(1u << level);
}

/* ---- time ---- */

static void
timeouts_set_timer(struct timeouts *t, uint64_t when)
{
	uint64_t now = loop_now(t->loop);

	t->wake = when;
	t->running =
	    timer_start(t->loop, &t->timer, when > now ? when - now : 0) == 0;
}

/* Goes on to the first slot, which is the first one of the lowest level.
 * Returns false when its time has not come, or nothing waits. */
static bool
timeouts_go_on(struct timeouts *t)
{
	unsigned level, slot;
	uint64_t start;

	if (t->levels == 0) {
		t->running = false;
		return false;
	}
	level = lowest_bit(t->levels);
	slot = lowest_bit(t->used[level]);
	start = slot_start(t, level, slot);
	if (start > loop_now(t->loop)) {
		timeouts_set_timer(t, start);
		return false;
	}
	t->at = start;
	open_slot(t, level, slot);
	return true;
}

/* Handles what is due, a portion at a time: an expiry whose true time is later
 * goes back into the wheel. */
static void
timeouts_on_time(struct timer *timer)
{
	struct timeouts *t = container_of(timer, struct timeouts, timer);
	unsigned left = TIMEOUTS_PORTION;
	struct expiry *x;

	t->wake = 0; /* what is added meanwhile need not set the timer */
	while (left > 0) {
		x = timeouts_take_one(t);
		if (x == NULL && !timeouts_go_on(t))
			return;
		if (x == NULL)
			continue;
		left--;
		if (t->true_due != NULL)
			x->due = t->true_due(x);
		if (x->due <= t->at)
			t->on_expired(t, x);
		else
			(void)timeouts_insert(t, x);
	}
	timeouts_set_timer(t, t->at);
}

/* ---- what owners call ---- */

void
timeouts_init(struct timeouts *t, struct loop *l,
    void (*on_expired)(struct timeouts *t, struct expiry *x),
    uint64_t (*true_due)(struct expiry *x))
{
	unsigned level;

	t->loop = l;
	timer_init(&t->timer, timeouts_on_time);
	t->running = false;
	t->in = t->out = t->levels = 0;
	t->wake = t->at = 0;
	for (level = 0; level < TIMEOUTS_LEVELS; level++)
		t->used[level] = 0;
	t->open = (struct timeouts_slot){ { NULL } };
	t->on_expired = on_expired;
	t->true_due = true_due;
}

void
timeouts_fini(struct timeouts *t)
{
	while (timeouts_take_one(t) != NULL)
		;
	while (t->levels != 0) {
		unsigned level = lowest_bit(t->levels);

		open_slot(t, level, lowest_bit(t->used[level]));
		while (timeouts_take_one(t) != NULL)
			;
	}
	timer_fini(&t->timer);
}

void
expiry_init(struct expiry *x)
{
	*x = (struct expiry){ .from = NULL };
}

/* Moves the wheel up to now if no used slot is in between: then the thing sits
 * on as low a level as possible and is spread less often. */
void
timeouts_add(struct timeouts *t, struct expiry *x, uint64_t due)
{
	uint64_t now = loop_now(t->loop), start;

	if (t->levels == 0 || (t->running && now < t->wake))
		t->at = now;
	x->due = due;
	start = timeouts_insert(t, x);
	if (!t->running || start < t->wake)
		timeouts_set_timer(t, start);
}

void
expiry_unlink(struct expiry *x)
{
	chain_out(x);
}
