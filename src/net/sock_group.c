/* sock_group.c: SO_REUSEPORT, and the program by which the kernel finds the
 * socket that a client gets (socket(7), SO_ATTACH_REUSEPORT_CBPF). */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef SO_ATTACH_REUSEPORT_CBPF
#include <linux/filter.h>
#endif

#include "net/sock_group.h"
#include "net/socket_set.h"

/* Fibonacci hashing: neighbours are spread evenly. */
#define GROUP_FACTOR UINT32_C(0x9e3779b1)

/* The kernel's program computes the same. */
static unsigned
group_index(uint32_t address, uint32_t port, unsigned count)
{
	return ((address + port * GROUP_FACTOR) * GROUP_FACTOR >> 16) % count;
}

unsigned
sock_group_of(const struct peer *who, unsigned count, enum sock_group_by by)
{
	uint32_t w[4], port = by == SOCK_GROUP_BY_CONNECTION ? who->port : 0;
	unsigned i;

	for (i = 0; i < 4; i++)
		w[i] = (uint32_t)who->ip[4 * i] << 24 |
		    (uint32_t)who->ip[4 * i + 1] << 16 |
		    (uint32_t)who->ip[4 * i + 2] << 8 | who->ip[4 * i + 3];
	if (who->family != AF_INET6)
		return who->family == AF_INET ? group_index(w[3], port, count)
					      : 0;
	return group_index(w[0] * GROUP_FACTOR + w[1], port, count);
}

#ifdef SO_ATTACH_REUSEPORT_CBPF

/* The words of the source address in an IPv4 or IPv6 header, and the source
 * port behind it, hashed as group_index() does it. Behind an IPv6 header with
 * extensions is another number, which is the same for all of a connection. */
int
sock_group_steer(int socket, unsigned count, enum sock_group_by by)
{
	enum { NET = SKF_NET_OFF, V4_SOURCE = 12, V6_SOURCE = 8, V6_PORT = 40 };
	unsigned ports = by == SOCK_GROUP_BY_CONNECTION ? 0xffff : 0;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, NET),
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 6, 5, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NET + V4_SOURCE),
		BPF_STMT(BPF_ST, 0),
		BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, NET),
		BPF_STMT(BPF_LD | BPF_H | BPF_IND, NET),
		BPF_STMT(BPF_JMP | BPF_JA, 7),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NET + V6_SOURCE),
		BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, GROUP_FACTOR),
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NET + V6_SOURCE + 4),
		BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0),
		BPF_STMT(BPF_ST, 0),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, NET + V6_PORT),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ports),
		BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, GROUP_FACTOR),
		BPF_STMT(BPF_LDX | BPF_MEM, 0),
		BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0),
		BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, GROUP_FACTOR),
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 16),
		BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, count),
		BPF_STMT(BPF_RET | BPF_A, 0),
	};
	struct sock_fprog program;

	memset(&program, 0, sizeof(program)); /* its padding, too */
	program.len = sizeof(code) / sizeof(code[0]);
	program.filter = code;
	return setsockopt(socket, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF,
	    &program, sizeof(program));
}

#else

int
sock_group_steer(int socket, unsigned count, enum sock_group_by by)
{
	(void)socket, (void)count, (void)by;
	errno = ENOSYS;
	return -1;
}

#endif

bool
sock_group_has(int fd)
{
#ifdef SO_REUSEPORT
	int on = 0;
	socklen_t len = sizeof(on);

	return getsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, &len) == 0 &&
	    on != 0;
#else
	(void)fd;
	return false;
#endif
}

/* The socket of one more process: the `number`th that is there at this
 * address; else a new one beside `first`; else, where the kernel has no groups,
 * the same socket once more, which several processes accept from. */
static int
open_next(const struct addr *at, const struct sock_listen_options *o,
    int first, unsigned number, struct error *e)
{
	struct sock_listen_options next = *o;
	bool ours;
	int fd = socket_set_take(at, o, number, &ours);

	if (fd >= 0)
		return fd;
	if (sock_group_has(first)) {
		next.group = SOCK_GROUP_NEXT;
		next.sockets = NULL;
		fd = sock_listen(at, &next, NULL, e);
		/* only beside a socket that another user has opened is the
		 * same one shared instead */
		if (fd >= 0 || o->sockets == NULL)
			return fd;
	}
	fd = fcntl(first, F_DUPFD_CLOEXEC, 0);
	return fd >= 0 ? fd : error_set(e, "%s", strerror(errno));
}

int
sock_group_open(const struct addr *at, const struct sock_listen_options *o,
    int *socket, unsigned from, unsigned count, struct error *e)
{
	bool was_alone =
	    at->u.sa.sa_family != AF_UNIX && !sock_group_has(socket[0]);
	unsigned i, k;

	if (was_alone)
		sock_allow_group(socket[0]);
	for (i = from; i < count; i++) {
		socket[i] = open_next(at, o, socket[0], i, e);
		if (socket[i] < 0) {
			for (k = from; k < i; k++)
				close(socket[k]);
			return -1;
		}
		if (was_alone) /* its process has the clients until now */
			(void)sock_group_steer(
			    socket[0], 1, SOCK_GROUP_BY_ADDRESS);
		was_alone = false;
	}
	return 0;
}

unsigned
sock_group_take_rest(const struct addr *at, const struct sock_listen_options *o,
    int *socket, unsigned count)
{
	bool ours;

	while (count < SOCK_GROUP_MAX &&
	    (socket[count] = inherited_take(socket_set_inherited(o->sockets),
		 at, o->datagram, o->v6_only, &ours)) >= 0)
		count++;
	return count;
}
