/* notify.c: datagrams to the service manager. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/number.h"
#include "control/life/notify.h"
#include "net/sock.h"

/* How often the status may change, how long a message waits for room in the
 * manager's queue, and the longest message. */
enum { STATUS_MS = 5000, WAIT_MS = 1000, MESSAGE_MAX = 256 };

void
notify_init(struct notify *n)
{
	*n = (struct notify){ .fd = -1 };
}

void
notify_fini(struct notify *n)
{
	timer_fini(&n->timer);
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
}

/* ---- the environment ---- */

/* A path, or "@name". Returns a descriptor, or -1 with errno. */
static int
connect_to(const char *name)
{
	struct addr to;

	if (name[0] == '/' || name[0] == '@')
		return addr_parse_unix(&to, name) < 0
		    ? -1
		    : sock_connect_datagram(&to);
	errno = EINVAL;
	return -1;
}

/* WATCHDOG_PID names another process where the variables came to this one by
 * mistake. */
static uint64_t
read_watchdog(void)
{
	const char *us = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	uint64_t value = 0, owner;

	if (us == NULL || number_parse(us, 1, UINT64_MAX, &value) < 0)
		return 0;
	if (pid != NULL &&
	    (number_parse(pid, 1, INT32_MAX, &owner) < 0 ||
		owner != (uint64_t)getpid()))
		return 0;
	return value;
}

void
notify_open(struct notify *n)
{
	const char *name = getenv("NOTIFY_SOCKET");

	if (name != NULL && name[0] != '\0') {
		n->fd = connect_to(name);
		if (n->fd < 0)
			log_warn("service manager not notified "
				 "NOTIFY_SOCKET=%s error=\"%s\"",
			    name, strerror(errno));
	}
	if (n->fd >= 0)
		n->watchdog_us = read_watchdog();
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

/* ---- messages ---- */

static bool
notify_send_message(struct notify *n, const char *message, int wait_ms)
{
	struct pollfd queue = { .fd = n->fd, .events = POLLOUT };
	size_t length = strlen(message);

	if (sock_send(n->fd, message, length, false) >= 0)
		return true;
	return wait_ms > 0 && poll(&queue, 1, wait_ms) == 1 &&
	    sock_send(n->fd, message, length, false) >= 0;
}

/* Sends what the next message does not make up for. Waits for a full queue,
 * but not again before it had room. */
static void notify_send(struct notify *n, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
notify_send(struct notify *n, const char *fmt, ...)
{
	char message[MESSAGE_MAX];
	va_list args;

	if (n->fd < 0)
		return;
	va_start(args, fmt);
	vsnprintf(message, sizeof(message), fmt, args);
	va_end(args);
	n->is_full = !notify_send_message(n, message, n->is_full ? 0 : WAIT_MS);
}

/* Sends the status if it has changed. */
static void
emit_status(struct notify *n)
{
	char now[NOTIFY_STATUS_MAX], message[MESSAGE_MAX];

	n->describe(n->arg, now);
	if (strcmp(now, n->status) == 0)
		return;
	snprintf(message, sizeof(message), "STATUS=%s\n", now);
	if (notify_send_message(n, message, 0))
		memcpy(n->status, now, sizeof(now));
}

/* ---- the watchdog ---- */

static void
notify_start_timer(struct notify *n)
{
	uint64_t ms = n->watchdog_us / 4000;

	if (n->watchdog_us == 0 || ms > STATUS_MS)
		ms = STATUS_MS;
	(void)timer_start(n->loop, &n->timer, ms > 0 ? ms : 1);
}

/* Sends a sign of life. It is sent by the loop, so that a loop that does not
 * turn sends nothing. */
static void
notify_on_time(struct timer *t)
{
	struct notify *n = list_entry(t, struct notify, timer);

	if (n->watchdog_us > 0)
		(void)notify_send_message(n, "WATCHDOG=1\n", 0);
	emit_status(n);
	notify_start_timer(n);
}

/* ---- what happens ---- */

void
notify_ready(struct notify *n, struct loop *l,
    void (*describe)(void *arg, char status[NOTIFY_STATUS_MAX]), void *arg)
{
	if (n->fd < 0)
		return;
	n->loop = l;
	n->describe = describe;
	n->arg = arg;
	n->describe(n->arg, n->status);
	notify_send(n, "READY=1\nSTATUS=%s\n", n->status);
	timer_init(&n->timer, notify_on_time);
	notify_start_timer(n);
}

/* The time matches a READY with its reload. */
void
notify_reloading(struct notify *n)
{
	notify_send(n, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64 "\n",
	    clock_monotonic_us());
}

void
notify_reloaded(struct notify *n)
{
	notify_send(n, "READY=1\n");
}

void
notify_draining(struct notify *n)
{
	notify_send(n, "STOPPING=1\n");
}

void
notify_take(struct notify *n, int fd)
{
	notify_fini(n);
	n->fd = fd;
}

/* Messages of a service are accepted only from its main process, until that
 * names another one. */
void
notify_hand_over(struct notify *n, pid_t pid)
{
	notify_send(n, "MAINPID=%ld\n", (long)pid);
	notify_fini(n);
}

void
notify_stopping(struct notify *n)
{
	notify_send(n, "STOPPING=1\n");
	timer_fini(&n->timer);
}
