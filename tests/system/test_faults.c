/* test_faults.c: each call of libc that may fail fails, once, wherever it is
 * reached: by the start, by clients, by a reload, by an upgrade. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/faultwalk.h"
#include "support/suite.h"
#include "support/upgrading.h"
#include "support/wait.h"

enum { SOON = 10000, FULL_SECONDS = 3600 };

#define NEED_FAULTS()                            \
	do {                                     \
		if (faultwalk_lacks() != NULL)   \
			SKIP(faultwalk_lacks()); \
	} while (0)

static pid_t serving; /* the process, which changes with an upgrade */
static bool lacks;    /* it has begun without algorithms of OpenSSL's */

/* The end of what pen has said. */
static const char *
said(void)
{
	enum { ENOUGH = 300 };
	const char *all = child_err(&walk.pen.child);
	size_t n = strlen(all);

	return n > ENOUGH ? all + n - ENOUGH : all;
}

/* More than `bytes`, sooner or later. */
static bool
says_more(size_t bytes)
{
	long long end = wait_now_ms() + wait_scaled(1000);

	while (
	    strlen(child_err(&walk.pen.child)) == bytes && wait_now_ms() < end)
		wait_nap();
	return strlen(child_err(&walk.pen.child)) > bytes;
}

/* ---- start and stop ---- */

/* What is never the case here, whatever fails. */
static bool
has_lied(void)
{
	return strstr(said(), "No such file") != NULL ||
	    strstr(said(), "has expired") != NULL ||
	    strstr(said(), "expects a") != NULL ||
	    strstr(said(), "Success") != NULL;
}

/* The last line is pen's, and says what is wrong in several words. */
static bool
has_message(void)
{
	const char *line =
	    strrchr(text("%.*s", (int)strlen(said()) - 1, said()), '\n');

	line = line != NULL ? line + 1 : said();
	return strncmp(line, "pen: ", 5) == 0 && count_in(line, " ") >= 3;
}

/* The line that says so may be lost. */
static bool
has_started(long long *listens)
{
	if (child_has_said(&walk.pen.child, "started version"))
		return true;
	if (*listens == 0 && endpoint_is_listening(&walk.ctl))
		*listens = wait_now_ms();
	return *listens != 0 && wait_now_ms() - *listens > 1000;
}

/* Of a process that begins: SSL_CTX_new() leaves out the algorithms that it has
 * no memory for, and does not say so. */
static bool
lacks_algorithms(const struct faultwalk_act *a)
{
	return strcmp(a->name, "tls") == 0 &&
	    strncmp(walk.faults->where, " libcrypto", 10) == 0;
}

static void
judge_started(void)
{
	const struct faultwalk_act *a;
	const char *answer;

	if (faultwalk_ask("pid", &answer) != SERVED || *answer == '\0') {
		faultwalk_found("does not answer: %s", said());
		return;
	}
	serving = (pid_t)strtol(answer, NULL, 10);
	for (a = faultwalk_acts + 1; a->name != NULL; a++)
		if (a->run() != SERVED && !lacks_algorithms(a))
			faultwalk_found(
			    "%s is not served: %s", a->name, said());
}

static void
judge_status(const char *what, int status, bool may_be_done)
{
	if ((!(status == 0 && may_be_done) &&
		!(status == 1 && has_message())) ||
	    has_lied())
		faultwalk_found("%s: exit status %d: %s", what, status, said());
}

static void
stop(void)
{
	struct child *c = &walk.pen.child;
	long long end = wait_now_ms() + wait_scaled(SOON);

	kill(c->pid, SIGTERM);
	while (!child_has_ended(c) && wait_now_ms() < end)
		wait_nap();
	if (c->running)
		(void)child_stop(c, SIGKILL);
	judge_status("stop", c->status, true);
}

/* A start in the background ends with 0 when the process is ready. */
static bool
start_once(bool foreground)
{
	struct child *c = &walk.pen.child;
	long long listens = 0, end = wait_now_ms() + wait_scaled(SOON);
	bool failed, up;

	serving = 0;
	faultwalk_arm();
	faultwalk_start(foreground);
	while (!child_has_ended(c) && !(foreground && has_started(&listens)) &&
	    wait_now_ms() < end)
		wait_nap();
	failed = faultwalk_disarm();
	up = foreground ? c->running : !c->running && c->status == 0;
	if (!up)
		judge_status("start", c->running ? -1 : c->status, false);
	else
		judge_started();
	if (!up && child_has_said(c, "started version"))
		faultwalk_found("ends when it has started: %s", said());
	if (!up && endpoint_is_listening(&walk.ctl)) {
		faultwalk_found("serves, although it says: %s", said());
		serving = (pid_t)strtol(contents(walk.pid_file), NULL, 10);
		up = true;
	}
	if (!failed)
		ck_assert(up);
	if (foreground && c->running)
		stop();
	else if (up && serving > 0)
		upgrading_end(serving);
	return failed;
}

static void
walk_start(bool foreground)
{
	while (start_once(foreground) && !faultwalk_is_full())
		;
}

START_TEST(starts_or_says_why)
{
	NEED_FAULTS();
	faultwalk_begin(suite_amount(37, 101));
	walk_start(_i == 0);
	faultwalk_end(_i == 0 ? "start" : "start in the background");
}
END_TEST

/* pen ended by SIGSEGV without memory for a frontend, and for what OpenSSL
 * keeps of a certificate's context; with no memory to watch a socket it ended
 * after it had said that it serves; a check lost words of its own, a
 * certificate its date; a short write of the pid file was "No such file". */
START_TEST(starts_short_of)
{
	static const char *const calls[] = { "calloc", "realloc", "epoll_ctl",
		"pwrite", "SSL_CTX_set_ex_data" };

	NEED_FAULTS();
	faultwalk_begin(1);
	faultwalk_only(calls[_i]);
	walk_start(true);
	faultwalk_end(text("start, %s", calls[_i]));
}
END_TEST

/* The parent waited for ever when it could not read its pipe; the child ended
 * without a word when it could not write there. */
START_TEST(background_short_of)
{
	static const char *const calls[] = { "read", "write" };

	NEED_FAULTS();
	faultwalk_begin(1);
	faultwalk_only(calls[_i]);
	walk_start(false);
	faultwalk_end(text("start in the background, %s", calls[_i]));
}
END_TEST

/* A worker that could not be forked ended pen when it had said that it
 * serves. */
START_TEST(workers_short_of)
{
	NEED_FAULTS();
	ck_assert_int_eq(setenv("PEN_TEST_WORKERS", "2", 1), 0);
	faultwalk_begin(1);
	faultwalk_only("fork");
	walk_start(_i == 0);
	faultwalk_end("start with workers, fork");
}
END_TEST

/* Files that could not be removed are the next start's to take. */
START_TEST(stops)
{
	bool failed;

	NEED_FAULTS();
	faultwalk_begin(7);
	do {
		faultwalk_up();
		faultwalk_arm();
		stop();
		failed = faultwalk_disarm();
	} while (failed && !faultwalk_is_full());
	faultwalk_end("stop");
}
END_TEST

/* ---- serving ---- */

static void
up(void)
{
	faultwalk_up();
	serving = walk.pen.child.pid;
}

/* What is counted as not done, and what is logged. */
static const char *
troubles(void)
{
	const char *all = "", *line, *answer;

	(void)faultwalk_ask(
	    "service web statistics; service tls statistics", &answer);
	for (line = answer; *line != '\0'; line += strcspn(line, "\n") + 1)
		if (strncmp(line, "closed_", 7) == 0 &&
		    strncmp(line, "closed_done", 11) != 0)
			all = text(
			    "%s%.*s\n", all, (int)strcspn(line, "\n"), line);
	return text("%s%s", all, child_err(&walk.pen.child));
}

/* All are served, and the kept connection is there, unless it was what failed;
 * without TLS if a new process, with any number of descriptors, lacks that.
 * False: the process has ended. */
static bool
is_well(const char *after, int fds)
{
	long long end = wait_now_ms() + wait_scaled(SOON);
	const struct faultwalk_act *a;
	int now;

	for (a = faultwalk_acts; a->name != NULL; a++)
		while (a->run() != SERVED) {
			if (upgrading_has_ended(serving))
				return false;
			lacks = fds == INT_MAX && lacks_algorithms(a);
			if (lacks)
				break;
			if (a == faultwalk_acts && strcmp(after, a->name) != 0)
				faultwalk_found("the kept connection is gone");
			if (a == faultwalk_acts)
				faultwalk_keep();
			if (wait_now_ms() > end) {
				faultwalk_found(
				    "%s is not served: %s", a->name, said());
				break;
			}
		}
	while ((now = child_fds(serving)) > fds && wait_now_ms() < end)
		wait_nap();
	if (now > fds)
		faultwalk_found("%d descriptors, were %d", now, fds);
	return true;
}

/* How many are open in peace, or a few more: not all is open at all times. */
static int
descriptors(void)
{
	int i;

	for (i = 0; i < 2; i++)
		ck_assert(is_well("nothing", INT_MAX));
	return child_fds(serving) + 1;
}

static void
judge_act(const struct faultwalk_act *act, enum outcome o, const char *before,
    long cpu, long long ms, int fds)
{
	bool reset = walk.faults->error == ECONNRESET;

	if (!is_well(act->name, fds)) {
		faultwalk_found("%s: has ended: %s", act->name, said());
		up();
		return;
	}
	if (o == SILENT)
		faultwalk_found("%s: a client got nothing", act->name);
	if (o == REFUSED && act->counts && !reset &&
	    strcmp(before, troubles()) == 0)
		faultwalk_found("%s: not served, and not counted", act->name);
	if (ms > 1000 && cpu > ms / 2)
		faultwalk_found("%s: a busy loop", act->name);
}

static void
walk_act(const struct faultwalk_act *act)
{
	int fds = descriptors();
	const char *before;
	long long began;
	enum outcome o;
	bool failed;
	long cpu;

	do {
		before = troubles();
		cpu = child_cpu_ms(serving);
		began = wait_now_ms();
		faultwalk_arm();
		o = act->run();
		failed = faultwalk_disarm();
		if (failed)
			judge_act(act, o, before, child_cpu_ms(serving) - cpu,
			    wait_now_ms() - began, fds);
	} while (failed && !faultwalk_is_full());
}

START_TEST(one_client_suffers)
{
	const struct faultwalk_act *act;

	NEED_FAULTS();
	faultwalk_begin(suite_amount(23, 101));
	up();
	for (act = faultwalk_acts; act->name != NULL; act++)
		walk_act(act);
	pen_expect_rest(&walk.pen);
	pen_down(&walk.pen);
	faultwalk_end("clients");
}
END_TEST

/* A session lived on without what its server was sent, when the kernel was
 * short of buffers; a page stopped half-way; no line said that a control client
 * was closed. */
START_TEST(clients_short_of)
{
	static const struct {
		const char *act, *call;
	} rows[] = { { "kept", "send" }, { "metrics", "evbuffer_add" },
		{ "command", "calloc" }, { "command", "epoll_ctl" },
		{ "tls", "SSL_set_ex_data" } };
	const struct faultwalk_act *act = faultwalk_acts;

	NEED_FAULTS();
	faultwalk_begin(1);
	faultwalk_only(rows[_i].call);
	up();
	while (strcmp(act->name, rows[_i].act) != 0)
		act++;
	walk_act(act);
	pen_down(&walk.pen);
	faultwalk_end(text("%s, %s", rows[_i].act, rows[_i].call));
}
END_TEST

/* ---- serving, while all calls fail that may ---- */

enum { BRIEFLY = 20, PATIENCE = 5000 };

/* Who is in goes on; the others are refused, or wait, which is said. */
static void
try_all(void)
{
	const struct faultwalk_act *kept = &faultwalk_acts[0], *act;

	for (act = kept + 1; act->name != NULL; act++) {
		walk.patience_ms = BRIEFLY;
		(void)act->run();
		walk.patience_ms = PATIENCE;
		if (kept->run() != SERVED) {
			faultwalk_found(
			    "%s: the kept connection is gone", act->name);
			faultwalk_keep();
		}
	}
}

START_TEST(shortage_that_lasts)
{
	static const int errors[] = { EMFILE, ENFILE, ENOMEM, ENOBUFS };
	long long began;
	size_t bytes;
	long cpu;
	int fds, i;

	NEED_FAULTS();
	faultwalk_begin(1);
	up();
	fds = descriptors();
	for (i = 0; i < (suite_is_full() ? 10 : 1); i++) {
		bytes = strlen(child_err(&walk.pen.child));
		cpu = child_cpu_ms(serving);
		began = wait_now_ms();
		faultwalk_last(errors[_i]);
		try_all();
		cpu = child_cpu_ms(serving) - cpu;
		(void)faultwalk_disarm();
		if (cpu > (wait_now_ms() - began) / 2)
			faultwalk_found("a busy loop: %ld ms", cpu);
		if (!says_more(bytes))
			faultwalk_found("nothing was said");
		if (!is_well("nothing", fds)) {
			faultwalk_found("has ended: %s", said());
			up();
		}
	}
	pen_expect_rest(&walk.pen);
	pen_down(&walk.pen);
	faultwalk_end(text("clients, %s lasts", strerror(errors[_i])));
}
END_TEST

/* ---- reload ---- */

static const char *
settings(void)
{
	const char *file = scratch("written"), *answer;

	(void)unlink(file);
	(void)faultwalk_ask(text("write all %s", file), &answer);
	ck_assert_msg(strstr(answer, "error") == NULL, "%s", answer);
	return contents(file);
}

/* Names of certificates stay known when their directory cannot be listed to the
 * end. */
START_TEST(directory_that_fails)
{
	const char *dir = scratch("names"), *answer;
	unsigned i = 0;
	bool failed;

	NEED_FAULTS();
	faultwalk_begin(1);
	faultwalk_only("readdir");
	ck_assert_int_eq(mkdir(dir, 0755), 0);
	write_file(text("%s/a.test.pem", dir), contents(scratch("site.pem")));
	write_file(walk.conf,
	    text("%sservice tls\nssl_sni_path %s\n", contents(walk.conf), dir));
	up();
	do {
		write_file(text("%s/%u", dir, i++), "");
		faultwalk_arm();
		(void)faultwalk_ask("reload", &answer);
		failed = faultwalk_disarm();
		(void)faultwalk_ask("service tls certs", &answer);
		if (strstr(answer, "for name") == NULL)
			faultwalk_found("a name is gone: %s", said());
	} while (failed && !faultwalk_is_full());
	pen_down(&walk.pen);
	faultwalk_end("directory");
}
END_TEST

#define NOT_SERVED "control client not served"

/* A client that is closed unanswered finds either of them in force. */
START_TEST(reloads_or_changes_nothing)
{
	const char *before, *after, *now, *answer;
	enum outcome o;
	bool failed, refused;
	int fds, lost;

	NEED_FAULTS();
	faultwalk_begin(suite_amount(17, 101));
	up();
	faultwalk_configure(true);
	(void)faultwalk_ask("reload", &answer);
	ck_assert_str_eq(answer, "");
	after = settings();
	do {
		faultwalk_configure(false);
		(void)faultwalk_ask("reload", &answer);
		ck_assert_str_eq(answer, "");
		before = settings();
		ck_assert_str_ne(before, after);
		fds = descriptors();
		lost = count_in(child_err(&walk.pen.child), NOT_SERVED);
		faultwalk_configure(true);
		faultwalk_arm();
		o = faultwalk_ask("reload", &answer);
		failed = faultwalk_disarm();
		if (!failed)
			break;
		if (upgrading_has_ended(serving) ||
		    !is_well("reload", fds + 1)) {
			faultwalk_found("has ended: %s", said());
			up();
			continue;
		}
		now = settings();
		refused = strstr(answer, "error: ") != NULL;
		if (strcmp(now, before) != 0 && strcmp(now, after) != 0)
			faultwalk_found("half a reload: %s %s", answer, now);
		else if (o == SILENT || (refused && strcmp(now, before) != 0))
			faultwalk_found("answer: \"%s\"", answer);
		else if (!refused && strcmp(now, after) != 0 &&
		    walk.faults->error != ECONNRESET &&
		    lost == count_in(child_err(&walk.pen.child), NOT_SERVED))
			faultwalk_found("not reloaded: %s", answer);
	} while (!faultwalk_is_full());
	pen_down(&walk.pen);
	faultwalk_end("reload");
}
END_TEST

/* ---- upgrade ---- */

/* The end of the answer is lost with its client, or without memory for its
 * text. */
static bool
is_cut(const char *answer)
{
	int error = walk.faults->error;

	return strstr(answer, " starts\n") != NULL &&
	    strstr(answer, "error: ") == NULL &&
	    (error == ECONNRESET || error == ENOBUFS || error == ENOMEM);
}

/* Of the log. */
static int
lines_of(const char *what)
{
	return count_in(child_err(&walk.pen.child), what);
}

static int
upgrades_over(void)
{
	return lines_of("upgraded pid=") + lines_of("upgrade failed, ");
}

/* An upgrade whose answer was lost goes on: the next one is another's then. */
static enum outcome
ask_upgrade(const char **answer)
{
	int begun = lines_of("upgrading reason="), over = upgrades_over();
	enum outcome o = faultwalk_ask("upgrade", answer);

	if (strstr(*answer, " serves\n") == NULL &&
	    strstr(*answer, "error: ") == NULL &&
	    lines_of("upgrading reason=") > begun)
		WAIT_FOR(upgrades_over() > over, SOON);
	return o;
}

/* Either another process serves, or the same. */
static void
judge_upgrade(enum outcome o, const char *answer, int fds)
{
	long long end = wait_now_ms() + wait_scaled(SOON);
	const char *pid;
	pid_t old = serving;

	while (faultwalk_ask("pid", &pid) != SERVED || *pid == '\0') {
		if (wait_now_ms() < end)
			continue;
		faultwalk_found("nobody serves: %s", said());
		faultwalk_end("upgrade");
	}
	serving = (pid_t)strtol(pid, NULL, 10);
	if (o == SILENT)
		faultwalk_found("no answer: %s", said());
	if ((strstr(answer, " serves\n") != NULL) != (serving != old) &&
	    *answer != '\0' && !(serving != old && is_cut(answer)))
		faultwalk_found(
		    "process %ld serves, but: %s", (long)serving, answer);
	if (serving == old) {
		if (!is_well("upgrade", fds))
			faultwalk_found("has ended: %s", said());
		return;
	}
	if (faultwalk_acts[0].run() != SERVED)
		faultwalk_found("the kept connection is gone");
	faultwalk_keep();
	WAIT_FOR(upgrading_has_ended(old), SOON);
	if (!is_well("upgrade", INT_MAX))
		faultwalk_found("has ended: %s", said());
}

/* With a channel that blocks, the old process waited for the new one. */
START_TEST(old_process_serves_on)
{
	const char *answer;
	enum outcome o;
	bool failed;
	int fds, quiet = 0;

	NEED_FAULTS();
	NEED_UPGRADES(upgrading_install());
	faultwalk_begin(suite_amount(101, 301));
	if (_i == 1)
		faultwalk_only("fcntl");
	up();
	do {
		fds = descriptors() + 1;
		faultwalk_arm();
		o = ask_upgrade(&answer);
		failed = faultwalk_disarm();
		judge_upgrade(o, answer, fds);
		/* what failed was the search for it: it serves, and says so */
		if (lacks || strstr(answer, "cannot find the file") != NULL) {
			lacks = false;
			upgrading_end(serving);
			up();
			failed = true;
		}
		/* the upgrade before may not be over */
		quiet = failed ? 0 : quiet + 1;
	} while (quiet < 3 && !faultwalk_is_full());
	if (quiet > 0 && strstr(answer, " serves\n") == NULL)
		faultwalk_found("nothing fails, but: %s", answer);
	upgrading_end(serving);
	faultwalk_end(_i == 0 ? "upgrade" : "upgrade, fcntl");
}
END_TEST

SUITE(test_faults)
{
	int seconds = suite_is_full() ? FULL_SECONDS : 60;
	Suite *s = suite_create("faults");

	SUITE_ADD_LOOP(s, starts_or_says_why, seconds, 2);
	SUITE_ADD_LOOP(s, starts_short_of, seconds, 5);
	SUITE_ADD_LOOP(s, background_short_of, seconds, 2);
	SUITE_ADD_LOOP(s, workers_short_of, seconds, 2);
	SUITE_ADD(s, stops, seconds);
	SUITE_ADD(s, one_client_suffers, seconds);
	SUITE_ADD_LOOP(s, clients_short_of, seconds, 5);
	SUITE_ADD_LOOP(s, shortage_that_lasts, seconds, 4);
	SUITE_ADD(s, directory_that_fails, seconds);
	SUITE_ADD(s, reloads_or_changes_nothing, seconds);
	SUITE_ADD_LOOP(s, old_process_serves_on, seconds, 2);
	return s;
}
