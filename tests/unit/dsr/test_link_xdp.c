/* test_link_xdp.c: what is only so with AF_XDP: one memory for all frames,
 * modes, queues, and what it keeps away from. The rest is in test_link.c. */
#include "config.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <check.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/sockios.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xdp/xsk.h>

#include "dsr/frame/frame.h"
#include "dsr/link/link.h"
#include "dsr/open/link_open.h"
#include "support/link_fixture.h"
#include "support/suite.h"
#include "support/veth.h"
#include "support/wait.h"

static struct link_fixture fixture;

static void
up(void)
{
	link_fixture_up(&fixture, "xdp");
}

static void
down(void)
{
	link_fixture_down(&fixture);
}

/* The same interface, or another one, opened again. */
static int
open_again(const char *kind, const char *name, struct error *e)
{
	link_close(&fixture.near);
	return link_open(&fixture.near, kind, name, &fixture.filter, e);
}

/* For tests whose last attempt to open it failed. */
static void
open_to_be_closed(void)
{
	struct error e;

	ck_assert_int_eq(
	    link_open(&fixture.near, "packet", "near", &fixture.filter, &e), 0);
}

START_TEST(a_frame_may_be_sent_twice_and_is_kept_until_the_release)
{
	enum { TIMES = 3000 };
	unsigned char f[200];
	struct link_frame twice[2];

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	for (unsigned i = 0; i < TIMES; i++) {
		link_fixture_far_sends(&fixture, "192.168.100.10", i, 200);
		ck_assert_int_eq(link_fixture_receive(&fixture), 1);
		memcpy(fixture.list[0].bytes, fixture.far_mac, 6);
		twice[0] = twice[1] = fixture.list[0];
		ck_assert_int_eq(link_send(&fixture.near, twice, 2), 2);
		ck_assert_uint_eq(veth_receive(fixture.far, f, sizeof(f)), 200);
		ck_assert_uint_eq(veth_receive(fixture.far, f, sizeof(f)), 200);
		/* the kernel has it no more, the caller still does */
		ck_assert_int_eq(link_send(&fixture.near, twice, 1), 1);
		ck_assert_uint_eq(
		    link_fixture_number(fixture.list[0].bytes), i);
		ck_assert_uint_eq(veth_receive(fixture.far, f, sizeof(f)), 200);
		ck_assert_uint_eq(link_fixture_number(f), i);
		link_release(&fixture.near);
	}
	ck_assert_uint_eq(fixture.near.count.sent, 3 * TIMES);
}
END_TEST

/* More than there are places, of the caller's memory. */
START_TEST(own_frames_leave_as_long_as_there_is_room)
{
	enum { ALL = 20000, PORTION = 64 };
	static unsigned char f[PORTION][60];
	unsigned char got[200];
	struct link_frame own[PORTION];
	unsigned next = 0;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	for (unsigned i = 0; i < ALL; i += PORTION) {
		for (unsigned k = 0; k < PORTION; k++)
			own[k] = (struct link_frame){ .bytes = f[k],
				.length = link_fixture_make(
				    &fixture, f[k], "10.0.0.1", i + k, 60) };
		ck_assert_int_eq(
		    link_send(&fixture.near, own, PORTION), PORTION);
		memset(f, 0, sizeof(f));
		for (unsigned k = 0; k < PORTION; k++) {
			if (veth_receive(fixture.far, got, sizeof(got)) != 60 ||
			    link_fixture_number(got) != next++)
				ck_abort_msg("not number %u", next - 1);
		}
	}
}
END_TEST

/* What a sender on this machine leaves to a card: there is no card. */
START_TEST(checksums_left_to_do_are_done)
{
	unsigned char m[10 + 142], *f = m + 10;
	struct virtio_net_hdr h = { .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.csum_start = 34,
		.csum_offset = 6 };
	struct frame parsed;
	uint32_t sum = 17 + 108;
	int far;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	link_fixture_make(&fixture, f, "192.168.100.10", 9, 142);
	f[38] = 0;
	f[39] = 108;
	for (unsigned i = 26; i < 34; i += 2)
		sum += (unsigned)f[i] << 8 | f[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	f[40] = (unsigned char)(sum >> 8);
	f[41] = (unsigned char)sum;
	sum = 0;
	for (unsigned i = 14; i < 34; i += 2)
		sum += (unsigned)f[i] << 8 | f[i + 1];
	sum = ~((sum & 0xffff) + (sum >> 16));
	f[24] = (unsigned char)(sum >> 8);
	f[25] = (unsigned char)sum;
	memcpy(m, &h, sizeof(h));
	far = veth_open("far", true);
	veth_send(far, m, sizeof(m));
	close(far);
	ck_assert_int_eq(link_fixture_receive(&fixture), 1);
	frame_parse(&parsed, fixture.list[0].bytes, fixture.list[0].length);
	ck_assert_int_eq(parsed.kind, FRAME_FLOW);
	ck_assert(frame_checksum_ok(&parsed));
	ck_assert_int_eq(fixture.list[0].offload.flags, 0);
	link_release(&fixture.near);
}
END_TEST

static void
set_queues(const char *end, unsigned rx, unsigned tx)
{
	struct ethtool_channels c = {
		.cmd = ETHTOOL_SCHANNELS, .rx_count = rx, .tx_count = tx
	};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct ifreq r;

	memset(&r, 0, sizeof(r));
	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", end);
	r.ifr_data = (void *)&c;
	if (ioctl(fd, SIOCETHTOOL, &r) != 0)
		fixture.missing = text("no queues: %s", strerror(errno));
	close(fd);
}

/* A socket that takes frames in sends its own to one of the two by its
 * number. */
START_TEST(all_queues_are_heard)
{
	enum { ALL = 200 };
	unsigned char f[100];
	bool seen[ALL] = { false };
	struct error e;
	unsigned n = 0;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	link_close(&fixture.near);
	set_queues("far", 1, 2);
	set_queues("near", 2, 1);
	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	ck_assert_int_eq(
	    link_open(&fixture.near, "xdp", "near", &fixture.filter, &e), 0);
	for (unsigned i = 0; i < ALL; i++) {
		link_fixture_make(&fixture, f, "192.168.100.10", i, 100);
		f[26] = 10;
		f[29] = (unsigned char)i; /* other flows, other queues */
		veth_send(fixture.far, f, 100);
	}
	while (n < ALL) {
		int got = link_fixture_receive(&fixture);

		for (int i = 0; i < got; i++, n++) {
			unsigned k = link_fixture_number(fixture.list[i].bytes);

			ck_assert_uint_lt(k, ALL);
			ck_assert(!seen[k]);
			seen[k] = true;
		}
		link_release(&fixture.near);
	}
}
END_TEST

START_TEST(larger_mtus)
{
	static unsigned char got[3100];
	struct error e;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	link_close(&fixture.near);
	veth_ip("link set near mtu 3000");
	veth_ip("link set far mtu 3000");
	ck_assert_int_eq(
	    link_open(&fixture.near, "xdp", "near", &fixture.filter, &e), 0);
	link_fixture_far_sends(&fixture, "192.168.100.10", 4, 3014);
	ck_assert_int_eq(link_fixture_receive(&fixture), 1);
	ck_assert_uint_eq(fixture.list[0].length, 3014);
	memcpy(fixture.list[0].bytes, fixture.far_mac, 6);
	ck_assert_int_eq(link_send(&fixture.near, fixture.list, 1), 1);
	link_release(&fixture.near);
	ck_assert_uint_eq(veth_receive(fixture.far, got, sizeof(got)), 3014);
	link_close(&fixture.near);
	veth_ip("link set near mtu 9000");
	ck_assert_int_eq(
	    link_open(&fixture.near, "xdp", "near", &fixture.filter, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "MTU of 9000"));
	/* unless it is this very kind that is wanted, there is another one */
	ck_assert_int_eq(
	    link_open(&fixture.near, NULL, "near", &fixture.filter, &e), 0);
	ck_assert_str_eq(fixture.near.ops->name, "packet");
	ck_assert_ptr_null(fixture.near.mode);
}
END_TEST

START_TEST(an_mtu_that_grows_is_too_late)
{
	static unsigned char f[3014];
	struct link_frame own = { .bytes = f, .length = sizeof(f) };

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	veth_ip("link set near mtu 3000");
	veth_ip("link set far mtu 3000");
	link_refresh(&fixture.near);
	link_fixture_make(&fixture, f, "10.0.0.1", 1, sizeof(f));
	ck_assert_int_eq(link_send(&fixture.near, &own, 1), 1);
	ck_assert_uint_eq(fixture.near.count.too_long, 1);
	link_fixture_far_sends(&fixture, "192.168.100.10", 5, 3014);
	link_fixture_far_sends(&fixture, "192.168.100.10", 6, 1514);
	link_fixture_expect(&fixture, 6);
	link_refresh(&fixture.near);
	ck_assert_uint_eq(fixture.near.count.missed, 1);
}
END_TEST

START_TEST(interfaces_with_addresses_keep_their_arp)
{
	struct error e;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	ck_assert_int_eq(open_again(NULL, "near", &e), 0);
	ck_assert_str_eq(fixture.near.ops->name, "xdp");
	veth_ip("addr add 10.1.1.1/24 dev near");
	ck_assert_int_eq(open_again(NULL, "near", &e), 0);
	ck_assert_str_eq(fixture.near.ops->name, "packet");
	ck_assert_int_eq(open_again("xdp", "near", &e), 0);
}
END_TEST

START_TEST(an_address_with_a_name_of_its_own_is_one)
{
	struct error e;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	veth_ip("addr add 10.1.1.1/24 dev near label near:1");
	ck_assert_int_eq(open_again(NULL, "near", &e), 0);
	ck_assert_str_eq(fixture.near.ops->name, "packet");
}
END_TEST

/* VLANs of the interface, a bridge: they have their addresses by its ARP. */
START_TEST(interfaces_above_keep_their_arp)
{
	struct error e;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	if (system("ip link add link near name above type macvlan "
		   "2>/dev/null") == 0) {
		ck_assert_int_eq(open_again(NULL, "near", &e), 0);
		ck_assert_str_eq(fixture.near.ops->name, "packet");
		ck_assert_ptr_nonnull(strstr(e.text, "is part of others"));
		ck_assert_int_eq(open_again("xdp", "near", &e), 0);
		veth_ip("link del above");
	}
	/* the other end of the cable is none */
	ck_assert_int_eq(open_again(NULL, "near", &e), 0);
	ck_assert_str_eq(fixture.near.ops->name, "xdp");
	link_close(&fixture.near);
	veth_ip("link add bridge0 type bridge");
	veth_ip("link set near master bridge0");
	ck_assert_int_eq(
	    link_open(&fixture.near, NULL, "near", &fixture.filter, &e), 0);
	ck_assert_str_eq(fixture.near.ops->name, "packet");
	ck_assert_ptr_nonnull(strstr(e.text, "is part of others"));
}
END_TEST

/* Whether XDP is chosen once this machine has no neighbours there. The other
 * end of the cable may just have looked for its address. */
static bool
xdp_is_chosen(void)
{
	struct error e;

	veth_ip("neigh flush dev near");
	veth_ip("-6 neigh flush dev near");
	ck_assert_int_eq(open_again(NULL, "near", &e), 0);
	return strcmp(fixture.near.ops->name, "xdp") == 0;
}

/* Link-local addresses are enough for this machine to have routes and to talk
 * to neighbours there. */
START_TEST(interfaces_in_use_keep_their_ndp)
{
	static const char *const uses[][2] = { { "route",
						   "10.9.9.0/24 dev near" },
		{ "-6 route", "default via fe80::9 dev near" },
		{ "-6 route",
		    "fd09::/64 nexthop via fe80::8 dev near "
		    "nexthop via fe80::9 dev near" },
		{ "neigh", "10.1.1.9 lladdr 2:0:0:0:0:9 dev near" },
		{ "-6 neigh", "fe80::9 lladdr 2:0:0:0:0:9 dev near" } };
	struct error e;
	unsigned i;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	veth_ip("link set lo up");
	veth_ip("addr add fe80::1/64 dev near nodad");
	for (i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
		WAIT_FOR(xdp_is_chosen(), 5000);
		veth_ip("%s add %s", uses[i][0], uses[i][1]);
		ck_assert_int_eq(open_again(NULL, "near", &e), 0);
		ck_assert_str_eq(fixture.near.ops->name, "packet");
		ck_assert_ptr_nonnull(strstr(e.text, "this host itself"));
		ck_assert_int_eq(open_again("xdp", "near", &e), 0);
		veth_ip("%s del %s", uses[i][0], uses[i][1]);
	}
}
END_TEST

/* What the log says while the link looks some times; lives until the next
 * one. */
static const char *
log_of_looks(void)
{
	static char said[4096];
	FILE *f = tmpfile();
	int was = dup(STDERR_FILENO);
	size_t n;

	ck_assert_ptr_nonnull(f);
	(void)link_receive(&fixture.near, fixture.list, LINK_FIXTURE_BATCH);
	link_release(&fixture.near);
	fflush(stderr);
	dup2(fileno(f), STDERR_FILENO);
	for (unsigned i = 0; i < 40; i++)
		link_refresh(&fixture.near);
	fflush(stderr);
	dup2(was, STDERR_FILENO);
	close(was);
	rewind(f);
	n = fread(said, 1, sizeof(said) - 1, f);
	said[n] = '\0';
	fclose(f);
	return said;
}

START_TEST(what_the_machine_gets_later_is_told_once)
{
	const char *said;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	ck_assert_str_eq(log_of_looks(), "");
	veth_ip("addr add 10.1.1.1/24 dev near");
	said = log_of_looks();
	ck_assert_msg(
	    strstr(said, "has addresses of its own") != NULL, "%s", said);
	ck_assert_ptr_eq(strchr(said, '\n'), strrchr(said, '\n'));
	ck_assert_str_eq(log_of_looks(), "");
	set_queues("near", 2, 1);
	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	said = log_of_looks();
	ck_assert_msg(strstr(said, "more receive queues") != NULL, "%s", said);
	ck_assert_str_eq(log_of_looks(), "");
}
END_TEST

/* Sets the effective capabilities. */
static void
set_effective(const struct __user_cap_data_struct *data)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};

	ck_assert_int_eq(syscall(SYS_capset, &head, data), 0);
}

/* What is missing is a right, not a function of the kernel. */
START_TEST(without_rights_to_load_programs)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct all[2], few[2];
	struct error e;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	ck_assert_int_eq(syscall(SYS_capget, &head, all), 0);
	memcpy(few, all, sizeof(few));
	few[0].effective &= ~(1U << CAP_SYS_ADMIN);
	few[1].effective &= ~(1U << (CAP_BPF - 32));
	set_effective(few);
	ck_assert_int_eq(open_again(NULL, "near", &e), 0);
	set_effective(all);
	ck_assert_str_eq(fixture.near.ops->name, "packet");
	ck_assert_ptr_nonnull(strstr(e.text, "cannot load the XDP program"));
	ck_assert_ptr_nonnull(strstr(e.text, strerror(EPERM)));
}
END_TEST

/* The kernel has another word for it. */
START_TEST(a_generic_program_is_another_one)
{
	const struct bpf_insn pass[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K,
					     .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT } };
	unsigned near = if_nametoindex("near");
	struct error e;
	int fd;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	link_close(&fixture.near);
	fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "other", "GPL", pass, 2, NULL);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(
	    bpf_xdp_attach((int)near, fd, XDP_FLAGS_SKB_MODE, NULL), 0);
	ck_assert_int_eq(
	    link_open(&fixture.near, "xdp", "near", &fixture.filter, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "another program"));
	ck_assert_int_eq(
	    link_open(&fixture.near, NULL, "near", &fixture.filter, &e), 0);
	ck_assert_str_eq(fixture.near.ops->name, "packet");
	ck_assert_ptr_nonnull(strstr(e.text, "another program"));
	ck_assert_int_eq(
	    bpf_xdp_detach((int)near, XDP_FLAGS_SKB_MODE, NULL), 0);
	close(fd);
}
END_TEST

START_TEST(without_the_drivers_help_only_when_asked)
{
	unsigned char f[100];
	struct link tried;
	struct error e;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	if (system("ip link add link near name above type macvlan mode "
		   "passthru 2>/dev/null") != 0)
		SKIP("no macvlan");
	veth_ip("link set above addrgenmode none up");
	ck_assert_int_eq(
	    link_try(&tried, NULL, "above", &fixture.filter, &e), 0);
	ck_assert_str_eq(tried.ops->name, "packet");
	link_close(&tried);
	ck_assert_int_eq(open_again(NULL, "above", &e), 0);
	ck_assert_str_eq(fixture.near.ops->name, "packet");
	ck_assert_int_eq(open_again("xdp", "above", &e), 0);
	ck_assert_str_eq(fixture.near.mode, "generic");
	link_fixture_far_sends(&fixture, "192.168.100.10", 6, 100);
	ck_assert_int_eq(link_fixture_receive(&fixture), 1);
	ck_assert_uint_eq(link_fixture_number(fixture.list[0].bytes), 6);
	memcpy(fixture.list[0].bytes, fixture.far_mac, 6);
	ck_assert_int_eq(link_send(&fixture.near, fixture.list, 1), 1);
	link_release(&fixture.near);
	/* the kernel says something on this interface, too */
	while (veth_receive(fixture.far, f, sizeof(f)) != 100)
		;
	ck_assert_uint_eq(link_fixture_number(f), 6);
}
END_TEST

START_TEST(one_program_on_an_interface)
{
	struct link other;
	struct error e;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	ck_assert_int_eq(
	    link_open(&other, "xdp", "near", &fixture.filter, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "another program"));
}
END_TEST

/* A link that is open gets its frames while others try and listen. */
START_TEST(trials_take_no_frames)
{
	const char *const kinds[] = { "xdp", NULL };
	struct link l;
	struct error e;
	unsigned i;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	ck_assert_int_eq(open_again("packet", "near", &e), 0);
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(
		    link_try(&l, kinds[i], "near", &fixture.filter, &e), 0);
		ck_assert_str_eq(l.ops->name, "xdp");
		link_fixture_far_sends(&fixture, "192.168.100.10", i, 100);
		link_fixture_expect(&fixture, i);
		link_close(&l);
	}
	ck_assert_int_eq(link_listen(&l, "near", &fixture.filter, &e), 0);
	ck_assert_str_eq(l.ops->name, "packet");
	link_fixture_far_sends(&fixture, "192.168.100.10", 9, 100);
	link_fixture_expect(&fixture, 9);
	link_close(&l);
}
END_TEST

/* Whoever dies leaves nothing on the interface. */
START_TEST(the_program_goes_with_the_process)
{
	struct error e;
	int pipes[2];
	pid_t pid;
	char c;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	link_close(&fixture.near);
	ck_assert_int_eq(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		c = link_open(
			&fixture.near, "xdp", "near", &fixture.filter, &e) == 0;
		(void)!write(pipes[1], &c, 1);
		pause();
		_exit(0);
	}
	ck_assert_int_eq(read(pipes[0], &c, 1), 1);
	ck_assert_int_eq(c, 1);
	close(pipes[0]);
	close(pipes[1]);
	ck_assert_ptr_nonnull(strstr(veth_ip_says("link show near"), "xdp"));
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	WAIT_FOR(strstr(veth_ip_says("link show near"), "xdp") == NULL, 5000);
	open_to_be_closed();
}
END_TEST

/* An AF_XDP socket at the only queue, and nothing else of a link. */
static int
occupy(void)
{
	static unsigned char memory[64 * 4096] __attribute__((aligned(4096)));
	static struct xsk_ring_prod fill;
	static struct xsk_ring_cons done, in;
	const struct xsk_socket_config c = {
		.rx_size = 32,
		.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
	};
	struct xsk_umem *umem;
	struct xsk_socket *s;

	return xsk_umem__create(&umem, memory, sizeof(memory), &fill, &done,
		   NULL) != 0 ||
		xsk_socket__create(&s, "near", 0, umem, &in, NULL, &c) != 0
	    ? -1
	    : 0;
}

/* The kernel takes a queue back some time after the one who had it has ended,
 * as a director that is started anew finds out. */
START_TEST(a_queue_that_is_free_in_a_moment)
{
	struct error e;
	int pipes[2];
	pid_t pid;
	char c;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	link_close(&fixture.near);
	ck_assert_int_eq(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		for (c = 0; c < 100 && occupy() != 0; c++)
			usleep(10000);
		(void)!write(pipes[1], &c, 1);
		usleep(200000);
		_exit(0);
	}
	ck_assert_int_eq(read(pipes[0], &c, 1), 1);
	ck_assert_int_lt(c, 100);
	close(pipes[0]);
	close(pipes[1]);
	ck_assert_msg(
	    link_open(&fixture.near, "xdp", "near", &fixture.filter, &e) == 0,
	    "%s", e.text);
	link_fixture_far_sends(&fixture, "192.168.100.10", 7, 100);
	link_fixture_expect(&fixture, 7);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

SUITE(test_link_xdp)
{
	Suite *s = suite_create("link_xdp");
	TCase *t = tcase_create("link_xdp");

	tcase_add_checked_fixture(t, up, down);
	tcase_set_timeout(t, 30);
	tcase_add_test(
	    t, a_frame_may_be_sent_twice_and_is_kept_until_the_release);
	tcase_add_test(t, own_frames_leave_as_long_as_there_is_room);
	tcase_add_test(t, checksums_left_to_do_are_done);
	tcase_add_test(t, all_queues_are_heard);
	tcase_add_test(t, larger_mtus);
	tcase_add_test(t, an_mtu_that_grows_is_too_late);
	tcase_add_test(t, interfaces_with_addresses_keep_their_arp);
	tcase_add_test(t, an_address_with_a_name_of_its_own_is_one);
	tcase_add_test(t, interfaces_above_keep_their_arp);
	tcase_add_test(t, interfaces_in_use_keep_their_ndp);
	tcase_add_test(t, what_the_machine_gets_later_is_told_once);
	tcase_add_test(t, without_rights_to_load_programs);
	tcase_add_test(t, a_generic_program_is_another_one);
	tcase_add_test(t, without_the_drivers_help_only_when_asked);
	tcase_add_test(t, one_program_on_an_interface);
	tcase_add_test(t, trials_take_no_frames);
	tcase_add_test(t, the_program_goes_with_the_process);
	tcase_add_test(t, a_queue_that_is_free_in_a_moment);
	suite_add_tcase(s, t);
	return s;
}
