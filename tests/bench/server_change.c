/* server_change.c: what a command about one server costs, by how many there are.
 *
 *     server_change [SERVERS ..]
 *
 * For lists of that many servers (100, 1000 and 4000) and each algorithm: user
 * instructions, where the machine counts them, and microseconds of "server 0
 * weight N", from the line to its effect, in a program that serves; the same of
 * a server named by its address, of draining, adding, removing, moving, checking
 * and blacklisting one; of a setting that concerns none. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#endif

#include "base/log.h"
#include "control/apply/apply.h"
#include "control/pen.h"
#include "control/socket/request.h"
#include "pool/balance.h"

enum { ROUNDS = 20 };

static int
open_counter(void)
{
#ifdef __linux__
	struct perf_event_attr a = { .type = PERF_TYPE_HARDWARE,
		.size = sizeof(a),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.exclude_kernel = 1,
		.exclude_hv = 1 };

	return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);
#else
	return -1;
#endif
}

static double
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static uint64_t
read_counter(int fd)
{
	uint64_t n = 0;

	return fd >= 0 && read(fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

static void
fail(const char *why)
{
	fprintf(stderr, "server_change: %s\n", why);
	exit(1);
}

static void
on_wake(struct request *q)
{
	(void)q;
}

static void
run(struct pen *p, const char *line)
{
	struct request q;

	request_init(&q, p, NULL, on_wake);
	if (request_begin(&q, line) < 0 || request_run(&q) != REQUEST_DONE ||
	    q.failed)
		fail(q.error.text);
	request_fini(&q);
}

static struct pen *
start(unsigned servers, const char *algorithm)
{
	struct pen *p = pen_new();
	char path[64], line[128];
	struct error e;
	FILE *f;
	unsigned i;

	snprintf(path, sizeof(path), "/tmp/server_change.%d", (int)getpid());
	f = fopen(path, "w");
	if (p == NULL || f == NULL)
		fail("no memory or file");
	for (i = 0; i < servers; i++)
		fprintf(f, "server %u address 10.%u.%u.%u port 80 weight 1\n",
		    i, i >> 16 & 255, i >> 8 & 255, i & 255);
	fclose(f);
	if (spec_parse_listen(
		&p->plan->listen, "127.0.0.1:18734", RESOLVE_NUMERIC, &e) < 0)
		fail(e.text);
	snprintf(line, sizeof(line), "balance %s", algorithm);
	run(p, line);
	snprintf(line, sizeof(line), "include %s", path);
	run(p, line);
	unlink(path);
	if (pen_start(p, &e) < 0)
		fail(e.text);
	return p;
}

/* The least and the worst of some rounds of the command, a number behind it. */
static void
measure_one(struct pen *p, const char *what, const char *command, int counter)
{
	uint64_t least = UINT64_MAX;
	double best = 1e18, worst = 0;
	char line[64];
	unsigned i;

	for (i = 0; i < ROUNDS; i++) {
		uint64_t n;
		double us;

		snprintf(line, sizeof(line), command, 2 + i);
		n = read_counter(counter);
		us = now_us();
		run(p, line);
		us = now_us() - us;
		n = read_counter(counter) - n;
		least = n < least ? n : least;
		best = us < best ? us : best;
		worst = us > worst ? us : worst;
	}
	printf(" %s: instructions=%llu us=%.1f worst=%.1f", what,
	    (unsigned long long)least, best, worst);
}

static void
measure(unsigned servers, const char *algorithm, int counter)
{
	struct pen *p = start(servers, algorithm);
	unsigned last = servers - 1;
	char command[64];

	printf("%-12s servers=%u", algorithm, servers);
	measure_one(p, "number", "server 0 weight %u", counter);
	snprintf(command, sizeof(command), "server 10.%u.%u.%u weight %%u",
	    last >> 16 & 255, last >> 8 & 255, last & 255);
	measure_one(p, "address", command, counter);
	snprintf(command, sizeof(command), "server %u drain max %%u", last);
	measure_one(p, "drain", command, counter);
	measure_one(p, "add", "server add 10.200.1.%u:80", counter);
	measure_one(p, "remove", "server 10.200.1.%u remove", counter);
	measure_one(p, "move", "server 1 address 10.201.1.%u", counter);
	measure_one(p, "check", "server %u check connect", counter);
	measure_one(p, "check tls", "server 1%u check tls noverify", counter);
	measure_one(p, "check off", "server 1%u check off", counter);
	measure_one(p, "blacklist", "server %u blacklist 5", counter);
	measure_one(p, "setting", "timeout %u", counter);
	printf("\n");
	pen_free(p);
}

int
main(int argc, char **argv)
{
	static const unsigned usual[] = { 100, 1000, 4000 };
	int counter = open_counter(), i, k;

	log_level = LOG_LEVEL_ERROR;
	for (k = 0; balance_table[k] != NULL; k++)
		for (i = 0; i < (argc > 1 ? argc - 1 : 3); i++)
			measure(argc > 1 ? (unsigned)atoi(argv[i + 1])
					 : usual[i],
			    balance_table[k]->name, counter);
	return 0;
}
