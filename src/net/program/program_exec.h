/* program_exec.h: makes a process and executes a program in it; see program.h
 * for what the program gets and what it does not.
 *
 * A process with many sessions has gigabytes to copy in fork(), and a million
 * descriptors to copy with or without the memory. On Linux the new process
 * therefore shares pen's memory until it executes the program (as vfork(2)
 * does), and shares pen's descriptors, too, while there are many: it takes a
 * copy of those with low numbers alone (close_range(2)), which is why `null`
 * and `out` should be low. The caller waits until the program is executed. */
#ifndef PEN_NET_PROGRAM_EXEC_H
#define PEN_NET_PROGRAM_EXEC_H

#include <stdbool.h>
#include <sys/types.h>

struct program_exec {
	char *const *argv;
	char *const *env;
	int null;     /* becomes descriptor 0; above 2 */
	int out;      /* becomes descriptors 1 and 2; above 2 */
	bool crowded; /* pen has many descriptors */
	bool for_parent; /* a child of this process's parent; Linux only */
};

/* Returns the process, which the caller reaps, or -1 with errno when there can
 * be none. *error is 0, or the errno of what cannot be executed: then the
 * process is about to end, or there is none and 0 is returned. */
pid_t program_exec(const struct program_exec *x, int *error);
/* The same by posix_spawn(3) alone, for systems other than Linux: capabilities
 * and limits stay as they are. */
pid_t program_exec_spawn(const struct program_exec *x, int *error);

/* Executes the program that replaces pen, as a child of this process's parent:
 * the environment, with `word` added, and limits are this process's, the
 * descriptors `fd`, in ascending order and each above its new number, become 3
 * and so on, and `errors` standard error. Returns as program_exec(). Linux
 * only, as the next. */
struct program_exec_successor {
	const char *path;
	char *const *argv;
	char *word;
	char *more; /* another word; NULL: none */
	const int *fd;
	unsigned count;
	int errors;
};
pid_t program_exec_succeed(const struct program_exec_successor *x, int *error);
/* Closes all descriptors from `fd` on. */
void program_exec_close_from(int fd);

#endif
