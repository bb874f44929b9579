/* test_guide_services.c: the files of examples/guide for LDAP, FTP, DNS and
 * syslog, with slapd, vsftpd, unbound and rsyslogd behind pen; and the one that
 * has several services. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/guide.h"
#include "support/nginx.h"
#include "support/suite.h"
#include "support/wait.h"
#include "system/nameserver.h"

enum { SOON = 30000, SERVERS = 2 };

static struct guide guide;
static struct child service[SERVERS];

static const char *
ip_of(int i)
{
	return text("192.0.2.%d", 21 + i);
}

static void
stop_services(void)
{
	int i;

	for (i = 0; i < SERVERS; i++)
		(void)child_stop(&service[i], SIGTERM);
}

/* ---- LDAP ---- */

/* NULL: nowhere. */
static const char *
core_schema(void)
{
	static const char *const paths[] = {
		"/etc/ldap/schema/core.schema",
		"/etc/openldap/schema/core.schema",
		"/usr/local/etc/openldap/schema/core.schema",
	};
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		if (access(paths[i], R_OK) == 0)
			return paths[i];
	return NULL;
}

static const char entry[] = "dn: dc=example,dc=org\n"
			    "objectClass: dcObject\n"
			    "objectClass: organization\n"
			    "dc: example\no: server %d\n";

static void
slapd_start(int i)
{
	const char *dir = scratch(text("ldap%d", i));
	const char *conf = text("%s/conf", dir), *ldif = text("%s/ldif", dir);

	ck_assert_int_eq(mkdir(dir, 0755), 0);
	write_file(conf,
	    text("include %s\npidfile %s/pid\ndatabase ldif\n"
		 "suffix dc=example,dc=org\ndirectory %s\n",
		core_schema(), dir, dir));
	write_file(ldif, text(entry, i));
	run_program(SOON, child_find("slapadd"), "-f", conf, "-l", ldif, NULL);
	net_fixture_enter(&guide.fixture, NET_FIXTURE_SERVER + i);
	child_start(&service[i],
	    (const char *[]){ child_find("slapd"), "-d", "0", "-f", conf, "-h",
		text("ldap://%s", ip_of(i)), NULL });
	guide_wait_listen(&service[i], ip_of(i), 389);
	net_fixture_leave(&guide.fixture);
}

static const char *
ldap_search(void)
{
	return net_fixture_run(&guide.fixture, NET_FIXTURE_CLIENT, SOON,
	    "ldapsearch", "-x", "-LLL", "-H", "ldap://" GUIDE_PEN, "-b",
	    "dc=example,dc=org", "o", NULL);
}

START_TEST(ldap)
{
	int i;

	NEED_PROGRAM("slapd");
	NEED_PROGRAM("slapadd");
	NEED_PROGRAM("ldapsearch");
	if (core_schema() == NULL)
		SKIP("no schema of slapd");
	NEED_GUIDE(&guide, "ldap");
	for (i = 0; i < SERVERS; i++)
		slapd_start(i);
	guide_start(&guide);
	for (i = 0; i < SERVERS; i++)
		guide_wait_server(&guide, i, "up result ok");
	ck_assert_ptr_nonnull(strstr(ldap_search(), "o: server "));
	/* one hangs: it would accept, and never answer */
	kill(service[0].pid, SIGSTOP);
	(void)guide_ask(&guide, "check_timeout 0.3");
	guide_wait_server(&guide, 0, "down result failed");
	ck_assert_ptr_nonnull(strstr(ldap_search(), "o: server 1"));
	kill(service[0].pid, SIGCONT);
	guide_end(&guide);
	stop_services();
}
END_TEST

/* ---- FTP ---- */

static void
vsftpd_start(int i)
{
	const char *files = scratch(text("ftp%d", i));
	const char *conf = scratch(text("ftp%d.conf", i));

	ck_assert_int_eq(mkdir(files, 0755), 0);
	write_file(text("%s/who", files), text("server %d", i));
	write_file(conf,
	    text("listen=YES\nlisten_address=%s\nbackground=NO\n"
		 "anonymous_enable=YES\nanon_root=%s\nno_anon_password=YES\n"
		 "run_as_launching_user=YES\nseccomp_sandbox=NO\n"
		 "xferlog_enable=NO\n%s",
		ip_of(i), files,
		guide_quote("ftp.conf", "In /etc/vsftpd.conf of each server")));
	net_fixture_enter(&guide.fixture, NET_FIXTURE_SERVER + i);
	child_start(
	    &service[i], (const char *[]){ child_find("vsftpd"), conf, NULL });
	guide_wait_listen(&service[i], ip_of(i), 21);
	net_fixture_leave(&guide.fixture);
}

static const char *
ftp_get(const char *mode)
{
	return net_fixture_run(&guide.fixture, NET_FIXTURE_CLIENT, SOON, "curl",
	    "-sS", "--no-ftp-skip-pasv-ip", mode, "ftp://" GUIDE_PEN "/who",
	    NULL);
}

/* Both connections of each transfer get to one server. */
START_TEST(ftp)
{
	const char *who;
	int i;

	NEED_PROGRAM("vsftpd");
	NEED_PROGRAM("curl");
	NEED_GUIDE(&guide, "ftp");
	for (i = 0; i < SERVERS; i++)
		vsftpd_start(i);
	guide_start(&guide);
	for (i = 0; i < SERVERS; i++)
		guide_wait_server(&guide, i, "up result ok");
	who = ftp_get("--disable-epsv");
	ck_assert_int_eq(strncmp(who, "server ", 7), 0);
	for (i = 0; i < 3; i++) {
		ck_assert_str_eq(ftp_get("--disable-epsv"), who);
		ck_assert_str_eq(ftp_get("--ftp-pasv"), who);
	}
	WAIT_FOR(file_has(guide_path("/var/log/pen/ftp.log"),
		     "client=" GUIDE_CLIENT),
	    SOON);
	guide_end(&guide);
	stop_services();
}
END_TEST

/* ---- DNS ---- */

static void
unbound_start(int i)
{
	struct endpoint any = { .port = 53 }, at;

	endpoint_at_host(&at, &any, ip_of(i));
	net_fixture_enter(&guide.fixture, NET_FIXTURE_SERVER + i);
	nameserver_up_with(&service[i], NAMESERVER_UNBOUND, &at, i,
	    text("server:\naccess-control: %s/32 allow\n%s", ip_of(i),
		guide_quote("dns.conf", "unbound.conf of each server,")));
	net_fixture_leave(&guide.fixture);
}

static const char *
dig(const char *name, const char *type, const char *option)
{
	return net_fixture_run(&guide.fixture, NET_FIXTURE_CLIENT, SOON, "dig",
	    "+short", "@" GUIDE_PEN, name, type, option, NULL);
}

START_TEST(dns)
{
	int i;

	NEED_PROGRAM("unbound");
	NEED_PROGRAM("dig");
	NEED_GUIDE(&guide, "dns");
	for (i = 0; i < SERVERS; i++)
		unbound_start(i);
	guide_start(&guide);
	for (i = 0; i < SERVERS; i++)
		guide_wait_server(&guide, i, "up result ok");
	ck_assert_str_eq(dig("a.test", "A", "+notcp"), "10.0.0.1\n");
	/* too long for a datagram of old */
	ck_assert_uint_gt(strlen(dig("big.test", "TXT", "+tcp")), 512);
	child_stop(&service[0], SIGTERM);
	for (i = 0; i < 4; i++)
		ck_assert_str_eq(
		    dig("who.test", "TXT", "+notcp"), "\"server1\"\n");
	guide_end(&guide);
	child_stop(&service[1], SIGTERM);
}
END_TEST

/* ---- several ---- */

static const char *
fetch(void)
{
	return net_fixture_run(&guide.fixture, NET_FIXTURE_CLIENT, SOON, "curl",
	    "-sS", "http://" GUIDE_PEN "/", NULL);
}

/* Web servers and name servers; without one of them the other goes on. */
START_TEST(several)
{
	struct nginx web[SERVERS];
	int i;

	NEED_PROGRAM("nginx");
	NEED_PROGRAM("curl");
	NEED_PROGRAM("unbound");
	NEED_PROGRAM("dig");
	NEED_GUIDE(&guide, "services");
	for (i = 0; i < SERVERS; i++) {
		unbound_start(i);
		net_fixture_enter(&guide.fixture, NET_FIXTURE_SERVER + i);
		nginx_up_with(&web[i], "page", "", "listen *:80;");
		net_fixture_leave(&guide.fixture);
	}
	guide_start(&guide);
	ck_assert_str_eq(fetch(), "page");
	ck_assert_str_eq(dig("a.test", "A", "+notcp"), "10.0.0.1\n");
	for (i = 0; i < SERVERS; i++)
		nginx_down(&web[i]);
	WAIT_FOR(
	    strstr(guide_ask(&guide, "services"), "web state down") != NULL,
	    SOON);
	ck_assert_str_eq(dig("a.test", "A", "+tcp"), "10.0.0.1\n");
	guide_end(&guide);
	stop_services();
}
END_TEST

/* ---- syslog ---- */

static const char *
lines_of(int i)
{
	return scratch(text("syslog%d", i));
}

static void
rsyslogd_start(int i)
{
	const char *conf = scratch(text("syslog%d.conf", i));

	write_file(conf,
	    text("%saction(type=\"omfile\" file=\"%s\")\n",
		guide_quote("syslog.conf", "rsyslog.conf of each collector:"),
		lines_of(i)));
	net_fixture_enter(&guide.fixture, NET_FIXTURE_SERVER + i);
	child_start(&service[i],
	    (const char *[]){ child_find("rsyslogd"), "-n", "-x", "-f", conf,
		"-i", scratch(text("syslog%d.pid", i)), NULL });
	guide_wait_listen(&service[i], ip_of(i), 514);
	net_fixture_leave(&guide.fixture);
}

static void
log_line(const char *words)
{
	net_fixture_run(&guide.fixture, NET_FIXTURE_CLIENT, SOON, "logger",
	    "-d", "-n", GUIDE_PEN, "-P", "514", "-t", "guide", words, NULL);
}

START_TEST(syslog)
{
	int i, first;

	NEED_PROGRAM("rsyslogd");
	NEED_PROGRAM("logger");
	NEED_GUIDE(&guide, "syslog");
	for (i = 0; i < SERVERS; i++)
		rsyslogd_start(i);
	guide_start(&guide);
	for (i = 0; i < SERVERS; i++)
		guide_wait_server(&guide, i, "up result ok");
	log_line("the first line");
	WAIT_FOR(file_has(lines_of(0), "the first line") ||
		file_has(lines_of(1), "the first line"),
	    SOON);
	first = file_has(lines_of(0), "the first line") ? 0 : 1;
	for (i = 0; i < 3; i++)
		log_line(text("line %d", i));
	WAIT_FOR(file_has(lines_of(first), "line 2"), SOON);
	ck_assert(!file_has(lines_of(1 - first), "line"));
	child_stop(&service[first], SIGKILL);
	guide_wait_server(&guide, first, "down result failed");
	log_line("the last line");
	WAIT_FOR(file_has(lines_of(1 - first), "the last line"), SOON);
	guide_end(&guide);
	child_stop(&service[1 - first], SIGTERM);
}
END_TEST

SUITE(test_guide_services)
{
	Suite *s = suite_create("guide_services");

	SUITE_ADD(s, ldap, 60);
	SUITE_ADD(s, ftp, 60);
	SUITE_ADD(s, dns, 60);
	SUITE_ADD(s, several, 60);
	SUITE_ADD(s, syslog, 60);
	return s;
}
