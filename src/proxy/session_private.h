/* session_private.h: the inside of a session, shared by the parts of its story:
 * session_tls.c (handshakes), session_connect.c (until a server answers),
 * session_wait.c (while none does), session_relay.c (from then on),
 * session_time.c (how long each may take) and session.c (its beginning and end). */
#ifndef PEN_PROXY_SESSION_PRIVATE_H
#define PEN_PROXY_SESSION_PRIVATE_H

#include "net/stream.h"
#include "proxy/frontend_private.h"
#include "proxy/session.h"

/* Up to QUEUED nobody moves bytes, up to CONNECTING there is no server. */
enum session_state {
	HELLO,
	QUEUED,
	CONNECTING,
	RELAYING,
	DRAINING,
	CLOSED,
	STATES
};

struct session {
	struct frontend *frontend;
	struct list link;   /* of the frontend's sessions */
	struct stream down; /* the client */
	struct stream up;   /* the server */
	struct pipe to_server;
	struct pipe to_client;
	struct server *server; /* NULL: none chosen yet */
	struct peer client;
	uint16_t port;	 /* that it came to; 0: a Unix socket */
	uint32_t number; /* of the connection, for commands */
	uint32_t heard;	 /* answer bytes before its last request; wraps */
	uint32_t connect_us; /* when it began, wraps; 0: is not measured */
	struct attempts attempts;
	uint32_t lingers_s; /* after `started`: it lingers since; 0: not yet */
	struct task task;   /* goes on next time, or frees */
	uint64_t started;   /* ms */
	struct expiry expiry; /* in one of the frontend's queues, or in none */
	uint64_t active;      /* ms: last byte, or the state's beginning */
	uint64_t counted_up, counted_down; /* bytes the counters have */
	struct list place;		   /* in the queue, while QUEUED */
	uint64_t queued;    /* ms: since when, the first time; 0: never */
	uint32_t waited_ms; /* for a busy server; for its reset, since due */
	uint8_t state;
	uint8_t addr_tried;  /* addresses of this server attempts so far */
	uint8_t addr_start;  /* the one it began with */
	bool counted;	     /* the pool counts its connection */
	bool server_told;    /* the client's end was passed on */
	bool client_cut;     /* it ended, in TLS, without close_notify */
	bool client_told;    /* the server's end was passed on */
	bool server_reset;   /* it broke off; so shall we, to the client */
	bool server_cut;     /* it did, in TLS, as if it had ended */
	bool reset_due;	     /* the client is reset once it has all bytes */
	bool interleaved;    /* the client spoke after the server began to */
	bool client_sending; /* it was when the server went */
	bool failed_once;    /* a server did: the next one is a retry */
	bool refused;	     /* the last one did, by refusing */
	bool spare_tried;    /* of this server: now a connection of its own */
	bool settled;	     /* in the frontend's list of those */
	bool no_port;	     /* none is left to one of its addresses */
};

/* Goes to a new state; an illegal move is a bug and aborts. */
void session_set_state(struct session *s, enum session_state to);
/* Puts a session that relays or drains into the queue that fits what it waits
 * for; called when that changes, never per byte. */
void session_schedule(struct session *s);
/* The server's connection ends and no longer counts; what it sent and the client has
 * not taken yet stays in the pipe. */
void session_release_server(struct session *s, bool reset);
/* When to look again whether a client whose reset is due has all bytes (ms); the
 * timeout then. */
uint64_t session_reset_due(const struct session *s);
void session_on_unsent(struct timeouts *t, struct expiry *x);
/* A server that vanishes is noticed from now on. */
void session_guard_server(struct session *s);
/* It is young: lets it be looked at when it is not any more. */
void session_begin_aging(struct frontend *f);
/* Ends it; must be the last thing its caller does with it. */
void session_close(struct session *s, enum reason why);
/* pipe_pump() could not read the client; errno says why. If its TLS ended without
 * close_notify, that is its end all the same: returns PIPE_DONE then, otherwise
 * PIPE_READ_FAILED again, errno untouched. */
enum pipe_verdict session_on_unread(struct session *s);
/* Why a session ends then, from errno. */
enum reason session_unread_reason(void);
/* Moves what can be moved both ways and draws the consequences. */
void session_on_io(struct session *s);
void session_on_turn(struct task *t); /* the same, as a task */
/* Logs the requests in what clients say; for pipe_share.on_read. */
void session_on_said(struct pipe *p, const char *bytes, size_t n);
/* The loop's word about the client's socket, the server's. */
void session_on_client(struct watch *w, unsigned ready);
void session_on_server(struct watch *w, unsigned ready);

/* Chooses a server for a client that has said hello. */
void session_begin(struct session *s);
/* TLS, session_tls.c: a client's handshake begins; the loop's word about it. */
void session_hello(struct session *s);
void session_on_hello(struct session *s, unsigned ready);
void session_on_hello_over(struct timeouts *t, struct expiry *x);
/* The server's: TLS over a connection to `at` that is being made or is there. Returns
 * 0, or -1 with errno. */
int session_hello_server(struct session *s, const struct addr *at);
enum tls_step session_on_server_hello(struct session *s, unsigned ready);
/* What is known of a side that talks TLS, for the log; "" otherwise. Returns
 * `text`. */
enum { SESSION_TLS_TEXT = 900 };
const char *session_tls_text(
    const struct stream *s, const char *side, char text[SESSION_TLS_TEXT]);

/* Goes on to the next address or server until one connect is under way; when none
 * is left the session waits, if it may, or is closed. */
void session_next_server(struct session *s);
/* No server takes it. Returns whether it waits for one; else it is to be closed. */
bool session_wait(struct session *s);
void session_wait_init(struct frontend *f);
void session_wait_fini(struct frontend *f);
/* A queued session ends by itself at its time. */
void session_schedule_queued(struct session *s);
/* The loop's word about the client of a queued session. */
void session_on_queued(struct session *s, unsigned ready);
/* It goes out of the queue, and will be CONNECTING or CLOSED. */
void session_leave_queue(struct session *s);
/* Gives the places that there are to those who wait longest. */
void session_serve_queue(struct frontend *f);
/* The loop's word about a connect under way. */
void session_on_connect_ready(struct session *s, unsigned ready);
/* Lets the connect under way end at its time. */
void session_schedule_connect(struct session *s);
/* Timeouts of the connecting and busy queues. */
void session_on_connecting_over(struct timeouts *t, struct expiry *x);
void session_on_busy_over(struct timeouts *t, struct expiry *x);

#endif
