/* faults_preload.c: whether a call fails, and where it was made.
 *
 * A call that fails does not happen, except close() and shutdown(), which are
 * done all the same. A call that finds nothing (EAGAIN), or less than there is,
 * leaves a socket ready: an epoll set that tells of changes is made to tell
 * again, as it would when more had come a moment later. After a reset the
 * connection is at an end. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/faults.h"
#include "support/faults_preload.h"

#ifdef __GLIBC__

enum { FRAMES = 32, MODULES = 64, WATCHED = 4096 };

static struct module {
	char name[28];
	uintptr_t base, from, to;
} modules[MODULES];
static struct {
	int set;
	bool is_there;
	struct epoll_event event;
} watched[WATCHED];
static struct faults *faults;
static _Thread_local bool busy; /* what is called from here does not fail */

/* ---- where ---- */

static int
add_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	int *n = arg, i;
	const char *slash = strrchr(info->dlpi_name, '/');
	struct module *m = &modules[*n];

	(void)size;
	if (*n == MODULES)
		return 0;
	snprintf(m->name, sizeof(m->name), "%.27s",
	    slash != NULL ? slash + 1
		: *n > 0  ? info->dlpi_name
			  : "pen");
	m->base = info->dlpi_addr;
	m->from = UINTPTR_MAX;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t at = m->base + p->p_vaddr;

		if (p->p_type != PT_LOAD)
			continue;
		m->from = at < m->from ? at : m->from;
		m->to = at + p->p_memsz > m->to ? at + p->p_memsz : m->to;
	}
	++*n;
	return 0;
}

static const struct module *
module_of(void *address)
{
	static const struct module other = { .name = "?" };
	uintptr_t at = (uintptr_t)address;
	int i;

	for (i = 0; i < MODULES; i++)
		if (at >= modules[i].from && at < modules[i].to)
			return &modules[i];
	return &other;
}

static uint64_t
mix(uint64_t h, uint64_t more)
{
	h = (h ^ more) * 0x9e3779b97f4a7c15;
	return h ^ h >> 29;
}

static uintptr_t
offset_of(void *address)
{
	const struct module *m = module_of(address);

	return m->to != 0 ? (uintptr_t)address - m->base : 0;
}

static uint64_t
hash_stack(void **frames, int n, const char *call)
{
	uint64_t h = 1;
	int i;

	for (; *call != '\0'; call++)
		h = mix(h, (unsigned char)*call);
	for (i = 0; i < n && i < faults->depth; i++)
		h = mix(h, offset_of(frames[i]));
	return h;
}

/* Is it the first time that this site is seen? */
static bool
is_new(uint64_t site)
{
	unsigned i, at = (unsigned)(site % FAULTS_SITES);

	for (i = 0; i < FAULTS_SITES / 2; i++, at = (at + 1) % FAULTS_SITES) {
		if (faults->tried[at] == site)
			return false;
		if (faults->tried[at] == 0) {
			faults->tried[at] = site;
			return true;
		}
	}
	return false;
}

static void
describe(void **frames, int n, const char *call, int error)
{
	size_t used = 0;
	int i;

	snprintf(faults->call, sizeof(faults->call), "%s", call);
	faults->error = error;
	faults->where[0] = '\0';
	for (i = 0; i < n && used < FAULTS_WHERE - 60; i++)
		used += (size_t)snprintf(faults->where + used, 60, " %s+0x%lx",
		    module_of(frames[i])->name,
		    (unsigned long)offset_of(frames[i]) - 1);
}

/* ---- whether ---- */

static bool
is_nonblocking(int fd)
{
	return (syscall(SYS_fcntl, fd, F_GETFL) & O_NONBLOCK) != 0;
}

static int
type_of(int fd)
{
	socklen_t n = sizeof(int);
	int type = 0;

	return syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &n) == 0
	    ? type
	    : 0;
}

/* Could this descriptor have that error? */
static bool
is_possible(int error, int fd, int flags)
{
	struct stat st;

	/* pipes lead from pen to itself, and hold little, but for one between a
	 * child and its parent, which blocks */
	if (error != EAGAIN && error != FAULTS_SHORT && fd != FAULT_NO_FD &&
	    fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode) && is_nonblocking(fd))
		return false;
	switch (error) {
	case EAGAIN:
		return fd == FAULT_NO_FD || is_nonblocking(fd) ||
		    (flags & MSG_DONTWAIT) != 0;
	case FAULTS_SHORT:
		return type_of(fd) == SOCK_STREAM || type_of(fd) == 0;
	case ENOSPC:
		return fd == FAULT_NO_FD || type_of(fd) == 0;
	case ECONNRESET:
	case ENOBUFS:
		return fd == FAULT_NO_FD || type_of(fd) != 0;
	default:
		return true;
	}
}

static void
tell_again(int fd)
{
	if (fd >= 0 && fd < WATCHED && watched[fd].is_there)
		syscall(SYS_epoll_ctl, watched[fd].set, EPOLL_CTL_MOD, fd,
		    &watched[fd].event);
}

/* Where libraries fail for good, whatever pen does: libevent 2.1 goes on with
 * the NULL it has got, what OpenSSL 3.0 could not set up once is never tried
 * again. */
static bool
is_spared(void *const *frames, int n, const char *call)
{
	static const char *const calls[] = { "bufferevent_setwatermark",
		"evhttp_connection_base_bufferevent_new", "evhttp_request_new",
		"CRYPTO_THREAD_run_once", NULL };
	Dl_info of;
	int i, k;

	/* its pair of sockets for signals: there is a byte, or room for one */
	if (n > 0 &&
	    (strcmp(call, "write") == 0 || strcmp(call, "recv") == 0 ||
		strcmp(call, "read") == 0) &&
	    strncmp(module_of(frames[0])->name, "libevent_core", 13) == 0)
		return true;
	for (i = 0; i < n; i++)
		for (k = 0; calls[k] != NULL; k++)
			if (dladdr(frames[i], &of) != 0 &&
			    of.dli_sname != NULL &&
			    strcmp(of.dli_sname, calls[k]) == 0)
				return true;
	return false;
}

static __attribute__((noinline)) int
fail_one_of(const char *call, const int *errors, int fd, int flags)
{
	void *frames[FRAMES];
	int n = backtrace(frames, FRAMES) - 3;
	uint64_t stack, site;

	if (n < 0)
		return 0;
	stack = hash_stack(frames + 3, n, call);
	for (; *errors != 0; errors++) {
		if (!is_possible(*errors, fd, flags))
			continue;
		site = mix(stack, (uint64_t)*errors);
		if (!is_new(site))
			continue;
		faults->sites++;
		if (site % 1000003 % faults->of != 0 ||
		    is_spared(frames + 3, n, call))
			continue;
		describe(frames + 3, n, call, *errors);
		faults->armed = 0;
		faults->failed = 1;
		if (*errors == EAGAIN || *errors == EINTR ||
		    *errors == FAULTS_SHORT)
			tell_again(fd);
		if (*errors == ECONNRESET && type_of(fd) == SOCK_STREAM)
			syscall(SYS_shutdown, fd, SHUT_RDWR);
		return *errors;
	}
	return 0;
}

static bool
moves_bytes(const char *call)
{
	static const char *const calls[] = { "read", "write", "pwrite", "recv",
		"send", "recvfrom", "sendto", "recvmsg", "sendmsg", "recvmmsg",
		"sendmmsg", "splice" };
	unsigned i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(call, calls[i]) == 0)
			return true;
	return false;
}

static __attribute__((noinline)) int
fail_always(const char *call, const int *errors, int fd, int flags)
{
	void *frames[FRAMES];
	int n;

	while (*errors != 0 && *errors != faults->lasts)
		errors++;
	if (*errors == 0 || moves_bytes(call) ||
	    !is_possible(*errors, fd, flags))
		return 0;
	n = backtrace(frames, FRAMES) - 3;
	if (n < 0 || is_spared(frames + 3, n, call))
		return 0;
	if (faults->failed++ == 0)
		describe(frames + 3, n, call, *errors);
	return *errors;
}

int
fault(const char *call, const int *errors, int fd, int flags)
{
	int before = errno, error;

	if (faults == NULL || !faults->armed || busy ||
	    (faults->only[0] != '\0' && strcmp(faults->only, call) != 0))
		return 0;
	busy = true;
	error = faults->lasts != 0 ? fail_always(call, errors, fd, flags)
				   : fail_one_of(call, errors, fd, flags);
	busy = false;
	errno = before;
	return error;
}

void
fault_note_watch(int set, int what, int fd, const struct epoll_event *event)
{
	if (fd < 0 || fd >= WATCHED)
		return;
	watched[fd].set = set;
	watched[fd].is_there = what != EPOLL_CTL_DEL;
	if (event != NULL)
		watched[fd].event = *event;
}

__attribute__((constructor)) static void
begin(void)
{
	const char *path = getenv("PEN_FAULTS");
	void *frame[1], *m;
	int n = 0, fd;

	/* not what pen runs, or what runs pen */
	if (path == NULL ||
	    strncmp(program_invocation_short_name, "pen", 3) != 0)
		return;
	busy = true;
	backtrace(frame, 1); /* the first one allocates */
	dl_iterate_phdr(add_module, &n);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		abort();
	m = mmap(NULL, sizeof(struct faults), PROT_READ | PROT_WRITE,
	    MAP_SHARED, fd, 0);
	close(fd);
	if (m == MAP_FAILED)
		abort();
	faults = m;
	busy = false;
}
#endif
