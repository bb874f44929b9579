/* link_interface.h: what links on Linux know about their interface and want of
 * it; they ask by a packet socket, packet(7), whose end is the end of all they
 * wanted but for features, which interface_restore() gives back. */
#ifndef PEN_DSR_LINK_INTERFACE_H
#define PEN_DSR_LINK_INTERFACE_H

#include "dsr/link/link.h"

struct interface_wants {
	int fd; /* the packet socket; not owned */
	bool all_groups;
	struct mac *group; /* owned */
	unsigned groups;
	uint32_t features; /* ETH_FLAG_ that were on and are switched off */
};

/* Sets what the link says about the interface. Returns 0, or -1 with a sentence
 * when there is no such interface, or when it is not Ethernet. */
int interface_identify(struct link *l, int fd, struct error *e);
/* As link_look(), but for what the kernel had no room for. */
void interface_look(struct link *l, int fd);
/* Whether it is up, if without a carrier: frames may be sent. 0, or -1 with
 * ENETDOWN or ENODEV. */
int interface_may_send(const struct link *l, int fd);

/* Whether it is one end of a virtual cable: what comes out left the other end's
 * kernel, with a tag still beside the frame. */
bool interface_is_veth(const char *name, int fd);

/* Wants the groups of IPv6 that the filter needs; `attach`
 * (as link_set_filter()) puts the filter in force between what is new and what
 * is no longer wanted, so that nothing is missed. Returns 0, or -1 with a
 * sentence and all as it was. */
int interface_set_filter(struct link *l, struct interface_wants *w,
    const struct link_filter *f,
    int (*attach)(struct link *l, const struct link_filter *f, struct error *e),
    struct error *e);

/* Switches off a feature (ETH_FLAG_) that is on, with a line in the log in
 * which it has this name. Returns whether it is off. */
bool interface_switch_off(struct link *l, struct interface_wants *w,
    uint32_t feature, const char *name);
/* Switches on again what was switched off, and frees what is owned. */
void interface_restore(struct link *l, struct interface_wants *w);

#endif
