/* sock_file.c: socket files; owns none. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/sock_file.h"

/* How long to wait for the lock, and how often to try. */
enum { LOCK_MS = 1000, ASK_MS = 5 };

static bool
has_path(const struct addr *at)
{
	return at->u.sa.sa_family == AF_UNIX && at->u.un.sun_path[0] != '\0';
}

/* ---- the lock ---- */

static int
open_directory(const char *path)
{
	char directory[sizeof(((struct sockaddr_un *)0)->sun_path) + 1];
	const char *slash = strrchr(path, '/');
	size_t n = slash == NULL ? 0
	    : slash == path	 ? 1
				 : (size_t)(slash - path);

	if (n == 0)
		return open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	memcpy(directory, path, n);
	directory[n] = '\0';
	return open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* A process that never unlocks must not keep us from starting. */
int
sock_file_lock(const struct addr *at)
{
	int fd = has_path(at) ? open_directory(at->u.un.sun_path) : -1, ms;

	if (fd < 0)
		return -1;
	for (ms = 0; ms < LOCK_MS; ms += ASK_MS) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return fd;
		if (errno != EWOULDBLOCK && errno != EINTR)
			break;
		(void)poll(NULL, 0, ASK_MS);
	}
	close(fd);
	return -1;
}

/* ---- the file ---- */

/* Whether a process listens on this Unix socket; one for datagrams refuses
 * connections in another way than one that is dead. */
static bool
unix_is_alive(const struct addr *at)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	bool alive;

	if (fd < 0)
		return true;
	(void)fcntl(fd, F_SETFL, O_NONBLOCK); /* its queue may be full */
	alive = connect(fd, &at->u.sa, at->len) == 0 || errno != ECONNREFUSED;
	close(fd);
	return alive;
}

int
sock_file_clear(const struct addr *at, const char *text, struct error *e)
{
	struct stat st;

	if (!has_path(at) || lstat(at->u.un.sun_path, &st) < 0)
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return error_set(e, "\"%s\": exists and is not a socket", text);
	if (unix_is_alive(at))
		return error_set(e, "\"%s\": address already in use", text);
	if (unlink(at->u.un.sun_path) < 0)
		return error_set(e, "\"%s\": %s", text, strerror(errno));
	return 0;
}

int
sock_file_bind(int fd, const struct addr *at, mode_t mode)
{
	mode_t old;
	int rc;

	if (at->u.sa.sa_family != AF_UNIX || mode == 0)
		return bind(fd, &at->u.sa, at->len);
	old = umask(0777 & ~mode);
	rc = bind(fd, &at->u.sa, at->len);
	umask(old);
	return rc;
}

void
sock_file_mark(struct sock_file *f, const struct addr *at)
{
	struct stat st;

	memset(f, 0, sizeof(*f));
	if (has_path(at) && lstat(at->u.un.sun_path, &st) == 0 &&
	    S_ISSOCK(st.st_mode)) {
		f->device = st.st_dev;
		f->inode = st.st_ino;
	}
}

bool
sock_file_is_there(const struct sock_file *f, const struct addr *at)
{
	struct sock_file now;

	sock_file_mark(&now, at);
	return f->inode != 0 && now.inode == f->inode &&
	    now.device == f->device;
}

bool
sock_file_is_lost(const struct sock_file *f, const struct addr *at)
{
	struct stat st;

	if (!has_path(at))
		return false;
	if (lstat(at->u.un.sun_path, &st) < 0)
		return errno == ENOENT;
	return f->inode != 0 &&
	    (st.st_ino != f->inode || st.st_dev != f->device);
}

int
sock_file_set_mode(const struct sock_file *f, const struct addr *at)
{
	const char *path = at->u.un.sun_path;
	struct stat st;

	if (!f->shared || f->mode == 0 || !sock_file_is_there(f, at) ||
	    lstat(path, &st) < 0 || (st.st_mode & 0777) == f->mode)
		return 0;
	return chmod(path, f->mode);
}

void
sock_file_remove(const struct sock_file *f, const struct addr *at)
{
	if (!f->shared && sock_file_is_there(f, at))
		unlink(at->u.un.sun_path);
}

/* In a directory that other users can write to, the file may be exchanged
 * between a check and its use. Where the system has O_PATH, one descriptor is
 * used for both; a file that is not ours any more is left alone. */
int
sock_file_set_owner(
    const struct sock_file *f, const struct addr *at, uid_t user, gid_t group)
{
#if defined(O_PATH) && defined(AT_EMPTY_PATH)
	struct stat st;
	int fd, rc = 0, why;

	if (f->inode == 0)
		return 0;
	fd = open(at->u.un.sun_path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_nlink == 1 &&
	    st.st_dev == f->device && st.st_ino == f->inode &&
	    st.st_uid == geteuid())
		rc = fchownat(fd, "", user, group, AT_EMPTY_PATH);
	why = errno;
	close(fd);
	errno = why;
	return rc;
#else
	return sock_file_is_there(f, at)
	    ? lchown(at->u.un.sun_path, user, group)
	    : 0;
#endif
}
