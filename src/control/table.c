/* table.c: the rows of the command language; see command.h. */
#include "config.h"

#include "control/command.h"
#include "control/pen.h"

#define AT(member) offsetof(struct config, member)
#define FLAG(name, place, help)                                              \
	{                                                                    \
		name, '\0', NULL, NULL, help, KIND_FLAG, 0, AT(place), 0, 0, \
		    NULL, NULL                                               \
	}
#define FLAG_OPTION(name, letter, option, place, help)                        \
	{                                                                     \
		name, letter, option, NULL, help, KIND_FLAG, 0, AT(place), 0, \
		    0, NULL, NULL                                             \
	}
#define VALUE(name, letter, option, args, kind, place, min, max, help)     \
	{                                                                  \
		name, letter, option, args, help, kind, 0, AT(place), min, \
		    max, NULL, NULL                                        \
	}
#define RUN(name, letter, option, args, flags, run, help)                   \
	{                                                                   \
		name, letter, option, args, help, KIND_RUN, flags, 0, 0, 0, \
		    NULL, run                                               \
	}
#define OBSOLETE(name, letter, option, args, flags)                \
	{                                                          \
		name, letter, option, args, "obsolete, no effect", \
		    KIND_OBSOLETE, flags, 0, 0, 0, NULL, NULL      \
	}
#define LATER(name, letter, option, args, help)                           \
	{                                                                 \
		name, letter, option, args, help, KIND_LATER, 0, 0, 0, 0, \
		    NULL, NULL                                            \
	}
#define TLS(name, letter, option, args, help)                                 \
	{                                                                     \
		name, letter, option, args, help, KIND_TLS, 0, 0, 0, 0, NULL, \
		    NULL                                                      \
	}

/* A year; longer than anybody waits, and safe to add to any time. */
#define LONG_MS (UINT64_C(366) * 24 * 3600 * 1000)

const struct command command_table[] = {
	/* choosing */
	FLAG_OPTION("roundrobin", 'r', "round-robin", mode.roundrobin,
	    "each server in turn; clients are not remembered"),
	FLAG_OPTION("hash", 'h', "hash", mode.hash,
	    "by a hash of the client's address; with -r also of its port"),
	FLAG_OPTION("weight", 'W', "weight", mode.weight,
	    "least connections relative to weight"),
	FLAG("prio", mode.prio, "the lowest priority number first"),
	FLAG_OPTION("stubborn", 's', "stubborn", mode.stubborn,
	    "no second choice: close when the first is unavailable"),
	RUN("balance", '\0', "balance", "NAME", 0, run_balance,
	    "algorithm by name: roundrobin wrr leastconn wleastconn prio hash "
	    "p2c"),
	RUN("sticky", '\0', "sticky", NULL, ROW_NO, run_sticky,
	    "remember the server each client used last"),
	VALUE("tracking", 'T', "tracking", "[SEC]", KIND_SECONDS,
	    pool.tracking_ms, 0, LONG_MS,
	    "how long a client is remembered; 0: until its slot is needed"),
	VALUE("clients_max", 'c', "clients-max", "[N]", KIND_NUMBER,
	    pool.clients_max, 1, 1 << 30, "clients remembered; only grows"),
	VALUE("hash_prefix6", '\0', "hash-prefix6", "[BITS]", KIND_UNSIGNED,
	    pool.hash_prefix6, 1, 128,
	    "leading bits of an IPv6 address that the hash sees"),
	VALUE("blacklist", 'b', "blacklist", "[SEC]", KIND_SECONDS,
	    pool.blacklist_ms, 0, LONG_MS,
	    "how long a server that did not answer is left alone"),
	RUN("mode", '\0', NULL, NULL, 0, run_mode, "prints the modes in force"),

	/* servers and who may use them */
	RUN("server", '\0', NULL,
	    "N [acl A] [address IP] [port P] [max S] [hard H] [blacklist SEC] "
	    "[weight W] [prio P]",
	    0, run_server, "sets up a server; N may be new"),
	RUN("servers", '\0', NULL, NULL, 0, run_servers, "prints the servers"),
	RUN("emergency", 'e', "emergency", "HOST:PORT", 0, run_emergency,
	    "server for when all others are unavailable"),
	RUN("abuse", 'B', "abuse", "HOST:PORT", 0, run_abuse,
	    "server for clients that the client ACL denies"),
	RUN("acl", '\0', NULL, "N permit|deny ADDRESS[/LEN] [MASK]", ROW_NO,
	    run_acl, "adds an entry to access list 0..9; no acl N empties it"),
	VALUE("client_acl", '\0', "client-acl", "[N]", KIND_INT,
	    pool.client_acl, 0, 9, "the access list clients must pass"),
	RUN("source", '\0', "source", "IP", 0, run_source,
	    "local address of connections to servers"),

	/* connections */
	VALUE("timeout", 't', "timeout", "[SEC]", KIND_SECONDS,
	    frontend.connect_timeout_ms, 1, LONG_MS,
	    "how long a connect to a server may take"),
	{ "idle_timeout", '\0', "idle-timeout", "[SEC]",
	    "close sessions silent for so long; 0: never", KIND_SECONDS, 0,
	    AT(frontend.idle_timeout_ms), 0, LONG_MS, "Idle timeout: # seconds",
	    NULL },
	VALUE("half_timeout", '\0', "half-timeout", "[SEC]", KIND_SECONDS,
	    frontend.half_timeout_ms, 0, LONG_MS,
	    "the same for half-closed ones; 0: never"),
	VALUE("linger", '\0', "linger", "[SEC]", KIND_SECONDS,
	    frontend.linger_ms, 0, LONG_MS,
	    "how long a client may go on sending to a server that is gone"),
	VALUE("buffer", '\0', "buffer", "[SIZE]", KIND_SIZE, frontend.buffer, 0,
	    UINT64_C(1) << 40,
	    "bytes read ahead for a slow client, so that its server is let go "
	    "early; 0: off"),
	VALUE("conn_max", 'x', "conn-max", "[N]", KIND_NUMBER,
	    frontend.sessions_max, 1, 1 << 30,
	    "simultaneous connections; the others wait"),
	VALUE("pending_max", '\0', "pending-max", "[N]", KIND_NUMBER,
	    frontend.pending_max, 0, 1 << 30,
	    "connects under way at most; 0: no limit"),
	VALUE("accept_max", 'm', "accept-max", "[N]", KIND_UNSIGNED,
	    frontend.accept_max, 1, 1 << 20, "connections accepted at a time"),
	{ "backlog", 'q', "backlog", "[N]",
	    "connections that may wait to be accepted", KIND_INT, ROW_START,
	    AT(frontend.backlog), 1, INT32_MAX, NULL, NULL },
	FLAG("tcp_nodelay", frontend.nodelay, "no Nagle delay (on by default)"),
	RUN("tcp_fastclose", '\0', NULL, "up|down|both|off", 0, run_fastclose,
	    "close both sides when this one closes"),
	FLAG("keepalive", frontend.keepalive, "SO_KEEPALIVE towards servers"),
	FLAG("splice", frontend.splice,
	    "long flows move inside the kernel (on by default)"),
	{ "dummy", '\0', "dummy", NULL,
	    "be a minimal web server, with no server behind", KIND_FLAG,
	    ROW_START, AT(frontend.dummy), 0, 0, NULL, NULL },

	/* the process */
	RUN("control", 'C', "control", "ADDRESS", 0, run_control,
	    "control socket: [address:]port or /path; may be repeated"),
	{ "allow-exit", 'X', "allow-exit", NULL, "allow the exit command",
	    KIND_FLAG, ROW_OPTION, AT(allow_exit), 0, 0, NULL, NULL },
	RUN("exit", '\0', NULL, NULL, 0, run_exit,
	    "ends the program, if it was started with -X"),
	{ "foreground", 'f', "foreground", NULL, "stay in the foreground",
	    KIND_FLAG, ROW_OPTION, AT(process.foreground), 0, 0, NULL, NULL },
	{ "user", 'u', "user", "USER", "run as this user", KIND_TEXT,
	    ROW_OPTION, AT(process.user), 0, 0, NULL, NULL },
	{ "chroot", 'j', "chroot", "DIR", "change root to this directory",
	    KIND_TEXT, ROW_OPTION, AT(process.directory), 0, 0, NULL, NULL },
	{ "pid-file", 'p', "pid-file", "FILE", "write the process id",
	    KIND_TEXT, ROW_OPTION, AT(process.pid_file), 0, 0, NULL, NULL },
	RUN("debug", 'd', "debug", "[N]", ROW_COUNT, run_debug,
	    "debug level; -d again for more, from 2 on data is dumped"),
	FLAG_OPTION(
	    "ascii", 'a', "ascii", ascii, "dump data in ASCII instead of hex"),
	FLAG("abort_on_error", abort_on_error,
	    "a wrong command ends the program at its start"),
	RUN("epoll", '\0', NULL, NULL, ROW_START, run_method,
	    "wait for events with epoll"),
	RUN("kqueue", '\0', NULL, NULL, ROW_START, run_method,
	    "wait for events with kqueue"),
	RUN("poll", 'P', "poll", NULL, ROW_START, run_method,
	    "wait for events with poll"),
	RUN("select", '\0', NULL, NULL, ROW_START, run_method,
	    "wait for events with select"),
	RUN("pid", '\0', NULL, NULL, 0, run_pid, "prints the process id"),

	/* of classic Pen, without effect */
	OBSOLETE("block", '\0', NULL, NULL, ROW_NO),
	OBSOLETE("delayed_forward", 'D', "delayed-forward", NULL, ROW_NO),
	OBSOLETE("nonblock", 'n', "nonblock", NULL, ROW_OPTION),
	OBSOLETE("no-getpeername", 'Q', "no-getpeername", NULL, ROW_OPTION),
	OBSOLETE("servers-max", 'S', "servers-max", "N", ROW_OPTION),
	OBSOLETE("ignore", 'i', "ignore", NULL, ROW_OPTION),

	/* not there yet */
	LATER("config", 'F', "config", "FILE", "configuration file"),
	LATER("log", 'l', "log", "FILE", "log of requests"),
	LATER("web_stats", 'w', "web-stats", "FILE", "status page"),
	LATER("http", 'H', "http", NULL, "add X-Forwarded-For"),
	LATER("udp", 'U', "udp", NULL, "balance datagrams"),
	LATER("close", '\0', NULL, "N", "closes a connection"),
	LATER("connection", '\0', NULL, "N", "prints a connection"),
	LATER("control_acl", '\0', NULL, "[N]",
	    "access list of the control "
	    "socket"),
	LATER("dsr_if", '\0', NULL, "IF", "direct server return"),
	LATER("dsr_ip", '\0', NULL, "IP", "direct server return"),
	LATER("idlers", '\0', NULL, "[N]", "spare connections"),
	LATER("include", '\0', NULL, "FILE", "reads commands"),
	LATER("listen", '\0', NULL, "[[ADDRESS:]PORT]", "moves the listener"),
	LATER("peek", '\0', NULL, NULL, "choose by the first bytes"),
	LATER("recent", '\0', NULL, "[SEC]", "prints clients"),
	LATER("socket", '\0', NULL, "FD", "whose descriptor it is"),
	LATER("status", '\0', NULL, NULL, "prints the status page"),
	LATER("tarpit_acl", '\0', NULL, "[N]", "addresses to tarpit"),
	LATER("transparent", '\0', NULL, NULL, "keep client addresses"),
	LATER("write", '\0', NULL, "[FILE]", "saves the configuration"),
	TLS("ssl_cert", 'E', "cert", "FILE", "certificate: TLS to clients"),
	TLS("ssl_key", 'K', "key", "FILE", "its private key"),
	TLS("ssl_ca_file", 'G', "ca-file", "FILE", "CA certificates"),
	TLS("ssl_ca_dir", 'A', "ca-dir", "DIR", "CA certificates"),
	TLS("ssl_require", 'R', "require-cert", NULL,
	    "clients must have a certificate"),
	TLS("ssl_compat", 'Z', "tls-compat", NULL, "TLS bug compatibility"),
	TLS("ssl_protocol", 'L', "tls-protocol", "PROTO", "TLS protocol"),
	TLS("ssl_ciphers", '\0', NULL, "LIST", "TLS ciphers"),
	TLS("ssl_option", '\0', NULL, "NAME", "TLS option"),
	TLS("ssl_sni_path", '\0', NULL, "DIR", "certificates by name"),
	TLS("ssl_ocsp_response", '\0', NULL, "FILE", "OCSP response"),
	TLS("ssl_client_renegotiation_interval", '\0', NULL, "SEC",
	    "TLS renegotiation"),
	{ NULL, '\0', NULL, NULL, NULL, KIND_RUN, 0, 0, 0, 0, NULL, NULL },
};
