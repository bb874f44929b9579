/* upgrading.h: a pen of the test's own that can be replaced on disk, and the
 * process that takes over from it. */
#ifndef PEN_TEST_UPGRADING_H
#define PEN_TEST_UPGRADING_H

#include <stdbool.h>
#include <sys/types.h>

#include "support/penrun.h"

/* Copies pen to the scratch directory; penrun starts that one from now on.
 * Returns its path, or NULL where it runs inside another program, which would
 * not be started with it. */
const char *upgrading_install(void);
/* The same with the client beside it. */
const char *upgrading_install_both(void);
/* Puts an executable file there: what it contains, or pen again if it is
 * NULL. */
void upgrading_replace(const char *path, const char *content);

/* The process that answers at that control socket. */
pid_t upgrading_pid(const struct endpoint *ctl);
/* Asks for an upgrade, which must succeed: another process than `old` answers
 * then. Returns its process id. */
pid_t upgrading_go(const struct endpoint *ctl, pid_t old);
/* Ends a process that nobody waits for. */
void upgrading_end(pid_t pid);
/* Has it ended? One that nobody has waited for has. */
bool upgrading_has_ended(pid_t pid);

#define NEED_UPGRADES(path)                                             \
	do {                                                            \
		if ((path) == NULL)                                     \
			SKIP("a wrapper is not started with the new pen"); \
	} while (0)

#endif
