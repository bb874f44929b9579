/* handover_state.h: what one process hands over to the next one besides its
 * configuration, and some of it to peers: the state of servers and the
 * operator's marks on them (drain, maint, blacklist), counters, the generated
 * keys of TLS session tickets, which server each client used, and the flows of
 * datagrams. Servers are found again by their addresses, and services by their
 * names: those that the new configuration does not have are left out.
 *
 * The configuration is not handed over: the new program reads it as any start
 * does. The marks are applied after it. */
#ifndef PEN_CONTROL_HANDOVER_STATE_H
#define PEN_CONTROL_HANDOVER_STATE_H

#include "control/handover/handover.h"
#include "net/passed.h"
#include "pool/pool.h"
#include "pool/sticky/sticky.h"
#include "proxy/datagram/flow_past.h"
#include "proxy/frontend/frontend.h"

struct pen;
struct service;

/* ---- writing ---- */

/* What changed: a client, at its position in the memory of clients; a flow of
 * direct server return, with its number; a server, in its slot. */
enum handover_kind { HANDOVER_OF_CLIENT, HANDOVER_OF_FLOW, HANDOVER_OF_SERVER };

struct handover_change {
	const struct service *service;
	uint32_t at;
	enum handover_kind kind;
};

/* Flows whose sockets are handed over, at most; see pen-service(7). */
enum { HANDOVER_SOCKETS = 10000 };

struct handover_state_writer {
	const struct pen *pen;
	/* Set both: where copies of sockets of flows go, which are to be sent
	 * along with the piece; how many more of them. */
	struct passed *sockets;
	unsigned sockets_left;
	bool of_worker;
	const struct service *service; /* which does not leave */
	const struct service *named;   /* in what was written */
	unsigned part;		       /* of that service */
	uint64_t at;		       /* in that part */
	bool begun;
	bool to_peer; /* set it: no more than servers, clients that came here,
		       * and flows of direct server return */
	bool again;   /* servers are sent once more */
	bool servers_only;
	uint64_t clients, flows; /* that were written to a peer */
};

void handover_state_writer_init(
    struct handover_state_writer *l, const struct pen *p);
/* Writes only what a worker has and its leader lacks: the client table and the
 * flows. They are put between the records of the leader. */
void handover_state_writer_init_worker(
    struct handover_state_writer *l, const struct pen *p);
/* Appends a piece of the state, all but the flows, to `out`. Returns 1 if there
 * is more, 0 after the last piece, -1 without memory. Each piece takes a short
 * time only, and the program may serve between them, but no service may begin
 * to leave. */
int handover_state_write(struct handover_state_writer *l, struct buffer *out);
/* The same with the flows, and the end; to be called when no client can begin
 * another one. */
int handover_state_write_flows(
    struct handover_state_writer *l, struct buffer *out);

/* To a peer: writes servers once more, after they or the list of services have
 * changed; and clients, too, if `clients` is set or they were not complete. */
void handover_state_write_again(struct handover_state_writer *l, bool clients);
/* Flows of direct server return, once more: they expire there. */
void handover_state_write_flows_again(struct handover_state_writer *l);
/* Whether all servers were sent: changes of clients may follow. */
bool handover_state_is_named(const struct handover_state_writer *l);
/* Appends changes, all of one kind and service, at most `n`. Returns how many
 * it has dealt with; 0 without memory. */
size_t handover_state_write_changes(struct handover_state_writer *l,
    const struct handover_change *list, size_t n, struct buffer *out);

/* ---- reading ---- */

struct handover_state_service; /* private: of one service */

enum { HANDOVER_FLOWS_MOST = 100 }; /* of a record */

/* The socket of a flow of the next record. */
struct handover_flow_socket {
	unsigned flow; /* which one */
	uint64_t inode;
	bool introduced, coalescing, answered; /* as in struct flow_past */
	uint64_t requests, responses;
};

struct handover_state_reader {
	struct handover_state_service *services; /* as the pen's list */
	unsigned service_count;
	unsigned last;			 /* that was found */
	struct handover_state_service *now; /* is read; NULL: is not here */
	struct passed *sockets; /* set it: those that have come along */
	struct handover_flow_socket flow_socket[HANDOVER_FLOWS_MOST];
	unsigned flow_sockets;
	bool settled, of_workers;
	bool from_peer;	     /* set it: clients are of use at once, and of
			      * servers only names and marks */
	/* A peer has reported a server, which it has drained or not. */
	void (*on_server)(void *arg, struct service *svc, struct server *s,
	    enum server_admin admin);
	void *arg;
	/* Clients that a peer has sent; those that were new; and flows. */
	uint64_t reported, new, flows;
};

/* The pen is open, and serves no client yet. Without memory nothing is read. */
void handover_state_reader_init(struct handover_state_reader *l, struct pen *p);
/* The same for what the workers of this process write. */
void handover_state_reader_init_workers(
    struct handover_state_reader *l, struct pen *p);
/* Takes the contents of the record; an invalid or unknown one is skipped. */
void handover_state_read(
    struct handover_state_reader *l, struct handover_record *record);
/* Puts into force what was read: all but the flows. */
void handover_state_settle(struct handover_state_reader *l);
/* Frees. */
void handover_state_reader_fini(struct handover_state_reader *l);
/* Settles, logs how much it was, and frees. */
void handover_state_reader_end(struct handover_state_reader *l);

#endif
