/* hash_change.c: how long a change of the list holds the program with `balance
 * hash`, and what the first clients after it pay.
 *
 *     hash_change [SERVERS ..]
 *
 * For lists of so many servers (10, 100 and 1000): milliseconds to switch to
 * hash, to give one server another weight, to take one away and add it again, to
 * set all weights anew at once; then nanoseconds of the first 65536 choices, of
 * those after the one weight, by the same clients as before, and of later ones. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "pool/balance.h"

enum { CLIENTS = 1 << 16 };

static struct pool *pool;
static uint64_t client;

static double
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void
set_server(unsigned i, unsigned weight)
{
	struct server_spec spec;
	char name[32];

	server_spec_init(&spec);
	snprintf(name, sizeof(name), "10.0.%u.%u", i / 250, i % 250);
	spec.name = name;
	spec.addrs.count = 1;
	spec.set.weight = weight;
	if (addr_parse_ip(&spec.addrs.addr[0], name, 80) < 0 ||
	    pool_set_slot(pool, server_slot(i), &spec) == NULL)
		abort();
}

static void
set_all(unsigned servers, unsigned heaviest)
{
	unsigned i;

	pool_begin_changes(pool, NULL);
	for (i = 0; i < servers; i++)
		set_server(i, 1 + i % heaviest);
	if (pool_end_changes(pool) < 0)
		abort();
}

static void
choose_some(void)
{
	unsigned i;

	for (i = 0; i < CLIENTS; i++) {
		struct peer who = { .family = AF_INET6 };
		struct attempts attempts = { .count = 0 };
		uint64_t x = hash_mix(++client);

		memcpy(who.ip, &x, sizeof(x));
		if (pool_choose(pool, &who, &attempts, 1000) == NULL)
			abort();
	}
}

static void
measure(unsigned servers)
{
	struct pool_options o;
	double began, start, weight, one, remove, all, first, later;

	pool = pool_new();
	set_all(servers, 1);
	o = *pool_options(pool);
	o.balance = balance_find("hash");
	o.sticky = false;
	began = now_ms();
	if (pool_set_options(pool, &o) < 0)
		abort();
	start = now_ms() - began;
	choose_some();
	began = now_ms();
	set_server(0, 3);
	weight = now_ms() - began;
	client = 0;
	began = now_ms();
	choose_some();
	one = now_ms() - began;
	began = now_ms();
	pool_remove_server(pool, pool_server(pool, 1));
	set_server(1, 1);
	remove = now_ms() - began;
	began = now_ms();
	set_all(servers, 5);
	all = now_ms() - began;
	began = now_ms();
	choose_some();
	first = now_ms() - began;
	began = now_ms();
	choose_some();
	later = now_ms() - began;
	printf("%4u servers: balance hash %.2f ms, one weight %.2f ms, removed "
	       "and added %.2f ms, all weights %.2f ms, first choices %.0f ns, "
	       "after one weight %.0f ns, later %.0f ns\n",
	    servers, start, weight, remove, all, first * 1e6 / CLIENTS,
	    one * 1e6 / CLIENTS, later * 1e6 / CLIENTS);
	pool_free(pool);
}

int
main(int argc, char **argv)
{
	static const unsigned usual[] = { 10, 100, 1000 };
	int n = argc > 1 ? argc - 1 : 3, i;

	for (i = 0; i < n; i++)
		measure(argc > 1 ? (unsigned)strtoul(argv[i + 1], NULL, 10)
				 : usual[i]);
	return 0;
}
