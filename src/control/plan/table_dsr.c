/* table_dsr.c: rows of the command table: direct server return. */
#include "config.h"

#include "control/value/choices.h"
#include "control/plan/table.h"

const struct command rows_dsr[] = {
	{ .name = "dsr_if",
	    .kind = KIND_TEXT,
	    .offset = AT(dsr.interface),
	    .flags = ROW_NO | ROW_START,
	    .args = "[IF]",
	    .help = "forward what clients send through this interface; servers "
		    "answer them directly" },
	{ .name = "dsr_ip",
	    .kind = KIND_OWN_ADDRESSES,
	    .offset = AT(dsr.ip),
	    .flags = ROW_NO | ROW_START,
	    .args = "IP",
	    .help =
		"own address on the segment of dsr_if, the source of health "
		"checks; one of each family" },
	{ .name = "dsr_link",
	    .kind = KIND_TEXT,
	    .offset = AT(dsr.link),
	    .flags = ROW_NO | ROW_START,
	    .args = "[KIND]",
	    .help =
		"how pen reads and sends frames; KIND: packet, pcap; default: "
		"the best that works" },
	{ .name = "dsr_flows",
	    .kind = KIND_NUMBER,
	    .offset = AT(dsr.flows),
	    .flags = ROW_START,
	    .help = "size of the flow table; 0: choose servers only by a "
		    "hash" },
	{ .name = "dsr_tcp_timeout",
	    .kind = KIND_SECONDS,
	    .offset = AT(dsr.tcp_timeout_ms),
	    .help = "forget a TCP flow that has been idle for this time; 0: "
		    "never" },
	{ .name = "dsr_fin_timeout",
	    .kind = KIND_SECONDS,
	    .offset = AT(dsr.fin_timeout_ms),
	    .help = "the same after the client has sent FIN; 0: never" },
	{ .name = "dsr_udp_timeout",
	    .kind = KIND_SECONDS,
	    .offset = AT(dsr.udp_timeout_ms),
	    .help = "forget a UDP flow that has been idle for this time; 0: "
		    "never" },
	{ .name = "dsr_announce",
	    .kind = KIND_FLAG,
	    .offset = AT(dsr.announce),
	    .flags = ROW_START,
	    .help = "announce the listening addresses by ARP and NDP (on by "
		    "default)" },
	{ .name = "dsr_announce_refresh",
	    .kind = KIND_SECONDS,
	    .offset = AT(dsr.refresh_ms),
	    .help = "announce the listening addresses again each time that "
		    "this has passed; 0: not" },
	{ .name = "dsr_standby",
	    .kind = KIND_FLAG,
	    .offset = AT(dsr.standby),
	    .flags = ROW_START,
	    .help = "start as standby: another director has the listening "
		    "addresses until dsr takeover" },
	{ .name = "dsr_fast_path",
	    .kind = KIND_CHOICE,
	    .offset = AT(dsr.fast),
	    .choices = choices_dsr_fast,
	    .flags = ROW_START,
	    .help = "the kernel forwards the frames of established flows; "
		    "auto: if the driver runs XDP programs" },
	{ .name = "dsr_forward",
	    .kind = KIND_CHOICE,
	    .offset = AT(dsr.forward),
	    .choices = choices_dsr_forward,
	    .args = "mac|tunnel",
	    .help = "how packets get to servers: by hardware address, or IP in "
		    "IP" },
	{ .name = "dsr_gateway",
	    .kind = KIND_TEXT,
	    .offset = AT(dsr.gateway),
	    .flags = ROW_NO,
	    .args = "[IP|MAC]",
	    .help =
		"next hop of tunnelled packets on the segment of dsr_if; "
		"default: the kernel's route" },
	{ .name = "tarpit_acl",
	    .kind = KIND_ACL,
	    .offset = AT(dsr.tarpit_acl),
	    .flags = ROW_NO,
	    .none = "-1",
	    .reply = "tarpit_acl = #",
	    .help = "tarpit connections to unused addresses that this list "
		    "permits; -1: none" },
	{ .name = NULL },
};
