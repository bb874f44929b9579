/* notify.h: reports the status of the process to systemd, or another reader of
 * the socket in NOTIFY_SOCKET: sd_notify(3). READY, RELOADING and STOPPING, a
 * line of STATUS now and then, and WATCHDOG after a quarter of the time in
 * WATCHDOG_USEC.
 *
 * libsystemd is not used: a message is one datagram of lines, and the protocol
 * is promised to stay as it is. Where the reader's queue is full, READY,
 * RELOADING, STOPPING and MAINPID wait for room, at most a second, once; the
 * status is sent later, a WATCHDOG is lost. */
#ifndef PEN_CONTROL_NOTIFY_H
#define PEN_CONTROL_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "net/loop/loop.h"

enum { NOTIFY_STATUS_MAX = 128 };

struct notify {
	int fd;		      /* connected; -1: none */
	uint64_t watchdog_us; /* a message at least so often; 0: none needed */
	bool is_full;	      /* the last message found no room */
	struct loop *loop;
	struct timer timer;
	char status[NOTIFY_STATUS_MAX]; /* sent last */
	/* Writes the present status. */
	void (*describe)(void *arg, char status[NOTIFY_STATUS_MAX]);
	void *arg;
};

/* There is no reader. */
void notify_init(struct notify *n);
/* Connects to the socket that the environment names, a path or an abstract
 * name, and removes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID from it:
 * programs that are started later are not this service. To be called before
 * the root changes and before a fork. */
void notify_open(struct notify *n);
void notify_fini(struct notify *n);

/* The process serves: reports it, and keeps the watchdog and the status up to
 * date from now on. `describe` writes the status. */
void notify_ready(struct notify *n, struct loop *l,
    void (*describe)(void *arg, char status[NOTIFY_STATUS_MAX]), void *arg);
/* A reload begins; its end is reported by notify_reloaded(), whether it
 * succeeded or was refused. */
void notify_reloading(struct notify *n);
void notify_reloaded(struct notify *n);
/* The process ends as soon as its clients let it. */
void notify_draining(struct notify *n);
/* The process ends, and reports nothing more. */
void notify_stopping(struct notify *n);

/* Takes over the connected socket of another process; -1: none. */
void notify_take(struct notify *n, int fd);
/* Another process is the service from now on, and reports its status. */
void notify_hand_over(struct notify *n, pid_t pid);

#endif
