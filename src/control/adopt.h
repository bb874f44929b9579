/* adopt.h: the inside of pen_adopt(): what a draft changes, and the rooms that
 * take part; for adopt.c and rooms.c. */
#ifndef PEN_CONTROL_ADOPT_H
#define PEN_CONTROL_ADOPT_H

#include "control/pen.h"

/* A server to be set; without an address, to be removed. */
struct change {
	unsigned slot;
	struct server_addrs addrs;
};

struct changes {
	struct change *list;
	size_t count, room;
	struct acl acls[ACL_LISTS]; /* to be put in place of the pool's */
	bool acl_changed[ACL_LISTS];
	struct secure_change secure;
	struct requestlog *log; /* opened for the draft */
	bool log_changed;
};

/* ---- rooms.c ---- */

/* Where a log of requests goes: an address (names are looked up at the start
 * only), or none: a file. Returns 0, or -1 with a phrase. */
int rooms_find_log(
    const struct pen *p, const char *text, struct addr *to, struct error *e);
/* Opens the log of the plan in force, at the start. */
int rooms_open_log(struct pen *p, struct error *e);

/* Listens there and nowhere else. Returns 0, or -1 with a sentence. */
int rooms_listen(struct pen *p, const struct listen_list *at, struct error *e);
/* Does what may fail: opens the log, moves the listeners, gives the pool its
 * settings. Returns 0, or -1 with a sentence, and then all is as it was. */
int rooms_prepare(struct pen *p, const struct plan *draft, struct changes *c,
    struct error *e);
/* Does the rest. */
void rooms_commit(struct pen *p, const struct plan *draft, struct changes *c);

#endif
