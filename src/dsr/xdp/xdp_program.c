/* xdp_program.c: see xdp_program.h. */
#include "config.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <unistd.h>

#include "dsr/xdp/xdp_program.h"
#ifdef HAVE_BPF_CLANG
#include "dsr/xdp/xdp_program_built.inc"
#else
#include "dsr/xdp/xdp_program_bytes.h"
#endif

/* Linux 6.3 */
#ifndef BPF_F_XDP_DEV_BOUND_ONLY
#define BPF_F_XDP_DEV_BOUND_ONLY (1U << 6)
#endif

static struct bpf_object *
program_open(bool tags)
{
	LIBBPF_OPTS(bpf_object_open_opts, o, .object_name = "pen");
	struct bpf_object *new = tags ? bpf_object__open_mem(xdp_program_tags,
					    sizeof(xdp_program_tags), &o)
				      : bpf_object__open_mem(xdp_program_plain,
					    sizeof(xdp_program_plain), &o);

	return libbpf_get_error(new) == 0 ? new : NULL;
}

static int
map_fd(const struct bpf_object *o, const char *name)
{
	return bpf_object__find_map_fd_by_name(o, name);
}

/* Returns 0, or anything else with errno. */
static int
map_configure(struct bpf_map *m, const struct xdp_program_options *o)
{
	struct xdp_config c = { .back = (uint32_t)o->back };

	if (bpf_map__is_internal(m)) /* .rodata: all that is fixed */
		return bpf_map__set_initial_value(m, &c, sizeof(c));
	if (strcmp(bpf_map__name(m), "pen_flows") == 0)
		return bpf_map__set_max_entries(m, o->flows);
	return 0;
}

int
xdp_program_load(struct xdp_program *p, const struct xdp_program_options *o)
{
	struct bpf_object *new = program_open(o->tags_of != 0);
	struct bpf_program *program;
	struct bpf_map *m;
	int error, failed = 0;

	if (new == NULL)
		return -1;
	program = bpf_object__find_program_by_name(new, "pen");
	if (o->tags_of != 0) {
		bpf_program__set_ifindex(program, (uint32_t)o->tags_of);
		bpf_program__set_flags(program, BPF_F_XDP_DEV_BOUND_ONLY);
	}
	bpf_object__for_each_map (m, new) {
		if (failed == 0)
			failed = map_configure(m, o);
	}
	if (failed != 0 || bpf_object__load(new) != 0) {
		error = errno;
		bpf_object__close(new);
		errno = error;
		return -1;
	}
	*p = (struct xdp_program){ .object = new,
		.fd = bpf_program__fd(program),
		.mac = map_fd(new, "pen_mac"),
		.flows = map_fd(new, "pen_flows"),
		.entries = map_fd(new, "pen_entries"),
		.totals = map_fd(new, "pen_totals") };
	return 0;
}

int
xdp_program_set_mac(const struct xdp_program *p, const struct mac *mac)
{
	struct xdp_mac own = { .zero = 0 };
	uint32_t first = 0;

	memcpy(&own.first, mac->byte, 4);
	memcpy(&own.last, mac->byte + 4, 2);
	return bpf_map_update_elem(p->mac, &first, &own, BPF_ANY) == 0 ? 0 : -1;
}

void
xdp_program_close(struct xdp_program *p)
{
	const int fd[] = { p->mac, p->flows, p->entries, p->totals };

	bpf_object__close(p->object);
	for (unsigned i = 0; p->adopted && i < sizeof(fd) / sizeof(*fd); i++)
		if (fd[i] >= 0)
			close(fd[i]);
	*p = (struct xdp_program){ .fd = -1 };
}
