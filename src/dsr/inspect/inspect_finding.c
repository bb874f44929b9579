/* inspect_finding.c: all findings of --check about direct server return, a row
 * each. */
#include "config.h"

#include <string.h>

#include "dsr/inspect/inspect_finding.h"

#define NO_FAST	       "dsr_fast_path has no effect"
#define SETCAP(rights) "setcap " rights "+ep $(command -v pen)"
/* As in examples/guide/dsr.conf. */
#define SECOND_INTERFACE                                           \
	"ip link add pen0 link {interface} type macvlan mode bridge; " \
	"ip link set pen0 addrgenmode none; ip link set pen0 up"

/* Values in braces are set by who judges. */
static const struct finding_row rows[FOUND_ROWS] = {
	/* ---- rights ---- */
	[FOUND_NO_RAW] = { .level = FINDING_ERROR,
	    .says = "no right to raw sockets (CAP_NET_RAW)",
	    .fix = SETCAP("cap_net_raw") },
	[FOUND_NO_BPF] = { .level = FINDING_ERROR,
	    .says = "no right to load an XDP program ({capability})",
	    .fix = SETCAP("cap_net_raw,cap_net_admin,cap_bpf") },

	/* ---- the link ---- */
	[FOUND_NO_LINK] = { .level = FINDING_ERROR,
	    .says = "this build has no dsr_link {link}",
	    .fix = "no dsr_link" },

	/* ---- the interface ---- */
	[FOUND_NO_INTERFACE] = { .level = FINDING_ERROR,
	    .says = "no interface {interface}",
	    .fix = "ip link" },
	[FOUND_NO_ETHERNET] = { .level = FINDING_ERROR,
	    .says = "interface {interface} is not Ethernet" },
	[FOUND_DOWN] = { .level = FINDING_ERROR,
	    .at_start = true,
	    .says = "interface {interface} is down",
	    .fix = "ip link set {interface} up" },
	[FOUND_NO_CARRIER] = { .level = FINDING_ERROR,
	    .at_start = true,
	    .says = "interface {interface} has no carrier: check the cable "
		    "and the other end" },
	[FOUND_MTU_IP6] = { .level = FINDING_ERROR,
	    .at_start = true,
	    .says = "interface {interface} has an MTU of {mtu}, longer "
		    "packets of clients are lost; IPv6 needs 1280",
	    .fix = "ip link set {interface} mtu 1500" },
	[FOUND_MTU] = { .level = FINDING_WARNING,
	    .says = "interface {interface} has an MTU of {mtu}, longer "
		    "packets of clients are lost",
	    .fix = "ip link set {interface} mtu 1500" },
	[FOUND_PROMISCUOUS] = { .level = FINDING_WARNING,
	    .says = "interface {interface} is promiscuous, which is not "
		    "needed: frames for others cost time",
	    .fix = "ip link set {interface} promisc off" },
	[FOUND_LRO] = { .level = FINDING_WARNING,
	    .says = "large receive offload of {interface} breaks forwarding: "
		    "pen switches it off when it starts",
	    .fix = "ethtool -K {interface} lro off" },
	[FOUND_GRO] = { .level = FINDING_WARNING,
	    .says = "generic receive offload of {interface} makes frames "
		    "that libpcap cannot split: they are lost",
	    .fix = "ethtool -K {interface} gro off" },
	[FOUND_RXVLAN] = { .level = FINDING_NOTE,
	    .says =
		"the fast path needs tags in frames, so pen switches off the "
		"removal of VLAN tags of {interface} while it runs",
	    .fix = "ethtool -K {interface} rxvlan off" },

	/* ---- the fast path ---- */
	[FOUND_FAST_NO_XDP] = { .level = FINDING_WARNING,
	    .says = NO_FAST ": this pen was built without libbpf",
	    .fix = "./configure --with-libbpf" },
	[FOUND_FAST_LINK] = { .level = FINDING_WARNING,
	    .says = NO_FAST " with dsr_link {link}",
	    .fix = "no dsr_link" },
	[FOUND_FAST_TAKEN] = { .level = FINDING_WARNING,
	    .says = NO_FAST ": another XDP program is attached to "
			    "{interface}" },
	[FOUND_FAST_PEER] = { .level = FINDING_WARNING,
	    .says = NO_FAST ": the veth peer of {interface} drops frames that "
			    "XDP programs send",
	    .fix = "ethtool -K {peer} gro on" },
	[FOUND_FAST_PEER_AWAY] = { .level = FINDING_WARNING,
	    .says = NO_FAST ": the veth peer of {interface} drops frames that "
			    "XDP programs send; to run there",
	    .fix = "ethtool -K peer gro on" },
	[FOUND_FAST_PEER_UNKNOWN] = { .level = FINDING_WARNING,
	    .says = NO_FAST ": only since Linux 6.3 can pen detect whether "
			    "the veth peer of {interface} accepts frames of "
			    "XDP programs" },
	[FOUND_FAST_NO_FLOWS] = { .level = FINDING_WARNING,
	    .says = NO_FAST " with dsr_flows 0",
	    .fix = "dsr_flows 1000000" },

	/* ---- addresses of this host ---- */
	[FOUND_OWN_STACK4] = { .level = FINDING_WARNING,
	    .at_start = true,
	    .says =
		"interface {interface} has an IPv4 address, {ip}: the kernel "
		"would answer clients as well",
	    .fix = "ip -4 addr flush dev {interface}" },
	[FOUND_OWN_STACK6] = { .level = FINDING_WARNING,
	    .at_start = true,
	    .says =
		"interface {interface} has an IPv6 address, {ip}: the kernel "
		"would answer clients as well",
	    .fix = "sysctl -w {setting}=1" },
	[FOUND_OWN_STACK_USED] = { .level = FINDING_WARNING,
	    .at_start = true,
	    .says = "interface {interface} has an {family} address, {ip}: the "
		    "kernel would answer clients as well; as this host is "
		    "reached by it, set dsr_if pen0, a second interface on it",
	    .fix = SECOND_INTERFACE },
	[FOUND_VIP_HERE] = { .level = FINDING_ERROR,
	    .at_start = true,
	    .says = "VIP {ip} is an address of this host's {where}: the "
		    "kernel also answers for it",
	    .fix = "ip addr del {ip}/{bits} dev {where}" },
	[FOUND_VIP_USED] = { .level = FINDING_ERROR,
	    .at_start = true,
	    .says = "VIP {ip} is an address of this host's {where}: the "
		    "kernel also answers for it; as this host is reached by "
		    "it, give {where} another address first" },
	[FOUND_VIP_ROUTE] = { .level = FINDING_ERROR,
	    .at_start = true,
	    .says = "a local route makes {ip} an address of this host: "
		    "the kernel also answers for it",
	    .fix = "ip route del local {net}/{bits}" },
	[FOUND_DSR_IP_HERE] = { .level = FINDING_ERROR,
	    .at_start = true,
	    .says = "dsr_ip {ip} is an address of this host's {where}: "
		    "the kernel also answers for it; or choose another",
	    .fix = "ip addr del {ip}/{bits} dev {where}" },
	[FOUND_DSR_IP_USED] = { .level = FINDING_ERROR,
	    .at_start = true,
	    .says = "dsr_ip {ip} is an address of this host's {where}: the "
		    "kernel also answers for it; choose one that no host "
		    "has" },
	[FOUND_SERVER_IS_VIP] = { .level = FINDING_ERROR,
	    .says = "server {server} is a VIP: a server also needs an address "
		    "of its own" },
	[FOUND_SERVER_HERE] = { .level = FINDING_ERROR,
	    .says = "server {server} is this host, to which no frame "
		    "can be forwarded" },
	[FOUND_FORWARDING] = { .level = FINDING_WARNING,
	    .at_start = true,
	    .says =
		"the kernel forwards {family} that arrives on {interface}: "
		"it may report to clients that a VIP is unreachable",
	    .fix = "sysctl -w {setting}={value}" },
	[FOUND_FORWARDING_VIP] = { .level = FINDING_ERROR,
	    .at_start = true,
	    .says =
		"the kernel forwards {family} that arrives on {interface}: "
		"it also forwards frames for a VIP",
	    .fix = "sysctl -w {setting}={value}" },
	[FOUND_FORWARDING_USED] = { .level = FINDING_WARNING,
	    .at_start = true,
	    .says = "the kernel forwards IPv6 that arrives on {interface}, "
		    "also frames for a VIP; as this host is reached by it, set "
		    "dsr_if pen0, a second interface on it without IPv6",
	    .fix = SECOND_INTERFACE
		"; sysctl -w net.ipv6.conf.pen0.disable_ipv6=1" },
};

/* ---- values ---- */

void
inspect_set_ip(struct inspect_judge *j, const char *name, const struct peer *ip)
{
	char text[PEER_TEXT_MAX];

	finding_set(&j->out, name, "%s", peer_format_host(ip, text));
}

void
inspect_set_server(struct inspect_judge *j, const struct inspect_server *s)
{
	finding_set(&j->out, "number", "%u", s->number);
	finding_set(&j->out, "name", "%s", s->name);
	finding_set(&j->out, "server", "%u (%s)", s->number, s->name);
}

void
inspect_report(struct inspect_judge *j, enum inspect_row row)
{
	finding_write(&j->out, &rows[row]);
}

bool
inspect_wants_link(const struct inspect_request *w, const char *kind)
{
	return w->link != NULL && strcmp(w->link, kind) == 0;
}
