/* test_readme_others.c: what README.md says of mail, databases, names, logs,
 * calls and files, and of who clients are. */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "net/ownroot.h"
#include "net/readme_fixture.h"
#include "support/mmdb.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"

#define CLIENT "10.0.0.100"
#define FRONT  "10.0.0.9"
#define ASK    "GET / HTTP/1.1\r\nHost: front\r\n\r\n"

static void
serve_on_both(
    int port, backend_fn *serve, const char *first, const char *second)
{
	machine_serve(WEB1, port, serve, first);
	machine_serve(WEB2, port, serve, second);
}

/* What a server says at once. */
static const char *
greeting(const char *from, int port)
{
	int fd = client_dial(from, FRONT, port, "");
	const char *s = client_hears(fd);

	close(fd);
	return s;
}

/* ---- mail ---- */

/* Reads a PROXY header of version 2, IPv4, and says who it names. */
static void
greet_named(struct backend *b, int fd)
{
	unsigned char h[28];
	char ip[INET_ADDRSTRLEN], line[64];
	int n;

	(void)b;
	if (recv(fd, h, sizeof(h), MSG_WAITALL) != (ssize_t)sizeof(h) ||
	    memcmp(h, "\r\n\r\n\0\r\nQUIT\n\x21\x11", 14) != 0)
		return;
	inet_ntop(AF_INET, h + 16, ip, sizeof(ip));
	n = snprintf(line, sizeof(line), "220 hello %s\r\n", ip);
	backend_send(fd, line, (size_t)n);
}

static void
mails_up(void)
{
	machine_serve(THIRD, 25, greet_named, NULL);
	machine_serve(FOURTH, 25, greet_named, NULL);
}

static void
mail_is_told_who(void)
{
	ck_assert_str_eq(greeting(CLIENT, 25), "220 hello " CLIENT "\r\n");
	ck_assert_str_eq(
	    greeting("10.0.0.101", 25), "220 hello 10.0.0.101\r\n");
}

/* ---- databases ---- */

/* Asks for a password, as a database does that is well. */
static void
ask_password(struct backend *b, int fd)
{
	static const char says[] = "R\0\0\0\x08\0\0\0\x03";
	char start[256];

	(void)b;
	if (recv(fd, start, sizeof(start), 0) > 0)
		backend_send(fd, says, sizeof(says) - 1);
}

static void
one_database_is_well(void)
{
	machine_serve(WEB1, 5432, ask_password, NULL);
	machine_serve(WEB2, 5432, backend_reset, NULL);
	ownroot_script(
	    "/usr/local/bin/page", "echo $PEN_NAME is $PEN_STATE >>/run/paged");
}

static void
somebody_is_paged(void)
{
	WAIT_FOR(file_has("/run/paged", "db2 is down"), 30000);
}

/* ---- names ---- */

/* Answers the question of a datagram: an address, 10.0.0.N. */
static void
name_server(int fd, char last)
{
	static const char record[] =
	    "\xc0\x0c\0\x01\0\x01\0\0\0\x3c\0\x04\x0a\0\0";
	unsigned char m[512];
	struct sockaddr_in from;
	socklen_t len;
	ssize_t n, end;

	for (;;) {
		len = sizeof(from);
		n = recvfrom(fd, m, 400, 0, (struct sockaddr *)&from, &len);
		for (end = 12; end < n && m[end] != 0; end += m[end] + 1)
			;
		if (end + 5 > n)
			continue;
		end += 5;
		memcpy(m + 2, "\x81\x80\0\x01\0\x01\0\0\0\0", 10);
		memcpy(m + end, record, sizeof(record) - 1);
		end += (ssize_t)sizeof(record) - 1;
		m[end++] = (unsigned char)last;
		sendto(fd, m, (size_t)end, 0, (struct sockaddr *)&from, len);
	}
}

static void
name_servers_up(void)
{
	unsigned i;
	int fd;

	for (i = 0; i < 2; i++) {
		fd = net_fixture_listen(&readme_fixture, NET_FIXTURE_SERVER + i,
		    SOCK_DGRAM, machine_ip(i), 53);
		if (child_fork() == 0) {
			struct pollfd p = { .fd = fd, .events = POLLIN };

			while (poll(&p, 1, -1) > 0)
				name_server(fd, (char)(1 + i));
			_exit(0);
		}
		close(fd);
	}
}

static void
names_are_found(void)
{
	char seen[3] = "";
	const char *s;
	int i;

	for (i = 0; i < 4; i++) {
		s = client_run(NULL, "dig", "+short", "+time=20", "@" FRONT,
		    text("n%d.example.org", i), NULL);
		ck_assert_int_eq(strncmp(s, "10.0.0.", 7), 0);
		ck_assert_msg(s[7] == '1' || s[7] == '2', "%s", s);
		seen[s[7] - '1'] = s[7];
	}
	ck_assert_str_eq(seen, "12");
}

/* ---- datagrams ---- */

static struct udp_server udp[4];

static void
udp_up(struct udp_server *u, unsigned machine, int port, const char *name)
{
	struct endpoint any = { .port = port }, at;

	endpoint_at_host(&at, &any, machine_ip(machine));
	net_fixture_enter(&readme_fixture, NET_FIXTURE_SERVER + machine);
	udp_server_start_at(u, &at, name);
	net_fixture_leave(&readme_fixture);
}

/* Whose answer comes, from the front. */
static const char *
udp_name(const char *from, int port)
{
	int fd = net_fixture_dial_from(
	    &readme_fixture, NET_FIXTURE_CLIENT, SOCK_DGRAM, from, FRONT, port);
	const char *s;

	ck_assert_int_eq(send(fd, "!", 1, 0), 1);
	s = client_hears(fd);
	close(fd);
	return s;
}

static void
logs_up(void)
{
	udp_up(&udp[0], WEB1, 514, "log1");
	udp_up(&udp[1], WEB2, 514, "log2");
}

static void
datagrams_arrive(void)
{
	ck_assert_ptr_nonnull(strstr(udp_name(CLIENT, 514), "log"));
	ck_assert_str_ne(udp_name(CLIENT, 514), udp_name("10.0.0.101", 514));
	udp_server_stop(&udp[0]);
	udp_server_stop(&udp[1]);
}

static void
phones_up(void)
{
	udp_up(&udp[0], WEB1, 5060, "one");
	udp_up(&udp[1], WEB2, 5060, "two");
	udp_up(&udp[2], WEB1, 10010, "one");
	udp_up(&udp[3], WEB2, 10010, "two");
}

static void
calls_stay(void)
{
	static const char *const from[] = { CLIENT, "10.0.0.101" };
	const char *names[2];
	int i;

	for (i = 0; i < 2; i++) {
		names[i] = udp_name(from[i], 5060);
		ck_assert_str_eq(udp_name(from[i], 10010), names[i]);
		ck_assert_str_eq(udp_name(from[i], 5060), names[i]);
	}
	ck_assert_str_ne(names[0], names[1]);
	for (i = 0; i < 4; i++)
		udp_server_stop(&udp[i]);
}

/* ---- files, shells ---- */

static void
files_up(void)
{
	serve_on_both(21, backend_say, "one", "two");
	serve_on_both(50007, backend_say, "one", "two");
}

static void
passive_ports_follow(void)
{
	const char *first = greeting(CLIENT, 21);

	ck_assert_str_eq(greeting(CLIENT, 50007), first);
	ck_assert_str_ne(greeting("10.0.0.101", 21), first);
	ck_assert_str_ne(greeting("10.0.0.101", 50007), first);
	ck_assert_str_eq(greeting(CLIENT, 50007), first);
}

static struct backend shell;

static void
shell_up(void)
{
	struct endpoint at = { .port = 0 };
	struct sockaddr_un *un = (struct sockaddr_un *)&at.addr;

	un->sun_family = AF_UNIX;
	memcpy(un->sun_path, "ssh", 4);
	memcpy(at.text, "ssh", 4);
	at.len = sizeof(*un);
	backend_start_at(&shell, &at, backend_say, "SSH-2.0-here\r\n");
}

static void
shell_is_reached(void)
{
	ck_assert_str_eq(greeting(CLIENT, 2222), "SSH-2.0-here\r\n");
	ck_assert_str_eq(
	    client_hears(client_dial(NULL, "fd00:64::9", 2222, "")),
	    "SSH-2.0-here\r\n");
	backend_stop(&shell);
}

static void
all_addresses_listen(void)
{
	expect_turns("http://front/");
	ck_assert_int_eq(
	    strncmp(fetch("http://[fd00:64::9]/", "-g"), "web", 3), 0);
	ck_assert_int_eq(
	    strncmp(net_fixture_run(&readme_fixture, NET_FIXTURE_DIRECTOR,
			60000, "curl", "-sS", "--unix-socket", "/run/pen.sock",
			"http://front/", NULL),
		"web", 3),
	    0);
}

/* ---- who clients are ---- */

static void
answers_come_back(void)
{
	webs_up();
	net_fixture_ip(&readme_fixture, NET_FIXTURE_DIRECTOR,
	    "rule add from 10.0.0.0/24 iif eth0 lookup 100\n"
	    "route add local 0.0.0.0/0 dev lo table 100\n");
}

static void
servers_see_clients(void)
{
	const char *page = fetch("http://10.9.0.2/", "--interface", "10.9.0.1");

	ck_assert_ptr_nonnull(strstr(page, "\nfrom 10.9.0.1\n"));
}

/* The server of whom a proxy names. */
static const char *
named(const char *who)
{
	int fd = client_dial("10.0.0.1", FRONT, 80,
	    text("PROXY TCP4 %s 192.0.2.1 1000 80\r\n" ASK, who));
	const char *page = client_hears(fd);

	close(fd);
	page = strstr(page, "\nweb");
	ck_assert_ptr_nonnull(page);
	return text("%.5s", page);
}

static void
proxies_say_who(void)
{
	const char *first = named("192.0.2.7"), *other = named("192.0.2.8");

	ck_assert_str_ne(first, other);
	ck_assert_str_eq(named("192.0.2.7"), first);
	ck_assert_str_eq(named("192.0.2.8"), other);
}

#ifdef HAVE_MAXMINDDB
static void
lists_up(void)
{
	struct mmdb *m = mmdb_new(MMDB_NESTED);

	webs_up();
	mmdb_add(m, "10.0.0.100/32", "SE");
	mmdb_add(m, "10.0.0.101/32", "NO");
	mmdb_write(m, "GeoLite2-Country.mmdb", 86400);
	write_file("/etc/pen/offices", "10.0.0.1/32\n");
}

static void
only_those_are_served(void)
{
	ck_assert_int_eq(
	    strncmp(fetch("http://front/", "--interface", CLIENT), "web", 3),
	    0);
	ck_assert_int_eq(
	    strncmp(
		fetch("http://front/", "--interface", "10.0.0.1"), "web", 3),
	    0);
	ck_assert_int_lt(client_try("10.0.0.101", FRONT, 80, ASK), 0);
}
#endif

const struct example readme_others[] = {
	{ .line = "pen --proxy-protocol 2 25 mail1 mail2",
	    .before = mails_up,
	    .check = mail_is_told_who },
	{ .line = "pen -r --check-servers \"exec /usr/bin/pg_isready"
		  " -h {address} -p {port}\""
		  " --on-state /usr/local/bin/page 5432 db1 db2",
	    .programs = "pg_isready",
	    .before = one_database_is_well,
	    .check = somebody_is_paged },
	{ .line = "pen --dns 53 ns1 ns2",
	    .programs = "dig",
	    .before = name_servers_up,
	    .check = names_are_found },
	{ .line = "pen -U 514 log1 log2",
	    .before = logs_up,
	    .check = datagrams_arrive },
	{ .line = "pen 21+50000-50060 ftp1:0 ftp2:0",
	    .before = files_up,
	    .check = passive_ports_follow },
	{ .line = "pen -U 5060+10000-10040 sip1:0 sip2:0",
	    .before = phones_up,
	    .check = calls_stay },
	{ .line = "pen -r :::2222 ./ssh",
	    .before = shell_up,
	    .check = shell_is_reached },
	{ .line = "pen -r '0.0.0.0:80,[::]:80,/run/pen.sock' web1 web2",
	    .before = webs_up,
	    .check = all_addresses_listen },
	{ .line = "pen --transparent 80 web1 web2",
	    .before = answers_come_back,
	    .check = servers_see_clients },
	{ .line = "pen -O \"acl edge permit 10.0.0.1\" --accept-proxy edge"
		  " 80 web1 web2",
	    .before = webs_up,
	    .check = proxies_say_who },
#ifdef HAVE_MAXMINDDB
	{ .line = "pen --geoip GeoLite2-Country.mmdb"
		  " -O \"acl eu permit country SE\""
		  " -O \"acl eu permit file /etc/pen/offices\""
		  " --client-acl eu 80 web1 web2",
	    .before = lists_up,
	    .check = only_those_are_served },
#endif
	{ .line = NULL },
};

README_SUITE(test_readme_others, readme_others)
