/* taken_preload.c: pen as if it was taken over. pen preloads this; on SIGWINCH
 * code runs in it that tries what an intruder would, and writes a line for each
 * try, "NAME ok" or "NAME ERRNO", to the file that PEN_TEST_TAKEN names. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int out = -1;
static char outside[256], inside[256];

static void
tell(const char *name, long rc)
{
	char line[100];
	int n = snprintf(line, sizeof(line), rc < 0 ? "%s %s\n" : "%s ok\n",
	    name, strerrorname_np(errno));

	(void)!write(out, line, (size_t)n);
}

static void
try_open(const char *name, const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	tell(name, fd);
	if (fd >= 0)
		close(fd);
}

static void
try_socket(const char *name, int family, int type)
{
	int fd = socket(family, type | SOCK_CLOEXEC, 0);

	tell(name, fd);
	if (fd >= 0)
		close(fd);
}

/* A new process executes it, where there can be one; else this one. */
static void
try_program(void)
{
	char *argv[] = { "/bin/true", NULL }, *env[] = { NULL };
	pid_t pid = fork();
	int status = 1;

	if (pid != 0)
		tell("fork", pid);
	if (pid <= 0) {
		if (execve(argv[0], argv, env) < 0)
			tell("execve", -1);
		if (pid == 0)
			_exit(1);
		return;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status == 0)
		tell("execve", 0);
}

/* Asks the starter, whose socket is the only one of that kind. */
static void
try_starter(void)
{
	static const struct {
		uint32_t request, arguments, words;
		char text[16];
	} ask = { 1, 1, 0, "/bin/true" };
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec part = { (void *)(uintptr_t)&ask,
		3 * sizeof(uint32_t) + sizeof("/bin/true") };
	struct msghdr m = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	int pass[2] = { out, out }, fd, type;
	int32_t answer[3];
	socklen_t n;

	memset(&control, 0, sizeof(control));
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(pass));
	memcpy(CMSG_DATA(c), pass, sizeof(pass));
	for (fd = 3; fd < 256; fd++) {
		n = sizeof(type);
		if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) < 0 ||
		    type != SOCK_SEQPACKET)
			continue;
		if (sendmsg(fd, &m, 0) < 0 ||
		    recv(fd, answer, sizeof(answer), 0) != sizeof(answer)) {
			tell("starter", -1);
			return;
		}
		errno = answer[2];
		tell("starter", errno != 0 ? -1 : 0);
		return;
	}
	errno = ENOENT;
	tell("starter", -1);
}

static void
on_signal(int signal)
{
	int saved = errno;

	(void)signal;
	try_open("read_outside", "/usr/bin/env", O_RDONLY);
	try_open("write_outside", outside, O_WRONLY | O_CREAT);
	(void)unlink(outside);
	try_open("read_inside", inside, O_RDONLY);
	try_program();
	try_starter();
	try_socket("tcp", AF_INET, SOCK_STREAM);
	try_socket("unix", AF_UNIX, SOCK_STREAM);
	try_socket("netlink", AF_NETLINK, SOCK_RAW);
	try_socket("packet", AF_PACKET, SOCK_RAW);
	try_socket("raw", AF_INET, SOCK_RAW);
	try_socket("vsock", AF_VSOCK, SOCK_STREAM);
	try_socket("alg", AF_ALG, SOCK_SEQPACKET);
	tell("chmod", chmod(inside, 0600));
	tell("chown", chown(inside, getuid(), getgid()));
	tell("setuid_file", fchmod(out, 04755));
	tell("tiocsti", ioctl(out, TIOCSTI, "x"));
	tell("ptrace", ptrace(PTRACE_PEEKDATA, getppid(), 0, 0));
	tell("unshare", syscall(SYS_unshare, 0));
#ifdef SYS_io_uring_setup
	tell("io_uring",
	    syscall(SYS_io_uring_setup, 0, NULL) < 0 && errno == ENOSYS ? -1
									: 0);
#endif
	(void)!write(out, "end\n", 4);
	errno = saved;
}

__attribute__((constructor)) static void
prepare(void)
{
	const char *path = getenv("PEN_TEST_TAKEN");
	struct sigaction a;

	if (path == NULL)
		return;
	snprintf(inside, sizeof(inside), "%s", path);
	snprintf(outside, sizeof(outside), "%s",
	    getenv("PEN_TEST_OUTSIDE") != NULL ? getenv("PEN_TEST_OUTSIDE")
					       : "");
	out = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	memset(&a, 0, sizeof(a));
	a.sa_handler = on_signal;
	(void)sigaction(SIGWINCH, &a, NULL);
}
