/* link_packet_filter.c: attaches the filter of a packet socket. */
#include "config.h"

#include <errno.h>
#include <linux/filter.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "base/log.h"
#include "dsr/link/link_filter.h"
#include "dsr/link/link_packet.h"

_Static_assert(sizeof(struct link_insn) == sizeof(struct sock_filter) &&
	offsetof(struct link_insn, yes) == offsetof(struct sock_filter, jt) &&
	offsetof(struct link_insn, k) == offsetof(struct sock_filter, k),
    "a program is what SO_ATTACH_FILTER takes");

static int
attach_program(struct link *l, const struct link_program *program)
{
	struct sock_fprog s = { .len = (unsigned short)program->count,
		.filter = (void *)(uintptr_t)program->at };

	return setsockopt(l->fd, SOL_SOCKET, SO_ATTACH_FILTER, &s, sizeof(s));
}

static int
attach(struct link *l, const struct link_filter *f, struct error *e)
{
	struct link_program program;
	bool all = link_filter_write(&program, f, &l->mac);
	int got = attach_program(l, &program);

	/* net.core.optmem_max bounds what a socket may have */
	if (got != 0 && errno == ENOMEM && all) {
		all = false;
		link_filter_write_any(&program, f, &l->mac);
		got = attach_program(l, &program);
	}
	if (got == 0 && !all)
		log_warn("too many addresses for the kernel's filter, pen "
			 "reads all IP frames interface=%s addresses=%u "
			 "nets=%u",
		    l->name, f->count, f->nets);
	if (got != 0)
		error_set(e,
		    "interface %s: cannot set the packet filter: %s",
		    l->name, strerror(errno));
	return got;
}

int
packet_set_filter(struct link *l, const struct link_filter *f, struct error *e)
{
	struct packet_ring *p = l->inside;

	return interface_set_filter(l, &p->changes, f, attach, e);
}
