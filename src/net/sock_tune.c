/* sock_tune.c: buffers and rates that the kernel keeps for a socket. */
#include "config.h"

#include <limits.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "net/sock.h"

/* Linux has had OMIT since 2013; before, a path MTU that the kernel had from
 * elsewhere counted. The BSDs set DF only where that is set. */
void
sock_set_fragments(int fd, int family, bool may)
{
#if defined(IP_MTU_DISCOVER) && defined(IP_PMTUDISC_DONT)
	int how = may ? IP_PMTUDISC_DONT : IP_PMTUDISC_WANT;

#ifdef IP_PMTUDISC_OMIT
	if (may)
		how = IP_PMTUDISC_OMIT;
#endif
	if (family != AF_UNIX)
		(void)setsockopt(
		    fd, IPPROTO_IP, IP_MTU_DISCOVER, &how, sizeof(how));
#elif defined(IP_DONTFRAG)
	int how = !may;

	if (family != AF_UNIX)
		(void)setsockopt(
		    fd, IPPROTO_IP, IP_DONTFRAG, &how, sizeof(how));
#else
	(void)fd, (void)family, (void)may;
#endif
}

bool
sock_can_pace(void)
{
#ifdef SO_MAX_PACING_RATE
	return true;
#else
	return false;
#endif
}

static void
set_size(int fd, int name, uint64_t size)
{
	int value = size < INT_MAX ? (int)size : INT_MAX;

	if (size > 0)
		(void)setsockopt(fd, SOL_SOCKET, name, &value, sizeof(value));
}

/* Older kernels take 32 bits, whose highest value is no limit. */
static void
sock_set_pacing(int fd, uint64_t rate)
{
#ifdef SO_MAX_PACING_RATE
	uint32_t half = rate < UINT32_MAX ? (uint32_t)rate : UINT32_MAX;

	if (setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate,
		sizeof(rate)) < 0)
		(void)setsockopt(
		    fd, SOL_SOCKET, SO_MAX_PACING_RATE, &half, sizeof(half));
#else
	(void)fd;
	(void)rate;
#endif
}

void
sock_tune(int fd, const struct sock_tuning *t)
{
	set_size(fd, SO_SNDBUF, t->sndbuf);
	set_size(fd, SO_RCVBUF, t->rcvbuf);
	if (t->rate > 0)
		sock_set_pacing(fd, t->rate);
}
