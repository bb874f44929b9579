/* faults_calls.c: the calls that may fail, and the errors they may have. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/faults.h"
#include "support/faults_preload.h"

#ifdef __GLIBC__

#define ERRORS(...) ((const int[]){ __VA_ARGS__, 0 })

/* `fails` is what the function returns then, with `e` in errno; `prepare` is
 * done when `e` is known. */
#define CALL_WITH(type, name, params, args, fd, flags, prepare, fails, ...) \
	type name params;                                                   \
	type name params                                                    \
	{                                                                   \
		static type(*next) params;                                  \
		int e = fault(#name, ERRORS(__VA_ARGS__), fd, flags);       \
                                                                            \
		if (next == NULL)                                           \
			next = (type(*) params)dlsym(RTLD_NEXT, #name);     \
		prepare;                                                    \
		if (e == 0)                                                 \
			return next args;                                   \
		errno = e;                                                  \
		return fails;                                               \
	}
#define CALL(type, name, params, args, fails, ...)                          \
	CALL_WITH(type, name, params, args, FAULT_NO_FD, 0, (void)0, fails, \
	    __VA_ARGS__)
#define CALL_FD(type, name, params, args, fd, ...) \
	CALL_WITH(type, name, params, args, fd, 0, (void)0, -1, __VA_ARGS__)
/* Moves `n` bytes, or fewer. */
#define SHORTEN(n)                 \
	if (e == FAULTS_SHORT) {   \
		n = n > 1 ? 1 : n; \
		e = 0;             \
	}
#define CALL_BYTES(type, name, params, args, fd, flags, n, ...) \
	CALL_WITH(                                              \
	    type, name, params, args, fd, flags, SHORTEN(n), -1, __VA_ARGS__)

#define NO_FILES EMFILE, ENFILE, ENOMEM
#define NO_PATH	 ENOSPC, EIO, EACCES, EMFILE, ENFILE, ENOMEM

CALL(void *, malloc, (size_t n), (n), NULL, ENOMEM)
CALL(void *, calloc, (size_t n, size_t size), (n, size), NULL, ENOMEM)
CALL(void *, realloc, (void *m, size_t n), (m, n), NULL, ENOMEM)
CALL(void *, aligned_alloc, (size_t align, size_t n), (align, n), NULL, ENOMEM)
CALL(void *, mmap, (void *m, size_t n, int prot, int flags, int fd, off_t at),
    (m, n, prot, flags, fd, at), MAP_FAILED, ENOMEM)
CALL(int, memfd_create, (const char *name, unsigned flags), (name, flags), -1,
    NO_FILES)

CALL(int, socket, (int family, int type, int proto), (family, type, proto), -1,
    NO_FILES, ENOBUFS, EAFNOSUPPORT)
CALL(int, socketpair, (int family, int type, int proto, int fds[2]),
    (family, type, proto, fds), -1, NO_FILES)
CALL_FD(int, accept4, (int fd, struct sockaddr *at, socklen_t *n, int flags),
    (fd, at, n, flags), fd, NO_FILES, ENOBUFS, ECONNABORTED, EINTR, EAGAIN)
CALL_FD(int, connect, (int fd, const struct sockaddr *at, socklen_t n),
    (fd, at, n), fd, EADDRNOTAVAIL, ENOBUFS, ENOMEM, EINTR, EAGAIN, ENETUNREACH)
CALL_FD(int, bind, (int fd, const struct sockaddr *at, socklen_t n),
    (fd, at, n), fd, EADDRNOTAVAIL, EADDRINUSE, ENOMEM, EACCES, ENOSPC)
CALL_FD(int, listen, (int fd, int n), (fd, n), fd, EADDRINUSE, ENOMEM)
CALL_FD(int, setsockopt,
    (int fd, int level, int name, const void *value, socklen_t n),
    (fd, level, name, value, n), fd, ENOMEM, ENOBUFS, ENOPROTOOPT)
CALL_FD(int, getsockopt,
    (int fd, int level, int name, void *value, socklen_t *n),
    (fd, level, name, value, n), fd, ENOBUFS, ENOPROTOOPT)
CALL_FD(int, getsockname, (int fd, struct sockaddr *at, socklen_t *n),
    (fd, at, n), fd, ENOBUFS)
CALL_FD(int, getpeername, (int fd, struct sockaddr *at, socklen_t *n),
    (fd, at, n), fd, ENOBUFS, ENOTCONN)

CALL_BYTES(ssize_t, read, (int fd, void *m, size_t n), (fd, m, n), fd, 0, n,
    EINTR, EAGAIN, EIO, ENOMEM, FAULTS_SHORT)
CALL_BYTES(ssize_t, write, (int fd, const void *m, size_t n), (fd, m, n), fd, 0,
    n, EINTR, EAGAIN, EIO, ENOSPC, ENOMEM, FAULTS_SHORT)
CALL_BYTES(ssize_t, pwrite, (int fd, const void *m, size_t n, off_t at),
    (fd, m, n, at), fd, 0, n, EINTR, EIO, ENOSPC, FAULTS_SHORT)
CALL_BYTES(ssize_t, recv, (int fd, void *m, size_t n, int flags),
    (fd, m, n, flags), fd, flags, n, EINTR, EAGAIN, ECONNRESET, ENOMEM,
    FAULTS_SHORT)
CALL_BYTES(ssize_t, send, (int fd, const void *m, size_t n, int flags),
    (fd, m, n, flags), fd, flags, n, EINTR, EAGAIN, ECONNRESET, ENOBUFS, ENOMEM,
    FAULTS_SHORT)
CALL_BYTES(ssize_t, recvfrom,
    (int fd, void *m, size_t n, int flags, struct sockaddr *at,
	socklen_t *size),
    (fd, m, n, flags, at, size), fd, flags, n, EINTR, EAGAIN, ECONNRESET,
    ENOMEM)
CALL_BYTES(ssize_t, sendto,
    (int fd, const void *m, size_t n, int flags, const struct sockaddr *at,
	socklen_t size),
    (fd, m, n, flags, at, size), fd, flags, n, EINTR, EAGAIN, ENOBUFS, ENOMEM)
CALL_WITH(ssize_t, recvmsg, (int fd, struct msghdr *m, int flags),
    (fd, m, flags), fd, flags, (void)0, -1, EINTR, EAGAIN, ECONNRESET, ENOMEM)
CALL_WITH(ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags),
    (fd, m, flags), fd, flags, (void)0, -1, EINTR, EAGAIN, ECONNRESET, ENOBUFS,
    ENOMEM)
CALL_WITH(int, recvmmsg,
    (int fd, struct mmsghdr *m, unsigned n, int flags, struct timespec *wait),
    (fd, m, n, flags, wait), fd, flags, (void)0, -1, EINTR, EAGAIN, ECONNRESET,
    ENOMEM)
CALL_WITH(int, sendmmsg, (int fd, struct mmsghdr *m, unsigned n, int flags),
    (fd, m, n, flags), fd, flags, (void)0, -1, EINTR, EAGAIN, ECONNRESET,
    ENOBUFS, ENOMEM)
CALL_BYTES(ssize_t, splice,
    (int fd, off64_t *from, int to, off64_t *at, size_t n, unsigned flags),
    (fd, from, to, at, n, flags), fd, 0, n, EINTR, EAGAIN, ENOMEM, FAULTS_SHORT)

CALL(int, epoll_create1, (int flags), (flags), -1, NO_FILES)
CALL(int, epoll_wait, (int set, struct epoll_event *ev, int n, int ms),
    (set, ev, n, ms), -1, EINTR)
CALL(int, epoll_pwait2,
    (int set, struct epoll_event *ev, int n, const struct timespec *wait,
	const sigset_t *mask),
    (set, ev, n, wait, mask), -1, EINTR)
CALL(int, poll, (struct pollfd * fds, nfds_t n, int ms), (fds, n, ms), -1,
    EINTR, ENOMEM)
CALL(int, pipe, (int fds[2]), (fds), -1, NO_FILES)
CALL(int, pipe2, (int fds[2], int flags), (fds, flags), -1, NO_FILES)
CALL(int, eventfd, (unsigned n, int flags), (n, flags), -1, NO_FILES)
CALL(int, timerfd_create, (int clock, int flags), (clock, flags), -1, NO_FILES)
CALL(int, dup, (int fd), (fd), -1, EMFILE)
CALL(int, dup2, (int fd, int to), (fd, to), -1, EMFILE, EINTR)

CALL(FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL,
    NO_PATH, EINTR)
CALL(DIR *, opendir, (const char *path), (path), NULL, NO_FILES, EACCES)
CALL(DIR *, fdopendir, (int fd), (fd), NULL, ENOMEM)
CALL(int, mkstemp, (char *path), (path), -1, NO_PATH)
CALL(int, rename, (const char *from, const char *to), (from, to), -1, ENOSPC,
    EIO, EACCES)
CALL(int, unlink, (const char *path), (path), -1, EIO, EACCES)
CALL(int, stat, (const char *path, struct stat *st), (path, st), -1, EIO,
    EACCES, ENOMEM)
CALL(int, lstat, (const char *path, struct stat *st), (path, st), -1, EIO,
    EACCES)
CALL(int, fstat, (int fd, struct stat *st), (fd, st), -1, EIO)
CALL(int, fstatat, (int fd, const char *path, struct stat *st, int flags),
    (fd, path, st, flags), -1, EIO)
CALL(int, fsync, (int fd), (fd), -1, EIO, ENOSPC)
CALL(int, ftruncate, (int fd, off_t n), (fd, n), -1, EIO, EINTR)
CALL(int, fchmod, (int fd, mode_t mode), (fd, mode), -1, EPERM, EIO)
CALL(int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group), -1,
    EPERM)
CALL(int, flock, (int fd, int how), (fd, how), -1, ENOLCK, EINTR)
CALL(int, fflush, (FILE * f), (f), EOF, ENOSPC, EIO)
CALL(struct dirent *, readdir, (DIR * d), (d), NULL, EIO)
CALL(ssize_t, readlinkat, (int fd, const char *path, char *m, size_t n),
    (fd, path, m, n), -1, EIO)
CALL(char *, getcwd, (char *m, size_t n), (m, n), NULL, EACCES)
CALL(int, chdir, (const char *path), (path), -1, EACCES)

CALL(pid_t, fork, (void), (), -1, EAGAIN, ENOMEM)
CALL(pid_t, waitpid, (pid_t pid, int *status, int flags), (pid, status, flags),
    -1, EINTR)
CALL(int, posix_spawn,
    (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,
	const posix_spawnattr_t *attr, char *const argv[], char *const env[]),
    (pid, path, actions, attr, argv, env), e, EAGAIN, ENOMEM)
CALL(int, setuid, (uid_t user), (user), -1, EAGAIN, EPERM)
CALL(int, setgid, (gid_t group), (group), -1, EPERM)
CALL(int, initgroups, (const char *user, gid_t group), (user, group), -1,
    ENOMEM, EPERM)
CALL(pid_t, setsid, (void), (), -1, EPERM)
CALL(struct passwd *, getpwnam, (const char *name), (name), NULL, EMFILE, EIO)
CALL(int, getifaddrs, (struct ifaddrs * *list), (list), -1, EMFILE, ENOMEM)
CALL(int, getentropy, (void *m, size_t n), (m, n), -1, EIO)
CALL(int, getaddrinfo,
    (const char *host, const char *port, const struct addrinfo *hints,
	struct addrinfo **list),
    (host, port, hints, list), e, EAI_MEMORY, EAI_AGAIN, EAI_FAIL)

/* Of libraries, where no more than one of their allocations matters. */
CALL(int, evbuffer_add, (void *to, const void *m, size_t n), (to, m, n), -1,
    ENOMEM)
CALL(int, SSL_set_ex_data, (void *ssl, int at, void *data), (ssl, at, data), 0,
    ENOMEM)
CALL(int, SSL_CTX_set_ex_data, (void *ctx, int at, void *data), (ctx, at, data),
    0, ENOMEM)

/* With arguments that may not be there, or an effect besides. */

#define MORE(type, last)         \
	va_list ap;              \
	type more;               \
                                 \
	va_start(ap, last);      \
	more = va_arg(ap, type); \
	va_end(ap)

static const int of_open[] = { NO_PATH, EINTR, 0 };

int
open(const char *path, int flags, ...)
{
	int e = fault("open", of_open, FAULT_NO_FD, 0);
	MORE(int, flags);

	if (e == 0)
		return (int)syscall(SYS_openat, AT_FDCWD, path, flags, more);
	errno = e;
	return -1;
}

int
openat(int dir, const char *path, int flags, ...)
{
	int e = fault("openat", of_open, FAULT_NO_FD, 0);
	MORE(int, flags);

	if (e == 0)
		return (int)syscall(SYS_openat, dir, path, flags, more);
	errno = e;
	return -1;
}

/* Reading flags cannot fail. */
int
fcntl(int fd, int what, ...)
{
	bool makes = what == F_DUPFD || what == F_DUPFD_CLOEXEC;
	bool can = what != F_GETFL && what != F_GETFD;
	int e = makes ? fault("fcntl", ERRORS(EMFILE), FAULT_NO_FD, 0)
	    : can     ? fault("fcntl", ERRORS(ENOLCK), FAULT_NO_FD, 0)
		      : 0;
	MORE(void *, what);

	if (e == 0)
		return (int)syscall(SYS_fcntl, fd, what, more);
	errno = e;
	return -1;
}

int
ioctl(int fd, unsigned long what, ...)
{
	int e = fault("ioctl", ERRORS(ENOMEM), FAULT_NO_FD, 0);
	MORE(void *, what);

	if (e == 0)
		return (int)syscall(SYS_ioctl, fd, what, more);
	errno = e;
	return -1;
}

int
clone(int (*run)(void *), void *stack, int flags, void *arg, ...)
{
	static int (*next)(int (*)(void *), void *, int, void *, ...);
	int e = fault("clone", ERRORS(EAGAIN, ENOMEM), FAULT_NO_FD, 0);

	if (next == NULL)
		next = dlsym(RTLD_NEXT, "clone");
	if (e == 0)
		return next(run, stack, flags, arg);
	errno = e;
	return -1;
}

int
close(int fd)
{
	int e = fault("close", ERRORS(EIO, EINTR), FAULT_NO_FD, 0);
	int rc = (int)syscall(SYS_close, fd);

	if (e == 0)
		return rc;
	errno = e;
	return -1;
}

int
shutdown(int fd, int how)
{
	int e = fault("shutdown", ERRORS(ENOTCONN), FAULT_NO_FD, 0);
	int rc = (int)syscall(SYS_shutdown, fd, how);

	if (e == 0)
		return rc;
	errno = e;
	return -1;
}

int
epoll_ctl(int set, int what, int fd, struct epoll_event *event)
{
	int e = what == EPOLL_CTL_DEL
	    ? 0
	    : fault("epoll_ctl", ERRORS(ENOMEM, ENOSPC), FAULT_NO_FD, 0);
	int rc;

	if (e != 0) {
		errno = e;
		return -1;
	}
	rc = (int)syscall(SYS_epoll_ctl, set, what, fd, event);
	if (rc == 0)
		fault_note_watch(set, what, fd, event);
	return rc;
}
#endif
