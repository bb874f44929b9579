/* process.h: how the process runs: background, pid file, user, chroot.
 *
 *     parent  process_background() -> waits -> exit status
 *     child     ... opens everything ... process_ready() -> parent exits 0
 *
 * The parent exits with 0 only when the child is ready, with the child's
 * status otherwise; all messages until then go to the caller's stderr. */
#ifndef PEN_CONTROL_PROCESS_H
#define PEN_CONTROL_PROCESS_H

#include <limits.h>
#include <pwd.h>
#include <stdbool.h>

#include "base/error.h"
#include "control/life/context.h"

struct process {
	bool background;
	int ready_fd; /* reports to the waiting parent; -1: none */
	int null_fd;  /* /dev/null, for the background; -1: none */
	int pid_fd;   /* the pid file; -1: none */
	bool pid_is_ours; /* it is locked by us, and removed in the end */
	char pid_file[PATH_MAX];
};

/* Initializes; also unblocks signals, which a parent may have blocked, and lets
 * children be waited for, which it may have ignored. */
void process_init(struct process *p);

/* Goes on in a child. In the parent it returns the exit status 0..255 to end
 * with, once the child is ready or has failed; in the child -1. -2 with a full
 * message when there can be no child, or its report cannot be read. */
int process_background(struct process *p, struct error *e);

/* The same without a child: the process has been in the background all along,
 * and its descendants are, whose standard files are /dev/null, which need not
 * be in its root directory. */
void process_stay_in_background(struct process *p);

/* Opens and locks the pid file; the id is written by process_ready(). One that
 * was passed by another process stays that process's until
 * process_claim_pid_file(); it is given up if the path names another file by
 * now, but not if `rooted`: in this root directory the path means nothing.
 * Returns 0, or -1 with a full message, e.g. that another process has it. */
int process_lock_pid_file(
    struct process *p, const char *path, bool rooted, struct error *e);

/* Checks that it could be made. Returns 0, or -1 with a full message. */
int process_try_pid_file(const char *path, struct error *e);

/* Finds a user by its name, or by its number: one that has no name, as in a
 * container, has pw_name NULL and the group of that number. Only the name and
 * the numbers are set; the name is valid until the next call. Returns 0, or -1
 * with a full message. */
int process_find_user(const char *word, struct passwd *user, struct error *e);
/* Whether the process is that user already; NULL is no user. */
bool process_is_user(const char *word);
/* Changes root and user for good, supplementary groups included. Returns 0, or
 * -1 with a full message. */
int process_drop_privileges(const struct process_options *o, struct error *e);

/* Everything is open: writes the pid, lets the parent go, and in the background
 * leaves the terminal. Returns 0, or -1 with a full message. */
int process_ready(struct process *p, struct error *e);

/* The standard files of a background process become /dev/null: process_ready()
 * does it, and a process that was forked before. Returns 0, or -1 with a full
 * message. */
int process_detach(struct process *p, struct error *e);

/* ---- the pid file of two processes, one of which replaces the other ---- */

/* Takes over the descriptor of the other one; -1: there is none. */
void process_take_pid_file(struct process *p, int fd);
/* Unlocks it, so that the other one can lock it. */
void process_unlock_pid_file(struct process *p);
/* Locks the pid file and writes the process id, as it is ours now. Errors are
 * logged. */
void process_claim_pid_file(struct process *p);
/* Leaves the pid file to the other process: closes it, and does not remove
 * it. */
void process_hand_over_pid_file(struct process *p);

/* Whether the file was removed, or is another one. */
bool process_lost_pid_file(const struct process *p);

/* In a child: leaves the pid file, and the parent that waits for
 * process_ready(), to the process that has forked it. */
void process_drop_in_child(struct process *p);

/* Removes the pid file, if it has its id or is empty. */
void process_fini(struct process *p);

#endif
