/* test_warnings.c: what a plan holds without effect is said, in few lines. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "control/verify/warnings.h"
#include "pool/balance.h"
#include "support/suite.h"

enum { MANY = SERVERS_MAX };

static struct plan *plan;

/* Its settings, to be changed. */
static struct config *
edit(void)
{
	struct config *c = plan_edit_config(plan);

	ck_assert_ptr_nonnull(c);
	return c;
}

/* Servers that are as good as the same: each has a port of its own. */
static void
add_servers(unsigned n, uint64_t soft, uint64_t hard, enum server_forward f)
{
	struct server_plan *s;
	unsigned i;

	for (i = 0; i < n; i++) {
		s = plan_edit(plan, server_slot(i));
		ck_assert_ptr_nonnull(s);
		ck_assert_int_eq(text_set(&s->host, "127.0.0.1"), 0);
		s->port = (uint16_t)(1000 + i);
		s->set.soft = soft;
		s->set.hard = hard;
		s->set.forward = f;
	}
}

static const char *
printed(void)
{
	struct buffer b;
	const char *kept;

	buffer_init(&b);
	warnings_print(plan, plan, &b);
	ck_assert_int_eq(buffer_append(&b, "", 1), 0);
	kept = text("%s", buffer_bytes(&b));
	buffer_fini(&b);
	return kept;
}

/* A line about each of thousands would be compared with each of the plan
 * before, at every command. */
START_TEST(many_servers_are_few_lines)
{
	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	add_servers(MANY, 5, 3, SERVER_FORWARD_TUNNEL);
	ck_assert_str_eq(printed(),
	    "server 0: max 5 has no effect with hard 3\n"
	    "server 1: max 5 has no effect with hard 3\n"
	    "server 2: max 5 has no effect with hard 3\n"
	    "server 3: max 5 has no effect with hard 3\n"
	    "server 4: max 5 has no effect with hard 3\n"
	    "server 5: max 5 has no effect with hard 3\n"
	    "server 6: max 5 has no effect with hard 3\n"
	    "server 7: max 5 has no effect with hard 3\n"
	    "4088 more servers: max has no effect with a lower hard\n"
	    "server 0: forward tunnel has no effect without dsr_if\n"
	    "server 1: forward tunnel has no effect without dsr_if\n"
	    "server 2: forward tunnel has no effect without dsr_if\n"
	    "server 3: forward tunnel has no effect without dsr_if\n"
	    "server 4: forward tunnel has no effect without dsr_if\n"
	    "server 5: forward tunnel has no effect without dsr_if\n"
	    "server 6: forward tunnel has no effect without dsr_if\n"
	    "server 7: forward tunnel has no effect without dsr_if\n"
	    "4088 more servers: forward has no effect without dsr_if\n");
	plan_free(plan);
}
END_TEST

static void
set_choice(unsigned i, unsigned weight, int prio, uint64_t slow_start_ms)
{
	struct server_plan *s = plan_edit(plan, server_slot(i));

	ck_assert_ptr_nonnull(s);
	s->set.weight = weight;
	s->set.prio = prio;
	s->set.slow_start_ms = slow_start_ms;
}

/* What other algorithms would go by. */
START_TEST(the_algorithm_has_no_use_for_it)
{
	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	add_servers(3, 0, 0, SERVER_FORWARD_AS_SET);
	edit()->pool.balance = balance_find("roundrobin");
	set_choice(0, 1, 0, 0);
	set_choice(1, 3, 7, 1000);
	ck_assert_str_eq(printed(),
	    "server 1: weight 3 has no effect with roundrobin\n"
	    "server 1: prio 7 has no effect without prio\n"
	    "server 1: slow_start has no effect with roundrobin\n");
	edit()->pool.balance = balance_find("prio");
	edit()->pool.slow_start_ms = 1000;
	ck_assert_str_eq(printed(), "");
	edit()->pool.balance = balance_find("hash");
	set_choice(1, 3, 0, 1000);
	ck_assert_str_eq(printed(),
	    "slow_start has no effect with roundrobin or hash\n"
	    "server 1: slow_start has no effect with hash\n"
	    "server 2 gets no clients: it has no weight, and others have "
	    "one\n");
	edit()->pool.balance = balance_find("wrr");
	set_choice(1, 3, 0, 1000);
	ck_assert_str_eq(printed(),
	    "server 2 gets no clients: it has no weight, and others have "
	    "one\n");
	set_choice(0, 0, 0, 0);
	set_choice(1, 0, 0, 0);
	ck_assert_str_eq(printed(), "");
	plan_free(plan);
}
END_TEST

/* Without a table the choice is a hash, whatever is set. */
START_TEST(no_prio_without_flows)
{
	static char interface[] = "lo";

	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	add_servers(2, 0, 0, SERVER_FORWARD_AS_SET);
	edit()->dsr.interface = interface;
	edit()->dsr.flows = 0;
	edit()->pool.balance = balance_find("hash");
	set_choice(0, 1, 0, 0);
	set_choice(1, 1, 7, 0);
	ck_assert_ptr_nonnull(strstr(
	    printed(), "server 1: prio 7 has no effect with dsr_flows 0\n"));
	edit()->dsr.interface = NULL;
	plan_free(plan);
}
END_TEST

/* It needs checks, and servers that are better than others. */
START_TEST(on_up)
{
	static char check[] = "connect";

	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	edit()->pool.balance = balance_find("roundrobin");
	edit()->pool.on_up = SERVER_ON_UP_CUT;
	ck_assert_str_eq(printed(),
	    "on_up has no effect without check\n"
	    "on_up has no effect without prio or emergency\n");
	edit()->checks.text = check;
	edit()->pool.balance = balance_find("prio");
	ck_assert_str_eq(printed(), "");
	edit()->checks.text = NULL;
	plan_free(plan);
}
END_TEST

START_TEST(panic)
{
	static char check[] = "connect";

	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	edit()->pool.panic = 50;
	ck_assert_str_eq(printed(), "panic has no effect without check\n");
	edit()->checks.text = check;
	ck_assert_str_eq(printed(), "");
	edit()->checks.text = NULL;
	plan_free(plan);
}
END_TEST

START_TEST(checks_without_tls)
{
	static char plain[] = "http /health", good[] = "https /health";
	struct server_plan *server;

	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	edit()->checks.text = plain;
	edit()->tls.upstream = true;
	ck_assert_str_eq(printed(), "");
	add_servers(1, 0, 0, SERVER_FORWARD_AS_SET);
	server = plan_edit(plan, server_slot(0));
	ck_assert_str_eq(printed(),
	    "check http does not use TLS, but ssl_upstream is on: use check "
	    "https\n");
	/* another program of the server's */
	server->check_port = 81;
	ck_assert_str_eq(printed(), "");
	server->check_port = 0;
	edit()->checks.port = 81;
	ck_assert_str_eq(printed(), "");
	edit()->checks.port = 0;
	server->check = good;
	ck_assert_str_eq(printed(), "");
	server->check = NULL;
	edit()->checks.text = good;
	ck_assert_str_eq(printed(), "");
	edit()->checks.text = NULL;
	plan_free(plan);
}
END_TEST

/* A start may be before its servers. */
START_TEST(no_server)
{
	static const char warning[] =
	    "no server: clients cannot be served until one is added\n";
	struct server_plan *s;
	struct error e;

	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	ck_assert_int_eq(
	    spec_parse_listen(&plan->listen, "8080", RESOLVE_NUMERIC, &e), 0);
	ck_assert_str_eq(printed(), warning);
	edit()->frontend.dummy = true;
	ck_assert_str_eq(printed(), "");
	edit()->frontend.dummy = false;
	s = plan_edit(plan, SLOT_EMERGENCY);
	ck_assert_int_eq(text_set(&s->host, "127.0.0.1"), 0);
	ck_assert_str_eq(printed(), "");
	server_plan_clear(s);
	ck_assert_str_eq(printed(), warning);
	add_servers(1, 0, 0, SERVER_FORWARD_AS_SET);
	ck_assert_str_eq(printed(), "");
	plan_free(plan);
}
END_TEST

/* connect(2) has no interface for it; a director has one. */
START_TEST(link_local_without_an_interface)
{
	static char interface[] = "eth0";
	struct server_plan *s;

	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	add_servers(1, 0, 0, SERVER_FORWARD_AS_SET);
	s = plan_edit(plan, server_slot(0));
	ck_assert_int_eq(text_set(&s->host, "fe80::1"), 0);
	ck_assert_str_eq(printed(),
	    "server 0: fe80::1 cannot be reached without an interface: "
	    "fe80::1%IF\n");
	edit()->dsr.interface = interface;
	ck_assert_str_eq(printed(), "");
	edit()->dsr.interface = NULL;
	ck_assert_int_eq(text_set(&s->host, "fe80::1%lo"), 0);
	ck_assert_str_eq(printed(), "");
	plan_free(plan);
}
END_TEST

static void
set(char **to, const char *word)
{
	ck_assert_int_eq(text_set(to, word), 0);
}

static struct server_plan *
first_server(void)
{
	struct server_plan *s = plan_edit(plan, server_slot(0));

	ck_assert_ptr_nonnull(s);
	return s;
}

/* Datagrams are sent as they are: an operator who believes in TLS would send
 * them in plain text. */
START_TEST(servers_of_datagrams)
{
	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	add_servers(1, 0, 0, SERVER_FORWARD_AS_SET);
	first_server()->set.tls = SERVER_TLS_ON;
	first_server()->set.proxy = SERVER_PROXY_V2;
	edit()->tls.upstream = true;
	ck_assert_str_eq(printed(), "");
	edit()->frontend.udp.on = true;
	ck_assert_str_eq(printed(),
	    "ssl_upstream has no effect with udp or dsr_if\n"
	    "server 0: tls on has no effect with udp or dsr_if\n"
	    "server 0: proxy_protocol has no effect with udp: see "
	    "udp_proxy\n");
	edit()->frontend.dns.on = true; /* by TCP, too */
	ck_assert_str_eq(printed(),
	    "server 0: tls on does not apply to DNS queries over UDP, which "
	    "are sent in plain text\n"
	    "server 0: proxy_protocol does not apply to DNS queries over UDP: "
	    "see udp_proxy\n");
	first_server()->set.proxy = SERVER_PROXY_AS_SET;
	first_server()->set.tls = SERVER_TLS_AS_SET;
	ck_assert_str_eq(printed(),
	    "ssl_upstream does not apply to DNS queries over UDP, which are "
	    "sent in plain text\n");
	first_server()->set.tls = SERVER_TLS_OFF;
	ck_assert_str_eq(printed(), "");
	edit()->frontend.dns.on = false;
	edit()->tls.upstream = false;
	first_server()->set.tls = SERVER_TLS_OFF;
	first_server()->set.proxy = SERVER_PROXY_OFF;
	ck_assert_str_eq(printed(), "");
	plan_free(plan);
}
END_TEST

/* Name servers that want PROXY headers, or TLS, want them of all queries. */
START_TEST(dns_by_tcp_alone)
{
	struct frontend_options *f;

	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	add_servers(1, 0, 0, SERVER_FORWARD_AS_SET);
	f = &edit()->frontend;
	f->dns.on = f->udp.on = true;
	f->proxy = PROXY_V2;
	ck_assert_str_eq(printed(),
	    "proxy_protocol does not apply to DNS queries over UDP, which are "
	    "sent without a PROXY header: see udp_proxy\n");
	f->udp.proxy = UDP_PROXY_EVERY;
	ck_assert_str_eq(printed(), "");
	first_server()->set.proxy = SERVER_PROXY_OFF; /* no header by TCP */
	ck_assert_ptr_nonnull(strstr(
	    printed(), "udp_proxy does not apply to DNS queries over TCP"));
	f->udp.proxy = UDP_PROXY_OFF;
	ck_assert_str_eq(printed(), "");
	f->udp.proxy = UDP_PROXY_EVERY;
	first_server()->set.proxy = SERVER_PROXY_AS_SET;
	f->proxy = PROXY_OFF;
	ck_assert_str_eq(printed(),
	    "udp_proxy does not apply to DNS queries over TCP, which are sent "
	    "without a PROXY header: see proxy_protocol\n");
	first_server()->set.proxy = SERVER_PROXY_V2;
	ck_assert_str_eq(printed(), "");
	f->udp.proxy = UDP_PROXY_OFF;
	edit()->tls.pairs = 1;
	ck_assert_ptr_nonnull(strstr(printed(),
	    "ssl_cert does not apply to DNS queries over UDP, which are "
	    "received in plain text\n"));
	edit()->tls.pairs = 0;
	set(&edit()->tls.sni_path, "certs");
	ck_assert_ptr_nonnull(strstr(printed(),
	    "ssl_sni_path does not apply to DNS queries over UDP"));
	plan_free(plan);
}
END_TEST

/* What never is down. */
START_TEST(servers_without_a_check)
{
	static char check[] = "connect";

	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	add_servers(2, 0, 0, SERVER_FORWARD_AS_SET);
	first_server()->set.on_down = SERVER_ON_DOWN_CUT;
	ck_assert_str_eq(
	    printed(), "server 0: on_down cut has no effect without check\n");
	edit()->start_unresolved = true; /* its name may lack an address */
	ck_assert_ptr_null(strstr(printed(), "on_down"));
	edit()->start_unresolved = false;
	edit()->checks.text = check;
	ck_assert_str_eq(printed(), "");
	ck_assert_int_eq(text_set(&first_server()->check, "off"), 0);
	ck_assert_str_eq(
	    printed(), "server 0: on_down cut has no effect without check\n");
	edit()->checks.text = NULL;
	ck_assert_int_eq(text_set(&first_server()->check, "connect"), 0);
	ck_assert_str_eq(printed(), "");
	/* one that is blacklisted may be excused, too */
	first_server()->set.may_be_down = 1;
	first_server()->set.on_down = SERVER_ON_DOWN_KEEP;
	edit()->checks.text = NULL;
	ck_assert_int_eq(text_set(&first_server()->check, "off"), 0);
	ck_assert_str_eq(printed(), "");
	plan_free(plan);
}
END_TEST

/* What is read before there is a server. */
START_TEST(hello_without_a_hello)
{
	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	edit()->frontend.hello_ms = 1000;
	ck_assert_str_eq(printed(),
	    "hello_timeout has no effect without accept_proxy, peek, route "
	    "or http\n");
	edit()->accept_proxy.number = 3;
	ck_assert_str_eq(printed(), "");
	edit()->accept_proxy.number = -1;
	edit()->frontend.http.on = true;
	ck_assert_str_eq(printed(), "");
	edit()->frontend.dns.on = edit()->frontend.udp.on = true;
	ck_assert_str_eq(printed(),
	    "http refuses DNS queries over TCP, which are not HTTP\n");
	plan_free(plan);
}
END_TEST

static void
permit_in(const char *list, const char *address)
{
	struct acl_entry entry;
	struct error e;
	struct acl *l = plan_acls_edit(&plan->process->acls, list, &e);

	ck_assert_ptr_nonnull(l);
	ck_assert_int_eq(acl_entry_parse(&entry, true, address, NULL, &e), 0);
	ck_assert_int_eq(acl_add_entry(l, &entry, NULL), 0);
}

START_TEST(lists_that_nothing_names)
{
	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	add_servers(1, 0, 0, SERVER_FORWARD_AS_SET);
	permit_in("0", "10.0.0.1"); /* that of client_acl and control_acl */
	permit_in("4", "10.0.0.1");
	permit_in("office", "10.0.0.1");
	ck_assert_str_eq(printed(),
	    "access list 4 has no effect: no setting names it\n"
	    "access list office has no effect: no setting names it\n");
	edit()->client_acl.number = 4;
	set(&first_server()->acl.name, "office");
	ck_assert_str_eq(printed(), "");
	plan->process->control_acl.number = 5;
	ck_assert_str_eq(
	    printed(), "access list 0 has no effect: no setting names it\n");
	plan_free(plan);
}
END_TEST

/* A group is bound like an address, but nothing arrives. */
START_TEST(listening_on_a_group)
{
	struct error e;

	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	add_servers(1, 0, 0, SERVER_FORWARD_AS_SET);
	ck_assert_int_eq(spec_parse_listen(&plan->listen,
			     "127.0.0.1:7,239.1.2.3:7+8,[ff02::1%lo]:7",
			     RESOLVE_NUMERIC, &e),
	    0);
	ck_assert_str_eq(printed(),
	    "listen: 239.1.2.3:7 is a multicast group, to which no client can "
	    "connect\n");
	edit()->frontend.udp.on = true;
	ck_assert_str_eq(printed(),
	    "listen: 239.1.2.3:7 is a multicast group, which pen does not "
	    "join\n");
	ck_assert_int_eq(text_set(&edit()->dsr.interface, "lo"), 0);
	ck_assert_ptr_null(strstr(printed(), "multicast"));
	plan_free(plan);
}
END_TEST

/* Those that are not numbered have a name, in each of these lines. */
START_TEST(servers_that_are_no_hosts)
{
	static const char *const groups[] = { "224.0.0.1", "239.255.255.255",
		"ff02::1%lo", "::ffff:224.0.0.251" };
	static const char *const hosts[] = { "223.255.255.255", "240.0.0.1",
		"fe80::1%lo", "::ffff:10.0.0.1", "localhost" };
	struct server_plan *s;
	size_t i;

	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	add_servers(1, 0, 0, SERVER_FORWARD_AS_SET);
	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		set(&first_server()->host, groups[i]);
		edit()->frontend.udp.on = false;
		ck_assert_str_eq(printed(),
		    text("server 0: %s is not the address of a host\n",
			groups[i]));
		edit()->frontend.udp.on = true;
		ck_assert_str_eq(printed(),
		    text("server 0: %s is a multicast group: pen receives no "
			 "answers from its members\n",
			groups[i]));
	}
	for (i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		set(&first_server()->host, hosts[i]);
		ck_assert_str_eq(printed(), "");
	}
	set(&first_server()->host, "255.255.255.255");
	ck_assert_str_eq(printed(),
	    "server 0: 255.255.255.255 is not the address of a host\n");
	set(&first_server()->host, "127.0.0.1");
	s = plan_edit(plan, SLOT_EMERGENCY);
	ck_assert_ptr_nonnull(s);
	set(&s->host, "fe80::1");
	s = plan_edit(plan, SLOT_ABUSE);
	ck_assert_ptr_nonnull(s);
	set(&s->host, "255.255.255.255");
	edit()->frontend.udp.on = false;
	edit()->frontend.limits.action = LIMIT_ACTION_ABUSE;
	edit()->frontend.limits.conns = 1;
	ck_assert_str_eq(printed(),
	    "the emergency server: fe80::1 cannot be reached without an "
	    "interface: fe80::1%IF\n"
	    "the abuse server: 255.255.255.255 is not the address of a "
	    "host\n");
	plan_free(plan);
}
END_TEST

START_TEST(eight_are_all_named)
{
	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	add_servers(8, 5, 3, SERVER_FORWARD_AS_SET);
	ck_assert_ptr_nonnull(strstr(printed(), "server 7: max 5"));
	ck_assert_ptr_null(strstr(printed(), "more servers"));
	plan_free(plan);
}
END_TEST

/* The journal has all fields, whatever the format. */
START_TEST(formats_for_the_journal)
{
	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	set(&edit()->session_log, "journal");
	set(&edit()->log_format, "jsonl");
	edit()->frontend.http.on = true;
	set(&edit()->request_log.to, "journal");
	set(&edit()->request_log.format, "json");
	ck_assert_str_eq(printed(),
	    "log_format has no effect with session_log journal\n"
	    "request_format has no effect with request_log journal\n");
	set(&edit()->request_log.to, "/file");
	set(&edit()->session_log, "/file");
	ck_assert_str_eq(printed(), "");
	plan_free(plan);
}
END_TEST

/* What is for processes, paths and names that a plan does not have. */
START_TEST(what_is_not_there)
{
	struct process_plan *p;
	struct server_plan *s;

	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	add_servers(1, 0, 0, SERVER_FORWARD_AS_SET);
	p = plan_edit_process(plan);
	ck_assert_ptr_nonnull(p);
	p->resolve_interval_ms++;
	p->worker_watchdog_ms++;
	p->workers_by = SOCK_GROUP_BY_CONNECTION;
	p->web_mode = 0660;
	edit()->start_unresolved = true;
	edit()->frontend.queue_ms = 1000;
	edit()->frontend.end.quiet = QUIET_END_NONE;
	edit()->frontend.end.quiet_ms++;
	edit()->frontend.idle_timeout_ms = 1000;
	edit()->frontend.half_timeout_ms = 2000;
	edit()->pool.on_down = SERVER_ON_DOWN_CUT;
	plan_edit(plan, server_slot(0))->check_port = 80;
	ck_assert_str_eq(printed(),
	    "workers_by has no effect without workers\n"
	    "worker_watchdog has no effect without workers\n"
	    "resolve_interval has no effect while no server has a name\n"
	    "start_unresolved has no effect while no server has a name\n"
	    "web_mode has no effect unless web is a Unix socket\n"
	    "half_timeout has no effect with a shorter idle_timeout\n"
	    "quiet_time has no effect with quiet_end none\n"
	    "queue has no effect while no server has a max or hard\n"
	    "server 0: check_port has no effect without check\n");
	p->workers = 2;
	ck_assert_int_eq(text_set(&p->web, "/run/web"), 0);
	edit()->frontend.half_timeout_ms = 1000;
	edit()->frontend.end.quiet = QUIET_END_ALL;
	s = plan_edit(plan, server_slot(0));
	ck_assert_int_eq(text_set(&s->host, "localhost"), 0);
	ck_assert_int_eq(text_set(&s->check, "connect"), 0);
	s->set.soft = 10;
	ck_assert_str_eq(printed(), "");
	ck_assert_int_eq(text_set(&s->check, NULL), 0);
	s->check_port = 0;
	edit()->start_unresolved = false;
	ck_assert_str_eq(printed(), "on_down has no effect without check\n");
	plan_free(plan);
}
END_TEST

/* Nobody's client is known in advance, and a director opens no sockets. */
START_TEST(transparent)
{
	static char interface[] = "eth0";

	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	edit()->frontend.transparent = true;
	edit()->frontend.freebind = true;
	ck_assert_str_eq(printed(), "");
	edit()->idlers = 1;
	ck_assert_str_eq(printed(), "idlers has no effect with transparent\n");
	edit()->idlers = 0;
	edit()->dsr.interface = interface;
	ck_assert_str_eq(printed(), "transparent has no effect with dsr_if\n");
	edit()->dsr.interface = NULL;
	plan_free(plan);
}
END_TEST

/* A query of DNS has one answer and no flow. */
START_TEST(dns_has_no_flows)
{
	struct udp_options *udp;

	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	udp = &edit()->frontend.udp;
	udp->on = edit()->frontend.dns.on = true;
	udp->proxy = UDP_PROXY_EVERY;
	edit()->frontend.proxy = PROXY_V2;
	udp->fail++;
	ck_assert_str_eq(printed(), "");
	udp->timeout_ms++;
	udp->responses++;
	udp->requests++;
	ck_assert_str_eq(printed(),
	    "udp_timeout has no effect with dns\n"
	    "udp_responses has no effect with dns\n"
	    "udp_requests has no effect with dns\n");
	plan_free(plan);
}
END_TEST

/* Where there are no TCP connections, what is set for them is of no use. */
static const char *const of_connections[] = { "queue", "retry", "rate_up",
	"rate_down", "sndbuf", "rcvbuf", "keepalive", "keepalive_time",
	"keepalive_interval", "keepalive_count", "user_timeout", "idlers",
	"retry_requests", "hello_timeout", "idle_timeout", "linger", "buffer",
	"quiet_time", "max_age", "accept_max", "backlog" };
enum { OF_CONNECTIONS = sizeof(of_connections) / sizeof(of_connections[0]) };

static void
set_for_connections(struct frontend_options *o)
{
	o->queue_ms++;
	o->retry_ms++;
	o->rate_up++;
	o->rate_down++;
	o->sndbuf++;
	o->rcvbuf++;
	o->keepalive = !o->keepalive;
	o->keepalive_ms += 1000;
	o->keepalive_interval_ms += 1000;
	o->keepalive_count++;
	o->user_timeout_ms++;
	edit()->idlers++;
	o->retry_requests++;
	o->hello_ms++;
	o->peek = true;
	o->idle_timeout_ms = 10 * 3600 * 1000;
	o->linger_ms++;
	o->buffer++;
	o->end.quiet_ms++;
	o->end.max_age_ms++;
	o->accept_max++;
	o->backlog++;
}

START_TEST(connections_that_never_are)
{
	static char interface[] = "eth0";
	struct config *c;
	const char *said;
	unsigned i;

	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	c = edit();
	set_for_connections(&c->frontend);
	ck_assert_str_eq(printed(),
	    "keepalive_time has no effect without keepalive\n"
	    "keepalive_interval has no effect without keepalive\n"
	    "keepalive_count has no effect without keepalive\n"
	    "queue has no effect while no server has a max or hard\n");
	c->frontend.keepalive = true;
	add_servers(1, 5, 0, SERVER_FORWARD_AS_SET);
	ck_assert_str_eq(printed(), "");
	c->frontend.keepalive = false;
	c->frontend.udp.on = true;
	for (i = 0; i < OF_CONNECTIONS; i++)
		ck_assert_ptr_nonnull(strstr(printed(),
		    text("%s has no effect with udp or dsr_if\n",
			of_connections[i])));
	/* DNS comes by TCP, too */
	c->frontend.dns.on = c->frontend.keepalive = true;
	ck_assert_str_eq(printed(), "");
	c->frontend.keepalive = false;
	c->frontend.dns.on = c->frontend.udp.on = false;
	c->dsr.interface = interface;
	said = printed();
	for (i = 0; i < OF_CONNECTIONS; i++)
		ck_assert_ptr_nonnull(strstr(said,
		    text("%s has no effect with udp or dsr_if\n",
			of_connections[i])));
	c->dsr.interface = NULL;
	plan_free(plan);
}
END_TEST

/* Flows have no line in the log of requests; frames, and who is served by pen
 * itself, not even in that of sessions. */
START_TEST(logs_of_connections)
{
	static char file[] = "/tmp/x", common[] = "common", off[] = "off";
	struct process_plan *process, process_before;
	struct config *c, before;

	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	c = edit();
	process = plan->process;
	before = *c;
	process_before = *process;
	c->session_log = process->log = file;
	c->log_format = common;
	c->log_sample = 2;
	c->request_log.format = common;
	ck_assert_str_eq(
	    printed(), "request_format has no effect without request_log\n");
	c->request_log.to = file;
	ck_assert_str_eq(
	    printed(), "request_log has no effect without http (-H)\n");
	c->frontend.http.on = true;
	ck_assert_str_eq(printed(), "");
	c->session_log = off;
	ck_assert_str_eq(
	    printed(), "log_format has no effect without session_log\n");
	c->frontend.http.on = false;
	c->request_log = before.request_log;
	ck_assert_str_eq(printed(),
	    "log_format has no effect without session_log\n"
	    "log_sample has no effect without session_log or request_log\n");
	c->session_log = file;
	c->frontend.udp.on = true;
	ck_assert_str_eq(printed(), "log has no effect with udp or dsr_if\n");
	c->frontend.udp.on = false;
	c->frontend.dummy = true;
	ck_assert_str_eq(printed(),
	    "session_log has no effect with dummy\n"
	    "log_format has no effect with dummy\n"
	    "log_sample has no effect with dummy\n");
	*c = before;
	*process = process_before;
	plan_free(plan);
}
END_TEST

START_TEST(pages_that_nobody_serves)
{
	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	plan->process->web_acl.number = 3;
	ck_assert_str_eq(printed(), "web_acl has no effect without web\n");
	ck_assert_int_eq(text_set(&plan->process->web, "8080"), 0);
	ck_assert_str_eq(printed(), "");
	plan_free(plan);
}
END_TEST

START_TEST(limits_of_clients)
{
	struct limit_options *l;

	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	l = &edit()->frontend.limits;
	l->prefix4 = 24;
	ck_assert_str_eq(printed(),
	    "client_prefix4 has no effect without client_conns or "
	    "client_rate\n");
	l->conns = 10;
	ck_assert_str_eq(printed(), "");
	l->wait_ms++;
	ck_assert_str_eq(printed(),
	    "client_limit_time has no effect without client_limit_action "
	    "delay or tarpit\n");
	l->action = LIMIT_ACTION_TARPIT;
	ck_assert_str_eq(printed(), "");
	l->wait_ms--;
	l->action = LIMIT_ACTION_ABUSE;
	ck_assert_str_eq(printed(),
	    "client_limit_action has no effect without an abuse server\n");
	l->action = LIMIT_ACTION_REFUSE;
	edit()->frontend.dummy = true;
	ck_assert_str_eq(
	    printed(), "client_conns has no effect with dsr_if or dummy\n");
	plan_free(plan);
}
END_TEST

START_TEST(clients_that_are_not_remembered)
{
	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	edit()->pool.sticky = false;
	edit()->pool.sticky_prefix6 = 56;
	ck_assert_str_eq(printed(),
	    "sticky_prefix6 has no effect while clients are not "
	    "remembered\n");
	edit()->pool.sticky = true;
	ck_assert_str_eq(printed(), "");
	plan_free(plan);
}
END_TEST

/* Who may be silent does not fail by it. */
START_TEST(questions_without_a_number_of_answers)
{
	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	edit()->frontend.udp.on = true;
	edit()->frontend.udp.fail = 3;
	ck_assert_str_eq(
	    printed(), "udp_fail has no effect without udp_responses or dns\n");
	edit()->frontend.udp.responses = 1;
	ck_assert_str_eq(printed(), "");
	edit()->frontend.udp.responses = 0;
	edit()->frontend.dns.on = true;
	ck_assert_str_eq(printed(), "");
	edit()->frontend.dns.on = edit()->frontend.udp.on = false;
	ck_assert_str_eq(
	    printed(), "udp_fail has no effect without udp or dns\n");
	plan_free(plan);
}
END_TEST

SUITE(test_warnings)
{
	Suite *s = suite_create("warnings");

	SUITE_ADD(s, many_servers_are_few_lines, 10);
	SUITE_ADD(s, the_algorithm_has_no_use_for_it, 10);
	SUITE_ADD(s, no_prio_without_flows, 10);
	SUITE_ADD(s, on_up, 10);
	SUITE_ADD(s, checks_without_tls, 10);
	SUITE_ADD(s, panic, 10);
	SUITE_ADD(s, no_server, 10);
	SUITE_ADD(s, link_local_without_an_interface, 10);
	SUITE_ADD(s, eight_are_all_named, 10);
	SUITE_ADD(s, servers_of_datagrams, 10);
	SUITE_ADD(s, listening_on_a_group, 10);
	SUITE_ADD(s, servers_that_are_no_hosts, 10);
	SUITE_ADD(s, dns_by_tcp_alone, 10);
	SUITE_ADD(s, servers_without_a_check, 10);
	SUITE_ADD(s, hello_without_a_hello, 10);
	SUITE_ADD(s, lists_that_nothing_names, 10);
	SUITE_ADD(s, dns_has_no_flows, 10);
	SUITE_ADD(s, formats_for_the_journal, 10);
	SUITE_ADD(s, what_is_not_there, 10);
	SUITE_ADD(s, transparent, 10);
	SUITE_ADD(s, connections_that_never_are, 10);
	SUITE_ADD(s, logs_of_connections, 10);
	SUITE_ADD(s, pages_that_nobody_serves, 10);
	SUITE_ADD(s, limits_of_clients, 10);
	SUITE_ADD(s, clients_that_are_not_remembered, 10);
	SUITE_ADD(s, questions_without_a_number_of_answers, 10);
	return s;
}
