/* handover_parts.h: what the files behind handover_state.h share. */
#ifndef PEN_CONTROL_HANDOVER_PARTS_H
#define PEN_CONTROL_HANDOVER_PARTS_H

#include "control/handover/handover_state.h"
#include "dsr/frame/mac.h"

/* A server of the other process, and the same one here; NULL: none. */
struct handover_state_server {
	struct server *here;
	bool removed; /* there: only its clients and flows are taken over */
	struct server_elsewhere there;
	struct mac mac; /* all zero: none */
};

/* The same of a peer, of which no more is kept. */
struct handover_peer_server {
	uint32_t slot;
	struct server *here;
};

/* What was read of a service. */
struct handover_state_service {
	struct service *service;
	bool of_workers; /* servers have the slots that they have here */
	bool begun; /* the other process has it, too; else nothing is here: */
	struct handover_state_server *servers; /* by the slot that they had */
	unsigned shift; /* of the slots of the last one that moved; wraps */
	uint32_t servers_room;
	/* A peer's servers that are here, by their slots; no more than servers
	 * here could account for. */
	struct handover_peer_server *peer;
	uint32_t peer_count, peer_room;
	struct sticky_client *clients; /* until handover_state_settle() */
	uint32_t client_count, clients_room;
	struct frontend_stats *stats; /* from the first counter on */
	unsigned next_counter; /* that is likely to come */
	unsigned server_count, flow_count;
};

/* The counters that are handed over, by number: the name of one, by which the
 * reader finds it, and its offset in struct frontend_stats; NULL after the
 * last. */
const char *handover_state_counter(unsigned i, size_t *offset);

/* A time that was so long ago; at the least 1, as 0 is none. */
static inline uint64_t
handover_ago(uint64_t now, uint64_t ms)
{
	return ms == 0 ? 0 : ms < now ? now - ms : 1;
}

/* ---- servers: handover_servers.c ---- */

/* Adds it to the payload; `now` is when it was described. */
void handover_servers_put(struct handover_writer *w,
    const struct server_elsewhere *e, uint64_t now);
/* And its responses, by class. */
void handover_servers_put_http(
    struct handover_writer *w, const uint64_t http[SERVER_HTTP_CLASSES]);
/* ---- of the service that is read ---- */
/* A peer may report a server again. */
void handover_servers_read(
    struct handover_state_reader *reader, struct handover_record *r);
/* The server here that had that slot there, or NULL. */
struct server *handover_servers_get(
    const struct handover_state_service *l, uint64_t slot);
void handover_servers_restore(struct handover_state_service *l);

/* ---- flows of direct server return: handover_dsr.c ---- */

/* To a peer, with the tag of the segment; return whether there are more. */
bool handover_dsr_write_flows(
    struct handover_state_writer *l, struct handover_writer *w);
void handover_dsr_write_change(struct handover_state_writer *l,
    struct handover_writer *w, const struct handover_change *c);
void handover_dsr_read_peer_flows(
    struct handover_state_reader *l, struct handover_record *r);
void handover_dsr_read_peer_vlan(
    const struct handover_state_service *l, struct handover_record *r);
/* The same to another process, with all that is known of them. */
bool handover_dsr_write_table(
    struct handover_state_writer *l, struct handover_writer *w);
void handover_dsr_read_table(
    struct handover_state_service *l, struct handover_record *r);
/* Written with it. */
void handover_dsr_read_role(
    const struct handover_state_service *l, struct handover_record *r);

#endif
