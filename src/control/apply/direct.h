/* direct.h: direct server return of the plan in force. */
#ifndef PEN_CONTROL_DIRECT_H
#define PEN_CONTROL_DIRECT_H

#include "control/apply/apply.h"

/* Checks what the draft wants of it, and opens nothing: port 0 is for direct
 * return alone, which needs IP addresses that clients use, and a dsr_ip beside
 * them. Returns 0, or -1 with a full message. */
int direct_check(struct apply *a, struct error *e);
bool direct_is_wanted(const struct plan *p);
/* The user whose locks of VIPs count besides root's. */
uid_t direct_user(const struct process_plan *p);
/* Whether a server with this setting gets its packets in tunnels. */
bool direct_is_tunnelled(const struct plan *p, enum server_forward forward);
/* Opens the interface, at the start, and sets the tarpit's addresses. Returns
 * 0, or -1 with a full message and everything as it was. Has no effect without
 * direct return, nor have those below. */
int direct_prepare(struct apply *a, struct error *e);
/* Undoes that. */
void direct_cancel(struct apply *a);
/* Opens what the draft needs to reach its servers, by MAC or in tunnels; what
 * was opened once stays open. Returns 0, or -1 with a full message. */
int direct_prepare_forward(struct apply *a, struct error *e);
/* From now on packets are sent to servers in the way that the draft sets: by
 * MAC, in tunnels, through its gateway. The draft's servers must be in the
 * pool. */
void direct_commit_forward(struct apply *a);
/* Applies the timeouts of flows and the interval of announcements. */
void direct_commit_times(struct apply *a);
/* Serves these addresses from now on. Returns 0, or -1 with a full message and
 * everything as it was. */
int direct_listen(
    struct service *svc, const struct listen_list *at, struct error *e);

/* Whether clients are still sent to the server by direct return, after a FIN,
 * too. */
bool direct_has_flows(const struct service *svc, const struct server *s);

#endif
