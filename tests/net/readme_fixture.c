/* readme_fixture.c: the network, its names, and how a command is run in it. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/ownroot.h"
#include "net/readme.h"
#include "net/readme_fixture.h"
#include "support/suite.h"
#include "support/wait.h"

enum { RUN_MAX = 64 };

static const char hosts[] = "127.0.0.1 localhost\n"
			    "10.0.0.9 front\n"
			    "10.0.0.3 web1 db1 ns1 log1 ftp1 sip1\n"
			    "10.0.0.4 web2 db2 ns2 log2 ftp2 sip2\n"
			    "10.0.0.5 web3 sorry mail1\n"
			    "10.0.0.6 gate mail2\n"
			    "10.0.0.3 web.internal\n"
			    "10.0.0.4 web.internal\n";

struct net_fixture readme_fixture;
static struct child command;
/* Children that are the test's own; others that were told to end. */
static pid_t known[RUN_MAX], told[RUN_MAX];
static int known_n, told_n;

/* ---- the network ---- */

static void
give_addresses(void)
{
	unsigned i;

	net_fixture_ip(&readme_fixture, NET_FIXTURE_CLIENT,
	    "addr add 10.0.0.100/24 dev eth0\n"
	    "addr add 10.0.0.101/24 dev eth0\n"
	    "addr add 10.0.0.1/24 dev eth0\n"
	    "addr add 10.9.0.1/24 dev eth0\n");
	net_fixture_ip(&readme_fixture, NET_FIXTURE_DIRECTOR,
	    "link set lo up\n"
	    "addr add 10.0.0.9/24 dev eth0\n"
	    "addr add 10.9.0.2/24 dev eth0\n"
	    "addr add fd00:64::9/64 dev eth0 nodad\n");
	for (i = 0; i < MACHINES; i++)
		net_fixture_ip(&readme_fixture, NET_FIXTURE_SERVER + i,
		    text("addr add %s/24 dev eth0\n"
			 "addr add 10.0.0.10/32 dev lo\n"
			 "route add default via 10.0.0.9\n",
			machine_ip(i)));
}

/* The programs that README speaks of, as if they were installed. */
static const char *
install(void)
{
	const char *wrapper = getenv("PEN_TEST_WRAPPER"), *pen = getenv("PEN");
	static const char *const tools[] = { "penctl", "mergelogs" };
	char path[PATH_MAX];
	const char *why;
	size_t i;

	ck_assert_ptr_nonnull(realpath(pen != NULL ? pen : "./pen", path));
	why = ownroot_begin(hosts);
	if (why != NULL)
		return why;
	ownroot_script("/usr/local/bin/pen",
	    text("exec %s %s \"$@\"", wrapper != NULL ? wrapper : "", path));
	*strrchr(path, '/') = '\0';
	for (i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
		ownroot_script(text("/usr/local/bin/%s", tools[i]),
		    text("exec %s/%s \"$@\"", path, tools[i]));
	return NULL;
}

static const char *
begin(void)
{
	static const struct net_fixture_options four = { .servers = MACHINES };
	const char *work = scratch("work"), *why;

	why = net_fixture_up(&readme_fixture, &four);
	if (why == NULL)
		why = install();
	if (why != NULL)
		return why;
	give_addresses();
	/* What goes to the background becomes a child of this process. */
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	ck_assert_int_eq(mkdir(work, 0755), 0);
	ck_assert_int_eq(chdir(work), 0);
	return NULL;
}

/* ---- commands ---- */

static bool
is_among(const pid_t *pids, int n, pid_t pid)
{
	while (n > 0 && pids[n - 1] != pid)
		n--;
	return n > 0;
}

/* The children of this process that are not known: their pids, NULL: only their
 * number is wanted. */
static int
children(pid_t *pids)
{
	const char *s =
	    contents(text("/proc/self/task/%ld/children", (long)getpid()));
	char *end;
	long pid;
	int n = 0;

	for (; (pid = strtol(s, &end, 10)) > 0; s = end) {
		if (is_among(known, known_n, (pid_t)pid))
			continue;
		ck_assert_int_lt(n, RUN_MAX);
		if (pids != NULL)
			pids[n] = (pid_t)pid;
		n++;
	}
	return n;
}

/* Reaps one that has ended. Who is told to end while it does so anyway may have
 * no handler for the signal any more. */
static void
reap(void)
{
	int status;
	pid_t pid = waitpid(-1, &status, WNOHANG);

	if (pid > 0 && !is_among(known, known_n, pid))
		ck_assert_msg(status == 0 || WTERMSIG(status) == SIGTERM,
		    "process %ld ended with %x", (long)pid, (unsigned)status);
}

int
readme_fixture_left(void)
{
	reap();
	return children(NULL);
}

/* Ends what commands have left behind; what another one of them started
 * becomes a child of ours only when that is gone. */
static bool
has_ended_left(void)
{
	pid_t pids[RUN_MAX];
	int i, n = children(pids);

	for (i = 0; i < n; i++) {
		if (is_among(told, told_n, pids[i]) || told_n == RUN_MAX)
			continue;
		told[told_n++] = pids[i];
		kill(pids[i], SIGTERM);
	}
	return readme_fixture_left() == 0;
}

static void
run(const char *line, bool stays)
{
	static struct readme readme;
	const struct readme_command *c;
	const char *argv[] = { "sh", "-c", NULL, NULL };

	if (readme.n == 0)
		readme_read(&readme);
	c = readme_find(&readme, line);
	ck_assert_msg(c != NULL, "README.md has no such line: %s", line);
	argv[2] = c->typed;
	net_fixture_start(
	    &readme_fixture, NET_FIXTURE_DIRECTOR, &command, argv);
	if (stays)
		return;
	ck_assert_msg(child_wait(&command, 60000) == 0, "%s: exit %d: %s",
	    c->typed, command.status, child_err(&command));
}

const char *
readme_fixture_output(void)
{
	return child_out(&command);
}

static bool
lacks_program(const char *programs, const char **why)
{
	size_t n;

	for (; programs != NULL && *programs != '\0'; programs += n) {
		programs += strspn(programs, " ");
		n = strcspn(programs, " ");
		if (child_find(text("%.*s", (int)n, programs)) == NULL) {
			*why = text("%.*s is not installed", (int)n, programs);
			return true;
		}
	}
	return false;
}

static void machines_end(void);

/* What the machine lacks, or NULL. */
static const char *
run_example(const struct example *e)
{
	const char *why = NULL;

	if (lacks_program("curl", &why) || lacks_program(e->programs, &why))
		return why;
	why = begin();
	if (why != NULL)
		return why;
	if (e->lacks != NULL && (why = e->lacks()) != NULL)
		return why;
	if (e->before != NULL)
		e->before();
	known_n = children(known);
	if (e->after != NULL)
		run(e->after, false);
	run(e->line, e->stays);
	e->check();
	if (e->stays)
		child_stop(&command, SIGTERM);
	WAIT_FOR(has_ended_left(), 20000);
	machines_end();
	net_fixture_down(&readme_fixture);
	return NULL;
}

void
readme_fixture_run(const char *test, const struct example *e)
{
	const char *why;

	if (e->check == NULL)
		return;
	printf("%s\n", e->line);
	why = run_example(e);
	if (why != NULL)
		suite_skip(test, text("%s: %s", e->line, why));
}

int
readme_fixture_rows(const struct example *list)
{
	int n = 0;

	while (list[n].line != NULL)
		n++;
	return n;
}

/* ---- machines ---- */

static struct backend backends[128];
static struct child programs[16];
static unsigned backends_n, programs_n;

const char *
machine_ip(unsigned machine)
{
	return text("10.0.0.%u", 3 + machine);
}

struct backend *
machine_serve(unsigned machine, int port, backend_fn *serve, const void *arg)
{
	struct backend *b = &backends[backends_n++];
	struct endpoint any = { .port = port }, at;

	ck_assert_uint_le(backends_n, sizeof(backends) / sizeof(backends[0]));
	/* Any address: servers of direct return have the front's, too. */
	endpoint_at_host(&at, &any, "0.0.0.0");
	net_fixture_enter(&readme_fixture, NET_FIXTURE_SERVER + machine);
	backend_start_at(b, &at, serve, arg);
	net_fixture_leave(&readme_fixture);
	return b;
}

void
machine_stop(struct backend *b)
{
	if (b->serve != NULL)
		backend_stop(b);
	b->serve = NULL;
}

struct child *
machine_start(unsigned machine, ...)
{
	struct child *c = &programs[programs_n++];
	const char *argv[CHILD_ARGS];
	va_list ap;
	int n = 0;

	va_start(ap, machine);
	while (
	    n < CHILD_ARGS - 1 && (argv[n] = va_arg(ap, const char *)) != NULL)
		n++;
	va_end(ap);
	argv[n] = NULL;
	net_fixture_start(
	    &readme_fixture, NET_FIXTURE_SERVER + machine, c, argv);
	return c;
}

bool
machine_listens(enum net_fixture_place where, int port)
{
	struct endpoint any = { .port = port }, at;
	bool does;

	endpoint_at_host(&at, &any, "0.0.0.0");
	net_fixture_enter(&readme_fixture, where);
	does = endpoint_is_listening(&at);
	net_fixture_leave(&readme_fixture);
	return does;
}

static void
machines_end(void)
{
	while (backends_n > 0)
		machine_stop(&backends[--backends_n]);
	while (programs_n > 0)
		child_stop(&programs[--programs_n], SIGTERM);
}
