/* suite.h: runs the Check programs that start other programs.
 *
 * The program that runs the tests owns a scratch directory and adopts whatever
 * its tests leave behind; when the last test is over, failed or not, processes
 * still there are killed and the directory is removed. */
#ifndef PEN_TEST_SUITE_H
#define PEN_TEST_SUITE_H

#include <check.h>
#include <stdbool.h>

/* Check notes each assertion that holds in a file, a system call each, so that
 * it can say where a test was that was killed. Here each place is noted once: a
 * test has millions in loops. */
void suite_mark(const char *file, int line);
#define _mark_point(file, line) suite_mark(file, line)

/* Adds one test with its own time limit in seconds. */
#define SUITE_ADD(suite, test, seconds)                  \
	do {                                             \
		TCase *suite_case = tcase_create(#test); \
		tcase_set_timeout(suite_case, seconds);  \
		tcase_add_test(suite_case, test);        \
		suite_add_tcase(suite, suite_case);      \
	} while (0)
/* The same with _i from 0 to `times` - 1. */
#define SUITE_ADD_LOOP(suite, test, seconds, times)                \
	do {                                                       \
		TCase *suite_case = tcase_create(#test);           \
		tcase_set_timeout(suite_case, seconds);            \
		tcase_add_loop_test(suite_case, test, 0, (times)); \
		suite_add_tcase(suite, suite_case);                \
	} while (0)

/* Begins the function that makes the suite of a test file and returns it.
 * `file` is the file's name without ".c": the program of a directory finds the
 * suites by the names of its files. */
#define SUITE(file)        \
	Suite *file(void); \
	Suite *file(void)

/* Runs a suite, cleans up, prints how long that took, by which run.sh orders
 * the next run; returns the exit status. */
int suite_run(Suite *s);

struct suite_of_file {
	const char *file;
	Suite *(*make)(void);
	const char *lacks; /* why this build has no such suite, or NULL */
};
/* The main() of a directory's program. The list ends with a file of NULL.
 * Called by the name of a test file, the program runs that file's suite; with
 * names as arguments, theirs; otherwise all. Returns 77, which is `skipped` to
 * make check, when nothing could be run. */
int suites_main(const struct suite_of_file *list, int argc, char **argv);

/* A formatted string that lives until the test ends. */
const char *text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A path in this test's own scratch directory, short enough for a socket. */
const char *scratch(const char *name);
/* The contents of a file, at most 1 MiB, as a string that lives until the test
 * ends; "" when there is none. */
const char *contents(const char *path);
/* How often the text contains `what`. */
int count_in(const char *s, const char *what);
/* Does the file contain it? Keeps nothing, for use while waiting. */
bool file_has(const char *path, const char *what);
void write_file(const char *path, const char *what);
/* The path of a program in the scratch directory: the shell, with these
 * lines. */
const char *scratch_program(const char *name, const char *lines);

/* `heavy` with PEN_TEST_FULL=1, and else a quarter; `light` with
 * PEN_TEST_LIGHT=1, as runs with sanitizers and valgrind set it. */
long suite_amount(long heavy, long light);
bool suite_is_light(void);
/* PEN_TEST_FULL=1: all that there is, however long it takes. */
bool suite_is_full(void);
/* So many rounds of what a few show as well: a tenth inside valgrind. */
int suite_rounds(int n);
/* The test itself, and not only pen, runs inside valgrind, which lets one
 * thread run at a time: run.sh sets CK_FORK=no there. */
bool suite_is_in_valgrind(void);

/* Says why a test does not run; run.sh counts these lines. Then return. */
void suite_skip(const char *test_function, const char *why);
#define SKIP(why)                          \
	do {                               \
		suite_skip(__func__, why); \
		return;                    \
	} while (0)
/* Skips a test of thousands of descriptors, where select(2) has FD_SETSIZE. */
#define NEEDS_MORE_THAN_SELECT()                    \
	do {                                        \
		if (getenv("EVENT_NOPOLL") != NULL) \
			SKIP("select has too few"); \
	} while (0)

#endif
