/* test_dsr_inspect.c: what --check finds around a director, each thing provoked,
 * and gone when the command that it prints was carried out. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/dsrpen.h"
#include "support/netrig.h"
#include "support/suite.h"
#include "support/wait.h"

static const struct netrig_options two = { .servers = 2 };
static const struct netrig_options pair = { .servers = 2,
	.two_directors = true };
static const struct netrig_options tagged = { .servers = 2, .vlan = 100 };
static struct netrig rig;
static struct child run;
static const char *more; /* a command; NULL: none */
static bool v6;

static void
begin(bool six)
{
	v6 = six;
	more = NULL;
}

static const char *
server(unsigned i)
{
	return v6 ? netrig_server6(i) : netrig_server4(i);
}

static const char *
vip(void)
{
	return v6 ? NETRIG_VIP6 : NETRIG_VIP4;
}

static void
start(const char *const before[])
{
	const char *argv[CHILD_ARGS];
	int i = 0;

	while (before != NULL && before[i] != NULL) {
		argv[i] = before[i];
		i++;
	}
	argv[i++] = getenv("PEN") != NULL ? getenv("PEN") : "./pen";
	argv[i++] = "--check";
	argv[i++] = "-O";
	argv[i++] = "dsr_if eth0";
	if (more != NULL) {
		argv[i++] = "-O";
		argv[i++] = more;
	}
	argv[i++] = v6 ? text("[%s]:0", vip()) : text("%s:0", vip());
	argv[i++] = server(0);
	argv[i++] = server(1);
	argv[i] = NULL;
	netrig_start(&rig, NETRIG_DIRECTOR, &run, argv);
}

/* Runs it to its end; what it found. */
static const char *
check_with(const char *const before[])
{
	start(before);
	child_wait(&run, 20000);
	return child_err(&run);
}

static const char *
check(void)
{
	return check_with(NULL);
}

/* It found nothing but how frames are moved. */
static void
is_fine(const char *report)
{
	ck_assert_msg(strncmp(report, "note: frames are moved by ", 26) == 0 &&
		strchr(report, '\n') == report + strlen(report) - 1,
	    "%s", report);
	ck_assert_int_eq(run.status, 0);
}

static void
expect_fine(void)
{
	is_fine(check());
}

/* The line of the report that begins like this; NULL: there is none. */
static const char *
line_of(const char *report, const char *begins)
{
	const char *at = report, *end;
	size_t n = strlen(begins);

	for (; *at != '\0'; at = end + (*end == '\n')) {
		end = at + strcspn(at, "\n");
		if (strncmp(at, begins, n) == 0)
			return text("%.*s", (int)(end - at), at);
	}
	return NULL;
}

/* It finds this; the command it tells. */
static const char *
expect_found(const char *line)
{
	const char *report = check(), *found = line_of(report, line), *mend;

	ck_assert_msg(found != NULL, "not found: %s\nin: %s", line, report);
	ck_assert_int_eq(run.status, strstr(report, "error: ") != NULL);
	if (strncmp(line, "error: ", 7) == 0)
		ck_assert_int_eq(run.status, 1);
	mend = strstr(found, "; mend: ");
	return mend != NULL ? mend + strlen("; mend: ") : NULL;
}

static void
expect_gone(const char *line)
{
	ck_assert_msg(line_of(check(), line) == NULL, "%s", child_err(&run));
}

/* It finds this, and no more when the command was carried out there. */
static void
expect_mended(enum netrig_place where, const char *line)
{
	const char *command = expect_found(line);

	ck_assert_ptr_nonnull(command);
	netrig_run(&rig, where, 10000, "sh", "-c", command, NULL);
	expect_gone(line);
}

/* ---- the machine ---- */

static const char *
state_of(enum netrig_place where)
{
	return text("%s%s%s",
	    netrig_run(&rig, where, 10000, "ip", "-d", "link", NULL),
	    netrig_run(&rig, where, 10000, "ip", "maddr", NULL),
	    netrig_run(&rig, where, 10000, "ip", "addr", NULL));
}

static void
nothing_wrong(bool six)
{
	const char *before;

	begin(six);
	before = state_of(NETRIG_DIRECTOR);
	expect_fine();
	ck_assert_str_eq(state_of(NETRIG_DIRECTOR), before);
	/* Who has been asked knows nobody that it did not know. */
	ck_assert_str_eq(
	    netrig_run(&rig, NETRIG_SERVER, 10000, "ip", "neigh", NULL), "");
	ck_assert_ptr_nonnull(strstr(child_out(&run), "\ndsr_if eth0\n"));
	more = six ? "dsr_ip " NETRIG_DSR_IP6 : "dsr_ip " NETRIG_DSR_IP4;
	expect_fine();
}

START_TEST(nothing_is_wrong)
{
	NEED_NETRIG(&rig, &two);
	nothing_wrong(false);
	nothing_wrong(true);
	netrig_down(&rig);
}
END_TEST

START_TEST(the_interface)
{
	NEED_NETRIG(&rig, &two);
	begin(false);
	netrig_ip(&rig, NETRIG_DIRECTOR, "link set eth0 down\n");
	expect_mended(NETRIG_DIRECTOR, "error: interface eth0 is down");
	netrig_ip(&rig, NETRIG_SWITCH, "link set d1 down\n");
	WAIT_FOR(
	    line_of(check(), "error: interface eth0 has no carrier") != NULL,
	    10000);
	ck_assert_int_eq(run.status, 1);
	netrig_ip(&rig, NETRIG_SWITCH, "link set d1 up\n");
	WAIT_FOR(line_of(check(), "error: ") == NULL, 20000);
	netrig_ip(&rig, NETRIG_DIRECTOR, "link set eth0 mtu 1000\n");
	expect_mended(
	    NETRIG_DIRECTOR, "warning: interface eth0 has an MTU of 1000");
	netrig_ip(&rig, NETRIG_DIRECTOR, "link set eth0 mtu 1000\n");
	v6 = true;
	expect_mended(
	    NETRIG_DIRECTOR, "error: interface eth0 has an MTU of 1000");
	netrig_ip(&rig, NETRIG_DIRECTOR, "link set eth0 promisc on\n");
	expect_mended(
	    NETRIG_DIRECTOR, "warning: interface eth0 is promiscuous");
	netrig_ip(&rig, NETRIG_DIRECTOR, "link set eth0 name eth1\n");
	expect_found("error: no interface eth0");
	netrig_down(&rig);
}
END_TEST

START_TEST(own_addresses)
{
	NEED_NETRIG(&rig, &two);
	begin(false);
	netrig_ip(
	    &rig, NETRIG_DIRECTOR, "addr add 192.168.100.99/24 dev eth0\n");
	expect_mended(NETRIG_DIRECTOR,
	    "warning: interface eth0 has an IPv4 address, 192.168.100.99:");
	netrig_ip(
	    &rig, NETRIG_DIRECTOR, "addr add " NETRIG_VIP4 "/24 dev lo\n");
	expect_mended(
	    NETRIG_DIRECTOR, "error: VIP " NETRIG_VIP4 " is an address of");
	netrig_ip(&rig, NETRIG_DIRECTOR,
	    "route add local " NETRIG_VIP4 "/32 dev lo\n");
	expect_mended(
	    NETRIG_DIRECTOR, "error: a local route makes " NETRIG_VIP4);
	more = "dsr_ip " NETRIG_DSR_IP4;
	netrig_ip(
	    &rig, NETRIG_DIRECTOR, "addr add " NETRIG_DSR_IP4 "/32 dev lo\n");
	expect_mended(NETRIG_DIRECTOR,
	    "error: dsr_ip " NETRIG_DSR_IP4 " is an address of");
	netrig_ip(&rig, NETRIG_DIRECTOR, "addr add 192.168.100.3/32 dev lo\n");
	expect_found("error: server 0 (192.168.100.3) is this machine");
	netrig_down(&rig);
}
END_TEST

START_TEST(own_addresses_of_ipv6)
{
	NEED_NETRIG(&rig, &two);
	begin(true);
	netrig_ip(&rig, NETRIG_DIRECTOR,
	    "addr add fe80::99/64 dev eth0 nodad\n"
	    "addr add fd00:64::99/64 dev eth0 nodad\n");
	expect_mended(
	    NETRIG_DIRECTOR, "warning: interface eth0 has an IPv6 address");
	netrig_ip(&rig, NETRIG_DIRECTOR,
	    "addr add " NETRIG_VIP6 "/64 dev lo nodad\n");
	expect_mended(
	    NETRIG_DIRECTOR, "error: VIP " NETRIG_VIP6 " is an address of");
	expect_fine();
	netrig_down(&rig);
}
END_TEST

START_TEST(forwarding)
{
	NEED_NETRIG(&rig, &two);
	begin(false);
	netrig_set(&rig, NETRIG_DIRECTOR, "ipv4/ip_forward", "1");
	expect_mended(NETRIG_DIRECTOR,
	    "warning: the system forwards IPv4 that comes through eth0");
	netrig_set(&rig, NETRIG_DIRECTOR, "ipv4/conf/eth0/forwarding", "1");
	netrig_ip(&rig, NETRIG_DIRECTOR,
	    "link add out type veth peer name far\nlink set out up\n"
	    "link set far up\naddr add 10.9.9.1/24 dev out\n"
	    "route add default via 10.9.9.2\n");
	expect_mended(NETRIG_DIRECTOR,
	    "error: the system forwards IPv4 that comes through eth0");
	v6 = true;
	netrig_set(&rig, NETRIG_DIRECTOR, "ipv6/conf/all/forwarding", "1");
	netrig_ip(&rig, NETRIG_DIRECTOR,
	    "addr add fd09::1/64 dev out nodad\n"
	    "route add default via fd09::2\n");
	expect_mended(NETRIG_DIRECTOR,
	    "error: the system forwards IPv6 that comes through eth0");
	expect_fine();
	netrig_down(&rig);
}
END_TEST

/* What is found without rights is found, and the exit says that it is not all. */
START_TEST(without_rights)
{
	static const char *const bare[] = { "setpriv", "--bounding-set",
		"-net_raw", NULL };
	const char *report;

	NEED_PROGRAM("setpriv");
	NEED_NETRIG(&rig, &two);
	begin(false);
	netrig_ip(
	    &rig, NETRIG_DIRECTOR, "addr add 192.168.100.99/24 dev eth0\n");
	report = check_with(bare);
	ck_assert_int_eq(run.status, 1);
	ck_assert_msg(line_of(report, "error: no right to raw sockets") != NULL,
	    "%s", report);
	ck_assert_ptr_nonnull(strstr(
	    report, "; mend: setcap cap_net_raw+ep $(command -v pen)\n"));
	ck_assert_ptr_nonnull(
	    line_of(report, "warning: interface eth0 has an"));
	ck_assert_ptr_null(strstr(report, "frames are moved"));
	ck_assert_ptr_null(strstr(report, "answer"));
	netrig_down(&rig);
}
END_TEST

/* ---- the segment ---- */

START_TEST(servers)
{
	NEED_NETRIG(&rig, &two);
	begin(false);
	netrig_set(&rig, NETRIG_SERVER + 1, "ipv4/conf/all/arp_ignore", "0");
	expect_mended(NETRIG_SERVER + 1,
	    "error: server 1 (192.168.100.4, 02:00:00:64:00:04) answers for "
	    "VIP " NETRIG_VIP4);
	netrig_ip(&rig, NETRIG_SERVER, "addr add 192.168.100.4/32 dev eth0\n");
	expect_mended(
	    NETRIG_SERVER, "warning: server 1 (192.168.100.4) is 2 machines");
	netrig_ip(&rig, NETRIG_SERVER + 1, "addr flush to 192.168.100.4\n");
	ck_assert_str_eq(
	    expect_found("warning: server 1 (192.168.100.4) does not answer"),
	    "ip addr show to 192.168.100.4");
	ck_assert_int_eq(run.status, 0);
	/* those that get tunnels may be elsewhere */
	more = "dsr_forward tunnel";
	expect_fine();
	more = NULL;
	netrig_set(&rig, NETRIG_SERVER, "ipv4/conf/eth0/proxy_arp", "1");
	netrig_set(&rig, NETRIG_SERVER, "ipv4/conf/all/proxy_arp", "1");
	netrig_ip(&rig, NETRIG_SERVER, "addr add 192.168.100.4/32 dev eth0\n");
	expect_found("warning: servers 0 (192.168.100.3) and 1 (192.168.100.4)"
		     " have one hardware address, 02:00:00:64:00:03:");
	netrig_ip(&rig, NETRIG_SERVER, "link set eth0 down\n");
	expect_found("error: no server answers");
	netrig_down(&rig);
}
END_TEST

START_TEST(servers_of_ipv6)
{
	NEED_NETRIG(&rig, &two);
	begin(true);
	netrig_ip(&rig, NETRIG_SERVER,
	    "addr add " NETRIG_VIP6 "/64 dev eth0 nodad\n");
	expect_mended(NETRIG_SERVER,
	    "error: server 0 (fd00:64::3, 02:00:00:64:00:03) answers for "
	    "VIP " NETRIG_VIP6);
	ck_assert_ptr_nonnull(
	    strstr(netrig_run(&rig, NETRIG_SERVER, 10000, "ip", "addr", "show",
		       "dev", "lo", NULL),
		NETRIG_VIP6 "/128"));
	netrig_ip(
	    &rig, NETRIG_SERVER, "addr add fd00:64::4/128 dev eth0 nodad\n");
	expect_mended(
	    NETRIG_SERVER, "warning: server 1 (fd00:64::4) is 2 machines");
	netrig_ip(&rig, NETRIG_SERVER + 1, "link set eth0 down\n");
	expect_found("warning: server 1 (fd00:64::4) does not answer NDP");
	netrig_down(&rig);
}
END_TEST

static void
taken(bool six)
{
	const char *ip = six ? NETRIG_DSR_IP6 : NETRIG_DSR_IP4;

	begin(six);
	netrig_ip(&rig, NETRIG_CLIENT,
	    text("addr add %s/32 dev eth0%s\n", vip(), six ? " nodad" : ""));
	expect_mended(NETRIG_CLIENT,
	    text("error: VIP %s is taken: 02:00:00:64:00:01", vip()));
	netrig_ip(&rig, NETRIG_CLIENT,
	    text("addr add %s/32 dev eth0%s\n", ip, six ? " nodad" : ""));
	more = text("dsr_ip %s", ip);
	expect_mended(NETRIG_CLIENT,
	    text("error: dsr_ip %s is taken: 02:00:00:64:00:01", ip));
	expect_fine();
}

START_TEST(addresses_that_are_taken)
{
	NEED_NETRIG(&rig, &two);
	taken(false);
	taken(true);
	netrig_down(&rig);
}
END_TEST

/* Another director has the VIP; the one of this machine is no other. */
static void
other_director(bool six)
{
	struct dsrpen other;
	const char *at;

	begin(six);
	at = six ? text("[%s]:0", vip()) : text("%s:0", vip());
	dsrpen_up(&other, &rig, NETRIG_DIRECTOR2, vip(), at, server(0),
	    server(1), NULL);
	expect_found(text("error: VIP %s is taken: 02:00:00:64:00:07", vip()));
	more = "no dsr_announce"; /* it is to be shared */
	expect_found(
	    text("warning: VIP %s is taken: 02:00:00:64:00:07", vip()));
	ck_assert_int_eq(run.status, 0);
	more = NULL;
	dsrpen_down(&other);
	/* XDP would take the answers */
	dsrpen_up(&other, &rig, NETRIG_DIRECTOR, vip(), "-O", "dsr_link packet",
	    at, server(0), server(1), NULL);
	expect_fine();
	dsrpen_down(&other);
}

START_TEST(another_director)
{
	NEED_DSR_OF_OURS("--check");
	NEED_NETRIG(&rig, &pair);
	other_director(false);
	other_director(true);
	netrig_down(&rig);
}
END_TEST

/* A client asks for the VIP meanwhile, so that the tag is known. */
START_TEST(a_tagged_segment)
{
	int fd;

	NEED_NETRIG(&rig, &tagged);
	begin(false);
	start(NULL);
	fd = netrig_dial(&rig, NETRIG_CLIENT, SOCK_STREAM, NETRIG_VIP4, 80);
	child_wait(&run, 20000);
	is_fine(child_err(&run));
	close(fd);
	netrig_down(&rig);
}
END_TEST

/* ---- at the start ---- */

START_TEST(starting_tells_the_worst)
{
	struct dsrpen pen;

	NEED_DSR_OF_OURS("warnings");
	NEED_NETRIG(&rig, &two);
	netrig_ip(&rig, NETRIG_DIRECTOR,
	    "addr add 192.168.100.99/24 dev eth0\n"
	    "link set eth0 promisc on\n");
	dsrpen_up(&pen, &rig, NETRIG_DIRECTOR, NETRIG_VIP4, NETRIG_VIP4 ":0",
	    netrig_server4(0), NULL);
	ck_assert(child_has_said(&pen.child,
	    "interface eth0 has an IPv4 address, 192.168.100.99: "));
	ck_assert(
	    child_has_said(&pen.child, "mend=\"ip -4 addr flush dev eth0\""));
	ck_assert(!child_has_said(&pen.child, "promiscuous"));
	dsrpen_down(&pen);
	netrig_down(&rig);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("dsr_inspect");

	SUITE_ADD(s, nothing_is_wrong, 60);
	SUITE_ADD(s, the_interface, 90);
	SUITE_ADD(s, own_addresses, 60);
	SUITE_ADD(s, own_addresses_of_ipv6, 60);
	SUITE_ADD(s, forwarding, 60);
	SUITE_ADD(s, without_rights, 30);
	SUITE_ADD(s, servers, 60);
	SUITE_ADD(s, servers_of_ipv6, 60);
	SUITE_ADD(s, addresses_that_are_taken, 60);
	SUITE_ADD(s, another_director, 60);
	SUITE_ADD(s, a_tagged_segment, 30);
	SUITE_ADD(s, starting_tells_the_worst, 30);
	return suite_main(s);
}
