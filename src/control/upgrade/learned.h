/* learned.h: what the program has learned while it served, and the one that
 * replaces it should know: the state of servers and the operator's marks on
 * them (drain, maint, blacklist), counters, the keys of TLS session tickets
 * that pen made up, which server each client used, and the flows of datagrams.
 * Servers are found again by their addresses: those that the new configuration
 * does not have are left out.
 *
 * What the operator has configured is not handed over: the new program reads
 * its configuration as any start does. What that says about a server counts;
 * marks come on top of it. */
#ifndef PEN_CONTROL_LEARNED_H
#define PEN_CONTROL_LEARNED_H

#include "control/upgrade/handover.h"
#include "pool/pool.h"
#include "pool/sticky.h"
#include "proxy/datagram/flow_past.h"
#include "proxy/frontend/frontend.h"

struct pen;

/* ---- writing ---- */

struct learned_writer {
	const struct pen *pen;
	unsigned part;
	uint64_t at; /* in that part */
};

void learned_writer_init(struct learned_writer *l, const struct pen *p);
/* Appends a piece of the state, all but the flows, to `out`. Returns 1 if there
 * is more, 0 after the last piece, -1 without memory. Each piece takes a short
 * time only, and the program may serve between them. */
int learned_write(struct learned_writer *l, struct buffer *out);
/* The same with the flows, and the end; to be called when no client can begin
 * another one. */
int learned_write_flows(struct learned_writer *l, struct buffer *out);

/* ---- reading ---- */

struct learned_address; /* private */
struct learned_server;

struct learned_reader {
	struct pen *pen;
	struct learned_address *addresses; /* of all servers, sorted */
	size_t address_count;
	struct learned_server *servers; /* by the slot that they had */
	uint32_t servers_room;
	struct sticky_client *clients; /* until learned_settle() */
	uint32_t client_count, clients_room;
	struct frontend_stats stats;
	unsigned server_count, flow_count;
	bool settled;
};

/* The pen is open, and serves nobody yet. */
void learned_reader_init(struct learned_reader *l, struct pen *p);
/* Takes what the record says; one that is not right or not known is skipped. */
void learned_read(struct learned_reader *l, struct handover_record *record);
/* All but the flows has been read: makes use of it. */
void learned_settle(struct learned_reader *l);
/* Settles, logs how much it was, and frees. */
void learned_reader_end(struct learned_reader *l);

#endif
