/* suite.c: the runner of the system tests: scratch files and leftovers. */
#include "config.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "support/suite.h"
#include "support/wait.h"

enum { CONTENTS_MAX = 1 << 20 };

#undef _mark_point

/* Of two places with one number here each takes the other's. */
void
suite_mark(const char *file, int line)
{
	static struct place {
		const char *file;
		int line;
	} noted[256];
	struct place *p = &noted[(unsigned)line % 256];

	if (p->file == file && p->line == line)
		return;
	p->file = file;
	p->line = line;
	_mark_point(file, line);
}

static char scratch_root[64];
static char **texts; /* freed at exit, so that leaks stay visible */
static size_t texts_n, texts_room;

static void
free_texts(void)
{
	while (texts_n > 0)
		free(texts[--texts_n]);
	free(texts);
	texts = NULL;
}

/* As many as it takes: who waits on a busy machine asks for long. */
static const char *
keep(char *s)
{
	ck_assert_ptr_nonnull(s);
	if (texts == NULL)
		atexit(free_texts);
	if (texts_n == texts_room) {
		texts_room = texts_room > 0 ? 2 * texts_room : 256;
		texts = realloc(texts, texts_room * sizeof(*texts));
		ck_assert_ptr_nonnull(texts);
	}
	texts[texts_n++] = s;
	return s;
}

const char *
text(const char *fmt, ...)
{
	char *made = NULL;
	va_list ap;

	va_start(ap, fmt);
	ck_assert_int_ge(vasprintf(&made, fmt, ap), 0);
	va_end(ap);
	return keep(made);
}

/* Its number, where one process runs them all: CK_FORK=no. */
static unsigned
this_test(void)
{
	static const char *running;
	static unsigned number;

	if (running != tcase_name()) {
		running = tcase_name();
		number++;
	}
	return number;
}

/* Made anew for each test, under a name that is surely free: an earlier process
 * may have had the same number. */
const char *
scratch(const char *name)
{
	static char dir[96];
	static pid_t owner;
	static unsigned test;

	if (owner != getpid() || test != this_test()) {
		owner = getpid();
		test = this_test();
		snprintf(dir, sizeof(dir), "%s/XXXXXX", scratch_root);
		ck_assert_msg(
		    mkdtemp(dir) != NULL, "%s: %s", dir, strerror(errno));
		/* A test may drop its privileges, or start a program that
		 * does. */
		chmod(dir, 0755);
	}
	return text("%s/%s", dir, name);
}

/* The caller frees it. NULL: no such file. Those of /proc have no size. */
static char *
read_file(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t n = 0, room = 4096;
	struct stat st;
	char *s;

	if (f == NULL)
		return NULL;
	if (fstat(fileno(f), &st) == 0 && (size_t)st.st_size >= room)
		room = (size_t)st.st_size + 1;
	for (s = malloc(room + 1); s != NULL; s = realloc(s, room + 1)) {
		n += fread(s + n, 1, room - n, f);
		if (n < room || room >= CONTENTS_MAX)
			break;
		room *= 2;
	}
	if (s == NULL)
		abort();
	fclose(f);
	s[n < CONTENTS_MAX ? n : CONTENTS_MAX] = '\0';
	return s;
}

const char *
contents(const char *path)
{
	char *s = read_file(path);
	const char *kept = s != NULL ? keep(strdup(s)) : "";

	free(s);
	return kept;
}

int
count_in(const char *s, const char *what)
{
	int n = 0;

	for (; (s = strstr(s, what)) != NULL; s += strlen(what))
		n++;
	return n;
}

bool
file_has(const char *path, const char *what)
{
	char *s = read_file(path);
	bool has = s != NULL && strstr(s, what) != NULL;

	free(s);
	return has;
}

void
write_file(const char *path, const char *what)
{
	FILE *f = fopen(path, "w");

	ck_assert_msg(f != NULL, "%s: %s", path, strerror(errno));
	ck_assert_int_ge(fputs(what, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

const char *
scratch_program(const char *name, const char *lines)
{
	const char *path = scratch(name);

	write_file(path, text("#!/bin/sh\n%s\n", lines));
	ck_assert_int_eq(chmod(path, 0755), 0);
	return path;
}

static bool
is_set(const char *variable)
{
	const char *s = getenv(variable);

	return s != NULL && *s == '1';
}

bool
suite_is_light(void)
{
	return is_set("PEN_TEST_LIGHT");
}

bool
suite_is_full(void)
{
	return is_set("PEN_TEST_FULL");
}

bool
suite_is_in_valgrind(void)
{
	const char *s = getenv("CK_FORK");

	return s != NULL && strcmp(s, "no") == 0;
}

long
suite_amount(long heavy, long light)
{
	long some = heavy / 4 > light ? heavy / 4 : light;

	if (suite_is_light())
		return light;
	return suite_is_full() ? heavy : some;
}

int
suite_rounds(int n)
{
	return suite_is_in_valgrind() ? (n + 9) / 10 : n;
}

/* Check adds "_fn" to the name of a test's function. */
void
suite_skip(const char *test_function, const char *why)
{
	size_t n = strlen(test_function);

	if (n > 3 && strcmp(test_function + n - 3, "_fn") == 0)
		n -= 3;
	printf("skipped: %.*s: %s\n", (int)n, test_function, why);
	fflush(stdout);
}

static int
remove_one(const char *path, const struct stat *st, int kind, struct FTW *w)
{
	(void)st;
	(void)kind;
	(void)w;
	return remove(path);
}

/* Check has killed each test's process group; what went to the background on
 * its own was adopted and is a child of ours now. */
static void
kill_leftovers(void)
{
#ifdef __linux__
	long long end = wait_now_ms() + 5000;
	char path[64], *list, *s;
	long pid;

	snprintf(
	    path, sizeof(path), "/proc/self/task/%ld/children", (long)getpid());
	while (wait_now_ms() < end && (list = read_file(path)) != NULL) {
		for (s = list; (pid = strtol(s, &s, 10)) > 0;)
			kill((pid_t)pid, SIGKILL);
		s = *list != '\0' ? list : NULL;
		free(list);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (s == NULL)
			break;
		wait_nap();
	}
#endif
}

int
suite_run(Suite *s)
{
	const char *tmp = getenv("TMPDIR");
	long long began = wait_now_ms();
	SRunner *runner;
	int failed;

	if (tmp == NULL || strlen(tmp) > 30)
		tmp = "/tmp";
	snprintf(scratch_root, sizeof(scratch_root), "%s/pen-test.XXXXXX", tmp);
	if (mkdtemp(scratch_root) == NULL || chmod(scratch_root, 0755) < 0) {
		perror(scratch_root);
		return 1;
	}
#ifdef __linux__
	prctl(PR_SET_CHILD_SUBREAPER, 1);
#endif
	signal(SIGPIPE, SIG_IGN);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	kill_leftovers();
	nftw(scratch_root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	printf("took %lld ms\n", wait_now_ms() - began);
	return failed == 0 ? 0 : 1;
}
