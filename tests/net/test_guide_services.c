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

#include "net/guide_programs.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SOON = 30000 };

static struct guide guide;
static struct child service[GUIDE_SERVERS];

static void
stop_services(void)
{
	int i;

	for (i = 0; i < GUIDE_SERVERS; i++)
		(void)child_stop(&service[i], SIGTERM);
}

/* ---- LDAP ---- */

START_TEST(ldap)
{
	const char *lacks = guide_slapd_lacks();
	int i;

	if (lacks != NULL)
		SKIP(lacks);
	NEED_GUIDE(&guide, "ldap");
	for (i = 0; i < GUIDE_SERVERS; i++)
		guide_slapd_up(&guide, &service[i], i);
	guide_start(&guide);
	for (i = 0; i < GUIDE_SERVERS; i++)
		guide_wait_server(&guide, i, "up result ok");
	ck_assert_ptr_nonnull(strstr(guide_ldapsearch(&guide), "o: server "));
	/* one hangs: it would accept, and never answer */
	kill(service[0].pid, SIGSTOP);
	(void)guide_ask(&guide, "check_timeout 0.3");
	guide_wait_server(&guide, 0, "down result failed");
	ck_assert_ptr_nonnull(strstr(guide_ldapsearch(&guide), "o: server 1"));
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
		guide_ip(i), files,
		guide_quote("ftp.conf", "In /etc/vsftpd.conf of each server")));
	net_fixture_enter(&guide.fixture, NET_FIXTURE_SERVER + i);
	child_start(
	    &service[i], (const char *[]){ child_find("vsftpd"), conf, NULL });
	guide_wait_listen(&service[i], guide_ip(i), 21);
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
	for (i = 0; i < GUIDE_SERVERS; i++)
		vsftpd_start(i);
	guide_start(&guide);
	for (i = 0; i < GUIDE_SERVERS; i++)
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

START_TEST(dns)
{
	int i;

	NEED_PROGRAM("unbound");
	NEED_PROGRAM("dig");
	NEED_GUIDE(&guide, "dns");
	for (i = 0; i < GUIDE_SERVERS; i++)
		guide_unbound_up(&guide, &service[i], i);
	guide_start(&guide);
	for (i = 0; i < GUIDE_SERVERS; i++)
		guide_wait_server(&guide, i, "up result ok");
	ck_assert_str_eq(
	    guide_dig(&guide, "a.test", "A", "+notcp"), "10.0.0.1\n");
	/* too long for a datagram of old */
	ck_assert_uint_gt(
	    strlen(guide_dig(&guide, "big.test", "TXT", "+tcp")), 512);
	child_stop(&service[0], SIGTERM);
	for (i = 0; i < 4; i++)
		ck_assert_str_eq(guide_dig(&guide, "who.test", "TXT", "+notcp"),
		    "\"server1\"\n");
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
	struct nginx web[GUIDE_SERVERS];
	int i;

	NEED_PROGRAM("nginx");
	NEED_PROGRAM("curl");
	NEED_PROGRAM("unbound");
	NEED_PROGRAM("dig");
	NEED_GUIDE(&guide, "services");
	for (i = 0; i < GUIDE_SERVERS; i++) {
		guide_unbound_up(&guide, &service[i], i);
		net_fixture_enter(&guide.fixture, NET_FIXTURE_SERVER + i);
		nginx_up_with(&web[i], "page", "", "listen *:80;");
		net_fixture_leave(&guide.fixture);
	}
	guide_start(&guide);
	ck_assert_str_eq(fetch(), "page");
	ck_assert_str_eq(
	    guide_dig(&guide, "a.test", "A", "+notcp"), "10.0.0.1\n");
	for (i = 0; i < GUIDE_SERVERS; i++)
		nginx_down(&web[i]);
	WAIT_FOR(
	    strstr(guide_ask(&guide, "services"), "web state down") != NULL,
	    SOON);
	ck_assert_str_eq(
	    guide_dig(&guide, "a.test", "A", "+tcp"), "10.0.0.1\n");
	guide_end(&guide);
	stop_services();
}
END_TEST

/* ---- syslog ---- */

START_TEST(syslog)
{
	int i, first;

	NEED_PROGRAM("rsyslogd");
	NEED_PROGRAM("logger");
	NEED_GUIDE(&guide, "syslog");
	for (i = 0; i < GUIDE_SERVERS; i++)
		guide_rsyslogd_up(&guide, &service[i], i);
	guide_start(&guide);
	for (i = 0; i < GUIDE_SERVERS; i++)
		guide_wait_server(&guide, i, "up result ok");
	guide_logger(&guide, "the first line");
	WAIT_FOR(file_has(guide_syslog(0), "the first line") ||
		file_has(guide_syslog(1), "the first line"),
	    SOON);
	first = file_has(guide_syslog(0), "the first line") ? 0 : 1;
	for (i = 0; i < 3; i++)
		guide_logger(&guide, text("line %d", i));
	WAIT_FOR(file_has(guide_syslog(first), "line 2"), SOON);
	ck_assert(!file_has(guide_syslog(1 - first), "line"));
	child_stop(&service[first], SIGKILL);
	guide_wait_server(&guide, first, "down result failed");
	guide_logger(&guide, "the last line");
	WAIT_FOR(file_has(guide_syslog(1 - first), "the last line"), SOON);
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
