/* program.h: other programs, which run beside the loop; it never waits for
 * them.
 *
 *     program_start()
 *        |
 *     RUNNING --- it ends, or cannot be executed ----------> on_end
 *        |                                                      ^
 *        '------- its time is over: SIGKILL to its group -------'
 *
 * A run is one process and those it forks: a session and process group of its
 * own, standard input from /dev/null, both outputs in a pipe. Of the output the
 * first line is kept, and the rest is read and dropped, at a limited rate. When
 * the process ends, the rest of its group is killed; only what has left the
 * group by setsid(2) goes on. Processes are reaped one by one on SIGCHLD, so
 * children that others wait for are left alone. The rest is reaped, too:
 * orphans of programs, which process 1 of a container gets, and starters.
 *
 * The programs get none of pen's descriptors, no inheritable capability, no
 * blocked or ignored signal, and a soft limit of 1,024 descriptors. On Linux
 * they are killed when pen dies, too. */
#ifndef PEN_NET_PROGRAM_H
#define PEN_NET_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "net/loop/loop.h"

struct programs;
struct program_run;
struct starter;

/* The bytes of output that are kept, and of the text of a result. */
enum { PROGRAM_LINE_MAX = 200 };

enum program_end {
	PROGRAM_EXITED,	   /* code: the exit status */
	PROGRAM_KILLED,	   /* code: the signal */
	PROGRAM_TIMED_OUT, /* code: 0 */
	PROGRAM_FAILED	   /* it could not be executed; code: errno */
};

struct program_result {
	enum program_end end;
	int code;
	/* The first line of output that is not empty, without its newline; ""
	 * if there is none. What is not printable ASCII is \xNN, a " is '. It
	 * may be cut. */
	char line[PROGRAM_LINE_MAX + 1];
};

struct program_options {
	/* Each ends with NULL, and need not last. argv[0] is an absolute path;
	 * PATH is not searched. */
	char *const *argv;
	char *const *env;
	uint64_t limit_ms;
	/* Called once, from the loop, never from inside program_start(); the
	 * run is gone then. */
	void (*on_end)(void *arg, const struct program_result *result);
	void *arg;
};

/* Runs at most `max` programs at a time. To be made at the start: it opens
 * /dev/null, which a new root may lack, and its descriptors should have low
 * numbers (see program_exec.h). Without /dev/null no program starts, for
 * ENODEV. NULL with a full message. */
struct programs *programs_new(struct loop *l, unsigned max, struct error *e);
/* Kills all that run, without calling on_end. NULL is fine. */
void programs_free(struct programs *p);
/* From now on the process `s` starts the programs (starter.h), which must
 * outlive `p`. */
void programs_start_by(struct programs *p, struct starter *s);
/* From now on all children are reaped, but for those that are awaited
 * elsewhere. */
void programs_reap_others(struct programs *p,
    bool (*is_awaited)(void *arg, pid_t pid), void *arg);
/* In a child process: forgets the running programs, which are its parent's. */
void programs_drop_in_child(struct programs *p);
/* How many run, or are not reaped yet. */
unsigned programs_count(const struct programs *p);

/* Starts a program. Returns NULL with errno if pen itself is short of
 * something, which is no failure of the program: EAGAIN with `max` running,
 * EMFILE, ENOMEM. A program that cannot be executed is reported by on_end. */
struct program_run *program_start(
    struct programs *p, const struct program_options *o);
/* Kills it; on_end is not called any more. */
void program_cancel(struct program_run *r);

/* Starting a program makes the loop wait until it is executed, which takes some
 * tenths of a ms. Callers that start many therefore queue: `start` is called
 * soon, for one of them in each turn of the loop. Embedded in its owner. */
struct program_turn {
	struct list link;
	void (*start)(struct program_turn *t);
};
void program_queue(struct programs *p, struct program_turn *t);
/* Removes it from the queue; no effect if it has been called already. */
void program_unqueue(struct program_turn *t);

/* Whether the file can be executed: an absolute path of a regular file, with
 * the right to. Returns 0, or -1 with a short message. */
int program_check(const char *path, struct error *e);

/* How it ended, in words: "exit status 1", "killed by signal 9 (Killed)". With
 * the first line of output if there is one: "exit status 1: no route". Returns
 * `text`. */
enum { PROGRAM_TEXT_MAX = PROGRAM_LINE_MAX + 66 };
const char *program_result_text(
    const struct program_result *r, char text[PROGRAM_TEXT_MAX]);

#endif
