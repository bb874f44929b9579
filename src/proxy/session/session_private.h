/* session_private.h: the inside of a session, for its files, one for each part
 * of it:
 *
 *     session.c          made; state x event -> function; closed
 *     session_hello.c    HELLO: the steps before a server is chosen
 *     session_proxy.c    of these: the PROXY header with the client address
 *     session_admit.c    of these: the limits of the client's source
 *     session_tls.c      of these: the client's TLS handshake
 *     session_first.c    of these: its first bytes
 *     session_sticky.c   of that: a cookie that names its server
 *     session_queue.c    QUEUED: waits for a server that is full
 *     session_connect.c  CONNECTING: until a server answers
 *     session_dial.c     connects to one address of it
 *     session_proxy_up.c of that: the PROXY header to the server
 *     session_relay.c    RELAYING, DRAINING: bytes
 *     session_end.c      of these: FIN and RST
 *     session_retry.c    a request that its server lost
 *     session_next.c     HELLO once more: the server ended between requests
 *     session_http.c     its requests, and pages of our own
 *     session_requests.c the lines of its requests
 *     session_time.c     how long each state may last
 *     session_quiet.c    at which moment a session may be ended
 *     session_log.c      what is logged of it
 *
 * connections.c reads it for reports and commands. */
#ifndef PEN_PROXY_SESSION_PRIVATE_H
#define PEN_PROXY_SESSION_PRIVATE_H

#include "net/stream.h"
#include "proxy/core/frontend_core.h"
#include "proxy/log/session_record.h"
#include "proxy/session/session.h"
#include "proxy/wire/first.h"
#include "proxy/wire/proxy_header.h"
#include "tls/tls.h"

/* Up to QUEUED no bytes are moved, up to CONNECTING there is no server. */
enum session_state {
	HELLO,
	QUEUED,
	CONNECTING,
	RELAYING,
	DRAINING,
	CLOSED,
	STATES
};

/* What a client does in HELLO, in this order; the number of a bit of
 * frontend_core.hello, which has the steps of a frontend. */
enum hello_step {
	HELLO_PROXY,
	HELLO_ADMIT,
	HELLO_TLS,
	HELLO_FIRST,
	HELLO_NEXT,
	HELLO_STEPS
};

/* What few sessions have: made when it is first needed, freed with them, as is
 * what it has. */
struct session_facts {
	struct first_packed *first; /* of its first bytes; NULL: not read */
	struct peer came_to; /* from a PROXY header; family 0: none */
	struct peer sender;  /* the proxy; family 0: none */
	struct proxy_header header; /* which sent it; texts are in `bytes` */
	struct buffer bytes;
	uint64_t id; /* that servers get; 0: none so far */
	struct http_sticky *sticky; /* of http_sticky; NULL: it was off */
	char *tried; /* servers that failed it, for its line; NULL: none */
	struct addr *was_at; /* its server, which has moved and was let go,
			      * for its line; NULL: none */
	struct session *session;
	struct list queue_link; /* while QUEUED, or DELAYED */
	uint64_t queued;   /* ms: since when, the first time; 0: never */
	uint64_t refused;  /* ms: the same, all servers refuse its request */
	uint32_t queue_ms; /* that it has waited for a busy server */
	uint32_t failures; /* so many servers failed it, for its line */
	uint32_t failures_before; /* of those before its first request came */
};

/* What the limits of its source have to do with a session. */
enum admission { NOT_ADMITTED, ADMITTED, DELAYED, TARPITTED };

struct session {
	struct frontend_core *frontend;
	struct list link;   /* of young, settled or stale ones */
	struct stream down; /* the client */
	struct stream up;   /* the server */
	struct pipe to_server;
	struct pipe to_client;
	struct server *server; /* NULL: none chosen yet */
	struct peer client;
	uint32_t number; /* of the connection, for commands */
	uint32_t connect_us; /* when it began, wraps; 0: not yet */
	uint32_t first_ms; /* until the first answer byte, and 1; 0: none */
	uint32_t lingers_s; /* after `started`: it lingers since; 0: not yet */
	/* Its own, or `nothing` of all sessions; NULL once it is closed and has
	 * none. */
	struct session_more *more;
	union {
		struct attempts attempts;
		struct task task; /* frees it, once it is closed */
	};
	struct session *next_turn; /* of those with a turn, if it has one */
	uint64_t started;   /* ms */
	struct expiry expiry; /* the one thing that it waits for, if any */
	uint64_t active;      /* ms: last byte, or the state's beginning */
	struct kept_request *request; /* may be sent again; NULL: none */
	union {
		uint32_t waited_ms; /* for a busy server */
		uint32_t taken; /* by both peers when it was last looked at */
	};
	uint8_t state;
	uint8_t because;     /* enum reason: why it ends; DONE: not known yet */
	uint8_t step;	     /* of HELLO */
	uint8_t admission;   /* by the limits of its source */
	uint8_t addr_tried;  /* addresses of this server tried so far */
	uint8_t addr_start;  /* the one it began with */
	uint16_t port;	 /* that it came to; 0: a Unix socket */
	bool connect_done : 1; /* connect_us is how long it took */
	bool counted : 1; /* the pool counts its connection */
	bool server_told : 1; /* the client's end was passed on */
	bool client_cut : 1; /* it ended, in TLS, without close_notify */
	bool client_told : 1; /* the server's end was passed on */
	bool server_reset : 1; /* it sent a RST; so do we, to the client */
	bool server_cut : 1; /* it did, in TLS, as if it had ended */
	bool server_talks : 1; /* it sent bytes after the FIN */
	bool reset_due : 1;   /* one side broke off: it is closed once the other
			     * one has all bytes */
	bool interleaved : 1; /* the client spoke after the server began to */
	bool client_sending : 1; /* it was when the server went */
	bool failed_once : 1; /* a server did: the next one is a retry */
	bool refused : 1; /* the last one did, by refusing */
	bool preopened_tried : 1; /* the server gets a connection of its own */
	bool settled : 1; /* in the list of those, or stale */
	bool no_port : 1; /* none is left to one of its addresses */
	bool http : 1; /* without -H: the client began with a request */
	bool head : 1; /* which was HEAD */
	bool asked : 1; /* the client spoke last: an answer is due */
	bool has_turn : 1; /* it is among those that requested one */
	bool turn_due : 1; /* and wants it */
	bool redirected : 1; /* it began without TLS where TLS is expected */
	bool leaving : 1; /* ends at a quiet moment; its client is forgotten */
	uint8_t generation; /* of its server's addresses, the low byte */
};

/* Whether its server has got other addresses since. */
static inline bool
session_server_moved(const struct session *s)
{
	return s->generation != (uint8_t)s->server->generation;
}

/* ---- what few sessions have (session_facts.c) ---- */

/* The session's own; NULL: no memory. */
struct session_more *session_more(struct session *s);
struct session_facts *session_facts(struct session *s);
void session_more_free(struct session_more *more); /* NULL is fine */
/* Whether the client talks TLS, to us or to the proxy that it came through. */
bool session_client_has_tls(const struct session *s);
/* The name in a ClientHello that is passed through to the server, where routes
 * have read it; kept in *f. NULL: none. */
struct first;
const char *session_first_name(const struct session *s, struct first *f);

/* ---- session.c ---- */

/* It is one of these from now on, with a number of theirs. Returns 0, or -1
 * with errno ENOMEM and nothing changed. */
int session_join(struct session *s, struct sessions *all);
/* Goes to a new state; an illegal move is a bug and aborts. */
void session_set_state(struct session *s, enum session_state to);
/* Calls it once more after the events of this wake-up. */
void session_soon(struct session *s);
/* Closes the server's connection, which no longer counts. What the server sent
 * and the client has not taken yet stays in the pipe. */
void session_release_server(struct session *s, bool reset);
/* Ends the session; must be the last thing its caller does with it. */
void session_close(struct session *s, enum reason why);

/* Callbacks of the two watches: they call what the state has for the event. */
void session_on_client(struct watch *w, unsigned ready);
void session_on_server(struct watch *w, unsigned ready);
/* What a session waited for did not come in time; of the wheel of all. */
void session_on_time(struct timeouts *t, struct expiry *x);
/* The times that bound the state were changed: applies the new ones. */
void session_reschedule(struct session *s);

/* ---- HELLO ---- */

/* Begins with the first step that the frontend has, from this one on. */
void session_hello_from(struct session *s, enum hello_step step);
/* The step is done: begins the next one, or gets a server for the client. What
 * may be here for it already is STREAM_READABLE. */
void session_hello_next(struct session *s);
/* The client, which is in HELLO, belongs to that service from now on: takes its
 * steps, but the PROXY header, and TLS if it has it. What it has sent so far
 * goes with it. A service that is full refuses it. */
void session_move(struct session *s, struct frontend_core *to);
void session_hello_on_client(struct session *s, unsigned ready);
void session_hello_on_time(struct session *s);
void session_hello_schedule(struct session *s);
/* When a step of hello_timeout expires. */
uint64_t session_hello_due(const struct session *s);

/* Begins to watch the client. Returns 0, or -1 with errno. */
int session_hello_watch(struct session *s);

/* ---- HELLO_ADMIT ---- */

bool session_admit_wanted(const struct frontend_core *f);
void session_admit_begin(struct session *s);
void session_admit_on_time(struct session *s);
uint64_t session_admit_due(const struct session *s);
/* The session ends: it counts, or waits, no longer. */
void session_admit_end(struct session *s);

/* ---- HELLO_PROXY ---- */

bool session_proxy_wanted(const struct frontend_core *f);
/* Reads the header of a client that is a proxy of accept_proxy's list, which
 * sets the client; other senders are closed. */
void session_proxy_begin(struct session *s);
void session_proxy_on_client(struct session *s, unsigned ready);
void session_proxy_on_time(struct session *s);

/* ---- HELLO_TLS ---- */

bool session_tls_wanted(const struct frontend_core *f);
/* Begins the client's TLS handshake. */
void session_tls_begin(struct session *s);
void session_tls_on_client(struct session *s, unsigned ready);
void session_tls_on_time(struct session *s);
uint64_t session_tls_due(const struct session *s);

/* ---- HELLO_FIRST ---- */

bool session_first_wanted(const struct frontend_core *f);
/* Reads the client's first bytes until the deciders have enough. */
void session_first_begin(struct session *s);
void session_first_on_client(struct session *s, unsigned ready);
void session_first_on_time(struct session *s);
uint64_t session_first_due(const struct session *s);
/* The servers that the routes in force allow the client; NULL: all. */
struct server_set *session_first_allowed(const struct session *s);
/* Where they have another service serve the client; NULL: they have not. */
struct frontend_core *session_first_leads_to(const struct session *s);
/* Whether they allow it another server than its own, which may take it. */
bool session_first_may_move(const struct session *s);

/* ---- HELLO_FIRST: the cookie that names a server ---- */

bool session_sticky_wanted(const struct frontend_core *f);
/* A decider of session_first.c. */
enum first_verdict session_sticky_decide(
    struct session *s, const char *bytes, size_t n, bool last);
/* The server that the cookie names, or NULL. */
struct server *session_sticky_server(const struct session *s);
/* The session has its server: its first answer sets the cookie, unless the
 * client has sent it. */
void session_sticky_set(struct session *s);

/* ---- QUEUED ---- */

/* Puts a session whose servers are all full into the queue. Returns false when
 * it may not wait: then it stays as it is. */
bool session_queue(struct session *s);
/* A client that waits, here or for a limit, has sent bytes: they stay in the
 * kernel, so that a crowd that waits takes no memory. */
void session_wait_on_client(struct session *s, unsigned ready);
/* The client's bytes are read again. Returns false when the client has closed:
 * then the session is closed. */
bool session_wait_is_over(struct session *s);
void session_queue_on_time(struct session *s);
void session_queue_schedule(struct session *s);
/* Takes it out of the queue; its next state is CONNECTING or CLOSED. */
void session_queue_remove(struct session *s);
/* Gives the free slots of servers to the clients that have waited longest. */
void session_queue_serve(struct sessions *all);
void session_queue_init(struct sessions *all);
void session_queue_fini(struct sessions *all);

/* ---- CONNECTING ---- */

/* Gets a server for a client whose HELLO is complete. Those that wait in the
 * queue have theirs first. */
void session_connect(struct session *s);
/* The same for a client that had to wait: it may try all servers once more. */
void session_connect_again(struct session *s);
/* The same for one whose server ended after it had answered all. */
void session_connect_anew(struct session *s);
/* The same for one that lost its server, with the next one that was chosen. */
void session_connect_to(struct session *s, struct server *server);
/* The server has failed the session, which goes on to another one if it may:
 * that stands in its line of the log. */
void session_note_tried(struct session *s, const struct server *server);
/* The same is of no interest any more. */
void session_clear_tried(struct session *s);
/* Its next request may wait as long as its first: for a restart, or in the
 * queue. */
void session_reset_waits(struct session *s);
/* No address of the server took the connection, or it took a request in vain:
 * reports it to the pool. `why` has more than the errno. */
void session_blame_server(
    struct session *s, struct server *server, int error, const char *why);
/* The next server that the pool has for the client, or NULL; of those that its
 * route allows. */
struct server *session_choose(struct session *s, uint64_t now);
void session_connect_on_client(struct session *s, unsigned ready);
void session_connect_on_server(struct session *s, unsigned ready);
void session_connect_on_time(struct session *s);
void session_connect_schedule(struct session *s);

/* Connects to the next address of the chosen server and sends what the client
 * has sent. Returns 0 when the session continues by events, or the errno with
 * which this address failed at once. */
int session_dial(struct session *s);
/* Uses a pre-opened connection, if there is one, and sends what the client has
 * sent. Returns whether there was one. */
bool session_use_preopened(struct session *s);
/* Whether its server still has the address that it is connected to, or connects
 * to: then the session goes by the addresses that the server has now. */
bool session_is_current(struct session *s);
/* The server is there: RELAYING. */
void session_connected(struct session *s);
/* What the client has sent so far goes to the server, or is kept for it. */
struct pipe_stop session_send_early(struct session *s);
/* Whether a connection with this error had been accepted: its server reset it,
 * which is no failure for other clients. */
bool session_was_accepted(const struct session *s, int error);
/* How long until a Unix listener whose backlog is full is tried again, ms. */
uint32_t session_busy_ms(const struct session *s);
/* The number of the connection for servers, as text. Returns its length. */
enum { PROXY_ID_TEXT = 17 };
size_t session_id_text(
    const struct session_facts *facts, char text[PROXY_ID_TEXT]);
/* The server on `up`, which was opened just now to this address, gets its PROXY
 * header, if it is to have one. Returns 0, or -1 with errno ENOMEM. */
int session_introduce(struct session *s, const struct addr *to);
/* The same header is PREFIXED still; `stop` is why the pipe to the server has
 * stopped. Returns that, or that the header cannot be sent. */
struct pipe_stop session_introduce_early(
    struct session *s, struct pipe_stop stop);

/* Moves the bytes of one direction, and adds them to the counters of its
 * frontend, and of its server and client while the server counts it. */
static inline struct pipe_stop
session_pump(struct session *s, bool up)
{
	struct frontend_core *f = s->frontend;
	struct pipe *p = up ? &s->to_server : &s->to_client;
	uint64_t bytes = p->bytes;
	struct pipe_stop stop = pipe_pump(
	    p, up ? &s->down : &s->up, up ? &s->up : &s->down, &f->share);

	bytes = p->bytes - bytes;
	*(up ? &f->stats->up : &f->stats->down) += bytes;
	if (s->counted && bytes > 0)
		pool_moved(f->pool, s->server, &s->client, &s->attempts,
		    up ? bytes : 0, up ? 0 : bytes);
	return stop;
}

/* The client's bytes. */
static inline struct pipe_stop
session_pump_up(struct session *s)
{
	return session_pump(s, true);
}

/* The server's bytes. */
static inline struct pipe_stop
session_pump_down(struct session *s)
{
	return session_pump(s, false);
}

/* ---- RELAYING, DRAINING ---- */

/* Moves what can be moved in both directions, then relays FIN and RST, or
 * closes. */
void session_relay(struct session *s);
void session_relay_on_client(struct session *s, unsigned ready);
void session_relay_on_server(struct session *s, unsigned ready);
void session_relay_on_time(struct session *s);
/* Sets the time after which it ends unless a byte comes; called when what it
 * waits for changes, never per byte. */
void session_relay_schedule(struct session *s);
void session_relay_reschedule(struct session *s);
/* When to look again whether the side that is to be reset has its last bytes,
 * ms. */
uint64_t session_relay_reset_due(const struct session *s);
/* Whether its client has got the FIN of the server, and what it still sends is
 * lost, which it ought to notice. */
bool session_may_write_in_vain(const struct session *s);

/* The server is left, as if it had ended by itself. */
void session_relay_end_server(struct session *s);
/* The same of one that has sent an answer without a valid end: its client gets
 * that as from a server that was reset. */
void session_relay_break_off(struct session *s);

/* The client could not be read, for `stop.cause`. If its TLS ended without
 * close_notify and that is allowed, this is its end all the same: returns
 * PIPE_DONE then, otherwise `stop`. */
struct pipe_stop session_client_unread(
    struct session *s, struct pipe_stop stop);
/* The same before it relays: what came before that is for the server all the
 * same, and if there is any, returns PIPE_DONE; RELAYING finds the failure once
 * more. */
struct pipe_stop session_client_unread_early(
    struct session *s, struct pipe_stop stop);
/* Why a session ends when the client cannot be read for that errno. */
enum reason session_unread_reason(int cause);
/* The reason of a session whose server has sent a RST or ended TLS without
 * close_notify. */
enum reason session_reset_reason(const struct session *s);

/* Sets in the loop what each side waits for. */
void session_arm(struct session *s);
/* Whether bytes of either side wait in its stream: the session may not end,
 * nor a side be closed, before they are gone. */
static inline bool
session_is_unsent(const struct session *s)
{
	return stream_is_unsent(&s->down) || stream_is_unsent(&s->up);
}

/* Whether bytes of the client are on their way. */
bool session_is_sending(const struct session *s);
/* The server was reset, or broke off TLS, with that errno. */
void session_on_server_reset(struct session *s, int cause);
/* One side has broken off: closes, and resets the other one, `up` the server,
 * when its kernel has all bytes that came before, or has taken none for long.
 * It is to be called again after each event, and when session_relay_reset_due()
 * is over. */
void session_break_off(struct session *s, enum reason why, bool up);
/* Whether the client has broken off, with `up` the last that its pipe did, and
 * what its server gets of the rest is what its kernel takes of the pipe. */
bool session_client_is_lost(const struct session *s, struct pipe_stop up);
/* The client takes nothing any more: what its server still sends goes
 * nowhere. */
void session_drop_answer(struct session *s);
/* Passes on the ends that have come, lets the server go when it may, and waits
 * for the rest; or closes. */
void session_conclude(struct session *s, bool server_done, bool client_done);

/* ---- requests that are lost ---- */

/* Notes what the client began with, and keeps it if it is a request that may be
 * sent again. */
void session_note_first(struct session *s, const char *bytes, size_t n);
/* The same of an HTTP client that has sent more; with `all`, that is all that
 * was sent to the server. */
void session_note_requests(
    struct session *s, const char *bytes, size_t n, bool all);
/* Of a session with such a request: it will not be sent again. */
void session_drop_request(struct session *s);
/* Of a session with such a request: the answer begins. */
void session_on_answer(struct session *s);
/* Whether its server has taken no byte of the client, and sent none. */
bool session_is_unused(const struct session *s);
/* The server has ended, or is to be left, with `reset` abortively: gets another
 * one for the client if this one is unused, or else sends its request to it, if
 * it has answered nothing and that may be done. Returns whether; the session
 * may be closed by then. */
bool session_retry(struct session *s, bool reset);
/* Whether a request that is lost may go to another server at all. */
bool session_repeats(const struct session *s);
/* Lets its server go, with `reset` abortively, so that another one may have the
 * client: it gets these bytes first. Returns 0, or -1 with errno ENOMEM. */
int session_detach_server(
    struct session *s, bool reset, const char *bytes, size_t n);

/* ---- HELLO_NEXT ---- */

/* The server has ended, or is to be left, with `reset` abortively, while
 * nothing is under way: another one answers the client's next request, if that
 * comes soon and this is HTTP. Returns whether. */
bool session_await_next(struct session *s, bool reset);
void session_next_on_client(struct session *s, unsigned ready);
void session_next_on_time(struct session *s);
uint64_t session_next_due(const struct session *s);

/* ---- HTTP ---- */

/* Puts the filters into the pipes, where that is wanted and not done. Returns
 * false when memory is short. */
bool session_http_begin(struct session *s);
/* The same once there are some, when a pipe was made anew. The memory that it
 * may need is the only reason to fail. */
bool session_http_attach(struct session *s);
/* Responses count for its server from now on, or, as it has been let go, for
 * none. */
void session_http_count(struct session *s, struct server *server);
/* Bytes came before the session relays: a turn is requested if a request was
 * refused. */
void session_http_note(struct session *s);
void session_http_on_turn(struct session *s);
/* Its client has not sent the rest of a header in time: ends it. */
void session_http_too_slow(struct session *s);
/* The same of a session that relays: returns true when it relays no more. */
bool session_http_settle(struct session *s);
/* Whether the last answer is complete and with the client, and the server has
 * all of its request: the client gets its end, whatever the server does. */
bool session_http_is_over(const struct session *s);
/* Whether all answers are complete, with HTTP: then no end of the server's
 * connection, a reset or one of TLS without close_notify, cuts anything off. */
bool session_http_is_answered(const struct session *s);
/* Whether clients without TLS are redirected to HTTPS, and whether this one
 * is. */
bool session_redirect_wanted(const struct frontend_core *f);
bool session_is_redirected(const struct session *s);
/* Redirects it by its first bytes, or answers that they are no request;
 * FIRST_MORE: more bytes decide, unless this is their end, the `last`. Anything
 * else: the session drains, or is closed. */
enum first_verdict session_redirect(struct session *s, bool last);
/* Ends a session in its first bytes: one that would have been redirected, with
 * the page of that status. */
void session_redirect_fail(
    struct session *s, unsigned status, enum reason why);
/* Whether there is any server for the client, be it the abuse server. */
bool session_is_welcome(const struct session *s);
/* No server is available: the client gets a page, or its connection is closed;
 * soon, or at once. */
void session_unserved(struct session *s, enum reason why);
void session_unserved_now(struct session *s, enum reason why);
/* Whether its client owes the rest of a body, and need not wait. */
bool session_http_owes(const struct session *s);
/* Its server has not answered, nor will it: the client gets a page of that
 * status. Returns false when it gets none, and nothing was done. */
bool session_http_unanswered(
    struct session *s, unsigned status, enum reason why);

/* Its server has ended, and so will the session: why, if it owes an answer. */
void session_http_note_end(struct session *s);

/* ---- times ---- */

/* Whether the server, or the client, has not taken all bytes for it. */
bool session_lags(const struct session *s, bool up);
/* Whether they have taken any since this was called last. */
bool session_has_moved(struct session *s);

/* How long until it looks again: as long as it has waited so far, but not less
 * than `first` and not more than `most`. All in ms. */
static inline uint32_t
session_wait_ms(const struct session *s, uint32_t first, uint32_t most)
{
	if (s->waited_ms < first)
		return first;
	return s->waited_ms < most ? s->waited_ms : most;
}

/* Sets keep-alive on the server's socket, so that a server that vanishes is
 * noticed. */
void session_guard_server(struct session *s);
/* The first young session is there: starts the timer that sees it settle. */
void session_begin_aging(struct sessions *all);
/* Returns 0, or -1 with errno ENOMEM. */
int session_times_init(struct sessions *all);
void session_times_fini(struct sessions *all);

/* ---- walks over all ---- */

void session_rebalance_init(struct sessions *all);
void session_rebalance_fini(struct sessions *all);

/* ---- quiet moments ---- */

/* Whether its client talks HTTP, as far as that is known. */
bool session_is_http(const struct session *s);

/* Whether a session in this state, of this kind, may be ended at a quiet
 * moment. */
bool session_may_end_quietly(const struct session *s);
/* Whether it is being drained by now. */
bool session_is_asked(const struct session *s);
/* Whether this is one: the server spoke last, no bytes are under way, and none
 * came for quiet_time. Costs system calls. */
bool session_is_quiet(const struct session *s);
/* Ends it there. */
void session_end_quietly(struct session *s);

/* ---- logs ---- */

/* The bytes of clients are noted, and their requests are logged; for
 * pipe_share.on_read. */
void session_on_read(struct pipe *p, const char *bytes, size_t n);

/* The server is let go: if it has moved, the session keeps the address for the
 * log, until it has another server. */
void session_note_address(struct session *s);
void session_clear_address(struct session *s);
/* Logs that the session ends, where a log is. */
void session_log_close(const struct session *s, enum reason why);

/* A line, with what it points to. */
struct session_line {
	struct session_record record;
	struct tls_facts client, server;
	struct addr at;
	struct first first;
	char id[PROXY_ID_TEXT];
};

/* Fills in what the session has for it, with `tls` also of TLS. */
void session_log_fill(struct session_line *l, const struct session *s,
    enum reason why, bool tls);

/* ---- lines of requests, where they are logged ---- */

/* For http_log.h. */
void session_requests_init(struct frontend_core *f);
/* The session has its filters. */
void session_requests_begin(struct session *s);
/* Writes the lines of requests whose answers are with the client by now. */
void session_requests_answered(struct session *s);
/* A server has failed those that are under way, or the first before it came. */
void session_requests_failed(struct session *s);
/* What the client has sent so far gets an answer of ours: notes what that is,
 * in `raw` where it is not known to be HTTP; then, with the answer on its way,
 * which one it gets. */
void session_requests_refuse(struct session *s, struct http_log *raw);
void session_requests_page(struct session *s, struct http_log *raw,
    const char *page, size_t n, enum reason why);
/* The session ends: writes the lines of the rest. */
void session_requests_end(struct session *s, enum reason why);

#endif
