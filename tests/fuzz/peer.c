/* peer.c: what another pen says, over TLS as always, to the one that it reports
 * to or gets reports from: bytes as they come, or records whose checks are
 * right. Whatever it is, clients of this pen stay remembered, what it has only
 * heard is not passed on, no more marks wait than there are servers, the plan
 * can be written, and the connection ends with the other end, if not before. */
#include "config.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "control/apply/services.h"
#include "control/peers/peer_port.h"
#include "control/peers/peer_sender.h"
#include "control/value/spec.h"
#include "fuzz/plan.h"
#include "fuzz/state.h"

enum { SERVERS = 3, OWN = 2, QUIET = 10 };

static const char start[] =
    "server 0 address 10.0.0.1 port 80; server 1 address 10.0.0.2 port 80;"
    "service add web; service web server 0 address 10.0.0.3 port 80";
static const char clients[] =
    "service default client 10.9.8.1 move 0;"
    "service default client 10.9.8.2 move 1";
static const char secret[] = "a secret of more than 32 bytes, shared";

/* This pen's end is a port, which gets reports, or a sender. */
struct test {
	struct pen *pen;
	struct peer_marks marks;
	struct list senders; /* of its port: none */
	struct peer_port *port;
	struct peer_sender *sender;
	struct peer_link far; /* the other end */
	struct buffer said;   /* there */
	struct task turn;
	unsigned quiet; /* turns in which there was nothing to do */
	bool again;	/* something has changed here meanwhile */
};

static struct peer_changes changes;

/* NULL: it has ended. */
static struct peer_link *
near_end(const struct test *t)
{
	struct list *at;

	if (t->sender != NULL)
		return t->sender->conn.state == PEER_LINK_CLOSED
		    ? NULL
		    : &t->sender->conn;
	at = list_first(&t->port->receivers);
	return at != NULL ? &list_entry(at, struct peer_receiver, link)->conn
			  : NULL;
}

/* ---- the other end ---- */

static void
far_on_open(struct peer_link *l)
{
	struct test *t = container_of(l, struct test, far);

	FUZZ_MUST(buffer_append(&l->out, buffer_bytes(&t->said),
		      buffer_length(&t->said)) == 0);
}

/* A port says nothing but this. */
static void
far_on_record(struct peer_link *l, struct handover_record *r)
{
	struct test *t = container_of(l, struct test, far);

	FUZZ_MUST(t->sender != NULL || r->type == HANDOVER_PONG ||
	    r->type == HANDOVER_AGAIN);
}

static void
far_on_end(struct peer_link *l, const char *why, bool was_open)
{
	(void)l;
	(void)why;
	FUZZ_MUST(was_open);
}

static const struct peer_link_events far_events = {
	.on_open = far_on_open,
	.on_record = far_on_record,
	.on_end = far_on_end,
};

/* ---- both ---- */

static bool
is_busy(const struct peer_link *l)
{
	return l != NULL && l->state != PEER_LINK_CLOSED &&
	    (l->state != PEER_LINK_OPEN || l->resting ||
		buffer_length(&l->out) > 0 ||
		l->stream.flags & STREAM_READABLE);
}

/* Servers have, and a client. */
static void
change(struct test *t)
{
	const struct service *svc = t->pen->service;

	if (t->port != NULL) {
		peer_port_begin_again(t->port);
		peer_port_tick(t->port);
		return;
	}
	peer_sender_begin_again(t->sender, true);
	changes.list[changes.head++ % PEER_CHANGES] =
	    (struct handover_change){ svc, 0, HANDOVER_OF_CLIENT };
	changes.list[changes.head++ % PEER_CHANGES] =
	    (struct handover_change){ svc, 2, HANDOVER_OF_SERVER };
	peer_sender_tick(t->sender);
}

static void
on_turn(struct task *task)
{
	struct test *t = container_of(task, struct test, turn);
	struct peer_link *near = near_end(t);

	if (near != NULL && near->state == PEER_LINK_OPEN && t->again) {
		t->again = false;
		change(t);
	}
	t->quiet = is_busy(near) || is_busy(&t->far) ? 0 : t->quiet + 1;
	if (t->quiet < QUIET)
		loop_soon(t->pen->loop, task);
	else
		loop_stop(t->pen->loop);
}

static void
run(struct test *t)
{
	t->quiet = 0;
	loop_soon(t->pen->loop, &t->turn);
	FUZZ_MUST(loop_run(t->pen->loop) == 0);
}

static void
begin(struct test *t, bool sender)
{
	struct pen *p = t->pen;
	struct peer who = { .family = AF_INET };
	struct peer_spec spec;
	struct error e;
	int fd[2];

	changes.head = 0;
	memset(&spec, 0, sizeof(spec));
	FUZZ_MUST(spec_parse_ip(&spec.at, "127.0.0.1", 0) == 0);
	strcpy(spec.file, fuzz_file(secret, sizeof(secret)));
	p->tls_memory = tls_memory_new();
	peer_link_init(&t->far, p->loop, &p->replies, &far_events);
	FUZZ_MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0 &&
	    fcntl(fd[0], F_SETFL, O_NONBLOCK) == 0 &&
	    fcntl(fd[1], F_SETFL, O_NONBLOCK) == 0);
	if (sender) {
		t->sender = peer_sender_new(p, &spec, &changes, &e);
		FUZZ_MUST(t->sender != NULL &&
		    peer_link_begin(&t->sender->conn, fd[0], t->sender->key,
			true) == 0);
	} else {
		list_init(&t->senders);
		t->port =
		    peer_port_new(p, &spec, false, &t->marks, &t->senders, &e);
		FUZZ_MUST(t->port != NULL);
		t->port->listener.on_accept(&t->port->listener, fd[0], &who);
	}
	FUZZ_MUST(peer_link_begin(&t->far, fd[1],
		      sender ? t->sender->key : t->port->key, !sender) == 0);
}

static void
end(struct test *t)
{
	unsigned i;

	peer_link_fini(&t->far);
	run(t);
	FUZZ_MUST(near_end(t) == NULL);
	FUZZ_MUST(t->marks.count <= SERVERS);
	for (i = 0; i < SERVERS; i++) /* the last servers that are up stay */
		peer_marks_set(&t->marks);
	peer_marks_fini(&t->marks);
	if (t->port != NULL)
		peer_port_free(t->port);
	else
		peer_sender_free(t->sender);
	buffer_fini(&t->said);
}

static void
check(struct pen *p)
{
	struct peer who = { .family = AF_INET,
		.ip = { [10] = 0xff, 0xff, 10, 9, 8 } };
	struct buffer printed;
	sticky_hint hint = 0;

	for (who.ip[15] = 1; who.ip[15] <= OWN; who.ip[15]++, hint = 0)
		FUZZ_MUST(sticky_find(pool_sticky(p->service->pool), &who,
			      &hint, 0, 0) != NULL);
	FUZZ_MUST(fuzz_hand_over(p, true) <= OWN);
	buffer_init(&printed);
	plan_print(p->plan, &printed);
	fuzz_check_printed(p, &printed);
	buffer_fini(&printed);
}

FUZZ(peer)
{
	uint8_t how = fuzz_byte(&data, &size);
	struct test t = { .turn.run = on_turn, .again = how & 4 };
	struct error e;

	if (tls_psk_try(fuzz_file(secret, sizeof(secret)), &e) < 0)
		return 0; /* built without TLS */
	t.pen = fuzz_pen(start);
	fuzz_run(t.pen, NULL, clients);
	buffer_init(&t.said);
	if (how & 1)
		FUZZ_MUST(buffer_append(&t.said, data, size) == 0);
	else
		fuzz_records(&t.said, data, size);
	begin(&t, how & 2);
	run(&t);
	end(&t);
	check(t.pen);
	pen_free(t.pen);
	return 0;
}
