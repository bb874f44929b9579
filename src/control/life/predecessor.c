/* predecessor.c: see predecessor.h. */
#include "config.h"

#include <unistd.h>

#include "control/life/predecessor.h"

void
predecessor_init(struct predecessor *t)
{
	*t = (struct predecessor){ .fd = -1, .error_fd = -1 };
}

void
predecessor_fini(struct predecessor *t)
{
	if (t->fd >= 0)
		close(t->fd);
	if (t->error_fd >= 0)
		close(t->error_fd);
	predecessor_init(t);
}
