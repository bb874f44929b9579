/* acl_rate.c: what a match against a long access list costs, and loading it.
 *
 *     acl_rate [ENTRIES ..]
 *
 * For lists of that many entries (10, 50000 and 1000000), of single addresses,
 * of networks and of IPv6, added one by one and from a file: how long that
 * takes, and nanoseconds to match clients that are in the list and clients that
 * are not. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "support/acladd.h"

enum { CLIENTS = 1 << 20 };

enum kind { HOSTS, NETWORKS, IPV6, KINDS };

static const char *const names[KINDS] = { "hosts", "networks", "ipv6" };

static double
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Client `n` of the network that entry `n` is. */
static struct peer
client(enum kind kind, uint64_t n)
{
	uint64_t x = hash_mix(n * 2 + 1);
	struct peer p = { .family = kind == IPV6 ? AF_INET6 : AF_INET };

	if (kind == IPV6) {
		memcpy(p.ip, "\x20\x01\x0d\xb8", 4);
		memcpy(p.ip + 4, &x, 8);
	} else {
		p.ip[10] = p.ip[11] = 0xff;
		memcpy(p.ip + 12, &x, 4);
	}
	return p;
}

enum { TEXT_MAX = PEER_TEXT_MAX + 8 };

static const char *
network(enum kind kind, uint64_t n, char text[TEXT_MAX])
{
	struct peer p = client(kind, n);
	char ip[PEER_TEXT_MAX];
	unsigned length = kind == HOSTS ? 32
	    : kind == NETWORKS		? 18 + (unsigned)(n % 11)
					: 56 + (unsigned)(n % 9);

	peer_format_host(&p, ip);
	snprintf(text, TEXT_MAX, "%s/%u", ip, length);
	return text;
}

static double
add_each(struct acl *l, enum kind kind, uint64_t entries)
{
	double began = now_ns();
	char text[TEXT_MAX];
	uint64_t n;

	for (n = 0; n < entries; n++)
		if (acl_add(l, n % 2 == 0, network(kind, n, text), NULL) < 0)
			abort();
	return now_ns() - began;
}

static double
add_file(struct acl *l, enum kind kind, uint64_t entries)
{
	char path[] = "/tmp/acl_rate.XXXXXX", text[TEXT_MAX];
	FILE *f = fdopen(mkstemp(path), "w");
	struct acl_file_facts facts;
	struct error e;
	double began;
	uint64_t n;

	if (f == NULL)
		abort();
	for (n = 0; n < entries; n++)
		fprintf(f, "%s %s\n", n % 2 == 0 ? "permit" : "deny",
		    network(kind, n, text));
	fclose(f);
	began = now_ns();
	if (acl_add_file(l, path, ACL_PERMIT, NULL, &facts, &e) < 0)
		abort();
	began = now_ns() - began;
	unlink(path);
	return began;
}

/* Nanoseconds a match, of clients from number `from` on, in no order. */
static double
match(const struct acl *l, enum kind kind, uint64_t from, uint64_t past)
{
	struct peer *who = calloc(CLIENTS, sizeof(*who));
	uint64_t permitted = 0;
	double began, took;
	unsigned i;

	for (i = 0; i < CLIENTS; i++)
		who[i] = client(kind, from + hash_mix(i) % (past - from));
	began = now_ns();
	for (i = 0; i < CLIENTS; i++)
		permitted += acl_permits(l, &who[i]);
	took = (now_ns() - began) / CLIENTS;
	free(who);
	if (permitted > CLIENTS)
		abort();
	return took;
}

static void
measure(enum kind kind, uint64_t entries)
{
	double load, from_file, hit, miss;
	struct acl list;

	acl_init(&list);
	load = add_each(&list, kind, entries);
	acl_fini(&list);
	from_file = add_file(&list, kind, entries);
	hit = match(&list, kind, 0, entries);
	miss = match(&list, kind, entries, entries + (1 << 30));
	printf("%-8s %8llu entries: added in %6.1f ms, from a file in %6.1f ms, "
	       "match %5.0f ns in the list, %5.0f ns outside\n",
	    names[kind], (unsigned long long)entries, load / 1e6,
	    from_file / 1e6, hit, miss);
	acl_fini(&list);
}

int
main(int argc, char **argv)
{
	static const uint64_t usual[] = { 10, 50000, 1000000 };
	int n = argc > 1 ? argc - 1 : 3, i, kind;

	for (kind = 0; kind < KINDS; kind++)
		for (i = 0; i < n; i++)
			measure((enum kind)kind,
			    argc > 1 ? strtoull(argv[i + 1], NULL, 10)
				     : usual[i]);
	return 0;
}
