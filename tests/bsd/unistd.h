/* unistd.h: what BSD and macOS have in addition, by means of Linux, so that pen
 * of `portable.sh bsd` runs. */
#ifndef BSD_UNISTD_H
#define BSD_UNISTD_H

#include <sys/socket.h>
#include_next <unistd.h>

enum { BSD_PEERCRED = SO_PEERCRED };
#undef SO_PEERCRED

/* getpeereid(3) */
static inline int
getpeereid(int fd, uid_t *uid, gid_t *gid)
{
	struct ucred peer;
	socklen_t n = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, BSD_PEERCRED, &peer, &n) < 0)
		return -1;
	*uid = peer.uid;
	*gid = peer.gid;
	return 0;
}

#endif
