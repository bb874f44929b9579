/* net_fixture.c: namespaces, the cables between them, and what hosts must be
 * told so that they behave as a DSR set-up asks of them. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/nethub.h"
#include "support/net_fixture.h"
#include "support/nginx.h"
#include "support/suite.h"
#include "support/wait.h"

/* What is the same for each host of a kind. */
struct host {
	const char *port; /* the switch's end of its cable; NULL: no host */
	int number;	  /* the last of its addresses; 0: it has none */
	unsigned char mac;
};

static struct host
host_of(const struct net_fixture *r, enum net_fixture_place where)
{
	static const char *const ports[] = { "s1", "s2", "s3", "s4" };
	struct host h = { NULL, 0, 0 };

	if (where == NET_FIXTURE_CLIENT && !r->is.router)
		h = (struct host){ "client", 1, 1 };
	else if (where == NET_FIXTURE_ROUTER && r->is.router)
		h = (struct host){ "router", 1, 1 };
	else if (where == NET_FIXTURE_DIRECTOR)
		h = (struct host){ "d1", 0, 2 };
	else if (where == NET_FIXTURE_DIRECTOR2 && r->is.two_directors)
		h = (struct host){ "d2", 0, 7 };
	else if (where == NET_FIXTURE_FAR_ROUTER && r->is.beyond > 0)
		h = (struct host){ "far", 9, 9 };
	else if (where >= NET_FIXTURE_SERVER &&
	    (unsigned)(where - NET_FIXTURE_SERVER) <
		r->is.servers - r->is.beyond)
		h = (struct host){ ports[where - NET_FIXTURE_SERVER],
			where - NET_FIXTURE_SERVER + 3,
			(unsigned char)(where - NET_FIXTURE_SERVER + 3) };
	return h;
}

static bool
is_there(const struct net_fixture *r, enum net_fixture_place where)
{
	return where == NET_FIXTURE_HOME || where == NET_FIXTURE_SWITCH ||
	    where == NET_FIXTURE_CLIENT || host_of(r, where).port != NULL ||
	    (where >= NET_FIXTURE_SERVER &&
		(unsigned)(where - NET_FIXTURE_SERVER) < r->is.servers);
}

/* A file of /proc or /sys that takes its words in one write. */
static int
tell(const char *path, const char *words)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = write(fd, words, strlen(words));
	close(fd);
	return n < 0 ? -1 : 0;
}

/* Away from the machine's network; as root of a user namespace if need be. */
static int
leave_machine(void)
{
	unsigned uid = geteuid(), gid = getegid();

	if (unshare(CLONE_NEWNET) < 0) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
			return -1;
		tell("/proc/self/setgroups", "deny");
		if (tell("/proc/self/uid_map", text("0 %u 1", uid)) < 0 ||
		    tell("/proc/self/gid_map", text("0 %u 1", gid)) < 0)
			return -1;
	}
	/* Check's runner may be killed, and it is what ends a test. */
	return prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static int
hold(void)
{
	int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);

	ck_assert_msg(fd >= 0, "a namespace: %s", strerror(errno));
	return fd;
}

/* Tried where it leaves no trace: can the kernel do this kind of interface? */
static bool
has_kind(const char *kind)
{
	const char *argv[] = { "ip", "link", "add", "try0", "type", kind,
		NULL };
	struct child c;

	child_start(&c, argv);
	if (child_wait(&c, 10000) != 0)
		return false;
	run_program(10000, "ip", "link", "del", "try0", NULL);
	return true;
}

static const char *
what_lacks(struct net_fixture *r)
{
	if (child_find("ip") == NULL)
		return "no ip (iproute2)";
	if (leave_machine() < 0)
		return text("no network namespaces: %s", strerror(errno));
	if (!has_kind("veth"))
		return "the kernel has no veth";
	if (r->is.vlan != 0 || !has_kind("bridge"))
		r->is.own_switch = true;
	return NULL;
}

void
net_fixture_enter(const struct net_fixture *r, enum net_fixture_place where)
{
	ck_assert_msg(r->ns[where] >= 0, "the fixture has no place %d", where);
	ck_assert_msg(setns(r->ns[where], CLONE_NEWNET) == 0, "setns: %s",
	    strerror(errno));
}

static void
make_place(struct net_fixture *r, enum net_fixture_place where)
{
	ck_assert_int_eq(unshare(CLONE_NEWNET), 0);
	r->ns[where] = hold();
	/* Before there is an interface, so that each inherits it. */
	net_fixture_set(r, where, "ipv4/conf/all/rp_filter", "0");
	net_fixture_set(r, where, "ipv4/conf/default/rp_filter", "0");
	net_fixture_set(r, where, "ipv6/conf/default/accept_dad", "0");
	net_fixture_set(r, where, "ipv6/conf/default/accept_ra", "0");
	net_fixture_set(
	    r, where, "ipv6/conf/default/router_solicitations", "0");
	if (where == NET_FIXTURE_SWITCH)
		net_fixture_set(
		    r, where, "ipv6/conf/default/disable_ipv6", "1");
	net_fixture_ip(r, where, "link set lo up\n");
	net_fixture_enter(r, NET_FIXTURE_HOME);
}

/* On by default, and a frame with a late checksum that is passed on by a
 * program arrives without any. */
static void
be_a_cable(const struct net_fixture *r, enum net_fixture_place where,
    const char *ifname)
{
	net_fixture_feature(r, where, ifname, ETHTOOL_STXCSUM, false);
	net_fixture_feature(r, where, ifname, ETHTOOL_STSO, false);
}

static const char *
plug(const struct net_fixture *r, const struct host *h)
{
	return text("link add eth0 address 02:00:00:64:00:%02x type veth"
		    " peer name %s netns /proc/%ld/fd/%d\n"
		    "link set eth0 %s up\n",
	    h->mac, h->port, (long)getpid(), r->ns[NET_FIXTURE_SWITCH],
	    h->number == 0 ? "addrgenmode none" : "");
}

static void
add_vips(const struct net_fixture *r, enum net_fixture_place where)
{
	net_fixture_ip(r, where,
	    "addr add " NET_FIXTURE_VIP4 "/32 dev lo\n"
	    "addr add " NET_FIXTURE_VIP4_B "/32 dev lo\n"
	    "addr add " NET_FIXTURE_VIP6 "/128 dev lo nodad\n"
	    "addr add " NET_FIXTURE_VIP6_B "/128 dev lo nodad\n");
}

static void
make_host(const struct net_fixture *r, enum net_fixture_place where)
{
	struct host h = host_of(r, where);
	bool server = where >= NET_FIXTURE_SERVER;

	net_fixture_ip(r, where, plug(r, &h));
	if (h.number != 0)
		net_fixture_ip(r, where,
		    text("addr add 192.168.100.%d/24 dev eth0\n"
			 "addr add fd00:64::%d/64 dev eth0 nodad\n",
			h.number, h.number));
	if (server)
		add_vips(r, where);
	if (server && r->is.router)
		net_fixture_ip(r, where,
		    "route add default via 192.168.100.1\n"
		    "route add default via fd00:64::1\n");
	if (server) {
		net_fixture_set(r, where, "ipv4/conf/all/arp_ignore", "1");
		net_fixture_set(r, where, "ipv4/conf/all/arp_announce", "2");
	}
	if (!r->is.offload && (!server || r->is.own_switch))
		be_a_cable(r, where, "eth0");
}

static void
make_far_server(const struct net_fixture *r, unsigned i)
{
	enum net_fixture_place where = NET_FIXTURE_SERVER + i;
	unsigned net = 110 + i, mtu = r->is.far_mtu > 0 ? r->is.far_mtu : 1500;

	net_fixture_ip(r, NET_FIXTURE_FAR_ROUTER,
	    text("link add f%u mtu %u type veth peer name eth0 mtu %u"
		 " netns /proc/%ld/fd/%d\n"
		 "link set f%u up\n"
		 "addr add 192.168.%u.1/24 dev f%u\n"
		 "addr add fd00:%x::1/64 dev f%u nodad\n",
		i, mtu, mtu, (long)getpid(), r->ns[where], i, net, i, net, i));
	net_fixture_ip(r, where,
	    text("link set eth0 up\n"
		 "addr add 192.168.%u.2/24 dev eth0\n"
		 "addr add fd00:%x::2/64 dev eth0 nodad\n"
		 "route add default via 192.168.%u.1 advmss 1460\n"
		 "route add default via fd00:%x::1 advmss 1440\n",
		net, net, net, net));
	add_vips(r, where);
	if (r->is.offload)
		return;
	be_a_cable(r, NET_FIXTURE_FAR_ROUTER, text("f%u", i));
	be_a_cable(r, where, "eth0");
}

static void
make_far_servers(const struct net_fixture *r)
{
	unsigned i;

	if (r->is.beyond == 0)
		return;
	net_fixture_set(r, NET_FIXTURE_FAR_ROUTER, "ipv4/ip_forward", "1");
	net_fixture_set(
	    r, NET_FIXTURE_FAR_ROUTER, "ipv6/conf/all/forwarding", "1");
	for (i = r->is.servers - r->is.beyond; i < r->is.servers; i++)
		make_far_server(r, i);
}

void
net_fixture_make_route(const struct net_fixture *r)
{
	unsigned i;
	const char *lines = "link set eth1 up\n"
			    "addr add 192.168.120.2/24 dev eth1\n"
			    "addr add fd00:78::2/64 dev eth1 nodad\n";

	net_fixture_ip(r, NET_FIXTURE_FAR_ROUTER,
	    text("link add d1 type veth peer name eth1"
		 " netns /proc/%ld/fd/%d\n"
		 "link set d1 up\n"
		 "addr add 192.168.120.1/24 dev d1\n"
		 "addr add fd00:78::1/64 dev d1 nodad\n",
		(long)getpid(), r->ns[NET_FIXTURE_DIRECTOR]));
	for (i = r->is.servers - r->is.beyond; i < r->is.servers; i++)
		lines = text("%sroute add 192.168.%u.0/24 via 192.168.120.1\n"
			     "route add fd00:%x::/64 via fd00:78::1\n",
		    lines, 110 + i, 110 + i);
	net_fixture_ip(r, NET_FIXTURE_DIRECTOR, lines);
}

/* The client's TCP announces what fits into Ethernet, so that servers learn of
 * the narrow link from the router, not from the client. */
static void
make_far_client(const struct net_fixture *r)
{
	net_fixture_ip(r, NET_FIXTURE_ROUTER,
	    text("link add eth1 mtu 1280 address 02:00:00:c8:00:01 type veth"
		 " peer name eth0 mtu 1280 address 02:00:00:c8:00:02"
		 " netns /proc/%ld/fd/%d\n"
		 "link set eth1 up\n"
		 "addr add 192.168.200.1/24 dev eth1\n"
		 "addr add fd00:c8::1/64 dev eth1 nodad\n",
		(long)getpid(), r->ns[NET_FIXTURE_CLIENT]));
	net_fixture_ip(r, NET_FIXTURE_CLIENT,
	    "link set eth0 up\n"
	    "addr add 192.168.200.2/24 dev eth0\n"
	    "addr add fd00:c8::2/64 dev eth0 nodad\n"
	    "route add default via 192.168.200.1 advmss 1460\n"
	    "route add default via fd00:c8::1 advmss 1440\n");
	net_fixture_set(r, NET_FIXTURE_ROUTER, "ipv4/ip_forward", "1");
	net_fixture_set(r, NET_FIXTURE_ROUTER, "ipv6/conf/all/forwarding", "1");
	if (!r->is.offload) {
		be_a_cable(r, NET_FIXTURE_CLIENT, "eth0");
		be_a_cable(r, NET_FIXTURE_ROUTER, "eth1");
	}
}

/* A port of a bridge passes nothing until the kernel has heard of its carrier,
 * which can take a second. */
static bool
is_forwarding(const struct net_fixture *r, unsigned ports)
{
	const char *links = net_fixture_run(
	    r, NET_FIXTURE_SWITCH, 10000, "ip", "-d", "link", NULL);

	return count_in(links, "state forwarding") == (int)ports;
}

static void
make_switch(struct net_fixture *r)
{
	struct nethub_port ports[NET_FIXTURE_PLACES + 1];
	const char *lines = "link add br0 type bridge forward_delay 0"
			    " mcast_snooping 0\nlink set br0 up\n";
	struct host h;
	unsigned i, n = 0;

	if (r->is.own_switch)
		lines = "";
	for (i = 0; i < NET_FIXTURE_PLACES; i++) {
		h = host_of(r, (enum net_fixture_place)i);
		if (h.port == NULL)
			continue;
		lines = text("%slink set %s up %s\n", lines, h.port,
		    r->is.own_switch ? "" : "master br0");
		ports[n].interface = h.port;
		ports[n++].tag = h.number == 0 ? r->is.vlan : 0;
	}
	ports[n].interface = NULL;
	net_fixture_ip(r, NET_FIXTURE_SWITCH, lines);
	if (!r->is.own_switch) {
		/* else it drops, and shortens, what it takes for malformed */
		net_fixture_set(r, NET_FIXTURE_SWITCH,
		    "bridge/bridge-nf-call-iptables", "0");
		net_fixture_set(r, NET_FIXTURE_SWITCH,
		    "bridge/bridge-nf-call-ip6tables", "0");
		WAIT_FOR(is_forwarding(r, n), 10000);
		return;
	}
	net_fixture_enter(r, NET_FIXTURE_SWITCH);
	r->hub = nethub_start(ports);
	net_fixture_leave(r);
}

const char *
net_fixture_up(struct net_fixture *r, const struct net_fixture_options *o)
{
	const char *why;
	unsigned i;

	memset(r, 0, sizeof(*r));
	r->is = *o;
	if (r->is.servers == 0)
		r->is.servers = 2;
	ck_assert_uint_le(r->is.servers, NET_FIXTURE_SERVERS);
	for (i = 0; i < NET_FIXTURE_PLACES; i++)
		r->ns[i] = -1;
	why = what_lacks(r);
	if (why != NULL)
		return why;
	r->ns[NET_FIXTURE_HOME] = hold();
	net_fixture_ip(r, NET_FIXTURE_HOME, "link set lo up\n");
	for (i = NET_FIXTURE_HOME + 1; i < NET_FIXTURE_PLACES; i++)
		if (is_there(r, (enum net_fixture_place)i))
			make_place(r, (enum net_fixture_place)i);
	for (i = 0; i < NET_FIXTURE_PLACES; i++)
		if (host_of(r, (enum net_fixture_place)i).port != NULL)
			make_host(r, (enum net_fixture_place)i);
	if (r->is.router)
		make_far_client(r);
	make_far_servers(r);
	make_switch(r);
	return NULL;
}

void
net_fixture_down(struct net_fixture *r)
{
	unsigned i;

	if (r->hub > 0) {
		kill(r->hub, SIGKILL);
		waitpid(r->hub, NULL, 0);
	}
	for (i = NET_FIXTURE_HOME + 1; i < NET_FIXTURE_PLACES; i++)
		if (r->ns[i] >= 0)
			close(r->ns[i]);
	close(r->ns[NET_FIXTURE_HOME]);
}

void
net_fixture_set(const struct net_fixture *r, enum net_fixture_place where,
    const char *name, const char *value)
{
	const char *path = text("/proc/sys/net/%s", name);

	net_fixture_enter(r, where);
	ck_assert_msg(tell(path, value) == 0 || errno == ENOENT, "%s: %s", path,
	    strerror(errno));
	net_fixture_leave(r);
}

void
net_fixture_leave(const struct net_fixture *r)
{
	net_fixture_enter(r, NET_FIXTURE_HOME);
}
