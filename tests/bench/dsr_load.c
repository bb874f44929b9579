/* dsr_load.c: the ends of dsr_rate.py's cables; the script compiles it.
 *
 *     send IF udp|tcp FLOWS SECONDS MAC   frames to the VIP, as many as go;
 *                                         prints how many and its CPU time
 *     arp IF                              answers for 192.168.100.3 and .4
 *     drop IF                             drops IPv4 there by XDP, as long as it
 *                                         runs; prints a line when it does
 *     pass IF                             has an XDP program that drops nothing
 *     feature IF tx|gro on|off            as ethtool -K
 *     echo IP                             UDP at port 7
 *     ping IP COUNT                       round trips in ns, one a line */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 60, BATCH = 64, PORT = 7 };

static uint64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int
open_packet(const char *ifname, int protocol)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET,
		.sll_protocol = htons((uint16_t)protocol),
		.sll_ifindex = (int)if_nametoindex(ifname) };
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) != 0)
		err(1, "%s", ifname);
	return fd;
}

static void
set_sum(unsigned char *to, uint32_t sum, const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i += 2)
		sum += (uint32_t)p[i] << 8 | p[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	to[0] = (unsigned char)(~sum >> 8);
	to[1] = (unsigned char)~sum;
}

/* 60 bytes: IPv4 with 46, from a client that `flow` is the number of. */
static void
make(unsigned char *f, bool tcp, unsigned flow, const unsigned char *mac)
{
	static const unsigned char start[] = { 8, 0, 0x45, 0, 0, 46, 0, 0, 0x40,
		0, 64, 0, 0, 0, 10, 0, 0, 0, 192, 168, 100, 10 };

	memset(f, 0, SIZE);
	memcpy(f, mac, 6);
	memcpy(f + 6, "\2\0\0\144\0\1", 6);
	memcpy(f + 12, start, sizeof(start));
	f[23] = tcp ? 6 : 17;
	f[28] = (unsigned char)(flow >> 16);
	f[29] = (unsigned char)(1 + (flow >> 8) % 250);
	f[34] = 0x80;
	f[35] = (unsigned char)flow;
	f[37] = PORT;
	if (tcp) {
		f[46] = 5 << 4;
		f[47] = 16;
		set_sum(f + 50, 6 + 26, f + 26, 34);
	} else {
		f[39] = 26;
		set_sum(f + 40, 17 + 26, f + 26, 34);
	}
	set_sum(f + 24, 0, f + 14, 20);
}

static double
cpu_of(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
	    (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e6;
}

static int
run_send(char **v)
{
	unsigned flows = (unsigned)atoi(v[2]), at = 0;
	uint64_t end, sent = 0, refused = 0;
	int fd = open_packet(v[0], 0), on = 1, m[6];
	unsigned char mac[6], *frames = malloc((size_t)flows * SIZE);
	struct mmsghdr list[BATCH] = { 0 };
	struct iovec part[BATCH];
	struct rusage use, before;

	if (frames == NULL ||
	    sscanf(v[4], "%x:%x:%x:%x:%x:%x", &m[0], &m[1], &m[2], &m[3], &m[4],
		&m[5]) != 6)
		errx(1, "usage");
	for (int i = 0; i < 6; i++)
		mac[i] = (unsigned char)m[i];
	for (unsigned i = 0; i < flows; i++)
		make(frames + (size_t)i * SIZE, v[1][0] == 't', i, mac);
	setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on));
	getrusage(RUSAGE_SELF, &before);
	end = now_ns() + (uint64_t)(atof(v[3]) * 1e9);
	while (now_ns() < end) {
		for (unsigned i = 0; i < BATCH; i++, at = (at + 1) % flows) {
			part[i].iov_base = frames + (size_t)at * SIZE;
			part[i].iov_len = SIZE;
			list[i].msg_hdr.msg_iov = &part[i];
			list[i].msg_hdr.msg_iovlen = 1;
		}
		int n = sendmmsg(fd, list, BATCH, 0);
		if (n > 0)
			sent += (unsigned)n;
		else
			refused++;
	}
	getrusage(RUSAGE_SELF, &use);
	printf("%llu %llu %.6f\n", (unsigned long long)sent,
	    (unsigned long long)refused, cpu_of(&use) - cpu_of(&before));
	return 0;
}

static _Noreturn void
run_arp(char **v)
{
	int fd = open_packet(v[0], ETH_P_ARP);
	unsigned char f[60], ip[4];

	for (;;) {
		if (recv(fd, f, sizeof(f), 0) < 42 || f[21] != 1 ||
		    f[38] != 192 || (f[41] != 3 && f[41] != 4))
			continue;
		memcpy(f, f + 6, 6);
		memcpy(f + 6, "\2\0\0\144\0", 5);
		f[11] = f[41];
		f[21] = 2;
		memcpy(ip, f + 28, 4);
		memcpy(f + 32, f, 6);
		memcpy(f + 28, f + 38, 4);
		memcpy(f + 38, ip, 4);
		memcpy(f + 22, f + 6, 6);
		send(fd, f, 42, 0);
	}
}

static int
bpf(int command, union bpf_attr *a)
{
	int fd = (int)syscall(SYS_bpf, command, a, sizeof(*a));

	if (fd < 0)
		err(1, "bpf");
	return fd;
}

/* ARP goes on, to who answers it. */
static int
load_program(bool drops)
{
	static const struct bpf_insn dropping[] = {
		/* r2, r3: where the frame begins and ends */
		{ BPF_LDX | BPF_MEM | BPF_W, 2, 1,
		    offsetof(struct xdp_md, data), 0 },
		{ BPF_LDX | BPF_MEM | BPF_W, 3, 1,
		    offsetof(struct xdp_md, data_end), 0 },
		{ BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, XDP_PASS },
		{ BPF_ALU64 | BPF_MOV | BPF_X, 4, 2, 0, 0 },
		{ BPF_ALU64 | BPF_ADD | BPF_K, 4, 0, 0, ETH_HLEN },
		{ BPF_JMP | BPF_JGT | BPF_X, 4, 3, 4, 0 },
		{ BPF_LDX | BPF_MEM | BPF_H, 5, 2, 12, 0 },
		{ BPF_ALU | BPF_END | BPF_TO_BE, 5, 0, 0, 16 },
		{ BPF_JMP | BPF_JNE | BPF_K, 5, 0, 1, ETH_P_IP },
		{ BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, XDP_DROP },
		{ BPF_JMP | BPF_EXIT, 0, 0, 0, 0 },
	}, passing[] = {
		{ BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, XDP_PASS },
		{ BPF_JMP | BPF_EXIT, 0, 0, 0, 0 },
	};
	union bpf_attr a = { .prog_type = BPF_PROG_TYPE_XDP,
		.insn_cnt = (drops ? sizeof(dropping) : sizeof(passing)) /
		    sizeof(dropping[0]),
		.insns = (uintptr_t)(drops ? dropping : passing),
		.license = (uintptr_t) "GPL" };

	return bpf(BPF_PROG_LOAD, &a);
}

static _Noreturn void
run_program(char **v, bool drops)
{
	union bpf_attr a = { .link_create = {
				 .prog_fd = (uint32_t)load_program(drops),
				 .target_ifindex = if_nametoindex(v[0]),
				 .attach_type = BPF_XDP,
				 .flags = XDP_FLAGS_DRV_MODE } };

	bpf(BPF_LINK_CREATE, &a);
	puts("attached");
	fflush(stdout);
	for (;;)
		pause();
}

static int
run_feature(char **v)
{
	struct ethtool_value value = { .cmd = v[1][0] == 'g' ? ETHTOOL_SGRO
							     : ETHTOOL_STXCSUM,
		.data = strcmp(v[2], "on") == 0 };
	struct ifreq r = { .ifr_data = (void *)&value };

	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", v[0]);
	if (ioctl(open_packet(v[0], 0), SIOCETHTOOL, &r) != 0)
		err(1, "%s", v[0]);
	return 0;
}

static int
open_udp(const char *ip, int (*use)(int, const struct sockaddr *, socklen_t))
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_port = htons(PORT) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	inet_pton(AF_INET, ip, &at.sin_addr);
	if (use(fd, (struct sockaddr *)&at, sizeof(at)) != 0)
		err(1, "%s", ip);
	return fd;
}

static _Noreturn void
run_echo(char **v)
{
	int fd = open_udp(v[0], bind);
	struct sockaddr_in from;
	char b[64];

	for (;;) {
		socklen_t len = sizeof(from);
		ssize_t n = recvfrom(
		    fd, b, sizeof(b), 0, (struct sockaddr *)&from, &len);
		if (n > 0)
			sendto(
			    fd, b, (size_t)n, 0, (struct sockaddr *)&from, len);
	}
}

static int
run_ping(char **v)
{
	int fd = open_udp(v[0], connect);
	struct timeval wait = { 0, 100000 };
	unsigned i, n = (unsigned)atoi(v[1]), got;
	uint64_t start;
	ssize_t len;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	for (i = 0; i < n; i++) {
		start = now_ns();
		send(fd, &i, sizeof(i), 0);
		/* an answer that comes too late is none */
		while ((len = recv(fd, &got, sizeof(got), 0)) > 0 && got != i)
			;
		if (len > 0)
			printf(
			    "%llu\n", (unsigned long long)(now_ns() - start));
	}
	return 0;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	if (strcmp(what, "send") == 0 && argc == 7)
		return run_send(argv + 2);
	if (strcmp(what, "arp") == 0)
		run_arp(argv + 2);
	if (strcmp(what, "drop") == 0 || strcmp(what, "pass") == 0)
		run_program(argv + 2, what[0] == 'd');
	if (strcmp(what, "feature") == 0 && argc == 5)
		return run_feature(argv + 2);
	if (strcmp(what, "echo") == 0)
		run_echo(argv + 2);
	if (strcmp(what, "ping") == 0 && argc == 4)
		return run_ping(argv + 2);
	errx(1, "usage: see the top of dsr_load.c");
}
