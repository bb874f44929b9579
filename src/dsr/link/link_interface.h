/* link_interface.h: what links on Linux read of their interface and change
 * there. They do so by a packet socket, packet(7). When it is closed, the
 * kernel undoes all changes but those of features: interface_restore(). */
#ifndef PEN_DSR_LINK_INTERFACE_H
#define PEN_DSR_LINK_INTERFACE_H

#include "dsr/link/link.h"

struct interface_changes {
	int fd; /* the packet socket; not owned */
	bool all_groups;
	struct mac *group; /* owned */
	unsigned groups;
	uint32_t features; /* ETH_FLAG_ that were on and are switched off */
};

/* Sets the link's ifindex, MAC, MTU and state. Returns 0, or -1 with a full
 * message when there is no such interface, or when it is not Ethernet. */
int interface_identify(struct link *l, int fd, struct error *e);
/* link_refresh() without count.missed. */
void interface_refresh(struct link *l, int fd);
/* Whether it is one end of a veth pair: its frames come from the peer's kernel,
 * with a VLAN tag still outside the frame. */
bool interface_is_veth(const char *name, int fd);

/* Joins the groups of IPv6 that the filter needs, calls `attach` (as
 * link_set_filter()), and leaves those that it no longer needs, so that no
 * frame is missed. Returns 0, or -1 with a full message and all as it was. */
int interface_set_filter(struct link *l, struct interface_changes *w,
    const struct link_filter *f,
    int (*attach)(struct link *l, const struct link_filter *f, struct error *e),
    struct error *e);

/* Switches off a feature (ETH_FLAG_) that is on, with a line in the log in
 * which it has this name. Returns whether it is off. */
bool interface_switch_off(struct link *l, struct interface_changes *w,
    uint32_t feature, const char *name);
/* Switches a feature on again if that has switched it off. */
void interface_switch_back(
    struct link *l, struct interface_changes *w, uint32_t feature);
/* Maps memory that another process can have by its descriptor: that of *fd, if
 * it has that size; or new memory, all zero, whose descriptor *fd is then. NULL
 * with errno; *fd is the caller's anyway. */
void *interface_memory(int *fd, size_t size);

/* Switches on again what was switched off, leaves the groups, and frees what is
 * owned. */
void interface_restore(struct link *l, struct interface_changes *w);

#endif
