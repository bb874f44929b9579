/* kernel.c: descriptors, what epoll reports of them, time and chance. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>

#include "model/kernel_private.h"
#include "support/pattern.h"

struct kernel kernel;
static struct descriptor table[KERNEL_DESCRIPTORS];

/* ---- chance ---- */

uint64_t
kernel_random(void)
{
	return pattern_mix(kernel.seed += 0x9e3779b97f4a7c15);
}

unsigned
kernel_below(unsigned n)
{
	return (unsigned)(kernel_random() % n);
}

bool
kernel_one_in(unsigned n)
{
	return kernel_below(n) == 0;
}

/* ---- descriptors ---- */

int
failed(int error)
{
	errno = error;
	return -1;
}

struct descriptor *
descriptor_of(int fd)
{
	struct descriptor *d = &table[fd - KERNEL_FIRST];

	MUST(fd < KERNEL_FIRST + KERNEL_DESCRIPTORS);
	if (d->kind == CLOSED_FD)
		ck_abort_msg("descriptor %d is closed", fd);
	return d;
}

int
descriptor_new(enum kind kind, const char *call)
{
	int error = kernel.trouble != NULL ? kernel.trouble(call) : 0, i = 0;

	if (error != 0)
		return failed(error);
	while (i < KERNEL_DESCRIPTORS && table[i].kind != CLOSED_FD)
		i++;
	MUST(i < KERNEL_DESCRIPTORS);
	table[i] = (struct descriptor){ .kind = kind };
	kernel.open++;
	return KERNEL_FIRST + i;
}

void
descriptor_free(int fd)
{
	struct descriptor *d = descriptor_of(fd);

	free(d->queue);
	*d = (struct descriptor){ .kind = CLOSED_FD };
	kernel.open--;
}

bool
kernel_is_open(int fd)
{
	return is_fake(fd) && table[fd - KERNEL_FIRST].kind != CLOSED_FD;
}

struct conn *
kernel_conn(int fd)
{
	return descriptor_of(fd)->conn;
}

/* ---- epoll ---- */

void
descriptor_tell(int fd)
{
	if (fd >= 0)
		descriptor_of(fd)->told = true;
}

static uint32_t
mask_of(const struct descriptor *d)
{
	switch (d->kind) {
	case CONN:
		return conn_mask(d->conn);
	case LISTENER:
		return d->first != NULL ? EPOLLIN : 0;
	case ALARM:
		return kernel.alarm_us != 0 && kernel.now_us >= kernel.alarm_us
		    ? EPOLLIN
		    : 0;
	case DATAGRAM:
		return datagram_mask(d);
	default:
		return 0;
	}
}

static uint32_t
reported(const struct descriptor *d)
{
	uint32_t mask;

	if (d->kind == CLOSED_FD || !d->watched ||
	    (d->events & EPOLLET && !d->told))
		return 0;
	mask = mask_of(d);
	return mask & (d->events | EPOLLERR | EPOLLHUP);
}

int
kernel_watch(int op, int fd, const struct epoll_event *event)
{
	struct descriptor *d = descriptor_of(fd);
	int error = 0;

	MUST((op == EPOLL_CTL_ADD) != d->watched);
	if (op != EPOLL_CTL_DEL && d->kind != ALARM && kernel.trouble != NULL)
		error = kernel.trouble("epoll_ctl");
	if (error != 0)
		return failed(error);
	d->watched = op != EPOLL_CTL_DEL;
	if (event != NULL) {
		d->events = event->events;
		d->word = event->data.u64;
	}
	d->told = true;
	return 0;
}

/* Some of those that there are, at least one of them, in any order. */
static int
some_events(struct epoll_event *events, int most)
{
	static int ready[KERNEL_DESCRIPTORS];
	int i, n = 0, wanted;

	for (i = 0; i < KERNEL_DESCRIPTORS; i++)
		if (reported(&table[i]) != 0)
			ready[n++] = i;
	if (n == 0)
		return 0;
	wanted = kernel_one_in(3) ? 1 + (int)kernel_below((unsigned)n) : n;
	if (wanted > most)
		wanted = most;
	for (i = 0; i < wanted; i++) {
		int k = i + (int)kernel_below((unsigned)(n - i));
		struct descriptor *d = &table[ready[k]];

		events[i].events = reported(d);
		events[i].data.u64 = d->word;
		d->told = false;
		ready[k] = ready[i];
	}
	return wanted;
}

int
kernel_wait(struct epoll_event *events, int most, int ms)
{
	uint64_t until = kernel.now_us + (uint64_t)(ms > 0 ? ms : 0) * 1000;
	int n;

	kernel.woken = false;
	kernel.on_sleep(false);
	n = some_events(events, most);
	while (n == 0 && ms != 0 && !kernel.stop && !kernel.woken &&
	    (ms < 0 || kernel.now_us < until)) {
		kernel.on_sleep(true);
		n = some_events(events, most);
	}
	return n;
}

void
kernel_set_alarm(int fd, const struct itimerspec *in)
{
	const struct timespec *v = &in->it_value;

	descriptor_of(fd)->told = true;
	kernel.alarm_us = kernel.now_us + (uint64_t)v->tv_sec * 1000000 +
	    (uint64_t)v->tv_nsec / 1000;
}

/* ---- life ---- */

void
kernel_begin(uint64_t seed)
{
	memset(table, 0, sizeof(table));
	kernel = (struct kernel){ .seed = seed, .now_us = 1000000 * 1000 };
}

void
kernel_end(void)
{
	int i;

	for (i = 0; i < KERNEL_DESCRIPTORS; i++)
		MUST_OR(table[i].kind == CLOSED_FD,
		    "descriptor %d, of kind %d, is left", KERNEL_FIRST + i,
		    table[i].kind);
}

/* For those of a kind. */
struct descriptor *
descriptor_find(enum kind kind, uint16_t port, int *fd)
{
	int i;

	for (i = 0; i < KERNEL_DESCRIPTORS; i++)
		if (table[i].kind == kind &&
		    ntohs(table[i].local.sin_port) == port) {
			*fd = KERNEL_FIRST + i;
			return &table[i];
		}
	return NULL;
}
