/* net_fixture.h: an Ethernet segment of network namespaces, for what pen does
 * to frames: a client, a switch, a director, servers.
 *
 *     client ---------------- switch --- director      eth0 without an address
 *      .1                     |    | `-- director2
 *                      server .3  .4 ...               VIPs on lo
 *     client - router - switch ...                     with `router`
 *
 *     switch - far router == servers  with `beyond`: those have VIPs on lo, too
 *                  |                  and networks of their own
 *              director: eth1
 *
 * The segment is 192.168.100.0/24 and fd00:64::/64, a host has the same last
 * number in both and in its MAC, and each but the switch has one interface,
 * eth0 (the router also has eth1). Servers neither answer ARP for VIPs nor use
 * them as its source; NDP is quiet about addresses on lo by itself. Frames that
 * leave clients, routers and directors are such as a cable carries: checksums
 * are in them and none is longer than the MTU, unless `offload` is asked for.
 *
 * Needs root, or a system that gives users namespaces. The namespaces have
 * no names and no processes: descriptors of the test hold them, so they
 * vanish with it, however it ends. After net_fixture_up() the test's own
 * place is an empty namespace, not the machine's network, until the process
 * ends. */
#ifndef PEN_TEST_NET_FIXTURE_H
#define PEN_TEST_NET_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/child.h"

enum { NET_FIXTURE_SERVERS = 4, NET_FIXTURE_FRAME = 65536 + 64 };

enum net_fixture_place {
	NET_FIXTURE_HOME, /* where the test itself is */
	NET_FIXTURE_CLIENT,
	NET_FIXTURE_ROUTER,
	NET_FIXTURE_SWITCH,
	NET_FIXTURE_DIRECTOR,
	NET_FIXTURE_DIRECTOR2,
	NET_FIXTURE_FAR_ROUTER,
	NET_FIXTURE_SERVER, /* the first; + 1 is the second */
	NET_FIXTURE_PLACES = NET_FIXTURE_SERVER + NET_FIXTURE_SERVERS
};

#define NET_FIXTURE_VIP4      "192.168.100.10"
#define NET_FIXTURE_VIP6      "fd00:64::10"
#define NET_FIXTURE_VIP4_B    "192.168.100.11"
#define NET_FIXTURE_VIP6_B    "fd00:64::11"
#define NET_FIXTURE_DSR_IP4   "192.168.100.2" /* free, for dsr_ip */
#define NET_FIXTURE_DSR_IP6   "fd00:64::2"
#define NET_FIXTURE_DSR_IP4_B "192.168.100.7" /* of the second director */
#define NET_FIXTURE_DSR_IP6_B "fd00:64::7"

static inline const char *
net_fixture_vip(bool v6)
{
	return v6 ? NET_FIXTURE_VIP6 : NET_FIXTURE_VIP4;
}

struct net_fixture_options {
	unsigned servers;   /* 0: 2 */
	bool two_directors; /* NET_FIXTURE_DIRECTOR2 exists */
	bool router;	    /* the client is 192.168.200.2, fd00:c8::2, behind a
			     * link of MTU 1280 that its TCP denies: answers of
			     * servers meet the MTU in the router */
	unsigned beyond;  /* so many servers, the last ones, are behind the far
			     * router, 192.168.100.9, fd00:64::9 */
	unsigned far_mtu; /* of their links; 0: 1500 */
	bool own_switch;  /* a program instead of the kernel's bridge */
	uint16_t vlan;	  /* directors get and send frames with this tag, the
			     * others untagged ones; implies own_switch */
	bool offload;	  /* leave TSO and late checksums on */
};

struct net_fixture {
	struct net_fixture_options is;
	int ns[NET_FIXTURE_PLACES]; /* -1: not there */
	pid_t hub;		    /* with own_switch */
};

struct net_fixture_counters {
	unsigned long long rx_bytes, rx_packets, rx_dropped;
	unsigned long long tx_bytes, tx_packets, tx_dropped;
};

/* Builds it. Returns NULL, or why this machine cannot. */
const char *net_fixture_up(
    struct net_fixture *r, const struct net_fixture_options *o);
void net_fixture_down(struct net_fixture *r);
#define NEED_NET_FIXTURE(fixture, options)                              \
	do {                                                            \
		const char *why = net_fixture_up((fixture), (options)); \
		if (why != NULL)                                        \
			SKIP(why);                                      \
	} while (0)

/* What the calling thread opens and starts from now on is there: sockets,
 * programs, whatever else tests/support has. net_fixture_leave() goes home. */
void net_fixture_enter(
    const struct net_fixture *r, enum net_fixture_place where);
void net_fixture_leave(const struct net_fixture *r);

/* Addresses as text; `i` counts servers from 0. */
const char *net_fixture_server4(unsigned i);
const char *net_fixture_server6(unsigned i);
/* Of one beyond the far router. */
const char *net_fixture_far4(unsigned i);
const char *net_fixture_far6(unsigned i);
const char *net_fixture_client4(const struct net_fixture *r);
const char *net_fixture_client6(const struct net_fixture *r);
/* The MAC of a host's eth0 (of a router: on the segment). */
void net_fixture_mac(enum net_fixture_place where, uint8_t mac[6]);

/* The director has routes to all that is beyond the far router, through eth1,
 * an interface of its own, from 192.168.120.2 and fd00:78::2. */
void net_fixture_make_route(const struct net_fixture *r);

/* Runs a program there to its end, which must be good; returns what it
 * printed. net_fixture_start() leaves it running. Arguments end with NULL. */
const char *net_fixture_run(const struct net_fixture *r,
    enum net_fixture_place where, int ms, ...) __attribute__((sentinel));
void net_fixture_start(const struct net_fixture *r,
    enum net_fixture_place where, struct child *c, const char *const argv[]);
/* Lines for `ip -batch` there. */
void net_fixture_ip(const struct net_fixture *r, enum net_fixture_place where,
    const char *lines);
/* The client has so many addresses more: those from .100 on in that /24, whose
 * first three numbers `network` has. */
void net_fixture_more_clients(
    const struct net_fixture *r, const char *network, unsigned count);
/* Switches a feature of an interface there: one of ethtool's old calls,
 * ETHTOOL_SX. */
void net_fixture_feature(const struct net_fixture *r,
    enum net_fixture_place where, const char *interface, unsigned command,
    bool on);
/* Writes a setting below /proc/sys/net there. */
void net_fixture_set(const struct net_fixture *r, enum net_fixture_place where,
    const char *name, const char *value);

/* What an interface has counted so far. */
struct net_fixture_counters net_fixture_counters(const struct net_fixture *r,
    enum net_fixture_place where, const char *interface);

/* Sockets there; type is SOCK_STREAM or SOCK_DGRAM, none of them blocks.
 * net_fixture_listen() binds it, net_fixture_dial() begins to connect it;
 * `from` is an address of that place (NULL: any). */
int net_fixture_listen(const struct net_fixture *r,
    enum net_fixture_place where, int type, const char *ip, int port);
int net_fixture_dial(const struct net_fixture *r, enum net_fixture_place where,
    int type, const char *ip, int port);
int net_fixture_dial_from(const struct net_fixture *r,
    enum net_fixture_place where, int type, const char *from, const char *ip,
    int port);
/* Is something to be read (a client to be accepted), or is it over? */
bool net_fixture_is_readable(int fd);
/* Has net_fixture_dial() reached its server? The test fails if it was refused.
 */
bool net_fixture_is_connected(int fd);

#endif
