/* parties.h: the far ends of connections: clients, and what servers accept.
 * Each sends a stream of bytes that is its own, and checks what it gets. */
#ifndef PEN_TEST_MODEL_PARTIES_H
#define PEN_TEST_MODEL_PARTIES_H

#include "model/kernel.h"

struct party {
	struct party *next;
	struct conn *conn;
	/* What it gets comes from there; NULL: not known yet, and not read. */
	struct party *partner;
	uint64_t stream;   /* of its bytes */
	const char *first; /* these come before them */
	uint64_t quota;	   /* of bytes that it will send */
	uint64_t sent, got;
	unsigned server; /* which one it is; of clients: none */
	bool is_client;
	/* It neither resets nor closes before it has seen an end. */
	bool polite;
	bool finished, closed, told, reset; /* has sent FIN; has had an end */
	/* A server is let go when it has answered, whatever follows. */
	bool let_go;
	int reason; /* of a client's session, once it is over; or -1 */
};

struct parties {
	struct party *first, *past; /* those that are over are kept */
	unsigned clients, servers;  /* now */
	unsigned born;		    /* clients */
	bool hurried;		    /* all end as soon as they can */
};
extern struct parties parties;

void parties_begin(void);
/* A client on that port. Returns false when nobody listens. */
bool parties_visit(uint16_t port);
/* What a server has, with this connection of the program's. */
struct party *parties_accept(struct conn *c, unsigned server);
/* One of them does something. */
void parties_act(void);
/* The program connects these two. */
void parties_join(struct conn *client, struct conn *server);
/* Judges those that are over. */
void parties_tidy(void);
void parties_end(void);

#endif
