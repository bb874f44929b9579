/* test_dsr_upgrade.c: a director is replaced by another process: downloads go
 * on, and so do questions; and one whose successor fails goes on itself. */
#include "config.h"

#include <check.h>
#include <linux/ethtool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "support/ctl.h"
#include "support/dsrfast.h"
#include "support/dsrmany.h"
#include "support/dsrpen.h"
#include "support/net_fixture.h"
#include "support/nginx.h"
#include "support/suite.h"
#include "support/upgrading.h"
#include "support/wait.h"

enum { SERVERS = 3, PINGS = 8 };
/* A step is more than there is on the way and in a client's socket. */
enum { PAGE = 400000, STEP = 50000 };

static const struct net_fixture_options three = { .servers = SERVERS };
static struct net_fixture fixture;
static struct dsrpen pen;
static struct nginx web[SERVERS];
static struct dsrmany many, pings;
static const char *program;
static unsigned downloads;

static const struct form {
	const char *set;
	bool v6, by_user, fast;
} forms[] = {
	{ .set = "dsr_fast_path off" },
	{ .set = "dsr_fast_path off", .v6 = true, .by_user = true },
	{ .set = "dsr_fast_path auto; sandbox on", .v6 = true },
	{ .set = "dsr_fast_path on", .by_user = true, .fast = true },
};
enum { FORMS = sizeof(forms) / sizeof(forms[0]) };

/* Before Linux 6.3 an end of a veth pair has no fast path. */
static bool
has_fast(void)
{
	unsigned major = 0, minor = 0;
	struct utsname u;

	ck_assert_int_eq(uname(&u), 0);
	(void)sscanf(u.release, "%u.%u", &major, &minor);
	return dsrfast_missing() == NULL &&
	    (major > 6 || (major == 6 && minor >= 3));
}

#define NEED_ALL(form)                                                     \
	do {                                                               \
		NEED_PROGRAM("nginx");                                     \
		NEED_DSR_OF_OURS("upgrades");                              \
		if (strstr((form)->set, "sandbox") != NULL)                \
			NEEDS_SANDBOX();                                   \
		if ((form)->fast && !has_fast())                           \
			SKIP("built without libbpf, or before Linux 6.3"); \
		NEED_UPGRADES(program = upgrading_install_both());         \
		NEED_NET_FIXTURE(&fixture, &three);                        \
	} while (0)

static const char *
vip_of(const struct form *f)
{
	return f->v6 ? NET_FIXTURE_VIP6 : NET_FIXTURE_VIP4;
}

static void
begin(const struct form *f)
{
	const char *at[SERVERS], *vip = vip_of(f);
	unsigned i;

	downloads = (unsigned)suite_amount(200, 40);
	for (i = 0; i < SERVERS; i++) {
		dsrmany_web(&fixture, i, &web[i], PAGE);
		dsrmany_serve(&fixture, i);
		at[i] = f->v6 ? net_fixture_server6(i) : net_fixture_server4(i);
	}
	/* else the switch takes nothing that XDP sends */
	net_fixture_feature(
	    &fixture, NET_FIXTURE_SWITCH, "d1", ETHTOOL_SGRO, f->fast);
	dsrpen_up(&pen, &fixture, NET_FIXTURE_DIRECTOR, vip, "-r", "-O", f->set,
	    f->by_user ? "-unobody" : "-r",
	    f->v6 ? text("[%s]:0", vip) : text("%s:0", vip), at[0], at[1],
	    at[2], NULL);
	/* they take what they are told to, so that none ends too soon */
	net_fixture_set(
	    &fixture, NET_FIXTURE_CLIENT, "ipv4/tcp_rmem", "4096 16384 16384");
	dsrmany_init(&many, &fixture, "GET /page\r\n");
	many.most = 1;
	for (i = 0; i < downloads; i++)
		dsrmany_add(&many, SOCK_STREAM, NULL, vip, 80);
	dsrmany_wait_known(&many, 20000);
	dsrmany_init(&pings, &fixture, NULL);
	for (i = 0; i < PINGS; i++)
		dsrmany_add(&pings, SOCK_DGRAM, NULL, vip, DSRMANY_PORT);
	dsrmany_wait_known(&pings, 10000);
}

static size_t
answers(void)
{
	size_t n = 0;
	unsigned i;

	for (i = 0; i < PINGS; i++)
		n += pings.one[i].got;
	return n;
}

/* Datagrams and downloads, until the command has ended. Returns the longest
 * time without an answer, in ms. */
static long long
ping_until(struct child *c)
{
	long long last = wait_now_ms(), longest = 0, now;
	size_t had = answers(), enough = many.most + STEP / 2;
	unsigned next = 0;
	bool ended;

	do {
		ended = child_has_ended(c);
		dsrmany_ask(&pings, next++ % PINGS);
		dsrmany_turn(&pings, 2);
		dsrmany_turn(&many, 0);
		now = wait_now_ms();
		if (now - last > longest)
			longest = now - last;
		if (answers() != had)
			last = now;
		had = answers();
		if (many.most < enough)
			many.most += 50;
	} while (!ended || now == last);
	return longest;
}

/* What the command has printed. */
static const char *
upgrade(int status)
{
	const char *argv[] = { ctl_client(), pen.control, "upgrade", NULL };
	long long longest;
	struct child c;

	net_fixture_start(&fixture, NET_FIXTURE_DIRECTOR, &c, argv);
	longest = ping_until(&c);
	ck_assert_msg(c.status == status, "%s%s: %s", child_out(&c),
	    child_err(&c), child_err(&pen.child));
	printf("longest time without an answer: %lld ms\n", longest);
	ck_assert_int_lt(longest, wait_scaled(5000));
	return status == 0 ? child_out(&c) : child_err(&c);
}

static void
expect_whole(void)
{
	unsigned i;

	many.most = 0;
	WAIT_FOR((dsrmany_turn(&many, 10), dsrmany_open(&many) == 0), 60000);
	for (i = 0; i < downloads; i++) {
		ck_assert(!many.one[i].moved);
		ck_assert_int_eq(many.one[i].fate, DSRMANY_ENDED);
		ck_assert_uint_eq(many.one[i].got, PAGE);
	}
	for (i = 0; i < PINGS; i++)
		ck_assert(!pings.one[i].moved);
}

static long
count(const char *name)
{
	return report_number(dsrpen_ask(&pen, "dsr"), text("\n%s ", name));
}

/* A look costs a process: many frames go before it. */
static bool
passes_fast(long before)
{
	unsigned i;

	for (i = 0; i < 32 * PINGS; i++) {
		dsrmany_ask(&pings, i % PINGS);
		if (i % PINGS == PINGS - 1)
			dsrmany_turn(&pings, 1);
	}
	return count("fast_frames") > before;
}

static pid_t
expect_upgrade(const struct form *f)
{
	long pid = 0, flows;
	const char *said;

	if (f->fast)
		WAIT_FOR(passes_fast(0), 10000);
	said = upgrade(0);
	flows = count("flows");

	said = strrchr(text("\n%s", said), 'p');
	while (said != NULL && sscanf(said, "process %ld serves", &pid) != 1)
		said = NULL;
	ck_assert_ptr_nonnull(said);
	ck_assert_int_ge(flows, downloads + PINGS);
	dsrmany_expect_progress(&many, STEP, downloads);
	if (f->fast)
		WAIT_FOR(passes_fast(count("fast_frames")), 10000);
	return (pid_t)pid;
}

static void
end(void)
{
	unsigned i;

	dsrmany_close_all(&many);
	dsrmany_close_all(&pings);
	for (i = 0; i < SERVERS; i++)
		nginx_down(&web[i]);
	net_fixture_down(&fixture);
}

/* Twice: the second process hands on what it was given. */
START_TEST(downloads_go_on)
{
	const struct form *f = &forms[_i];
	pid_t second, third;

	NEED_ALL(f);
	begin(f);
	second = expect_upgrade(f);
	ck_assert_msg(
	    child_wait(&pen.child, 20000) == 0, "%s", child_err(&pen.child));
	third = expect_upgrade(f);
	ck_assert_int_ne(third, second);
	ck_assert_ptr_null(
	    strstr(child_err(&pen.child), "of a running director"));
	WAIT_FOR(upgrading_has_ended(second), 20000);
	expect_whole();
	upgrading_end(third);
	end();
}
END_TEST

/* A program that fails changes nothing. */
START_TEST(old_one_goes_on)
{
	long passed;

	NEED_ALL(&forms[_i]);
	begin(&forms[_i]);
	upgrading_replace(program, "#!/bin/sh\necho 'pen: no' >&2\nexit 1\n");
	ck_assert_ptr_nonnull(strstr(upgrade(1), "\"no\""));
	dsrmany_expect_progress(&many, STEP, downloads);
	/* this one dies while nobody forwards; what the kernel forwards counts
	 * on */
	if (forms[_i].fast)
		WAIT_FOR(passes_fast(5000), 20000);
	passed = count("fast_frames");
	upgrading_replace(program,
	    "#!/bin/sh\nprintf P >&3\nhead -c 500 <&3 >/dev/null\n"
	    "printf L >&3\nhead -c 10 <&3 >/dev/null\nexit 5\n");
	ck_assert_ptr_nonnull(strstr(upgrade(1), "exit status 5"));
	ck_assert_int_ge(count("fast_frames"), passed);
	dsrmany_expect_progress(&many, STEP, downloads);
	upgrading_replace(program, NULL);
	upgrading_end(expect_upgrade(&forms[_i]));
	end();
}
END_TEST

#ifdef HAVE_LINK_PCAP
START_TEST(pcap_is_refused)
{
	static const struct form f = { .set = "dsr_link pcap" };

	NEED_ALL(&f);
	begin(&f);
	ck_assert_ptr_nonnull(strstr(
	    upgrade(1), "eth0 cannot be handed over with this dsr_link"));
	dsrmany_expect_progress(&many, STEP, downloads);
	dsrpen_down(&pen);
	end();
}
END_TEST
#endif

START_TEST(standby_lasts)
{
	NEED_ALL(&forms[0]);
	begin(&forms[0]);
	dsrpen_ask(&pen, "dsr standby");
	dsrpen_ask(&pen, "upgrade");
	ck_assert_int_eq(count("standby"), 1);
	dsrpen_ask(&pen, "dsr takeover");
	upgrading_end(expect_upgrade(&forms[0]));
	end();
}
END_TEST

SUITE(test_dsr_upgrade)
{
	Suite *s = suite_create("dsr_upgrade");

	DSRFAST_ADD(s, downloads_go_on, FORMS);
	DSRFAST_ADD(s, old_one_goes_on, FORMS);
#ifdef HAVE_LINK_PCAP
	SUITE_ADD(s, pcap_is_refused, 60);
#endif
	SUITE_ADD(s, standby_lasts, 90);
	return s;
}
