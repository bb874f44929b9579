/* nameserver.c: configurations of name servers, and their start. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/nameserver.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"

/* ---- what they know ---- */

typedef const char *record_fn(
    const char *name, const char *type, const char *value);

static const char *
unbound_record(const char *name, const char *type, const char *value)
{
	return text("local-data: \"%s. 60 IN %s %s\"\n", name, type, value);
}

static const char *
zone_record(const char *name, const char *type, const char *value)
{
	return text("%s. 60 IN %s %s\n", name, type, value);
}

static const char *
dnsmasq_record(const char *name, const char *type, const char *value)
{
	return text("%s=%s,%s\n",
	    strcmp(type, "A") == 0 ? "host-record" : "txt-record", name, value);
}

static const char *
records(record_fn *record, int number)
{
	const char *all = text("%s%s", record("a.test", "A", "10.0.0.1"),
	    record("who.test", "TXT", text("server%d", number)));
	int i;

	for (i = 0; i < NAMESERVER_BIG; i++)
		all = text("%s%s", all,
		    record("big.test", "TXT",
			text("%02d-012345678901234567890123456789"
			     "012345678901234567890",
			    i)));
	return all;
}

static void
write_zone(const char *dir, int number)
{
	write_file(text("%s/zone", dir),
	    text("%s%s%s%s",
		zone_record(
		    "test", "SOA", "ns.test. root.test. 1 3600 600 86400 60"),
		zone_record("test", "NS", "ns.test."),
		zone_record("ns.test", "A", "10.0.0.2"),
		records(zone_record, number)));
}

/* ---- the kinds ---- */

/* A configuration, for a server whose files are in `dir`. */
typedef const char *configure_fn(
    const struct endpoint *where, const char *dir, int number);

static const char *
configure_unbound(const struct endpoint *where, const char *dir, int number)
{
	return text("server:\ninterface: %s@%d\ndo-daemonize: no\n"
		    "username: \"\"\nchroot: \"\"\npidfile: \"\"\n"
		    "use-syslog: no\ndirectory: \"%s\"\n"
		    "access-control: 127.0.0.0/8 allow\n"
		    "max-udp-size: 4096\nnum-threads: 1\n"
		    "local-zone: \"test.\" static\n%s"
		    "remote-control:\ncontrol-enable: no\n",
	    udp_host(where), where->port, dir, records(unbound_record, number));
}

/* Its usual limit would leave most questions of a load test unanswered. */
static const char *
configure_nsd(const struct endpoint *where, const char *dir, int number)
{
	write_zone(dir, number);
	return text("server:\nip-address: %s@%d\nserver-count: 1\n"
		    "username: \"\"\nchroot: \"\"\npidfile: \"\"\n"
		    "database: \"\"\nzonesdir: \"%s\"\nxfrdir: \"%s\"\n"
		    "xfrdfile: \"%s/xfrd\"\nzonelistfile: \"%s/zones\"\n"
		    "ipv4-edns-size: 4096\nrrl-ratelimit: 0\n"
		    "remote-control:\ncontrol-enable: no\n"
		    "zone:\nname: test.\nzonefile: zone\n",
	    udp_host(where), where->port, dir, dir, dir, dir);
}

static const char *
configure_knotd(const struct endpoint *where, const char *dir, int number)
{
	write_zone(dir, number);
	return text("server:\n    rundir: \"%s\"\n    listen: %s@%d\n"
		    "    udp-workers: 1\n    tcp-workers: 1\n"
		    "    background-workers: 1\n    udp-max-payload: 4096\n"
		    "database:\n    storage: \"%s\"\n"
		    "log:\n  - target: stderr\n    any: warning\n"
		    "zone:\n  - domain: test.\n    storage: \"%s\"\n"
		    "    file: zone\n    journal-content: none\n"
		    "    zonefile-sync: -1\n",
	    dir, udp_host(where), where->port, dir, dir);
}

static const char *
configure_dnsmasq(const struct endpoint *where, const char *dir, int number)
{
	(void)dir;
	return text("no-resolv\nno-hosts\nbind-interfaces\n"
		    "listen-address=%s\nport=%d\n"
		    "edns-packet-max=4096\nlocal=/test/\n%s",
	    udp_host(where), where->port, records(dnsmasq_record, number));
}

static const struct {
	const char *program;
	const char *foreground; /* NULL: the configuration says so */
	const char *conf;	/* the option before the configuration's path */
	configure_fn *configure;
} kinds[NAMESERVER_KINDS] = {
	[NAMESERVER_UNBOUND] = { "unbound", NULL, "-c", configure_unbound },
	[NAMESERVER_NSD] = { "nsd", "-d", "-c", configure_nsd },
	[NAMESERVER_KNOTD] = { "knotd", NULL, "-c", configure_knotd },
	[NAMESERVER_DNSMASQ] = { "dnsmasq", "-d", "-C", configure_dnsmasq },
};

const char *
nameserver_program(enum nameserver kind)
{
	return kinds[kind].program;
}

/* ---- life ---- */

/* Asks for a.test, by UDP; is there an answer of one record, and no error? */
static bool
answers(const struct endpoint *where)
{
	static const char query[] =
	    "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
	    "\x01"
	    "a\x04test\x00\x00\x01\x00\x01";
	int fd = udp_client(where);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char got[512];
	bool good;

	good = send(fd, query, sizeof(query) - 1, 0) > 0 &&
	    poll(&p, 1, (int)wait_scaled(100)) == 1 &&
	    recv(fd, got, sizeof(got), 0) > 12 && (got[3] & 0x0f) == 0 &&
	    got[6] == 0 && got[7] == 1;
	close(fd);
	return good;
}

void
nameserver_up_with(struct child *c, enum nameserver kind,
    const struct endpoint *where, int number, const char *more)
{
	const char *dir = scratch(text("ns%d", number)),
		   *conf = text("%s/conf", dir), *argv[5];
	int n = 0;

	ck_assert_msg(mkdir(dir, 0755) == 0, "%s: %s", dir, strerror(errno));
	write_file(conf,
	    text("%s%s", kinds[kind].configure(where, dir, number), more));
	argv[n++] = child_find(kinds[kind].program);
	if (kinds[kind].foreground != NULL)
		argv[n++] = kinds[kind].foreground;
	argv[n++] = kinds[kind].conf;
	argv[n++] = conf;
	argv[n] = NULL;
	child_start(c, argv);
	WAIT_FOR(child_has_ended(c) ||
		(endpoint_is_listening(where) && answers(where)),
	    20000);
	ck_assert_msg(
	    c->running, "%s: %s%s", argv[0], child_err(c), child_out(c));
}

void
nameserver_up(struct child *c, enum nameserver kind,
    const struct endpoint *where, int number)
{
	nameserver_up_with(c, kind, where, number, "");
}
