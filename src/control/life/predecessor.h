/* predecessor.h: the process that this one takes over from; see takeover.h. */
#ifndef PEN_CONTROL_PREDECESSOR_H
#define PEN_CONTROL_PREDECESSOR_H

#include <stdbool.h>

struct predecessor {
	int fd;	      /* to the old process; -1: there is none */
	int error_fd; /* its standard error; -1: none */
	bool rooted;  /* in the root directory of the configuration already */
};

void predecessor_init(struct predecessor *t);
void predecessor_fini(struct predecessor *t);
static inline bool
predecessor_is_there(const struct predecessor *t)
{
	return t->fd >= 0;
}

#endif
