/* test_link_fast.c: how the fast path of a link is opened, passed on to another
 * process, and closed. Which frames it forwards is in test_xdp_fast.c. */
#include "config.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <check.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dsr/link/link.h"
#include "dsr/open/link_open.h"
#include "support/suite.h"
#include "support/veth.h"
#include "support/wait.h"
#include "unit/dsr/cable_fixture.h"

static bool
opens_fast(const char *name, enum link_fast_mode mode)
{
	struct error e;

	link_close(&fixture.near);
	fixture.filter.fast = mode;
	ck_assert_msg(link_open(&fixture.near, NULL, name, &fixture.filter,
			  &e) == 0,
	    "%s", e.text);
	ck_assert_str_eq(fixture.near.ops->name, "packet");
	ck_assert(
	    (fixture.near.mode != NULL) == (fixture.near.fast != NULL));
	return fixture.near.fast != NULL;
}

/* The link is complete without it. */
static void
receives(unsigned number)
{
	link_fixture_far_sends(&fixture, "192.168.100.10", number, 100);
	link_fixture_expect(&fixture, number);
}

START_TEST(off_is_off)
{
	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	ck_assert_ptr_nonnull(strstr(veth_ip_says("link show near"), "xdp"));
	ck_assert(!opens_fast("near", LINK_FAST_OFF));
	ck_assert_ptr_null(strstr(veth_ip_says("link show near"), "xdp"));
	receives(1);
	/* what the program sends would be lost */
	veth_feature("far", ETHTOOL_SGRO, false);
	ck_assert(!opens_fast("near", LINK_FAST_AUTO));
	receives(2);
	veth_feature("far", ETHTOOL_SGRO, true);
	ck_assert(opens_fast("near", LINK_FAST_AUTO));
	receives(3);
}
END_TEST

/* This host goes on using the interface. */
START_TEST(beside_addresses_of_the_host)
{
	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	veth_ip("addr add 10.1.1.1/24 dev near");
	veth_feature("far", ETHTOOL_SGRO, true);
	ck_assert(opens_fast("near", LINK_FAST_AUTO));
	receives(1);
}
END_TEST

START_TEST(generic_only_where_it_is_set)
{
	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	if (system("ip link add link near name above type macvlan mode "
		   "passthru 2>/dev/null") != 0)
		SKIP("no macvlan");
	veth_ip("link set above addrgenmode none up");
	ck_assert(!opens_fast("above", LINK_FAST_AUTO));
	receives(1);
	ck_assert(opens_fast("above", LINK_FAST_ON));
	ck_assert_str_eq(fixture.near.mode, "generic");
	receives(2);
}
END_TEST

START_TEST(one_program_on_an_interface)
{
	struct link other;
	struct error e;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	ck_assert_int_eq(
	    link_open(&other, NULL, "near", &fixture.filter, &e), 0);
	ck_assert_ptr_null(other.fast);
	link_close(&other);
	receives(1);
}
END_TEST

/* The kernel has another word for it. */
START_TEST(a_generic_program_is_another_one)
{
	const struct bpf_insn pass[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K,
					     .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT } };
	int near, fd;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	near = (int)if_nametoindex("near");
	ck_assert(!opens_fast("near", LINK_FAST_OFF));
	fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "other", "GPL", pass, 2, NULL);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bpf_xdp_attach(near, fd, XDP_FLAGS_SKB_MODE, NULL), 0);
	ck_assert(!opens_fast("near", LINK_FAST_ON));
	receives(1);
	ck_assert_int_eq(bpf_xdp_detach(near, XDP_FLAGS_SKB_MODE, NULL), 0);
	close(fd);
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

START_TEST(without_rights_to_load_programs)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct all[2], few[2];
	bool fast;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	ck_assert_int_eq(syscall(SYS_capget, &head, all), 0);
	memcpy(few, all, sizeof(few));
	few[0].effective &= ~(1U << CAP_SYS_ADMIN);
	few[1].effective &= ~(1U << (CAP_BPF - 32));
	set_effective(few);
	fast = opens_fast("near", LINK_FAST_ON);
	set_effective(all);
	ck_assert(!fast);
	receives(1);
}
END_TEST

/* With its program and its flows; the first process closes its own. */
START_TEST(another_process_takes_it_over)
{
	const struct dsr_key flow = { .family = AF_INET, .client_port = 7 };
	struct link_offloaded c;
	struct link next;
	struct error e;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	ck_assert_int_eq(
	    fixture.near.fast->add(&fixture.near, &flow, 3, 9), 0);
	ck_assert_uint_eq(
	    link_fixture_open_again(&fixture, &next), LINK_FDS_MAX);
	fixture.near.paused = true;
	fixture.near.left = true;
	link_close(&fixture.near);
	fixture.near = next;
	ck_assert_int_eq(
	    link_take(&fixture.near, &fixture.filter, &e), 0);
	ck_assert_ptr_nonnull(fixture.near.fast);
	ck_assert_str_eq(fixture.near.mode, "native");
	ck_assert(fixture.near.fast->remove(&fixture.near, &flow, &c));
	ck_assert_uint_eq(c.epoch, 9);
	ck_assert_ptr_nonnull(strstr(veth_ip_says("link show near"), "xdp"));
	receives(1);
}
END_TEST

/* Whoever dies leaves nothing on the interface. */
START_TEST(the_program_goes_with_the_process)
{
	int pipes[2];
	pid_t pid;
	char c;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	ck_assert(!opens_fast("near", LINK_FAST_OFF));
	ck_assert_int_eq(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		c = opens_fast("near", LINK_FAST_ON);
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
}
END_TEST

SUITE(test_link_fast)
{
	Suite *s = suite_create("link_fast");
	TCase *t = tcase_create("link_fast");

	tcase_add_checked_fixture(t, up_fast, down);
	tcase_set_timeout(t, 30);
	tcase_add_test(t, off_is_off);
	tcase_add_test(t, beside_addresses_of_the_host);
	tcase_add_test(t, generic_only_where_it_is_set);
	tcase_add_test(t, one_program_on_an_interface);
	tcase_add_test(t, a_generic_program_is_another_one);
	tcase_add_test(t, without_rights_to_load_programs);
	tcase_add_test(t, another_process_takes_it_over);
	tcase_add_test(t, the_program_goes_with_the_process);
	suite_add_tcase(s, t);
	return s;
}
