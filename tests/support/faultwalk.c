/* faultwalk.c: a configuration with a little of everything, and clients that
 * report what they got. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/certs.h"
#include "support/faultwalk.h"
#include "support/suite.h"
#include "support/tlspeer.h"
#include "support/udp.h"
#include "support/wait.h"

enum { PATIENCE_MS = 5000, ENOUGH = 40, DEPTH = 3, DEPTH_FULL = 12 };

struct faultwalk walk;
static struct backend servers[2];
static struct udp_server names;
static const char *faults_file, *certificate;

const char *
faultwalk_lacks(void)
{
#if !defined(__GLIBC__)
	return "calls are made to fail with glibc only";
#elif defined(PEN_SANITIZE)
	return "sanitizers have a malloc() of their own";
#elif LONG_MAX == 2147483647L
	return "with 32 bits calls with an off_t have other names";
#else
	return NULL;
#endif
}

/* ---- findings ---- */

void
faultwalk_found(const char *fmt, ...)
{
	const struct faults *f = walk.faults;
	va_list ap;

	fprintf(stderr, "faults: %s: %s: ", f->call,
	    f->error == FAULTS_SHORT ? "short" : strerror(f->error));
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "; at%s\n", f->where);
	walk.findings++;
}

bool
faultwalk_is_full(void)
{
	return walk.findings >= ENOUGH;
}

void
faultwalk_arm(void)
{
	walk.faults->failed = 0;
	walk.faults->armed = 1;
}

void
faultwalk_last(int error)
{
	walk.faults->lasts = error;
	faultwalk_arm();
}

bool
faultwalk_disarm(void)
{
	walk.faults->armed = 0;
	walk.faults->lasts = 0;
	walk.tried += (unsigned)walk.faults->failed;
	return walk.faults->failed != 0;
}

/* ---- pen and its servers ---- */

static void
map_faults(unsigned of)
{
	struct faults *f;
	int fd;

	faults_file = scratch("faults");
	fd = open(faults_file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, sizeof(*f)), 0);
	f = mmap(NULL, sizeof(*f), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(f, MAP_FAILED);
	close(fd);
	f->depth = suite_is_full() ? DEPTH_FULL : DEPTH;
	f->of = suite_is_full() ? 1 : of;
	walk.faults = f;
}

static const char *
both_servers(void)
{
	return text("server 0 address 127.0.0.1 port %d\n"
		    "server 1 address 127.0.0.1 port %d\n"
		    "blacklist 0.1\nroundrobin\n",
	    servers[0].at.port, servers[1].at.port);
}

void
faultwalk_configure(bool more)
{
	const char *both = both_servers();

	write_file(walk.conf,
	    text("control %s\nweb %s\nacl edge permit 127.0.0.0/8\n%s"
		 "log %s\nsession_log %s\non_state /bin/true\n"
		 "service web\nlisten %s\n%s"
		 "check connect\ncheck_interval 0.05\ncheck_fall 3\n"
		 "client_acl edge\n%s"
		 "service tls\nlisten %s\n%sssl_cert %s\n"
		 "service udp\nlisten %s\nudp\nudp_responses 1\n"
		 "udp_timeout 1\nserver 0 address %s port %d\n%s",
		walk.ctl.text, walk.web.text,
		more ? "acl edge permit 192.0.2.0/24\n" : "", scratch("log"),
		scratch("sessions"), walk.front.text, both,
		more ? "timeout 7\nserver 2 address 192.0.2.1 port 1\n" : "",
		walk.tls.text, both, certificate, walk.udp.text,
		udp_host(&names.at), names.at.port,
		more ? text("service more\nlisten %s\n%s", walk.more.text, both)
		     : ""));
}

void
faultwalk_only(const char *call)
{
	snprintf(walk.faults->only, sizeof(walk.faults->only), "%s", call);
	walk.faults->of = 1;
	walk.faults->depth = DEPTH_FULL;
}

void
faultwalk_begin(unsigned of)
{
	struct cert *c = cert_new(&(struct cert_wish){ .name = "a.test" });
	int i;

	map_faults(of);
	for (i = 0; i < 2; i++)
		backend_start(&servers[i], ENDPOINT_TCP4, backend_echo, NULL);
	udp_server_start(&names, ENDPOINT_TCP4, "");
	certificate = cert_write_all(c, "site.pem");
	cert_free(c);
	endpoint_new(&walk.front, ENDPOINT_TCP4);
	endpoint_new(&walk.tls, ENDPOINT_TCP4);
	udp_endpoint(&walk.udp, ENDPOINT_TCP4);
	endpoint_new(&walk.web, ENDPOINT_TCP4);
	endpoint_new(&walk.ctl, ENDPOINT_UNIX);
	endpoint_new(&walk.more, ENDPOINT_TCP4);
	walk.conf = scratch("pen.conf");
	walk.pid_file = scratch("pid");
	walk.kept = -1;
	walk.patience_ms = PATIENCE_MS;
	faultwalk_configure(false);
}

/* It is built beside this program. */
static const char *
library(void)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	ck_assert_int_gt(n, 0);
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	return text("%s/faults.so", self);
}

void
faultwalk_start(bool foreground)
{
	const char *env[] = { "LD_PRELOAD", library(), "PEN_FAULTS",
		faults_file, NULL };

	pen_start_given(&walk.pen, &(struct child_gifts){ .env = env }, "-F",
	    walk.conf, "-p", walk.pid_file, foreground ? "-f" : NULL, NULL);
}

void
faultwalk_up(void)
{
	faultwalk_start(true);
	pen_wait_ready(&walk.pen, &walk.ctl);
	faultwalk_keep();
}

void
faultwalk_end(const char *name)
{
	int i;

	for (i = 0; i < 2; i++)
		backend_stop(&servers[i]);
	udp_server_stop(&names);
	printf("faults: %s: sites %u, failed %u, findings %u\n", name,
	    (unsigned)walk.faults->sites, walk.tried, walk.findings);
	fflush(stdout);
	ck_assert_uint_gt(walk.tried, 0);
	ck_assert_uint_eq(walk.findings, 0);
}

/* ---- clients ---- */

/* A line is answered to the end; what is no line is given back. */
static enum outcome
converse(int fd, const char *say, const char *want, const char **heard)
{
	enum { ROOM = 1 << 20 };
	bool is_line = strchr(say, '\n') != NULL;
	char *got = malloc(ROOM);
	enum outcome o;
	size_t n = 0;
	ssize_t k = 0;

	ck_assert_ptr_nonnull(got);
	*got = '\0';
	endpoint_set_deadline(fd, walk.patience_ms);
	(void)!send(fd, say, strlen(say), MSG_NOSIGNAL);
	while (n < ROOM - 1 && (is_line || strstr(got, want) == NULL)) {
		k = recv(fd, got + n, ROOM - 1 - n, 0);
		if (k <= 0)
			break;
		n += (size_t)k;
		got[n] = '\0';
	}
	o = k < 0 && errno == EAGAIN	? SILENT
	    : strstr(got, want) != NULL ? SERVED
					: REFUSED;
	if (heard != NULL)
		*heard = text("%s", got);
	free(got);
	return o;
}

static enum outcome
visit(const struct endpoint *at, const char *say, const char *want,
    const char **heard)
{
	int fd = endpoint_try_connect(at);
	enum outcome o;

	if (fd < 0)
		return REFUSED;
	o = converse(fd, say, want, heard);
	close(fd);
	return o;
}

enum outcome
faultwalk_ask(const char *line, const char **answer)
{
	*answer = "";
	return visit(&walk.ctl, text("%s\n", line), "", answer);
}

void
faultwalk_keep(void)
{
	if (walk.kept >= 0)
		close(walk.kept);
	walk.kept = endpoint_try_connect(&walk.front);
}

static enum outcome
kept_client(void)
{
	return walk.kept < 0 ? REFUSED
			     : converse(walk.kept, "hello", "hello", NULL);
}

static enum outcome
tcp_client(void)
{
	return visit(&walk.front, "hello", "hello", NULL);
}

/* While an error lasts nobody waits for a handshake. */
static enum outcome
tls_client(void)
{
	long long began = wait_now_ms();
	int fd = endpoint_try_connect(&walk.tls);
	struct tls_peer *p;
	char got[8];
	ssize_t n = -1;

	if (fd >= 0 && walk.faults->lasts != 0)
		close(fd);
	if (fd < 0 || walk.faults->lasts != 0)
		return REFUSED;
	p = tls_peer_open(fd, &(struct tls_wish){ .sni = "a.test" });
	if (p != NULL && tls_peer_write(p, "hello", 5))
		n = tls_peer_read(p, got, sizeof(got));
	if (p != NULL)
		tls_peer_half_close(p);
	tls_peer_close(p);
	return n > 0				       ? SERVED
	    : wait_now_ms() - began > walk.patience_ms ? SILENT
						       : REFUSED;
}

/* What is lost on the way has no end. */
static enum outcome
udp_asks(void)
{
	int fd = udp_client(&walk.udp);
	const char *answer = udp_ask(fd, "name", 500);

	close(fd);
	return strcmp(answer, "name") == 0 ? SERVED : REFUSED;
}

static enum outcome
command(void)
{
	const char *said = "";
	enum outcome o = visit(&walk.ctl,
	    "services; service web servers; service web statistics\n",
	    "closed_done", &said);

	return strncmp(said, "error: ", 7) == 0 ||
		strstr(said, "\nerror: ") != NULL
	    ? SERVED
	    : o;
}

/* A request that evhttp could not read is closed by pen later. */
static enum outcome
get(const char *path, const char *want)
{
	enum outcome o =
	    visit(&walk.web, text("GET %s HTTP/1.0\r\n\r\n", path), want, NULL);

	return o == SILENT && strncmp(walk.faults->where, " libevent", 9) == 0
	    ? REFUSED
	    : o;
}

static enum outcome
metrics(void)
{
	return get("/metrics", "pen_sessions_max");
}

static enum outcome
page(void)
{
	return get("/", "</html>");
}

static enum outcome
status(void)
{
	return get("/status.json", "\r\n\r\n");
}

/* Some checks run meanwhile. */
static enum outcome
checks(void)
{
	long long end = wait_now_ms() + 200;

	while (walk.faults->armed && wait_now_ms() < end)
		wait_nap();
	return SERVED;
}

const struct faultwalk_act faultwalk_acts[] = {
	{ "kept", kept_client, true },
	{ "tcp", tcp_client, true },
	{ "tls", tls_client, true },
	{ "udp", udp_asks, false },
	{ "command", command, true },
	{ "metrics", metrics, false },
	{ "page", page, false },
	{ "status", status, false },
	{ "checks", checks, true },
	{ NULL, NULL, false },
};
