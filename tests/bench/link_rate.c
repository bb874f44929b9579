/* link_rate.c: how many frames a link takes in and sends on, each second.
 *
 *     link_rate [KIND [BYTES [FRAMES]]]
 *
 * Makes its own network of one cable, as root. One process
 * floods the far end, this one receives, counts, or sends all back. Lost frames
 * are those that the flood had no room for. */
#include "config.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/addr.h"
#include "dsr/link/link.h"
#include "dsr/open/link_open.h"

enum { BATCH = 256, FLOOD = 64, MOST = 1500 };

struct token_bucket {
	struct link near;
	int far;
	unsigned bytes, frames;
	struct link_frame list[BATCH];
};

static double
seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A frame to the address everything is for. */
static void
make(const struct token_bucket *r, unsigned char f[MOST])
{
	memset(f, 0, MOST);
	memcpy(f, r->near.mac.byte, 6);
	f[6] = 2;
	f[12] = 8;
	f[14] = 0x45;
	f[17] = (unsigned char)(r->bytes - 14);
	f[23] = 17;
	memcpy(f + 30, "\xc0\xa8\x64\x0a", 4);
}

/* Sends them in the background, with a pause of so many microseconds after each
 * batch. */
static pid_t
flood(const struct token_bucket *r, long pause_us)
{
	static unsigned char f[MOST];
	struct iovec part = { f, r->bytes };
	struct mmsghdr m[FLOOD];
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	make(r, f);
	memset(m, 0, sizeof(m));
	for (unsigned i = 0; i < FLOOD; i++) {
		m[i].msg_hdr.msg_iov = &part;
		m[i].msg_hdr.msg_iovlen = 1;
	}
	for (unsigned sent = 0; sent < r->frames; sent += FLOOD) {
		double end = seconds(CLOCK_MONOTONIC) + 1e-6 * (double)pause_us;

		sendmmsg(r->far, m, FLOOD, 0);
		while (seconds(CLOCK_MONOTONIC) < end)
			;
	}
	_exit(0);
}

static void
run(struct token_bucket *r, const char *what, bool back, long pause_us)
{
	struct pollfd p = { .fd = r->near.fd, .events = POLLIN };
	struct link_counters before;
	double start, cpu, last;
	uint64_t in, out;
	pid_t pid;

	link_refresh(&r->near);
	before = r->near.count;
	pid = flood(r, pause_us);
	poll(&p, 1, 1000);
	start = last = seconds(CLOCK_MONOTONIC);
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	while (poll(&p, 1, 300) == 1) {
		int n = link_receive(&r->near, r->list, BATCH);

		if (back && n > 0)
			link_send(&r->near, r->list, (unsigned)n);
		link_release(&r->near);
		last = seconds(CLOCK_MONOTONIC);
	}
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	waitpid(pid, NULL, 0);
	link_refresh(&r->near);
	in = r->near.count.received - before.received;
	out = r->near.count.sent - before.sent;
	printf("%-22s in %9.0f/s  out %9.0f/s  %5.0f ns of cpu each  "
	       "lost %5.2f %%\n",
	    what, (double)in / (last - start), (double)out / (last - start),
	    cpu / (double)in * 1e9,
	    100.0 * (double)(r->near.count.missed - before.missed) /
		(double)r->frames);
}

/* Only sending, of memory of our own. */
static void
run_out(struct token_bucket *r)
{
	static unsigned char f[MOST];
	double start = seconds(CLOCK_MONOTONIC);
	unsigned sent = 0;

	make(r, f);
	for (unsigned i = 0; i < BATCH; i++)
		r->list[i] =
		    (struct link_frame){ .bytes = f, .length = r->bytes };
	while (sent < r->frames) {
		int n = link_send(&r->near, r->list, BATCH);

		if (n > 0)
			sent += (unsigned)n;
	}
	printf("%-22s                out %9.0f/s\n", "out",
	    sent / (seconds(CLOCK_MONOTONIC) - start));
}

/* One frame there and back at a time. */
static void
run_delay(struct token_bucket *r)
{
	static unsigned char f[MOST];
	struct pollfd in = { .fd = r->near.fd, .events = POLLIN };
	struct pollfd out = { .fd = r->far, .events = POLLIN };
	double total = 0, longest = 0;
	enum { TIMES = 2000 };

	while (recv(r->far, f, sizeof(f), MSG_DONTWAIT) > 0)
		;
	make(r, f);
	for (int i = 0; i < TIMES; i++) {
		double t = seconds(CLOCK_MONOTONIC);
		int n;

		(void)!send(r->far, f, r->bytes, 0);
		if (poll(&in, 1, 1000) != 1)
			break;
		n = link_receive(&r->near, r->list, BATCH);
		memcpy(r->list[0].bytes, f + 6, 6);
		link_send(&r->near, r->list, (unsigned)n);
		link_release(&r->near);
		poll(&out, 1, 1000);
		(void)!recv(r->far, r->list, sizeof(r->list), MSG_DONTWAIT);
		t = seconds(CLOCK_MONOTONIC) - t;
		total += t;
		longest = t > longest ? t : longest;
	}
	printf("%-22s mean %.1f us, longest %.1f us\n", "there and back",
	    total / TIMES * 1e6, longest * 1e6);
}

static int
plug_in(void)
{
	if (unshare(CLONE_NEWNET) != 0)
		return -1;
	return system("ip link add name near type veth peer name far && "
		      "ip link set near addrgenmode none up && "
		      "ip link set far addrgenmode none up");
}

static int
open_far(void)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = (int)if_nametoindex("far") };
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	int one = 1;

	setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one));
	setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) != 0) {
		perror("link_rate: far end");
		exit(1);
	}
	return fd;
}

int
main(int argc, char **argv)
{
	static struct token_bucket r;
	struct peer vip;
	struct addr a;
	struct link_filter filter = { .address = &vip, .count = 1 };
	struct error e;

	if (plug_in() != 0) {
		perror("link_rate: no network of its own");
		return 1;
	}
	addr_parse_ip(&a, "192.168.100.10", 0);
	peer_from_addr(&vip, &a);
	r.bytes = argc > 2 ? (unsigned)atoi(argv[2]) : 64;
	r.frames = argc > 3 ? (unsigned)atoi(argv[3]) : 1000000;
	if (r.bytes < 60 || r.bytes > MOST || r.frames == 0)
		return 2;
	r.far = open_far();
	if (link_open(
		&r.near, argc > 1 ? argv[1] : NULL, "near", &filter, &e) != 0) {
		fprintf(stderr, "link_rate: %s\n", e.text);
		return 1;
	}
	printf("link %s, %u frames of %u bytes\n", r.near.ops->name, r.frames,
	    r.bytes);
	run_delay(&r);
	run(&r, "in, flood", false, 0);
	run(&r, "in and out, flood", true, 0);
	run(&r, "in and out, 64 / 200us", true, 200);
	run_out(&r);
	link_close(&r.near);
	return 0;
}
