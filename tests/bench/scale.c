/* scale.c: many directors behind a router, on paper: what becomes of flows when
 * servers and directors come and go, how evenly servers are used, and the
 * memory.
 *
 *     scale [-f FLOWS] [-s SEED]
 *
 * Each director is a pool and a table of flows, those of the program; there are
 * no frames. The router hashes a flow's addresses and ports, and gives it to a
 * director: of n directors the one at (hash mod n), or, "resilient", the one of
 * a bucket; of these only those of a director that dies, or the share of a new
 * one, change. A frame of each flow arrives after each of ten events, two of a
 * kind, in an order that the seed decides, as the victims; between two events a
 * tenth of the flows ends, and others begin. A flow is lost when its frame gets
 * to another server than the one that has the connection, which is alive; its
 * client connects again.
 *
 * What a director knows of flows: nothing (dsr_flows 0); those that it serves
 * (own); also those that others serve (heard, from peers). "heard" takes the
 * server of a flow that another director has from the flow itself, as 64 tables
 * of all flows are more than a machine has.
 *
 * Prints tab-separated lines: percent of flows lost by kind of event; the most
 * flows of a server divided by the mean, in the beginning; MB of all directors;
 * seconds. Without -f lines are of 200,000 flows, and three of 10,000,000: some
 * minutes. */
#include "config.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "dsr/flows/dsr_flows.h"
#include "dsr/frame/frame.h"
#include "pool/balance.h"

enum { DIRECTORS = 80, BUCKETS = 4096, NONE = DIRECTORS, EVENTS = 10 };
enum knows { NOTHING, OWN, HEARD };
enum kind { DOWN, UP, MORE, LESS_DIRECTORS, MORE_DIRECTORS, KINDS };

static const char *const knows_names[] = { "nothing", "own", "heard" };
static const char *const kind_names[KINDS] = { "server_dies", "server_returns",
	"server_added", "director_dies", "director_added" };

struct scene {
	const char *balance;
	enum knows knows;
	bool resilient;
	unsigned directors, servers;
	uint32_t flows;
};

struct director {
	struct pool *pool; /* NULL: it is dead */
	struct dsr_flows table;
};

struct flow {
	uint32_t client, server; /* number, slot */
	uint16_t port, director; /* which has it in its table */
};

static struct scene scene;
static struct director directors[DIRECTORS];
static unsigned alive[DIRECTORS], alive_count, bucket[BUCKETS];
static struct flow *flows;
static bool *is_down; /* by slot */
static uint64_t seed = 1, drawn;
static double lost[KINDS], events[KINDS];

static uint32_t
draw(uint32_t below)
{
	return (uint32_t)((hash_mix(++drawn ^ seed << 32) >> 32) * below >> 32);
}

/* ---- directors ---- */

static void
set_server(struct pool *p, unsigned number)
{
	struct server_spec spec;
	char name[32];

	server_spec_init(&spec);
	snprintf(name, sizeof(name), "10.%u.%u.%u", number >> 16,
	    number >> 8 & 255, number & 255);
	spec.name = name;
	spec.addrs.count = 1;
	if (addr_parse_ip(&spec.addrs.addr[0], name, 80) < 0 ||
	    pool_set_slot(p, server_slot(number), &spec) == NULL)
		abort();
	pool_begin_checks(p, pool_server(p, number));
}

static void
begin_director(struct director *d)
{
	struct pool_options o;
	unsigned i;

	d->pool = pool_new();
	o = *pool_options(d->pool);
	o.balance = balance_find(scene.balance);
	o.sticky = false;
	o.health.rise = o.health.fall = 1;
	pool_begin_changes(d->pool, NULL);
	for (i = 0; i < scene.servers; i++)
		set_server(d->pool, i);
	if (pool_end_changes(d->pool) < 0 ||
	    pool_set_options(d->pool, &o) < 0 ||
	    dsr_flows_init(&d->table,
		scene.knows == NOTHING ? 0 : 2 * scene.flows) < 0)
		abort();
	for (i = 0; i < scene.servers; i++)
		if (is_down[server_slot(i)])
			(void)pool_checked(d->pool, pool_server(d->pool, i),
			    false, "dead", 1000);
}

static void
end_director(unsigned i)
{
	uint32_t f;

	pool_free(directors[i].pool);
	directors[i].pool = NULL;
	dsr_flows_fini(&directors[i].table);
	for (f = 0; f < scene.flows; f++)
		if (flows[f].director == i)
			flows[f].director = NONE;
}

/* ---- the router ---- */

static void
add_to_router(unsigned director)
{
	unsigned i, n;

	alive[alive_count++] = director;
	if (alive_count == 1)
		for (i = 0; i < BUCKETS; i++)
			bucket[i] = director;
	for (n = BUCKETS / alive_count; n > 0;) {
		i = draw(BUCKETS);
		n -= bucket[i] != director || alive_count == 1;
		bucket[i] = director;
	}
}

static void
take_from_router(unsigned at)
{
	unsigned director = alive[at], i;

	memmove(&alive[at], &alive[at + 1],
	    (--alive_count - at) * sizeof(*alive));
	for (i = 0; i < BUCKETS; i++)
		if (bucket[i] == director)
			bucket[i] = alive[draw(alive_count)];
}

static unsigned
route(const struct flow *f)
{
	uint64_t hash = hash_mix(
	    hash_mix(f->client + UINT64_C(1)) ^ ((uint64_t)f->port << 40));

	return scene.resilient ? bucket[hash % BUCKETS]
			       : alive[hash % alive_count];
}

/* ---- flows ---- */

static void
client_of(const struct flow *f, struct peer *who)
{
	*who = (struct peer){ .family = AF_INET, .port = f->port };
	who->ip[10] = who->ip[11] = 0xff;
	who->ip[12] = (uint8_t)(f->client >> 24);
	who->ip[13] = (uint8_t)(f->client >> 16);
	who->ip[14] = (uint8_t)(f->client >> 8);
	who->ip[15] = (uint8_t)f->client;
}

static void
key_of(const struct flow *f, struct dsr_key *key)
{
	static const struct peer vip = { .family = AF_INET, .port = 80 };
	struct peer who;

	client_of(f, &who);
	dsr_key_make(key, &who, &vip, IPPROTO_TCP);
}

static uint32_t
choose(struct director *d, const struct flow *f)
{
	struct attempts attempts = { .count = 0 };
	struct server *s;
	struct peer who;

	client_of(f, &who);
	s = pool_choose(d->pool, &who, &attempts, 1000);
	if (s == NULL)
		abort();
	return s->slot;
}

static void
forget(struct flow *f)
{
	struct attempts none = { .count = 0 };
	struct director *d = &directors[f->director];
	struct dsr_key key;
	struct dsr_flow *w;
	struct peer who;

	if (scene.knows == NOTHING || f->director == NONE)
		return;
	key_of(f, &key);
	w = dsr_flows_find(&d->table, &key, dsr_flows_hash(&d->table, &key));
	if (w == NULL || w->server != f->server)
		abort();
	dsr_flows_remove(&d->table, w);
	client_of(f, &who);
	pool_closed(
	    d->pool, pool_slot(d->pool, f->server), &who, &none, 0, 0);
}

static void
note(struct flow *f, unsigned director)
{
	struct attempts none = { .count = 0 };
	struct director *d = &directors[director];
	struct dsr_key key;
	struct peer who;

	f->director = (uint16_t)director;
	if (scene.knows == NOTHING)
		return;
	key_of(f, &key);
	if (dsr_flows_add(&d->table, &key, dsr_flows_hash(&d->table, &key),
		f->server, FRAME_ACK, 100, 1000) == NULL)
		abort();
	client_of(f, &who);
	pool_opened(
	    d->pool, pool_slot(d->pool, f->server), &who, &none, 1000);
}

static void
begin_flow(struct flow *f)
{
	unsigned director = route(f);

	f->server = choose(&directors[director], f);
	note(f, director);
}

static void
begin_again(struct flow *f)
{
	forget(f);
	f->port++;
	begin_flow(f);
}

/* Where a frame of the flow goes. */
static uint32_t
server_of(const struct flow *f, unsigned director)
{
	if (scene.knows != NOTHING &&
	    (f->director == director ||
		(scene.knows == HEARD && !is_down[f->server])))
		return f->server;
	return choose(&directors[director], f);
}

/* Returns how many of the flows were lost, in percent. */
static double
all_arrive(void)
{
	uint32_t i, gone = 0, of = 0;
	unsigned director;
	struct flow *f;

	for (i = 0; i < scene.flows; i++) {
		f = &flows[i];
		if (is_down[f->server]) { /* nothing helps it */
			begin_again(f);
			continue;
		}
		of++;
		director = route(f);
		if (server_of(f, director) != f->server) {
			gone++;
			begin_again(f);
		} else if (director != f->director) {
			forget(f);
			note(f, director);
		}
	}
	return 100.0 * gone / of;
}

/* ---- events ---- */

static void
check_server(unsigned number, bool good)
{
	unsigned i;

	is_down[server_slot(number)] = !good;
	for (i = 0; i < alive_count; i++)
		(void)pool_checked(directors[alive[i]].pool,
		    pool_server(directors[alive[i]].pool, number), good,
		    "checked", 1000);
}

static void
add_server(void)
{
	unsigned i;

	for (i = 0; i < alive_count; i++)
		set_server(directors[alive[i]].pool, scene.servers);
	scene.servers++;
}

static void
happen(enum kind kind)
{
	static unsigned victims[2], count;
	unsigned at;

	switch (kind) {
	case DOWN:
		do
			victims[count] = draw(scene.servers);
		while (is_down[server_slot(victims[count])]);
		check_server(victims[count++], false);
		break;
	case UP:
		check_server(victims[--count], true);
		break;
	case MORE:
		add_server();
		break;
	case LESS_DIRECTORS:
		at = draw(alive_count);
		end_director(alive[at]);
		take_from_router(at);
		break;
	default:
		for (at = 0; directors[at].pool != NULL;)
			at++;
		begin_director(&directors[at]);
		add_to_router(at);
	}
}

static bool
is_possible(enum kind kind)
{
	if (kind == UP)
		return events[UP] < events[DOWN];
	return kind != LESS_DIRECTORS || alive_count > 1;
}

/* ---- a line ---- */

static double
imbalance(void)
{
	uint32_t *n = calloc(server_slot(scene.servers), sizeof(*n)), i,
		 most = 0;

	for (i = 0; i < scene.flows; i++)
		if (++n[flows[i].server] > most)
			most = n[flows[i].server];
	free(n);
	return (double)most * scene.servers / scene.flows;
}

static double
memory_mb(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f == NULL || fscanf(f, "%*d %ld", &pages) != 1)
		abort();
	fclose(f);
	return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

static void
fill(void)
{
	unsigned i;

	for (i = 0; i < scene.directors; i++) {
		begin_director(&directors[i]);
		add_to_router(i);
	}
	for (i = 0; i < scene.flows; i++)
		begin_flow(&flows[i]);
}

static void
live(void)
{
	unsigned i, kinds = scene.directors > 1 ? KINDS : LESS_DIRECTORS, kind;
	uint32_t f;

	for (i = 0; i < 2 * kinds; i++) {
		do
			kind = draw(kinds);
		while (events[kind] >= 2 || !is_possible(kind));
		happen(kind);
		lost[kind] += all_arrive();
		events[kind]++;
		for (f = draw(10); f < scene.flows; f += 10)
			begin_again(&flows[f]);
	}
}

static void
measure(void)
{
	double before, mb, even;
	unsigned i;

	flows = calloc(scene.flows, sizeof(*flows));
	is_down = calloc(server_slot(scene.servers) + EVENTS, 1);
	for (i = 0; i < scene.flows; i++)
		flows[i] = (struct flow){ i, 0, 1024, NONE };
	before = memory_mb();
	fill();
	mb = memory_mb() - before;
	even = imbalance();
	printf("%s\t%s\t%s\t%u\t%u\t%u", scene.balance,
	    knows_names[scene.knows], scene.resilient ? "resilient" : "plain",
	    scene.directors, scene.servers, scene.flows);
	live();
	for (i = 0; i < KINDS; i++)
		if (events[i] > 0)
			printf("\t%.2f", lost[i] / events[i]);
		else
			printf("\t");
	printf("\t%.3f\t%.1f\t%.1f\n", even, mb,
	    (double)clock() / CLOCKS_PER_SEC);
}

/* In a process of its own, whose memory is that of the directors. */
static void
run(const char *balance, enum knows knows, bool resilient, unsigned d,
    unsigned s, uint32_t n)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		scene = (struct scene){ balance, knows, resilient, d, s, n };
		measure();
		exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0) {
		fprintf(stderr, "scale: a line failed\n");
		exit(1);
	}
}

/* Lines that would be the same as others are left out: with nothing or all
 * known, the router changes none. */
static void
run_all(unsigned d, unsigned s, uint32_t n)
{
	static const char *const others[] = { "leastconn", "p2c" };
	enum knows most = d > 1 ? HEARD : OWN;
	unsigned i;

	run("hash", NOTHING, false, d, s, n);
	run("hash", OWN, false, d, s, n);
	if (d > 1) {
		run("hash", OWN, true, d, s, n);
		run("hash", HEARD, false, d, s, n);
	}
	run("roundrobin", OWN, false, d, s, n);
	if (d > 1) {
		run("roundrobin", OWN, true, d, s, n);
		run("roundrobin", HEARD, false, d, s, n);
	}
	for (i = 0; i < 2; i++)
		run(others[i], most, false, d, s, n);
}

int
main(int argc, char **argv)
{
	uint32_t grid = 200000, large = 10000000;
	unsigned d, s;
	int o;

	while ((o = getopt(argc, argv, "f:s:")) != -1) {
		if (o == 'f')
			grid = large = (uint32_t)strtoul(optarg, NULL, 10);
		else if (o == 's')
			seed = strtoull(optarg, NULL, 10);
		else
			return 1;
	}
	printf("# seed %llu\nbalance\tknows\trouter\tdirectors\tservers\tflows",
	    (unsigned long long)seed);
	for (d = 0; d < KINDS; d++)
		printf("\t%s", kind_names[d]);
	printf("\timbalance\tMB\tseconds\n");
	for (s = 10; s <= 1000; s *= 10)
		for (d = 1; d <= 64; d *= 4)
			run_all(d, s, grid);
	run("hash", NOTHING, false, 16, 1000, large);
	run("hash", OWN, true, 16, 1000, large);
	run("roundrobin", HEARD, false, 16, 1000, large);
	return 0;
}
