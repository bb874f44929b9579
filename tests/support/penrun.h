/* penrun.h: pen itself as a child.
 *
 * PEN names the program, PEN_TEST_WRAPPER what is put in front of it, as
 * "valgrind -q --error-exitcode=99"; with PEN_TEST_WORKERS=2 it has so many. */
#ifndef PEN_TEST_PENRUN_H
#define PEN_TEST_PENRUN_H

#include "support/child.h"
#include "support/endpoint.h"
#include "support/suite.h"

struct pen {
	struct child child;
};

/* The argument lists are strings that end with NULL. */

/* Starts it with exactly these arguments. */
#define pen_start(p, ...) pen_start_limited(p, 0, __VA_ARGS__)
/* The same with a limit on its descriptors. */
void pen_start_limited(struct pen *p, unsigned long files, ...)
    __attribute__((sentinel));
/* The same with what systemd, or another pen, would give it. */
void pen_start_given(struct pen *p, const struct child_gifts *gifts, ...)
    __attribute__((sentinel));
/* Before it starts: the leak checker of a sanitizer build needs /proc. */
void pen_without_leak_checker(void);
/* Starts it in the foreground (-f is put in front of the arguments) and
 * returns when it listens at `front`, and for control at each path after -C. */
void pen_up(struct pen *p, const struct endpoint *front, ...)
    __attribute__((sentinel));
/* The same with the arguments, -f included, as a list. */
void pen_up_words(
    struct pen *p, const struct endpoint *front, const char *const argv[]);
/* Waits until it listens at `front`; the test fails with what pen says when
 * it ends instead. */
void pen_wait_ready(struct pen *p, const struct endpoint *front);
/* SIGTERM; the test fails, with what pen says, unless it exits with 0. */
void pen_down(struct pen *p);
/* Runs it to the end with these arguments; it must exit with 1, having said
 * one line, "pen: ..." with `says` in it. */
void pen_expect_failure(const char *says, ...) __attribute__((sentinel));
/* One line to its control socket, without the newline, and the reply; and the
 * test fails unless `what` is in that. */
const char *pen_ask(const struct endpoint *ctl, const char *line);
void pen_answers(
    const struct endpoint *ctl, const char *line, const char *what);
/* Sends SIGUSR1 and returns what it says in answer. */
const char *pen_stats(struct pen *p);
/* Stops it for a while, and lets it go on; its workers, too. */
void pen_freeze(const struct pen *p);
void pen_thaw(const struct pen *p);
/* SIGKILL to all of them. */
void pen_kill(const struct pen *p);
/* Open descriptors and resident size, with those of its workers. */
int pen_fds(const struct pen *p);
/* The same number some times in a row: no session is ending. */
int pen_fds_at_rest(const struct pen *p);
long pen_rss_kb(const struct pen *p);
/* Fails the test unless it comes to rest: for 300 ms it uses next to no
 * processor time. What it still had to do may come first. */
void pen_expect_rest(struct pen *p);
/* Fails the test when it has said more than that it started and stopped,
 * and which sessions it had. */
void pen_expect_quiet(const struct pen *p);
/* How many workers it is started with: PEN_TEST_WORKERS, else 1. */
int pen_workers(void);
/* What there is of pen and of each of its workers, together. */
long pen_sum(const struct pen *p, long (*of)(pid_t pid));
/* Skips a test whose subject is what several workers do not have: the order of
 * one, a limit that each has a part of. */
#define NEEDS_ONE_WORKER(why)            \
	do {                             \
		if (pen_workers() > 1)   \
			SKIP(why);       \
	} while (0)
/* Undoes what makes pen choose another method; a test names one itself. */
void any_event_method(void);
/* Skips a test of what only epoll reports. */
#define NEEDS_EPOLL()                                \
	do {                                         \
		if (getenv("EVENT_NOEPOLL") != NULL) \
			SKIP("needs epoll");         \
	} while (0)
/* Does it run without anything that changes its sizes and speed? */
bool pen_is_plain(void);
/* Skips a test of the sandbox, which permits no more than pen needs. */
#define NEEDS_SANDBOX()                                                        \
	do {                                                                   \
		if (!pen_has_sandbox())                                        \
			SKIP("needs libseccomp, and no sanitizer or wrapper"); \
	} while (0)
bool pen_has_sandbox(void);

#endif
