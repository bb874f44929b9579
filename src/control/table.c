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
#define ROW(name, letter, option, args, kind, flags, run, help)               \
	{                                                                     \
		name, letter, option, args, help, kind, flags, 0, 0, 0, NULL, \
		    run                                                       \
	}
#define CHANGE(name, letter, option, args, flags, run, help) \
	ROW(name, letter, option, args, KIND_CHANGE, flags, run, help)
#define REPORT(name, args, run, help) \
	ROW(name, '\0', NULL, args, KIND_REPORT, ROW_LOOK, run, help)
#define ACTION(name, args, flags, run, help) \
	ROW(name, '\0', NULL, args, KIND_ACTION, flags, run, help)
#define TEXT(name, letter, option, args, flags, place, help)                   \
	{                                                                      \
		name, letter, option, args, help, KIND_TEXT, flags, AT(place), \
		    0, 0, NULL, NULL                                           \
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
#define LATER_FLAG(name, letter, option, help)                                 \
	{                                                                      \
		name, letter, option, NULL, help, KIND_LATER, ROW_NO, 0, 0, 0, \
		    NULL, NULL                                                 \
	}
#ifdef HAVE_OPENSSL
#define TLS_TEXT   TEXT
#define TLS_CHANGE CHANGE
#define TLS_VALUE  VALUE
#define TLS_FLAG   FLAG_OPTION
#define TLS_REPORT REPORT
#else
#define TLS_ABSENT(name, letter, option, args, flags, help)                 \
	{                                                                   \
		name, letter, option, args, help, KIND_TLS, flags, 0, 0, 0, \
		    NULL, NULL                                              \
	}
#define TLS_TEXT(name, letter, option, args, flags, place, help) \
	TLS_ABSENT(name, letter, option, args, flags, help)
#define TLS_CHANGE(name, letter, option, args, flags, run, help) \
	TLS_ABSENT(name, letter, option, args, flags, help)
#define TLS_VALUE(name, letter, option, args, kind, place, min, max, help) \
	TLS_ABSENT(name, letter, option, args, 0, help)
#define TLS_FLAG(name, letter, option, place, help) \
	TLS_ABSENT(name, letter, option, NULL, ROW_NO, help)
#define TLS_REPORT(name, args, run, help) \
	TLS_ABSENT(name, '\0', NULL, args, 0, help)
#endif

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
	CHANGE("balance", '\0', "balance", "NAME", 0, run_balance,
	    "algorithm by name: roundrobin wrr leastconn wleastconn prio hash "
	    "p2c least_time; default: as the modes say"),
	CHANGE("sticky", '\0', "sticky", NULL, ROW_NO, run_sticky,
	    "remember the server each client used last"),
	VALUE("tracking", 'T', "tracking", "[SEC]", KIND_SECONDS,
	    pool.tracking_ms, 0, LONG_MS,
	    "how long a client is remembered; 0: until its slot is needed"),
	{ "clients_max", 'c', "clients-max", "[N]",
	    "clients remembered; only grows", KIND_NUMBER, ROW_GROWS,
	    AT(pool.clients_max), 1, 1 << 30, NULL, NULL },
	VALUE("hash_prefix6", '\0', "hash-prefix6", "[BITS]", KIND_UNSIGNED,
	    pool.hash_prefix6, 1, 128,
	    "leading bits of an IPv6 address that the hash sees"),
	VALUE("sticky_prefix6", '\0', "sticky-prefix6", "[BITS]", KIND_UNSIGNED,
	    pool.sticky_prefix6, 1, 128,
	    "leading bits of an IPv6 address that make one client to remember"),
	VALUE("blacklist", 'b', "blacklist", "[SEC]", KIND_SECONDS,
	    pool.blacklist_ms, 0, LONG_MS,
	    "how long a server that failed is out of rotation while others are "
	    "there"),
	REPORT("mode", NULL, run_mode, "prints the modes in force"),

	/* servers and who may use them */
	CHANGE("server", '\0', NULL,
	    "N|all [acl A] [address IP] [port P] [max S] [hard H] "
	    "[blacklist SEC] [weight W] [prio P] [tls on|off] "
	    "[forward mac|tunnel] [up|drain|down|remove] | add "
	    "SPEC",
	    ROW_OPERATE, run_server,
	    "sets up, adds or removes a server; N may be new"),
	REPORT("servers", NULL, run_servers, "prints the servers"),
	CHANGE("emergency", 'e', "emergency", "[HOST:PORT]",
	    ROW_NO | ROW_OPERATE, run_emergency,
	    "server for when all others are unavailable"),
	CHANGE("abuse", 'B', "abuse", "[HOST:PORT]", ROW_NO | ROW_OPERATE,
	    run_abuse, "server for clients that the client ACL denies"),
	CHANGE("acl", '\0', NULL, "N permit|deny unix|ADDRESS[/LEN] [MASK]",
	    ROW_NO | ROW_OPERATE, run_acl,
	    "adds an entry to access list 0..9; no acl N empties it"),
	VALUE("client_acl", '\0', "client-acl", "[N]", KIND_INT,
	    pool.client_acl, 0, 9, "the access list clients must pass"),
	CHANGE("source", '\0', "source", "IP [IP ...]", ROW_NO, run_source,
	    "local addresses towards servers, used in turn"),

	/* connections */
	VALUE("timeout", 't', "timeout", "[SEC]", KIND_SECONDS,
	    frontend.connect_timeout_ms, 1, LONG_MS,
	    "how long a connect to a server may take"),
	VALUE("retry", '\0', "retry", "[SEC]", KIND_SECONDS, frontend.retry_ms,
	    0, LONG_MS,
	    "how long a client waits for servers that all refuse; 0: not at "
	    "all"),
	VALUE("tries", '\0', "tries", "[N]", KIND_UNSIGNED, pool.tries, 0, 1000,
	    "servers that are tried for a client at most; 0: each one once"),
	VALUE("queue", '\0', "queue", "[SEC]", KIND_SECONDS, frontend.queue_ms,
	    0, LONG_MS,
	    "how long a client waits for servers that are full; 0: not at all"),
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
	VALUE("rate_down", '\0', "rate-down", "[SIZE]", KIND_SIZE,
	    frontend.rate_down, 0, UINT64_C(1) << 40,
	    "bytes a second that each client gets; 0: no limit"),
	VALUE("rate_up", '\0', "rate-up", "[SIZE]", KIND_SIZE, frontend.rate_up,
	    0, UINT64_C(1) << 40,
	    "bytes a second that each connection to a server carries; 0: no "
	    "limit"),
	VALUE("sndbuf", '\0', "sndbuf", "[SIZE]", KIND_SIZE, frontend.sndbuf, 0,
	    UINT64_C(1) << 30,
	    "send buffer of each TCP socket; 0: as the system does"),
	VALUE("rcvbuf", '\0', "rcvbuf", "[SIZE]", KIND_SIZE, frontend.rcvbuf, 0,
	    UINT64_C(1) << 30,
	    "receive buffer of each TCP socket; 0: as the system does"),
	{ "conn_max", 'x', "conn-max", "[N]",
	    "simultaneous connections, the others wait; 0: as many as "
	    "descriptors allow; only grows",
	    KIND_NUMBER, ROW_GROWS, AT(frontend.sessions_max), 0, 1 << 30, NULL,
	    NULL },
	{ "pending_max", '\0', "pending-max", "[N]",
	    "concurrent connection attempts at most; 0: no limit", KIND_NUMBER,
	    0, AT(frontend.pending_max), 0, 1 << 30, "", NULL },
	VALUE("accept_max", 'm', "accept-max", "[N]", KIND_UNSIGNED,
	    frontend.accept_max, 1, 1 << 20, "connections accepted at a time"),
	{ "backlog", 'q', "backlog", "[N]",
	    "connections that may wait to be accepted", KIND_INT, ROW_START,
	    AT(frontend.backlog), 1, INT32_MAX, NULL, NULL },
	FLAG("tcp_nodelay", frontend.nodelay, "no Nagle delay (on by default)"),
	CHANGE("tcp_fastclose", '\0', NULL, "up|down|both|off", 0,
	    run_fastclose, "close both sides when this one closes"),
	{ "idlers", '\0', "idlers", "[N]",
	    "spare connections kept open to the servers", KIND_NUMBER, 0,
	    AT(frontend.idlers), 0, 1 << 20, NULL, run_idlers },
	FLAG("keepalive", frontend.keepalive,
	    "TCP keep-alive towards servers (on by default); towards clients "
	    "it always is"),
	VALUE("keepalive_time", '\0', "keepalive-time", "[SEC]", KIND_SECONDS,
	    frontend.keepalive_ms, 0, 32767 * 1000,
	    "how long a peer is silent before it is asked whether it is there; "
	    "0: as the system has it"),
	VALUE("keepalive_interval", '\0', "keepalive-interval", "[SEC]",
	    KIND_SECONDS, frontend.keepalive_interval_ms, 0, 32767 * 1000,
	    "how long it has to answer; 0: as the system has it"),
	VALUE("keepalive_count", '\0', "keepalive-count", "[N]", KIND_UNSIGNED,
	    frontend.keepalive_count, 0, 127,
	    "questions without an answer that end a connection; 0: as the "
	    "system has it"),
	VALUE("user_timeout", '\0', "user-timeout", "[SEC]", KIND_SECONDS,
	    frontend.user_timeout_ms, 0, INT32_MAX,
	    "end connections whose peer acknowledges nothing for so long; 0: "
	    "as the system has it"),
	FLAG("splice", frontend.splice,
	    "long flows move inside the kernel (on by default)"),
	{ "udp", 'U', "udp", NULL,
	    "balance datagrams; with -r each by itself, else by client",
	    KIND_FLAG, ROW_START, AT(frontend.udp), 0, 0, NULL, NULL },
	{ "dns", '\0', "dns", NULL,
	    "balance DNS: UDP queries each by itself, and TCP", KIND_FLAG,
	    ROW_START, AT(frontend.dns), 0, 0, NULL, NULL },
	VALUE("dns_retry", '\0', "dns-retry", "[SEC]", KIND_SECONDS,
	    frontend.dns_retry_ms, 1, LONG_MS,
	    "how long a server may take to answer before the next is asked"),
	VALUE("udp_timeout", '\0', "udp-timeout", "[SEC]", KIND_SECONDS,
	    frontend.udp_timeout_ms, 0, LONG_MS,
	    "end flows of datagrams idle for so long; 0: never"),
	CHANGE("udp_proxy", '\0', "udp-proxy", "off|first|every", 0,
	    run_udp_proxy,
	    "which datagrams to a server begin with a PROXY header, version 2"),
	VALUE("udp_responses", '\0', "udp-responses", "[N]", KIND_NUMBER,
	    frontend.udp_responses, 0, 1 << 30,
	    "answers to a question; a flow ends when it has all; 0: any "
	    "number"),
	VALUE("udp_requests", '\0', "udp-requests", "[N]", KIND_NUMBER,
	    frontend.udp_requests, 0, 1 << 30,
	    "questions after which the next begins another flow; 0: any "
	    "number"),
	VALUE("udp_fail", '\0', "udp-fail", "[N]", KIND_NUMBER,
	    frontend.udp_fail, 0, 1 << 30,
	    "with udp_responses: consecutive unanswered questions that make a "
	    "server count as failed; 0: never"),
	FLAG_OPTION("dummy", '\0', "dummy", frontend.dummy,
	    "be a minimal web server, with no server behind"),

	CHANGE("listen", '\0', NULL, "[[ADDRESS:]PORT]", 0, run_listen,
	    "where clients come in; moves the listener"),
	REPORT("connection", "N", run_connection, "prints a connection"),
	REPORT("connections", NULL, run_connections, "prints all connections"),
	ACTION("close", "N", ROW_OPERATE, run_close, "closes a connection"),
	REPORT("socket", "FD", run_socket,
	    "prints which connection a descriptor belongs to"),
	REPORT("flow", "N", run_flow, "prints a flow of datagrams"),
	REPORT("flows", NULL, run_flows, "prints all flows of datagrams"),
	REPORT("recent", "[SEC]", run_recent,
	    "prints the clients seen in the last 300 or SEC seconds"),
	REPORT("statistics", NULL, run_statistics, "prints the counters"),
	ACTION("clear", "counters", ROW_OPERATE, run_clear,
	    "sets the counters of servers and statistics to zero"),
	REPORT("status", NULL, run_status, "prints the status page, in HTML"),
	TEXT("web_stats", 'w', "web-stats", "[FILE]", ROW_NO, web_stats,
	    "file for the status page, written on SIGUSR1"),
	TEXT("log", 'l', "log", "[FILE|HOST:PORT]", ROW_NO, log,
	    "log of requests, to a file or by UDP to penlogd"),

	/* TLS */
	TLS_CHANGE("ssl_cert", 'E', "cert", "[FILE] [KEY]", ROW_NO,
	    run_ssl_cert,
	    "certificate and its chain: TLS towards clients; may be repeated"),
	TLS_CHANGE("ssl_key", 'K', "key", "[FILE]", 0, run_ssl_key,
	    "the key of that certificate, if it is in another file"),
	TLS_TEXT("ssl_password", '\0', "key-password", "[FILE]", ROW_NO,
	    tls.password,
	    "passwords that encrypted keys are tried with, one a line"),
	TLS_TEXT("ssl_sni_path", '\0', "sni-path", "[DIR]", ROW_NO,
	    tls.sni_path,
	    "certificates by the name a client asks for: NAME.pem, or "
	    "NAME.crt and NAME.key"),
	TLS_FLAG("ssl_strict_sni", '\0', "strict-sni", tls.strict_sni,
	    "refuse clients that ask for an unknown name, or for none"),
	TLS_TEXT("ssl_refuse_names", '\0', "refuse-names", "[LIST]", ROW_NO,
	    tls.refuse_names,
	    "refuse clients that ask for one of these names, as "
	    "old.test,*.old.test"),
	TLS_TEXT("ssl_ca_file", 'G', "ca-file", "[FILE]", ROW_NO, tls.ca_file,
	    "CA certificates that clients' certificates are verified with"),
	TLS_TEXT("ssl_ca_dir", 'A', "ca-dir", "[DIR]", ROW_NO, tls.ca_dir,
	    "the same, a directory of files"),
	TLS_TEXT("ssl_crl", '\0', "crl", "[FILE]", ROW_NO, tls.crl,
	    "certificates of clients that are revoked"),
	TLS_FLAG("ssl_require", 'R', "require-cert", tls.require,
	    "clients must have a certificate"),
	TLS_FLAG("ssl_request", '\0', "request-cert", tls.request,
	    "clients may have a certificate"),
	TLS_FLAG("ssl_request_any", '\0', "request-any-cert", tls.request_any,
	    "that certificate may be from anybody; who it names is not "
	    "verified"),
	TLS_CHANGE("ssl_min", '\0', "tls-min", "[tls1.2|tls1.3]", 0,
	    run_ssl_min, "the oldest protocol that is spoken"),
	TLS_CHANGE("ssl_protocol", 'L', "tls-protocol", "PROTO", 0,
	    run_ssl_protocol,
	    "ssl23: all that is safe (the default); older ones are refused"),
	TLS_CHANGE("ssl_option", '\0', "tls-option", "OPTION", ROW_NO,
	    run_ssl_option,
	    "no_tlsv1.2, no_tlsv1.3, cipher_server_preference (on by default)"),
	TLS_TEXT("ssl_ciphers", '\0', "ciphers", "[LIST]", ROW_NO, tls.ciphers,
	    "ciphers of TLS 1.2, as OpenSSL writes them"),
	TLS_TEXT("ssl_ciphersuites", '\0', "ciphersuites", "[LIST]", ROW_NO,
	    tls.suites, "those of TLS 1.3"),
	TLS_TEXT("ssl_groups", '\0', "groups", "[LIST]", ROW_NO, tls.groups,
	    "groups of the key exchange"),
	TLS_TEXT("ssl_alpn", '\0', "alpn", "[LIST]", ROW_NO, tls.alpn,
	    "protocols offered to clients, as h2,http/1.1"),
	TLS_FLAG("ssl_tickets", '\0', "tickets", tls.tickets,
	    "sessions are resumed by tickets (on by default)"),
	TLS_TEXT("ssl_ticket_key", '\0', "ticket-key", "[FILE]", ROW_NO,
	    tls.ticket_key,
	    "keys of tickets, for several balancers: 80 bytes each"),
	TLS_VALUE("ssl_session_cache", '\0', "session-cache", "[N]",
	    KIND_NUMBER, tls.session_cache, 0, 1 << 24,
	    "sessions kept without tickets; 0: none"),
	TLS_TEXT("ssl_ocsp_response", '\0', "ocsp-response", "[FILE]", ROW_NO,
	    tls.ocsp, "OCSP response for the first certificate, in DER"),
	TLS_VALUE("ssl_client_renegotiation_interval", '\0',
	    "renegotiation-interval", "[SEC]", KIND_SECONDS,
	    tls.renegotiation_ms, 0, LONG_MS,
	    "how often a client of TLS 1.2 may renegotiate; 0: never"),
	TLS_VALUE("ssl_handshake_timeout", '\0', "handshake-timeout", "[SEC]",
	    KIND_SECONDS, tls.handshake_ms, 1, LONG_MS,
	    "how long a client's handshake may take"),
	TLS_FLAG("ssl_require_close_notify", '\0', "require-close-notify",
	    tls.require_close_notify,
	    "a client that ends without close_notify resets its connection"),
	TLS_VALUE("ssl_watch", '\0', "tls-watch", "[SEC]", KIND_SECONDS,
	    tls.watch_ms, 0, LONG_MS,
	    "how often to look for changed files; 0: only on HUP and reload"),
	TLS_VALUE("ssl_warn", '\0', "tls-warn", "[DAYS]", KIND_NUMBER,
	    tls.warn_days, 0, 3650,
	    "warn so many days before a certificate expires; 0: never"),
	TLS_FLAG("ssl_upstream", '\0', "upstream-tls", tls.upstream,
	    "TLS towards servers"),
	TLS_FLAG("ssl_upstream_verify", '\0', "upstream-verify",
	    tls.upstream_verify,
	    "servers must prove who they are (on by default)"),
	TLS_TEXT("ssl_upstream_ca", '\0', "upstream-ca", "[FILE]", ROW_NO,
	    tls.upstream_ca,
	    "CA certificates that servers' certificates are verified with; "
	    "else "
	    "the system's"),
	TLS_TEXT("ssl_upstream_name", '\0', "upstream-name", "[NAME]", ROW_NO,
	    tls.upstream_name,
	    "the name servers must have; else the host as given"),
	TLS_TEXT("ssl_upstream_cert", '\0', "upstream-cert", "[FILE]", ROW_NO,
	    tls.upstream_cert, "our certificate for servers"),
	TLS_TEXT("ssl_upstream_key", '\0', "upstream-key", "[FILE]", ROW_NO,
	    tls.upstream_key, "its key, if it is in another file"),
	TLS_TEXT("ssl_upstream_alpn", '\0', "upstream-alpn", "[LIST]", ROW_NO,
	    tls.upstream_alpn,
	    "protocols offered to servers, or none; else what the client "
	    "talks"),
	TLS_FLAG("ssl_upstream_resume", '\0', "upstream-resume",
	    tls.upstream_resume,
	    "resume sessions with servers (on by default)"),
	TLS_REPORT("certs", NULL, run_certs, "prints the certificates"),

	/* direct server return */
	TEXT("dsr_if", '\0', "dsr-if", "[IF]", ROW_NO | ROW_START,
	    dsr.interface,
	    "forward what clients send through this interface; servers answer "
	    "them directly"),
	CHANGE("dsr_ip", '\0', "dsr-ip", "IP", ROW_NO | ROW_START, run_dsr_ip,
	    "own address on that interface's segment, to ask servers from; one "
	    "of each family"),
	TEXT("dsr_link", '\0', "dsr-link", "[KIND]", ROW_NO | ROW_START,
	    dsr.link,
	    "how frames are moved: xdp, packet or pcap; else the best"),
	{ "dsr_flows", '\0', "dsr-flows", "[N]",
	    "flows remembered; 0: servers are chosen by a hash alone",
	    KIND_NUMBER, ROW_START, AT(dsr.flows), 0, 1 << 30, NULL, NULL },
	{ "dsr_announce", '\0', "dsr-announce", NULL,
	    "tell the segment that the listening addresses are here (on by "
	    "default)",
	    KIND_FLAG, ROW_START, AT(dsr.announce), 0, 0, NULL, NULL },
	{ "dsr_fast_path", '\0', "dsr-fast-path", NULL,
	    "with xdp the kernel forwards the frames of established flows",
	    KIND_FLAG, ROW_START, AT(dsr.fast), 0, 0, NULL, NULL },
	CHANGE("dsr_forward", '\0', "dsr-forward", "mac|tunnel", 0,
	    run_dsr_forward,
	    "how packets get to servers: by hardware address, or IP in IP"),
	TEXT("dsr_gateway", '\0', "dsr-gateway", "[IP|MAC]", ROW_NO,
	    dsr.gateway,
	    "next hop of tunnels on that segment; else the kernel's route"),
	CHANGE("tarpit_acl", '\0', "tarpit-acl", "[N]", ROW_NO, run_tarpit_acl,
	    "tarpit connections to unused addresses that this list permits; "
	    "-1: none"),
	REPORT("dsr", NULL, run_dsr,
	    "prints the state of direct server return (DSR)"),

	/* checks */
	CHANGE("check", '\0', NULL, "[dsr [PORT]]", ROW_NO, run_check,
	    "health-check the servers; dsr: a SYN on the way that clients' "
	    "frames take"),
	VALUE("check_interval", '\0', "check-interval", "[SEC]", KIND_SECONDS,
	    checks.interval_ms, 1, LONG_MS, "how often each server is asked"),
	VALUE("check_timeout", '\0', "check-timeout", "[SEC]", KIND_SECONDS,
	    checks.timeout_ms, 1, LONG_MS, "how long its answer may take"),
	VALUE("check_rise", '\0', "check-rise", "[N]", KIND_UNSIGNED,
	    pool.health.rise, 1, 1 << 20,
	    "consecutive successes that make a server healthy"),
	VALUE("check_fall", '\0', "check-fall", "[N]", KIND_UNSIGNED,
	    pool.health.fall, 1, 1 << 20,
	    "consecutive failures that make it unhealthy"),
	REPORT("checks", NULL, run_checks, "prints what checks found out"),

	/* configuration */
	TEXT("config", 'F', "config", "FILE", ROW_OPTION, file,
	    "configuration: a command a line, read again on SIGHUP"),
	CHANGE("include", '\0', NULL, "FILE", 0, run_include,
	    "carries out the commands of a file"),
	CHANGE("reload", '\0', NULL, NULL, ROW_OPERATE, run_reload,
	    "reads the configuration again; what stays is not disturbed"),
	ACTION("write", "[FILE]", 0, run_write,
	    "saves the running configuration as commands"),
	REPORT("diff", NULL, run_diff,
	    "prints what differs: - in the file, + running"),
	{ "check", '\0', "check", NULL,
	    "check everything, print the configuration, and end", KIND_FLAG,
	    ROW_OPTION, AT(check), 0, 0, NULL, NULL },
	REPORT("show", "settings", run_show, "prints all settings"),
	REPORT("help", "[COMMAND]", run_help, "prints the commands"),

	/* the process */
	CHANGE("control", 'C', "control", "[ADDRESS]", ROW_NO, run_control,
	    "control socket: [address:]port or /path; may be repeated"),
	CHANGE("control_level", '\0', "control-level", "LEVEL [OTHERS]", 0,
	    run_control_level,
	    "what the next control sockets allow: look, operate or admin; "
	    "OTHERS: to other users than root and pen's"),
	CHANGE("control_mode", '\0', "control-mode", "MODE", 0,
	    run_control_mode, "file mode of the next control sockets"),
	VALUE("control_acl", '\0', "control-acl", "[N]", KIND_INT, control_acl,
	    0, 9, "the access list that control clients must pass"),
	ACTION("prompt", NULL, ROW_LOOK, run_prompt,
	    "keeps the control session open, with a prompt"),
	ACTION("quit", NULL, ROW_LOOK, run_quit, "ends such a session"),
	{ "allow-exit", 'X', "allow-exit", NULL, "allow the exit command",
	    KIND_FLAG, ROW_OPTION, AT(allow_exit), 0, 0, NULL, NULL },
	ACTION("exit", NULL, 0, run_exit,
	    "ends the program, if it was started with -X"),
	{ "foreground", 'f', "foreground", NULL, "stay in the foreground",
	    KIND_FLAG, ROW_OPTION, AT(process.foreground), 0, 0, NULL, NULL },
	TEXT("user", 'u', "user", "USER", ROW_OPTION, process.user,
	    "run as this user"),
	TEXT("chroot", 'j', "chroot", "DIR", ROW_OPTION, process.directory,
	    "change root to this directory"),
	TEXT("pid-file", 'p', "pid-file", "FILE", ROW_OPTION, process.pid_file,
	    "write the process id"),
	CHANGE("debug", 'd', "debug", "[N]", ROW_COUNT, run_debug,
	    "debug level; -d again for more, from 2 on data is dumped"),
	FLAG_OPTION(
	    "ascii", 'a', "ascii", ascii, "dump data in ASCII instead of hex"),
	FLAG("abort_on_error", abort_on_error,
	    "a wrong command ends the program at its start"),
	CHANGE("epoll", '\0', NULL, NULL, ROW_START, run_method,
	    "wait for events with epoll"),
	CHANGE("kqueue", '\0', NULL, NULL, ROW_START, run_method,
	    "wait for events with kqueue"),
	CHANGE("poll", 'P', "poll", NULL, ROW_START, run_method,
	    "wait for events with poll"),
	CHANGE("select", '\0', NULL, NULL, ROW_START, run_method,
	    "wait for events with select"),
	REPORT("pid", NULL, run_pid, "prints the process id"),

	/* of classic Pen, without effect */
	OBSOLETE("block", '\0', NULL, NULL, ROW_NO),
	OBSOLETE("delayed_forward", 'D', "delayed-forward", NULL, ROW_NO),
	OBSOLETE("nonblock", 'n', "nonblock", NULL, ROW_OPTION),
	OBSOLETE("no-getpeername", 'Q', "no-getpeername", NULL, ROW_OPTION),
	OBSOLETE("servers-max", 'S', "servers-max", "N", ROW_OPTION),
	OBSOLETE("ignore", 'i', "ignore", NULL, ROW_OPTION),
	OBSOLETE("ssl_compat", 'Z', "tls-compat", NULL, ROW_NO),

	/* not there yet */
	LATER_FLAG("http", 'H', "http", "add X-Forwarded-For"),
	LATER_FLAG("peek", '\0', NULL, "choose by the first bytes"),
	LATER_FLAG("transparent", '\0', NULL, "keep client addresses"),
	{ NULL, '\0', NULL, NULL, NULL, KIND_LATER, 0, 0, 0, 0, NULL, NULL },
};

_Static_assert(sizeof(command_table) / sizeof(command_table[0]) <= ROWS_MAX,
    "struct plan has an origin for each row");
