/* manager.h: a service manager, as systemd is one: the socket that
 * NOTIFY_SOCKET names, and what was said there. */
#ifndef PEN_TEST_MANAGER_H
#define PEN_TEST_MANAGER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { MANAGER_HEARD = 64 * 1024 };

struct manager {
	int fd;
	char name[128]; /* the value of NOTIFY_SOCKET */
	/* All messages so far, each behind "|"; and who sent the last one. */
	char heard[MANAGER_HEARD];
	size_t length;
	pid_t sender;
	pthread_t reader;
	pthread_mutex_t lock;
	bool is_reading;
};

/* Listens at a path in the scratch directory, or at an abstract name. */
void manager_begin(struct manager *m, bool is_abstract);
void manager_end(struct manager *m);
/* From now on a thread reads what there is, so that the queue, which is short,
 * is never full for long. */
void manager_read(struct manager *m);
/* Reads what there is. Has that been said? For use while waiting. */
bool manager_has_heard(struct manager *m, const char *what);
/* Reads what there is. How often has that been said? */
int manager_count(struct manager *m, const char *what);
/* Reads what there is and forgets all. */
void manager_forget(struct manager *m);

#endif
