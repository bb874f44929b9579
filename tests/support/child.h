/* child.h: programs as children of a test: started with their output in
 * scratch files, watched, stopped. They die with the test. */
#ifndef PEN_TEST_CHILD_H
#define PEN_TEST_CHILD_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

enum { CHILD_ARGS = 64 };

/* What a child gets besides; all zero: nothing. */
struct child_gifts {
	unsigned long files; /* limit of descriptors, soft and hard; 0: none */
	/* These become 3, 4 and so on, and LISTEN_FDS and LISTEN_PID tell of
	 * them, as systemd does it. */
	const int *fds;
	int count;
	const char *const *env; /* NAME, value, NAME, .. NULL; or NULL */
	/* In place of /dev/null and the output files: the name of a terminal,
	 * that of its session; or NULL. */
	const char *terminal;
};

struct child {
	pid_t pid;
	bool running;
	int status;	 /* exit status; 1000 + signal when killed */
	const char *out; /* paths of its output */
	const char *err;
};

/* No file that this process and new children write grows beyond `most` bytes,
 * as of `ulimit -f`; RLIM_INFINITY: as large as the test may. */
void child_limit_files(rlim_t most);
/* Starts argv[0] (looked up in PATH); `argv` ends with NULL. Only standard
 * input (/dev/null) and outputs are handed on. */
void child_start(struct child *c, const char *const argv[]);
void child_start_given(struct child *c, const char *const argv[],
    const struct child_gifts *gifts);
/* fork(), for a child that is to die with the test; it must not return from
 * where it is called. */
pid_t child_fork(void);
/* Closes this descriptor and all above it, in a child. */
void child_close_from(int fd);
/* Has it ended? Fills in `status`. */
bool child_has_ended(struct child *c);
/* Waits for the end, at most `ms`; returns `status`. */
int child_wait(struct child *c, int ms);
/* Sends SIGTERM (or another) and waits; returns `status`. */
int child_stop(struct child *c, int signal);
/* What it has said on standard error and output so far. */
const char *child_err(const struct child *c);
const char *child_out(const struct child *c);
/* Has it said that on standard error? For use while waiting. */
bool child_has_said(const struct child *c, const char *what);

/* Linux: open descriptors, processor time, resident size; -1 elsewhere. */
int child_fds(pid_t pid);
long child_cpu_ms(pid_t pid);
long child_rss_kb(pid_t pid);
/* The processes that it has forked; one that ends may hide another. */
const char *child_children(pid_t pid);
/* A line of /proc/PID/status without its name, "" elsewhere. */
const char *child_status_line(pid_t pid, const char *name);
/* Where a symbolic link in /proc/PID leads, "" elsewhere. */
const char *child_link(pid_t pid, const char *name);

/* Path of a program in PATH or the sbin directories, NULL if there is none. */
const char *child_find(const char *program);

/* Skips the test when a program is missing. */
#define NEED_PROGRAM(name)                                         \
	do {                                                       \
		if (child_find(name) == NULL)                      \
			SKIP(text("%s is not installed", (name))); \
	} while (0)

#endif
