/* sandbox_calls.c: the list of what is allowed. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control/life/sandbox_calls.h"

#ifdef HAVE_SECCOMP

#include <sched.h>
#include <stddef.h>
#include <seccomp.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

/* What serving, reloads, logs and the C library's own needs come to. Names that
 * a machine does not have are left out. One of several forms of a call is in
 * use, depending on machine and library. */
static const char *const always[] = {
	/* time and the loop */
	"clock_getres", "clock_getres_time64", "clock_gettime",
	"clock_gettime64", "clock_nanosleep", "clock_nanosleep_time64",
	"gettimeofday", "nanosleep", "time", "times", "epoll_create",
	"epoll_create1", "epoll_ctl", "epoll_ctl_old", "epoll_pwait",
	"epoll_pwait2", "epoll_wait", "eventfd", "eventfd2", "poll", "ppoll",
	"ppoll_time64", "select", "_newselect", "pselect6", "pselect6_time64",
	"timerfd_create", "timerfd_settime", "timerfd_settime64",
	"restart_syscall",
	/* sockets; socket() itself depends on the family */
	"accept", "accept4", "bind", "connect", "getpeername", "getsockname",
	"getsockopt", "listen", "recv", "recvfrom", "recvmmsg",
	"recvmmsg_time64", "recvmsg", "send", "sendmmsg", "sendmsg", "sendto",
	"setsockopt", "shutdown",
	/* bytes */
	"read", "readv", "pread64", "preadv", "preadv2", "write", "writev",
	"pwrite64", "pwritev", "pwritev2", "splice", "sendfile", "sendfile64",
	"tee", "pipe", "pipe2", "lseek", "_llseek",
	/* descriptors */
	"close", "close_range", "dup", "dup2", "dup3", "fcntl", "fcntl64",
	"flock", "fsync", "fdatasync", "ftruncate", "ftruncate64",
	"fallocate",
	/* files, of which those that may be opened are limited elsewhere;
	 * modes and owners are changed of open ones alone, as no rule about
	 * files holds for their paths */
	"access", "faccessat", "faccessat2",
	"stat", "stat64", "lstat", "lstat64", "fstat", "fstat64", "fstatat64",
	"newfstatat", "statx", "statfs", "statfs64", "fstatfs", "fstatfs64",
	"getdents", "getdents64", "getcwd", "readlink", "readlinkat", "rename",
	"renameat", "renameat2", "unlink", "unlinkat", "link", "linkat",
	"fchown", "fchown32", "umask",
	"utimensat", "utimensat_time64", "memfd_create",
	/* memory */
	"brk", "madvise", "mmap", "mmap2", "mprotect", "mremap", "munmap",
	"membarrier",
	/* the process itself; signals, children */
	"exit", "exit_group", "futex", "futex_time64", "getpid", "getppid",
	"gettid", "getpgrp", "getpgid", "getsid", "getuid", "getuid32",
	"geteuid", "geteuid32", "getgid", "getgid32", "getegid", "getegid32",
	"getgroups", "getgroups32", "getresuid", "getresuid32", "getresgid",
	"getresgid32", "getrandom", "getrlimit", "ugetrlimit", "setrlimit",
	"prlimit64", "getrusage", "getcpu", "sched_getaffinity", "sched_yield",
	"set_robust_list", "set_tid_address", "set_thread_area", "arch_prctl",
	"rseq", "sysinfo", "uname", "prctl", "capget", "capset", "kill",
	"tgkill", "tkill", "rt_sigaction", "rt_sigprocmask", "rt_sigpending",
	"rt_sigreturn", "rt_sigsuspend", "rt_sigtimedwait",
	"rt_sigtimedwait_time64", "sigaction", "sigprocmask", "sigreturn",
	"sigaltstack", "pause", "wait4", "waitid", "waitpid", "alarm",
	"setitimer", "getitimer", NULL
};
static const char *const frames[] = { "bpf", "mlock", "mlock2", "munlock",
	"perf_event_open", NULL };

/* What gets EPERM; the rest gets ENOSYS, for which the C library has other
 * ways. */
static const char *const refused[] = { "execve", "execveat", "fork", "vfork",
	"ptrace", "process_vm_readv", "process_vm_writev", "mount", "umount2",
	"unshare", "setns", "chroot", "pivot_root", "chmod", "fchmodat",
	"fchmodat2", "chown", "chown32", "fchownat", "lchown", "lchown32",
	NULL };

static int
add_names(scmp_filter_ctx c, uint32_t action, const char *const *name)
{
	int call, rc = 0;

	for (; *name != NULL && (rc == 0 || rc == -EEXIST); name++) {
		call = seccomp_syscall_resolve_name(*name);
		if (call != __NR_SCMP_ERROR)
			rc = seccomp_rule_add(c, action, call, 0);
	}
	return rc == -EEXIST ? 0 : rc;
}

/* ---- arguments ---- */

/* A condition on an argument of 32 bits. */
static struct scmp_arg_cmp
has_bits(unsigned arg, uint32_t mask, uint32_t value)
{
	return (struct scmp_arg_cmp){ .arg = arg,
		.op = SCMP_CMP_MASKED_EQ,
		.datum_a = mask,
		.datum_b = value };
}

/* Permits ioctl(2), but for the requests that type into a terminal (TIOCSTI,
 * TIOCLINUX). */
static int
add_ioctl(scmp_filter_ctx c)
{
	static const uint32_t requests[] = { FIONREAD, FIONBIO, FIOCLEX,
		FIONCLEX, TIOCOUTQ, SIOCOUTQ, TCGETS, TIOCGWINSZ, SIOCGIFMTU,
		SIOCGIFNAME, SIOCGIFFLAGS, SIOCGIFINDEX, SIOCGIFHWADDR,
		SIOCETHTOOL };
	size_t i;
	int rc = 0;

	for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		rc = seccomp_rule_add(c, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
		    has_bits(1, UINT32_MAX, requests[i]));
		if (rc < 0 && rc != -EEXIST)
			return rc;
	}
	return 0;
}

/* No file becomes one that gives its user or group to who executes it. */
static int
add_modes(scmp_filter_ctx c)
{
	static const struct {
		const char *name;
		unsigned arg;
	} calls[] = { { "open", 2 }, { "openat", 3 }, { "fchmod", 1 } };
	size_t i;
	int call, rc = 0;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]) && rc == 0; i++) {
		call = seccomp_syscall_resolve_name(calls[i].name);
		if (call != __NR_SCMP_ERROR)
			rc = seccomp_rule_add(c, SCMP_ACT_ALLOW, call, 1,
			    has_bits(calls[i].arg, S_ISUID | S_ISGID, 0));
	}
	return rc;
}

#ifdef SYS_socketcall
/* i386, s390x: the C library may only say where the family is, which no filter
 * reads. */
static int
add_sockets(scmp_filter_ctx c, bool tries, unsigned needs)
{
	static const char *const any[] = { "socket", "socketpair", NULL };

	(void)tries, (void)needs;
	return add_names(c, SCMP_ACT_ALLOW, any);
}

#else

static bool
is_family_allowed(int family, unsigned needs)
{
	return family == AF_UNIX || family == AF_INET || family == AF_INET6 ||
	    (needs & SANDBOX_FRAMES &&
		(family == AF_NETLINK || family == AF_PACKET));
}

/* A condition on the first argument. */
static struct scmp_arg_cmp
first(enum scmp_compare op, int value)
{
	return (struct scmp_arg_cmp){ .op = op,
		.datum_a = (scmp_datum_t)value };
}

/* Raw sockets are for frames; transparent servers need the right to them, but
 * no such socket. */
static int
add_family(scmp_filter_ctx c, int family, unsigned needs)
{
	static const int types[] = { SOCK_STREAM, SOCK_DGRAM };
	size_t i = 0;
	int rc = 0;

	if (needs & SANDBOX_FRAMES && family != AF_UNIX)
		return seccomp_rule_add(c, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
		    first(SCMP_CMP_EQ, family));
	if (family == AF_UNIX && !(needs & SANDBOX_UNIX))
		i = 1; /* datagrams alone */
	for (; i < sizeof(types) / sizeof(types[0]) && rc == 0; i++)
		rc = seccomp_rule_add(c, SCMP_ACT_ALLOW, SCMP_SYS(socket), 2,
		    first(SCMP_CMP_EQ, family),
		    SCMP_A1(SCMP_CMP_MASKED_EQ, 0xf, (scmp_datum_t)types[i]));
	return rc;
}

static int
add_sockets(scmp_filter_ctx c, bool tries, unsigned needs)
{
	const int last = needs & SANDBOX_FRAMES ? AF_PACKET : AF_INET6;
	int family,
	    rc = seccomp_rule_add(c, SCMP_ACT_ALLOW, SCMP_SYS(socketpair), 2,
		first(SCMP_CMP_EQ, AF_UNIX), has_bits(1, 0xf, SOCK_STREAM));

	/* one for datagrams could be connected elsewhere */
	if (rc == 0)
		rc = seccomp_rule_add(c, SCMP_ACT_ALLOW, SCMP_SYS(socketpair),
		    2, first(SCMP_CMP_EQ, AF_UNIX),
		    has_bits(1, 0xf, SOCK_SEQPACKET));
	if (rc == 0 && !tries)
		rc = seccomp_rule_add(c, SCMP_ACT_ERRNO(EAFNOSUPPORT),
		    SCMP_SYS(socket), 1,
		    first(SCMP_CMP_GT, last));
	for (family = 0; family <= last && rc == 0; family++)
		if (is_family_allowed(family, needs))
			rc = add_family(c, family, needs);
		else if (!tries)
			rc = seccomp_rule_add(c, SCMP_ACT_ERRNO(EAFNOSUPPORT),
			    SCMP_SYS(socket), 1,
			    first(SCMP_CMP_EQ, family));
	return rc;
}

#endif

/* fork() of the C library is clone(). New namespaces, in which everything could
 * be mounted, are no part of it. */
static int
add_fork(scmp_filter_ctx c)
{
	const scmp_datum_t spaces = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC |
	    CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP |
	    CLONE_NEWTIME;
#ifdef __s390__
	const unsigned flags = 1;
#else
	const unsigned flags = 0;
#endif

	return seccomp_rule_add(c, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
	    SCMP_CMP(flags, SCMP_CMP_MASKED_EQ, spaces, 0));
}

static int
add_all(scmp_filter_ctx c, bool tries, unsigned needs)
{
	int rc = add_names(c, SCMP_ACT_ALLOW, always);

	if (rc == 0)
		rc = add_ioctl(c);
	if (rc == 0)
		rc = add_modes(c);
	if (rc == 0)
		rc = add_sockets(c, tries, needs);
	if (rc == 0 && needs & SANDBOX_FRAMES)
		rc = add_names(c, SCMP_ACT_ALLOW, frames);
	if (rc == 0 && needs & SANDBOX_FORK)
		rc = add_fork(c);
	else if (rc == 0 && !tries)
		rc = seccomp_rule_add(
		    c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 0);
	if (rc == 0 && !tries)
		rc = add_names(c, SCMP_ACT_ERRNO(EPERM), refused);
	return rc;
}

/* libseccomp reports a call that a service manager does not permit as a lack of
 * memory. */
static int
check_call(struct error *e)
{
	uint32_t action = SECCOMP_RET_ALLOW;

	if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0 ||
	    errno != EPERM)
		return 0;
	return error_set(e,
	    "seccomp: %s: a filter of system calls, such as SystemCallFilter= "
	    "of systemd, has to permit seccomp",
	    strerror(EPERM));
}

int
sandbox_calls_enter(bool tries, unsigned needs, struct error *e)
{
	scmp_filter_ctx c;
	int rc;

	if (check_call(e) < 0)
		return -1;
	c = seccomp_init(tries ? SCMP_ACT_LOG : SCMP_ACT_ERRNO(ENOSYS));
	rc = c == NULL ? -ENOMEM : 0;
	if (rc == 0 && tries)
		rc = seccomp_attr_set(c, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_LOG);
	if (rc == 0)
		rc = add_all(c, tries, needs);
	if (rc == 0)
		rc = seccomp_load(c);
	if (c != NULL)
		seccomp_release(c);
	return rc == 0 ? 0 : error_set(e, "seccomp: %s", strerror(-rc));
}

void
sandbox_calls_library_version(char text[SANDBOX_VERSION_MAX])
{
	const struct scmp_version *v = seccomp_version();

	snprintf(text, SANDBOX_VERSION_MAX, "%u.%u.%u", v->major, v->minor,
	    v->micro);
}

#else

int
sandbox_calls_enter(bool tries, unsigned needs, struct error *e)
{
	(void)tries, (void)needs;
	return error_set(e, "not in this build");
}

void
sandbox_calls_library_version(char text[SANDBOX_VERSION_MAX])
{
	text[0] = '\0';
}

#endif
