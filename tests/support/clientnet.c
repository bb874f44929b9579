/* clientnet.c: addresses, routes, rules. */
#include "config.h"

#include "support/clientnet.h"

const char *
clientnet_up(struct net_fixture *r)
{
	static const struct net_fixture_options two = { .servers = 2 };
	const char *why = net_fixture_up(r, &two);
	unsigned i;

	if (why != NULL)
		return why;
	net_fixture_ip(r, NET_FIXTURE_CLIENT,
	    "addr add " CLIENTNET_CLIENT4 "/24 dev eth0\n"
	    "addr add " CLIENTNET_CLIENT6 "/64 dev eth0 nodad\n");
	net_fixture_ip(r, NET_FIXTURE_DIRECTOR,
	    "link set lo up\n"
	    "addr add " CLIENTNET_FRONT4 "/24 dev eth0\n"
	    "addr add 192.168.100.2/24 dev eth0\n"
	    "addr add " CLIENTNET_FRONT6 "/64 dev eth0 nodad\n"
	    "addr add fd00:64::2/64 dev eth0 nodad\n"
	    /* what asks for the MAC of a server in the client's name */
	    "addr add fe80::2/64 dev eth0 nodad\n");
	for (i = 0; i < 2; i++)
		net_fixture_ip(r, NET_FIXTURE_SERVER + i,
		    "route add default via 192.168.100.2\n"
		    "route add default via fd00:64::2\n");
	return NULL;
}

void
clientnet_deliver(const struct net_fixture *r)
{
	net_fixture_ip(r, NET_FIXTURE_DIRECTOR,
	    "rule add from 192.168.100.0/24 iif eth0 lookup 100\n"
	    "route add local 0.0.0.0/0 dev lo table 100\n"
	    "route add local ::/0 dev lo table 100\n");
	net_fixture_run(r, NET_FIXTURE_DIRECTOR, 10000, "ip", "-6", "rule",
	    "add", "from", "fd00:64::/64", "iif", "eth0", "lookup", "100",
	    NULL);
}
