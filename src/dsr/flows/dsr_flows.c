/* dsr_flows.c: the table of flows: what a frame does to one, and which
 * is evicted. Their memory is in dsr_flows_memory.c. */
#include "config.h"

#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "dsr/flows/dsr_flows_private.h"
#include "dsr/frame/frame.h"

#if defined(__GNUC__)
#define PREFETCH(at) __builtin_prefetch(at, 1)
#else
#define PREFETCH(at) ((void)(at))
#endif

enum { NEWCOMERS = 64 }; /* 1/64 of the table is theirs */
enum { TRIES = 8 }; /* to find one that is idle, where many are offloaded */

_Static_assert(sizeof(struct dsr_key) == 38, "a key has no holes");
_Static_assert(
    sizeof(void *) > 8 || sizeof(struct dsr_flow) <= 96, "a flow is small");

/* Seconds without a frame, as the kernel has them. */
enum { SYN_S = 60, CLOSE_S = 10 };

/* How long flows of a state count; 0: as long as they are in it. */
static const uint32_t counts_s[DSR_STATES] = {
	[DSR_SYN] = DSR_COUNTS_S,
	[DSR_PICKUP] = DSR_COUNTS_S,
	[DSR_UDP_NEW] = DSR_COUNTS_S,
	[DSR_UDP] = DSR_COUNTS_UDP_S,
};

/* ---- finding ---- */

void
dsr_key_make(struct dsr_key *key, const struct peer *client,
    const struct peer *vip, uint8_t protocol)
{
	memcpy(key->client, client->ip, sizeof(key->client));
	memcpy(key->vip, vip->ip, sizeof(key->vip));
	key->client_port = client->port;
	key->vip_port = vip->port;
	key->protocol = protocol;
	key->family = (uint8_t)client->family;
}

uint64_t
dsr_flows_hash(const struct dsr_flows *fs, const struct dsr_key *key)
{
	uint8_t part[14];

	if (key->family != AF_INET)
		return hash_table_hash(&fs->table, key, sizeof(*key));
	/* The 24 bytes that all IPv4 has in common are left out: that halves
	 * the work. */
	memcpy(part, key->client + 12, 4);
	memcpy(part + 4, key->vip + 12, 4);
	memcpy(part + 8,
	    (const uint8_t *)key + offsetof(struct dsr_key, client_port), 6);
	return hash_table_hash(&fs->table, part, sizeof(part));
}

void
dsr_flows_expect(const struct dsr_flows *fs, uint64_t hash)
{
	hash_table_expect(&fs->table, hash);
}

void
dsr_flows_expect_flow(const struct dsr_flows *fs, uint64_t hash)
{
	hash_table_expect_link(&fs->table, hash);
}

static bool
dsr_flow_is_key(const struct hash_table_link *l, const void *key)
{
	const struct dsr_flow *w =
	    (const struct dsr_flow *)(const void *)((const char *)l -
		offsetof(struct dsr_flow, link));

	return memcmp(&w->key, key, sizeof(w->key)) == 0;
}

/* ---- states: each is a list ---- */

static void
leave_list(struct dsr_flows *fs, struct dsr_flow *w)
{
	struct dsr_list *l = &fs->lists[w->state];

	if (w->newer != 0)
		dsr_flow_at(fs, w->newer)->older = w->older;
	else
		l->newest = w->older;
	if (w->older != 0)
		dsr_flow_at(fs, w->older)->newer = w->newer;
	else
		l->oldest = w->newer;
	if (l->counting == w->number)
		l->counting = w->newer;
	l->count--;
}

static void
join_list(struct dsr_flows *fs, struct dsr_flow *w)
{
	struct dsr_list *l = &fs->lists[w->state];

	w->newer = 0;
	w->older = l->newest;
	if (l->newest != 0)
		dsr_flow_at(fs, l->newest)->newer = w->number;
	else
		l->oldest = w->number;
	if (l->counting == 0 && w->counts)
		l->counting = w->number;
	l->newest = w->number;
	l->count++;
}

/* How a flow counts that has just had a frame, its number `frames`. */
static enum dsr_counts
counts_now(enum dsr_state state, uint64_t frames)
{
	if (state == DSR_FIN || state == DSR_CLOSE)
		return DSR_COUNTS_NOT;
	return state == DSR_UDP_NEW && frames <= 1 ? DSR_COUNTS_AS_LOAD
						   : DSR_COUNTS;
}

static void
dsr_flow_set_state(
    struct dsr_flows *fs, struct dsr_flow *w, enum dsr_state state)
{
	bool was_assured = w->state >= DSR_UDP;
	enum dsr_counts counted = w->counts;

	leave_list(fs, w);
	w->state = state;
	w->counts = counts_now(state, w->frames);
	join_list(fs, w);
	if (w->counts != counted && fs->on_count != NULL)
		fs->on_count(fs->arg, w, counted);
	if (!was_assured && state >= DSR_UDP && fs->on_assured != NULL)
		fs->on_assured(fs->arg, w);
}

static enum dsr_state
first_state(const struct dsr_key *key, uint8_t tcp_flags)
{
	if (key->protocol != IPPROTO_TCP)
		return DSR_UDP_NEW;
	if (tcp_flags & FRAME_RST)
		return DSR_CLOSE;
	if (tcp_flags & FRAME_SYN)
		return DSR_SYN;
	return tcp_flags & FRAME_FIN ? DSR_CLOSE : DSR_PICKUP;
}

/* The state after an ACK, or data. */
static enum dsr_state
dsr_flow_go_on(const struct dsr_flow *w)
{
	switch (w->state) {
	case DSR_SYN:
		return DSR_ESTABLISHED;
	case DSR_PICKUP:
		return w->frames < DSR_ASSURED ? DSR_PICKUP : DSR_ESTABLISHED;
	case DSR_CLOSE:
		return w->frames < DSR_ASSURED ? DSR_CLOSE : DSR_PICKUP;
	default:
		return w->state;
	}
}

static enum dsr_state
next_state(const struct dsr_flow *w, uint8_t tcp_flags)
{
	if (w->key.protocol != IPPROTO_TCP)
		return w->frames < DSR_ASSURED ? DSR_UDP_NEW : DSR_UDP;
	if (tcp_flags & FRAME_RST)
		return DSR_CLOSE;
	/* A server that has the connection answers a SYN with a challenge ACK
	 * (RFC 9293, 3.10.7.4): a forged one ends nothing here, either. */
	if (tcp_flags & FRAME_SYN)
		return w->state == DSR_ESTABLISHED ? DSR_ESTABLISHED : DSR_SYN;
	if (!(tcp_flags & FRAME_FIN))
		return tcp_flags & FRAME_ACK ? dsr_flow_go_on(w) : w->state;
	/* FIN is evicted later than flows that are not assured: two forged
	 * frames must not get a flow there. */
	if (w->state == DSR_CLOSE ||
	    (w->state == DSR_PICKUP && w->frames < DSR_ASSURED))
		return DSR_CLOSE;
	return DSR_FIN;
}

bool
dsr_flow_begins_again(const struct dsr_flow *w, uint8_t tcp_flags)
{
	return (w->state == DSR_FIN || w->state == DSR_CLOSE) &&
	    (tcp_flags & (FRAME_SYN | FRAME_ACK | FRAME_RST)) == FRAME_SYN;
}

void
dsr_flows_on_frame(struct dsr_flows *fs, struct dsr_flow *w, uint8_t tcp_flags,
    uint32_t bytes, uint64_t now)
{
	uint32_t second = dsr_second(now);
	enum dsr_state state;

	w->frames++;
	w->bytes += bytes;
	state = next_state(w, tcp_flags);
	/* Moving touches the cache lines of its neighbours in two lists: a
	 * busy flow does that once a second. */
	if (w->seen == second && w->state == state &&
	    w->counts == counts_now(state, w->frames))
		return;
	w->seen = second;
	dsr_flow_set_state(fs, w, state);
}

/* Notes that frames of the flow went by the fast path, the last one in
 * `second`. */
static void
touch(struct dsr_flows *fs, struct dsr_flow *w, uint32_t second)
{
	w->seen = second;
	dsr_flow_set_state(fs, w, w->state);
}

void
dsr_flows_touch(struct dsr_flows *fs, struct dsr_flow *w, uint64_t now)
{
	leave_list(fs, w);
	w->seen = dsr_second(now);
	join_list(fs, w);
}

/* ---- coming and going ---- */

void
dsr_flows_remove(struct dsr_flows *fs, struct dsr_flow *w)
{
	fs->servers[w->server]--;
	if (fs->on_end != NULL)
		fs->on_end(fs->arg, w);
	leave_list(fs, w);
	hash_table_remove(&fs->table, &w->link);
	fs->count--;
	dsr_flow_release(fs, w);
}

struct dsr_flow *
dsr_flows_find(struct dsr_flows *fs, const struct dsr_key *key, uint64_t hash)
{
	struct hash_table_link *l =
	    hash_table_find(&fs->table, hash, dsr_flow_is_key, key);
	struct dsr_flow *w;

	if (l == NULL)
		return NULL;
	w = list_entry(l, struct dsr_flow, link);
	/* The flow's frame will move it in its list, which writes to both of
	 * its neighbours there. */
	if (w->newer != 0)
		PREFETCH(&dsr_flow_at(fs, w->newer)->newer);
	if (w->older != 0)
		PREFETCH(&dsr_flow_at(fs, w->older)->newer);
	return w;
}

struct dsr_flow *
dsr_flows_at(struct dsr_flows *fs, uint32_t number)
{
	struct dsr_flow *w;

	if (number == 0 || number > fs->made)
		return NULL;
	w = dsr_flow_at(fs, number);
	/* one that is not in use has the key of its last time */
	return dsr_flows_find(fs, &w->key, dsr_flows_hash(fs, &w->key)) == w
	    ? w
	    : NULL;
}

/* The flow of the states from..to that is idle for the longest time; NULL:
 * none. */
static struct dsr_flow *
dsr_flows_idlest(
    const struct dsr_flows *fs, enum dsr_state from, enum dsr_state to)
{
	struct dsr_flow *found = NULL, *w;
	unsigned i;

	for (i = from; i <= (unsigned)to; i++) {
		if (fs->lists[i].oldest == 0)
			continue;
		w = dsr_flow_at(fs, fs->lists[i].oldest);
		if (found == NULL || w->seen < found->seen)
			found = w;
	}
	return found;
}

/* Whether a flow that seems idle was used where its frames are offloaded to;
 * then it is not the idlest any more. */
static bool
is_used_elsewhere(struct dsr_flows *fs, struct dsr_flow *w)
{
	uint32_t second;

	if (!w->offloaded || fs->last_frame == NULL)
		return false;
	second = fs->last_frame(fs->arg, w);
	if (second <= w->seen)
		return false;
	touch(fs, w, second);
	return true;
}

/* The idlest of the assured flows. NULL also when the TRIES idlest turned out
 * to be in use: to try more of them would make a frame too expensive. */
static struct dsr_flow *
idlest_of_good(struct dsr_flows *fs)
{
	for (int i = 0; i < TRIES; i++) {
		struct dsr_flow *w =
		    dsr_flows_idlest(fs, DSR_UDP, DSR_ESTABLISHED);

		if (w == NULL || !is_used_elsewhere(fs, w))
			return w;
	}
	return NULL;
}

/* Makes room for a new flow by removing an idle one. While newcomers have
 * little of the table, a closing flow gives way, then the idlest of the assured
 * ones; when they have their share of it, newcomers evict each other. */
static void
evict_one(struct dsr_flows *fs)
{
	const struct dsr_list *l = fs->lists;
	uint32_t weak = l[DSR_SYN].count + l[DSR_PICKUP].count +
	    l[DSR_UDP_NEW].count + l[DSR_CLOSE].count;
	struct dsr_flow *w = NULL;

	/* Newcomers that have their share of the table evict each other. */
	if (weak == 0 || weak < fs->max / NEWCOMERS) {
		w = dsr_flows_idlest(fs, DSR_FIN, DSR_FIN);
		if (w == NULL)
			w = idlest_of_good(fs);
	}
	if (w == NULL)
		w = dsr_flows_idlest(fs, DSR_SYN, DSR_CLOSE);
	if (w == NULL)
		w = dsr_flows_idlest(fs, DSR_FIN, DSR_ESTABLISHED);
	if (w == NULL)
		return;
	fs->stats.pushed_out +=
	    w->state == DSR_UDP || w->state == DSR_ESTABLISHED;
	fs->stats.evicted++;
	dsr_flows_remove(fs, w);
}

struct dsr_flow *
dsr_flows_add(struct dsr_flows *fs, const struct dsr_key *key, uint64_t hash,
    uint32_t server, uint8_t tcp_flags, uint32_t bytes, uint64_t now)
{
	struct dsr_flow *w;

	if (fs->max == 0)
		return NULL;
	if (fs->count >= fs->max)
		evict_one(fs);
	w = NULL;
	if (dsr_flows_add_server(fs, server) == 0) {
		w = dsr_flow_take(fs);
		/* without memory for one more, an evicted flow's is reused */
		if (w == NULL && fs->count > 0) {
			evict_one(fs);
			w = dsr_flow_take(fs);
		}
	}
	if (w == NULL) {
		fs->stats.no_memory++;
		return NULL;
	}
	w->key = *key;
	w->seen = dsr_second(now);
	w->server = server;
	w->frames = 1;
	w->bytes = bytes;
	w->offloaded = w->learned = 0;
	w->state = first_state(key, tcp_flags);
	w->counts = counts_now(w->state, w->frames);
	join_list(fs, w);
	hash_table_add(&fs->table, &w->link, hash);
	fs->servers[server]++;
	fs->stats.opened++;
	if (++fs->count > fs->stats.peak)
		fs->stats.peak = fs->count;
	return w;
}

struct dsr_flow *
dsr_flows_restore(struct dsr_flows *fs, const struct dsr_key *key,
    uint64_t hash, uint32_t server, const struct dsr_past *past, uint64_t now)
{
	struct dsr_flow *w =
	    dsr_flows_add(fs, key, hash, server, FRAME_ACK, 0, now);

	if (w == NULL)
		return NULL;
	fs->stats.opened--; /* it was, there */
	leave_list(fs, w);
	w->state = past->state;
	w->seen -= past->idle_s < w->seen ? past->idle_s : w->seen;
	w->frames = past->frames;
	w->bytes = past->bytes;
	w->learned = past->learned;
	w->offloaded = past->offloaded;
	w->counts = counts_now(w->state, w->frames);
	if (w->learned || w->counts == DSR_COUNTS_AS_LOAD ||
	    (counts_s[w->state] != 0 && past->idle_s > counts_s[w->state]))
		w->counts = DSR_COUNTS_NOT;
	join_list(fs, w);
	return w;
}

const struct dsr_flow *
dsr_flows_next(const struct dsr_flows *fs, uint32_t number)
{
	const struct dsr_flow *w = number != 0 ? dsr_flow_at(fs, number) : NULL;
	unsigned state = w != NULL ? w->state + 1 : 0;

	if (w != NULL && w->newer != 0)
		return dsr_flow_at(fs, w->newer);
	for (; state < DSR_STATES; state++)
		if (fs->lists[state].oldest != 0)
			return dsr_flow_at(fs, fs->lists[state].oldest);
	return NULL;
}

/* ---- time ---- */

/* At most `most` of those in one state. */
static unsigned
expire(
    struct dsr_flows *fs, enum dsr_state state, uint32_t second, unsigned most)
{
	uint32_t timeout = fs->timeouts[state];
	struct dsr_flow *w;
	unsigned n;

	if (timeout == 0)
		return 0;
	for (n = 0; n < most && fs->lists[state].oldest != 0; n++) {
		w = dsr_flow_at(fs, fs->lists[state].oldest);
		/* All after it were used later. */
		if (second - w->seen <= timeout)
			break;
		if (is_used_elsewhere(fs, w) && second - w->seen <= timeout)
			continue;
		fs->stats.expired++;
		dsr_flows_remove(fs, w);
	}
	return n;
}

void
dsr_flows_set_timeouts(struct dsr_flows *fs, const struct dsr_timeouts *t)
{
	fs->timeouts[DSR_SYN] = SYN_S;
	fs->timeouts[DSR_CLOSE] = CLOSE_S;
	fs->timeouts[DSR_PICKUP] = fs->timeouts[DSR_ESTABLISHED] = t->tcp;
	fs->timeouts[DSR_UDP_NEW] = fs->timeouts[DSR_UDP] = t->udp;
	fs->timeouts[DSR_FIN] = t->fin;
}

unsigned
dsr_flows_expire(struct dsr_flows *fs, uint64_t now, unsigned most)
{
	uint32_t second = dsr_second(now);
	unsigned n = 0, i;

	for (i = 0; i < DSR_STATES; i++)
		n += expire(fs, i, second, most - n);
	return n;
}

/* Flows of the state that have been idle for its time no longer count as
 * connections of their servers; visits at most `most`. Returns how many it has
 * visited. */
static unsigned
stop_counting(
    struct dsr_flows *fs, enum dsr_state state, uint32_t second, unsigned most)
{
	struct dsr_list *l = &fs->lists[state];
	enum dsr_counts was;
	struct dsr_flow *w;
	unsigned n;

	for (n = 0; n < most && l->counting != 0; n++) {
		w = dsr_flow_at(fs, l->counting);
		if (second - w->seen <= counts_s[state])
			break;
		if (is_used_elsewhere(fs, w))
			continue; /* now it is the newest */
		l->counting = w->newer;
		was = w->counts;
		w->counts = DSR_COUNTS_NOT;
		if (was != DSR_COUNTS_NOT && fs->on_count != NULL)
			fs->on_count(fs->arg, w, was);
	}
	return n;
}

unsigned
dsr_flows_stop_counting(struct dsr_flows *fs, uint64_t now, unsigned most)
{
	uint32_t second = dsr_second(now);
	unsigned n = 0, i;

	for (i = 0; i < DSR_STATES; i++)
		if (counts_s[i] > 0)
			n += stop_counting(fs, i, second, most - n);
	return n;
}
