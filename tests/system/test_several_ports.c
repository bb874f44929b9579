/* test_several_ports.c: protocols of several connections, whose servers get
 * each on the port that the client came to: FTP with a passive range, SIP with
 * RTP. */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/ctl.h"
#include "support/nginx.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"

/* Each process has addresses of its own, so that all ports are free there, but
 * for those of wildcards: ports that the kernel does not give out. */
static const char *
host(int last)
{
	int pid = (int)getpid();

	return text("127.%d.%d.%d", 64 + (pid >> 8) % 128, pid & 255, last);
}

/* Whether a socket is bound there: a line of the kernel's table says so. */
static bool
is_bound(const char *ip, int port, const char *table)
{
	return file_has(table,
	    text("%08X:%04X", (unsigned)inet_addr(ip), (unsigned)port));
}

enum { PEN = 1, SERVER = 2, CLIENT = 50, SERVERS = 2, CLIENTS = 6 };

static struct child server[SERVERS];
static struct pen pen;
static struct endpoint ctl;

static void
down(void)
{
	int i;

	pen_down(&pen);
	for (i = 0; i < SERVERS; i++)
		(void)child_stop(&server[i], SIGTERM);
}

/* ---- FTP ---- */

enum { FTP = 2121, PASSIVE = 20000, PASSIVE_LAST = 20099, BIG = 1000000 };

static void
make_files(const char *directory, int number)
{
	FILE *f;
	int i;

	ck_assert_int_eq(mkdir(directory, 0755), 0);
	write_file(text("%s/who", directory), text("server %d", number));
	f = fopen(text("%s/big", directory), "w");
	ck_assert_ptr_nonnull(f);
	for (i = 0; i < BIG / 10; i++)
		fprintf(f, "%d %07d\n", number, i);
	fclose(f);
}

static void
ftp_start(int i)
{
	const char *files = scratch(text("ftp%d", i));
	const char *config = scratch(text("ftp%d.conf", i));

	make_files(files, i);
	write_file(config,
	    text("listen=YES\nlisten_address=%s\nlisten_port=%d\n"
		 "background=NO\nanonymous_enable=YES\nanon_root=%s\n"
		 "no_anon_password=YES\nrun_as_launching_user=YES\n"
		 "seccomp_sandbox=NO\nxferlog_enable=NO\n"
		 "pasv_address=%s\npasv_min_port=%d\npasv_max_port=%d\n"
		 "max_per_ip=0\n",
		host(SERVER + i), FTP, files, host(PEN), PASSIVE,
		PASSIVE_LAST));
	child_start(&server[i],
	    (const char *[]){ child_find("vsftpd"), config, NULL });
	WAIT_FOR(child_has_ended(&server[i]) ||
		is_bound(host(SERVER + i), FTP, "/proc/net/tcp"),
	    20000);
	ck_assert_msg(
	    server[i].running, "vsftpd: %s", child_err(&server[i]));
}

/* Fetches by curl from another client's address; `way` is the kind of passive
 * mode. */
static const char *
ftp_get(int client, const char *way, const char *file)
{
	return run_program(60000, "curl", "-s", "-S", "--interface",
	    host(CLIENT + client), way,
	    text("ftp://%s:%d/%s", host(PEN), FTP, file), NULL);
}

/* Control and data connections of a client go to one server, which would not
 * know the others. */
START_TEST(ftp_passive)
{
	bool seen[SERVERS] = { false };
	const char *who, *big;
	int i, round, number;

	NEED_PROGRAM("vsftpd");
	NEED_PROGRAM("curl");
	for (i = 0; i < SERVERS; i++)
		ftp_start(i);
	pen_start(&pen, "-f",
	    text("%s:%d+%d-%d", host(PEN), FTP, PASSIVE, PASSIVE_LAST),
	    text("%s:0", host(SERVER)), text("%s:0", host(SERVER + 1)), NULL);
	WAIT_FOR(child_has_said(&pen.child, "started version="), 20000);
	for (i = 0; i < CLIENTS; i++) {
		who = ftp_get(i, "--disable-epsv", "who");
		ck_assert_int_eq(sscanf(who, "server %d", &number), 1);
		ck_assert(number >= 0 && number < SERVERS);
		seen[number] = true;
		for (round = 0; round < 3; round++)
			ck_assert_str_eq(ftp_get(i, "--ftp-pasv", "who"), who);
		big = ftp_get(i, "--disable-epsv", "big");
		ck_assert_uint_eq(strlen(big), BIG);
		ck_assert_int_eq(big[0] - '0', number);
		ck_assert_str_eq(
		    big + BIG - 10, text("%d %07d\n", number, BIG / 10 - 1));
	}
	ck_assert(seen[0] && seen[1]);
	down();
}
END_TEST

/* ---- SIP ---- */

enum { SIP = 5060, MEDIA = 10000, MEDIA_LAST = 10020, BEATS = 2 };

/* A scenario of sipp's own with one word replaced. */
static const char *
scenario(const char *name, const char *word, const char *instead)
{
	const char *own, *at, *path = scratch(name);
	struct child c;

	child_start(&c, (const char *[]){ "sipp", "-sd", name, NULL });
	(void)child_wait(&c, 10000); /* its status is 99 then */
	own = child_out(&c);
	at = strstr(own, word);
	ck_assert_msg(at != NULL, "%s", own);
	write_file(path,
	    text("%.*s%s%s", (int)(at - own), own, instead,
		at + strlen(word)));
	return path;
}

/* It names the address of pen for media, and gives back what comes there. */
static void
sip_start(int i, const char *uas)
{
	const char *ip = host(SERVER + i);

	child_start(&server[i],
	    (const char *[]){ "sipp", "-sf", uas, "-rtp_echo", "-i", ip, "-p",
		text("%d", SIP), "-mi", ip, "-mp", text("%d", MEDIA),
		"-nostdin", NULL });
	WAIT_FOR(child_has_ended(&server[i]) ||
		is_bound(ip, SIP, "/proc/net/udp"),
	    20000);
	ck_assert_msg(server[i].running, "sipp: %s%s", child_err(&server[i]),
	    child_out(&server[i]));
}

/* The number of the server, and of the answers, of a client's flow. */
static void
flow_of(const char *flows, int client, int port, int *number, int *answers)
{
	const char *at =
	    strstr(flows, text("client %s:%d ", host(CLIENT + client), port));

	ck_assert_msg(at != NULL, "%s", flows);
	ck_assert_int_eq(sscanf(at,
			     "client %*s server %d fd %*d requests %*d "
			     "responses %d",
			     number, answers),
	    2);
}

/* A call of a client that sends two seconds of sound to where the server says,
 * and hears it again. */
static void
expect_call(int client, const char *uac, bool seen[SERVERS])
{
	int calls, media, answers;
	const char *ip = host(CLIENT + client), *flows;
	struct child c;

	child_start(&c,
	    (const char *[]){ "sipp", text("%s:%d", host(PEN), SIP), "-sf",
		uac, "-i", ip, "-p", text("%d", SIP), "-mi", ip, "-mp",
		"16000", "-m", "1", "-d", text("%d", BEATS * 1000),
		"-nostdin", NULL });
	ck_assert_msg(
	    child_wait(&c, 60000) == 0, "%s%s", child_out(&c), child_err(&c));
	flows = run_program(10000, ctl_client(), ctl.text, "flows", NULL);
	flow_of(flows, client, SIP, &calls, &answers);
	ck_assert_int_eq(answers, 3);
	flow_of(flows, client, 16000, &media, &answers);
	ck_assert_int_ge(answers, BEATS * 20);
	ck_assert_int_eq(calls, media);
	seen[media] = true;
}

START_TEST(sip_and_rtp)
{
	bool seen[SERVERS] = { false };
	const char *uas, *uac, *sound = scratch("sound");
	char silence[16001];
	int i;

	NEED_PROGRAM("sipp");
	memset(silence, 'u', sizeof(silence) - 1);
	silence[sizeof(silence) - 1] = '\0';
	write_file(sound, silence);
	setenv("TERM", "dumb", 1);
	uas = scenario("uas", "[media_ip]", host(PEN));
	uac = scenario("uac", "<pause/>",
	    text("<nop><action><exec rtp_stream=\"%s,1,0\"/></action></nop>"
		 "<pause/>",
		sound));
	for (i = 0; i < SERVERS; i++)
		sip_start(i, uas);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_start(&pen, "-f", "-C", ctl.text, "-U",
	    text("%s:%d+%d-%d", host(PEN), SIP, MEDIA, MEDIA_LAST),
	    text("%s:0", host(SERVER)), text("%s:0", host(SERVER + 1)), NULL);
	WAIT_FOR(child_has_said(&pen.child, "started version="), 20000);
	for (i = 0; i < 3; i++)
		expect_call(i, uac, seen);
	ck_assert(seen[0] && seen[1]);
	down();
}
END_TEST

/* ---- servers that refuse at one of the ports ---- */

/* A client at a port of pen, where its server refuses. */
static void
come_to(const struct endpoint *at, bool datagram)
{
	int type = datagram ? SOCK_DGRAM : SOCK_STREAM;
	int fd = socket(AF_INET, type, 0);
	char byte = 'x';

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(
	    connect(fd, (const struct sockaddr *)&at->addr, at->len), 0);
	if (datagram)
		ck_assert_int_eq(send(fd, &byte, 1, 0), 1);
	else
		ck_assert_int_le(recv(fd, &byte, 1, 0), 0);
	close(fd);
}

static bool
was_refused(void)
{
	return child_has_said(&pen.child, "reason=no_server") ||
	    strstr(endpoint_ask(&ctl, "statistics\n"), "\nretries 0") == NULL;
}

/* Whether the one server is blacklisted by who comes to a port where it
 * refuses: only by the first one. Clients choose the others. */
static void
expect_blame(bool datagram, bool first)
{
	struct endpoint ports[2];
	int to = first ? 0 : 1;

	if (datagram) {
		udp_endpoint(&ports[0], ENDPOINT_TCP4);
		udp_endpoint(&ports[1], ENDPOINT_TCP4);
	} else {
		endpoint_new(&ports[0], ENDPOINT_TCP4);
		endpoint_new(&ports[1], ENDPOINT_TCP4);
	}
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_start(&pen, "-f", "-C", ctl.text, "-O", "retry 0",
	    datagram ? "-U" : "-r",
	    text("%s:%d+%d", udp_host(&ports[0]), ports[0].port,
		ports[1].port),
	    text("%s:0", host(SERVER)), NULL);
	WAIT_FOR(child_has_said(&pen.child, "started version="), 20000);
	come_to(&ports[to], datagram);
	WAIT_FOR(was_refused(), 20000);
	if (first)
		WAIT_FOR(child_has_said(&pen.child, "blacklisted"), 20000);
	ck_assert_int_eq(child_has_said(&pen.child, "blacklisted"), first);
	pen_down(&pen);
}

START_TEST(refused_at_one)
{
	expect_blame(_i & 1, _i & 2);
}
END_TEST

/* What a client's own server refuses is another client's at the other one. */
START_TEST(known_client_stays)
{
	struct backend b[3];
	struct endpoint ports[2], at;
	int i;

	endpoint_new(&ports[0], ENDPOINT_TCP4);
	endpoint_new(&ports[1], ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	for (i = 0; i < 3; i++) {
		endpoint_at_host(&at, &ports[i / 2], host(SERVER + (i > 0)));
		backend_start_at(&b[i], &at, backend_say, &"ABB"[i]);
	}
	pen_start(&pen, "-f", "-C", ctl.text,
	    text("%s:%d+%d", udp_host(&ports[0]), ports[0].port,
		ports[1].port),
	    text("%s:0", host(SERVER)), text("%s:0", host(SERVER + 1)), NULL);
	WAIT_FOR(child_has_said(&pen.child, "started version="), 20000);
	endpoint_ask(&ctl, "server 1 down\n");
	ck_assert_int_eq(endpoint_hear(&ports[0])[0], 'A');
	endpoint_ask(&ctl, "server 1 up\n");
	come_to(&ports[1], false);
	ck_assert_int_eq(endpoint_hear(&ports[0])[0], 'A');
	pen_down(&pen);
	for (i = 0; i < 3; i++)
		backend_stop(&b[i]);
}
END_TEST

SUITE(test_several_ports)
{
	Suite *s = suite_create("several_ports");
	TCase *refused = tcase_create("refused");

	tcase_set_timeout(refused, 60);
	tcase_add_loop_test(refused, refused_at_one, 0, 4);
	suite_add_tcase(s, refused);

	SUITE_ADD(s, known_client_stays, 60);
	SUITE_ADD(s, ftp_passive, 120);
	SUITE_ADD(s, sip_and_rtp, 120);
	return s;
}
