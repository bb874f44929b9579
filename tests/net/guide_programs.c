/* guide_programs.c: their configurations, where they run, and their clients. */
#include "config.h"

#include <check.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/guide_programs.h"
#include "support/identity.h"
#include "support/suite.h"
#include "support/wait.h"
#include "system/mail.h"
#include "system/nameserver.h"
#include "system/postgres.h"
#include "system/sshd.h"

enum { SOON = 30000 };

const char *
guide_ip(int i)
{
	return text("192.0.2.%d", 21 + i);
}

void
guide_at(struct endpoint *at, int i, int port)
{
	struct endpoint any = { .port = port };

	endpoint_at_host(at, &any, guide_ip(i));
}

/* Begins to be that server. */
static void
enter(struct guide *g, int i)
{
	net_fixture_enter(&g->fixture, NET_FIXTURE_SERVER + i);
}

static void
leave(struct guide *g)
{
	net_fixture_leave(&g->fixture);
}

/* ---- nginx ---- */

void
guide_nginx_up(struct guide *g, struct nginx *n, int i, const char *listen)
{
	enter(g, i);
	nginx_up_with(n,
	    text("server %d client=$remote_addr for=$http_x_forwarded_for "
		 "proto=$http_x_forwarded_proto",
		i),
	    "",
	    text("%s %s", listen,
		guide_quote(
		    "http.conf", "the block server { } of each server:")));
	leave(g);
}

/* ---- Postfix ---- */

const char *
guide_mailbox(int i)
{
	return scratch(text("boxes%d/box", i));
}

/* Lines of main.cf that write the mail of a domain to files. */
static const char *
delivers(const char *directory)
{
	const struct passwd *user = getpwnam("nobody");

	ck_assert_int_eq(mkdir(directory, 0755), 0);
	ck_assert_int_eq(chown(directory, user->pw_uid, user->pw_gid), 0);
	return text("virtual_mailbox_domains = example.org\n"
		    "virtual_mailbox_base = %s\n"
		    "virtual_mailbox_maps = static:box\n"
		    "virtual_uid_maps = static:%d\n"
		    "virtual_gid_maps = static:%d\n",
	    directory, (int)user->pw_uid, (int)user->pw_gid);
}

void
guide_postfix_up(struct guide *g, struct child *c, int i)
{
	struct endpoint at;

	guide_at(&at, i, 25);
	enter(g, i);
	postfix_up(c, &at,
	    text("%s%s", delivers(scratch(text("boxes%d", i))),
		guide_quote("smtp.conf", "In main.cf of each Postfix:")));
	leave(g);
}

void
guide_postfix_down(struct guide *g, struct child *c, int i)
{
	struct endpoint at;

	guide_at(&at, i, 25);
	enter(g, i);
	postfix_down(c, &at);
	leave(g);
}

void
guide_send_mail(struct guide *g, const char *words)
{
	const char *file = scratch("mail");

	write_file(file, text("Subject: guide\r\n\r\n%s\r\n", words));
	net_fixture_run(&g->fixture, NET_FIXTURE_CLIENT, SOON, "curl", "-sS",
	    "smtp://" GUIDE_PEN, "--mail-from", "me@example.net", "--mail-rcpt",
	    "you@example.org", "--upload-file", file, NULL);
}

/* ---- Dovecot ---- */

static void
put_mail(const char *home, const char *words)
{
	const struct passwd *user = getpwnam("nobody");
	const char *sub;
	int i;

	for (i = 0; i < 4; i++) {
		sub = text("%s/mail%s", home,
		    (const char *[]){ "", "/cur", "/new", "/tmp" }[i]);
		ck_assert_int_eq(mkdir(sub, 0700), 0);
		ck_assert_int_eq(chown(sub, user->pw_uid, user->pw_gid), 0);
	}
	write_file(text("%s/mail/new/1.1.here", home),
	    text("Subject: guide\n\n%s\n", words));
	ck_assert_int_eq(chmod(text("%s/mail/new/1.1.here", home), 0644), 0);
}

/* Lines of Dovecot's configuration for port 993, where it talks TLS. */
static const char *
talks_tls(void)
{
	struct identity id;

	identity_new(&id, GUIDE_PEN);
	return text("ssl = yes\nssl_cert = <%s\nssl_key = <%s\n"
		    "service imap-login {\n  inet_listener imaps {\n"
		    "    port = 993\n    ssl = yes\n  }\n}\n",
	    id.ec, id.ec);
}

void
guide_dovecot_up(struct guide *g, struct child *c, int i, const char *words)
{
	struct endpoint at;

	guide_at(&at, i, 143);
	enter(g, i);
	dovecot_up(c, &at,
	    text("%s%s",
		guide_quote(
		    "imap.conf", "In the configuration of each Dovecot:"),
		talks_tls()));
	leave(g);
	put_mail(dovecot_home(&at), words);
}

const char *
guide_read_mail(struct guide *g, const char *scheme)
{
	const char *url = text("%s://" GUIDE_PEN "/INBOX;MAILINDEX=1", scheme);
	struct child curl;

	net_fixture_start(&g->fixture, NET_FIXTURE_CLIENT, &curl,
	    (const char *[]){ "curl", "-vk", url, "-u", "somebody:x", NULL });
	ck_assert_msg(child_wait(&curl, SOON) == 0,
	    "curl %s: exit %d: %s%s\npen: %s", url, curl.status,
	    child_out(&curl), child_err(&curl), child_err(&g->pen.child));
	return child_out(&curl);
}

/* ---- slapd ---- */

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

const char *
guide_slapd_lacks(void)
{
	static const char *const programs[] = { "slapd", "slapadd",
		"ldapsearch" };
	size_t i;

	for (i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		if (child_find(programs[i]) == NULL)
			return text("%s is not installed", programs[i]);
	return core_schema() == NULL ? "no schema of slapd" : NULL;
}

static const char entry[] = "dn: dc=example,dc=org\n"
			    "objectClass: dcObject\n"
			    "objectClass: organization\n"
			    "dc: example\no: server %d\n";

void
guide_slapd_up(struct guide *g, struct child *c, int i)
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
	enter(g, i);
	child_start(c,
	    (const char *[]){ child_find("slapd"), "-d", "0", "-f", conf, "-h",
		text("ldap://%s", guide_ip(i)), NULL });
	guide_wait_listen(c, guide_ip(i), 389);
	leave(g);
}

const char *
guide_ldapsearch(struct guide *g)
{
	return net_fixture_run(&g->fixture, NET_FIXTURE_CLIENT, SOON,
	    "ldapsearch", "-x", "-LLL", "-H", "ldap://" GUIDE_PEN, "-b",
	    "dc=example,dc=org", "o", NULL);
}

/* ---- unbound ---- */

void
guide_unbound_up(struct guide *g, struct child *c, int i)
{
	struct endpoint at;

	guide_at(&at, i, 53);
	enter(g, i);
	nameserver_up_with(c, NAMESERVER_UNBOUND, &at, i,
	    text("server:\naccess-control: %s/32 allow\n%s", guide_ip(i),
		guide_quote("dns.conf", "unbound.conf of each server,")));
	leave(g);
}

const char *
guide_dig(
    struct guide *g, const char *name, const char *type, const char *option)
{
	return net_fixture_run(&g->fixture, NET_FIXTURE_CLIENT, SOON, "dig",
	    "+short", "@" GUIDE_PEN, name, type, option, NULL);
}

/* ---- rsyslogd ---- */

const char *
guide_syslog(int i)
{
	return scratch(text("syslog%d", i));
}

void
guide_rsyslogd_up(struct guide *g, struct child *c, int i)
{
	const char *conf = scratch(text("syslog%d.conf", i));

	write_file(conf,
	    text("%saction(type=\"omfile\" file=\"%s\")\n",
		guide_quote("syslog.conf", "rsyslog.conf of each collector:"),
		guide_syslog(i)));
	enter(g, i);
	child_start(c,
	    (const char *[]){ child_find("rsyslogd"), "-n", "-x", "-f", conf,
		"-i", scratch(text("syslog%d.pid", i)), NULL });
	guide_wait_listen(c, guide_ip(i), 514);
	leave(g);
}

void
guide_logger(struct guide *g, const char *words)
{
	net_fixture_run(&g->fixture, NET_FIXTURE_CLIENT, SOON, "logger", "-d",
	    "-n", GUIDE_PEN, "-P", "514", "-t", "guide", words, NULL);
}

/* ---- PostgreSQL ---- */

const char *
guide_postgres_lacks(void)
{
	/* the guide's check has this path */
	return access("/usr/bin/psql", X_OK) < 0 ? "psql is not installed"
						 : postgres_lacks();
}

void
guide_postgres_up(struct guide *g)
{
	struct endpoint primary, standby;

	guide_at(&primary, 0, 5432);
	guide_at(&standby, 1, 5432);
	enter(g, 0);
	postgres_up(&primary,
	    guide_quote("postgresql.conf", "In pg_hba.conf of each server"),
	    NULL);
	postgres_down("fast");
	enter(g, 1);
	postgres_standby_up(&standby);
	enter(g, 0);
	postgres_again();
	leave(g);
}

const char *
guide_psql(struct guide *g, const char *sql)
{
	return net_fixture_run(&g->fixture, NET_FIXTURE_CLIENT, SOON, "psql",
	    "-X", "-At", "-h", GUIDE_PEN, "-U", "pen", "-d", "postgres", "-c",
	    sql, NULL);
}

/* ---- Redis ---- */

void
guide_redis_up(struct guide *g, struct child *c, int i, bool replica)
{
	enter(g, i);
	child_start(c,
	    (const char *[]){ "redis-server", "--port", "6379", "--bind",
		guide_ip(i), "--save", "", "--dir", scratch("."),
		"--protected-mode", "no", replica ? "--replicaof" : NULL,
		guide_ip(0), "6379", NULL });
	guide_wait_listen(c, guide_ip(i), 6379);
	leave(g);
}

const char *
guide_redis_cli(struct guide *g, const char *host, const char *a, const char *b,
    const char *c)
{
	return net_fixture_run(&g->fixture, NET_FIXTURE_CLIENT, SOON,
	    "redis-cli", "-h", host, a, b, c, NULL);
}

/* ---- ssh ---- */

void
guide_sshd_up(struct guide *g, struct child *c, int i)
{
	struct endpoint any = { .port = 22 }, at;

	endpoint_at_host(&at, &any, "0.0.0.0");
	enter(g, i);
	if (i == 0)
		sshd_up(c, &at);
	else
		sshd_again(c, &at);
	leave(g);
}

const char *
guide_ssh(struct guide *g, const char *command)
{
	const char *said;

	net_fixture_enter(&g->fixture, NET_FIXTURE_CLIENT);
	said = sshd_run(GUIDE_PEN, 2222, command);
	net_fixture_leave(&g->fixture);
	return said;
}
