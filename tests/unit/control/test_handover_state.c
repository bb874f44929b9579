/* test_handover_state.c: the state of one pen arrives at another one; nothing
 * that is corrupt does harm. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "control/apply/apply.h"
#include "control/apply/services.h"
#include "control/handover/handover_parts.h"
#include "net/loop/loop.h"
#include "support/ask.h"
#include "support/pooladmin.h"
#include "support/suite.h"
#include "support/udp.h"

static struct pen *pen;
static struct error e;
static struct endpoint front, front_b, front_c;

static void
takes(const char *line)
{
	char answer[4096];

	ck_assert_msg(ask_pen(pen, line, answer, sizeof(answer), &e) == 0,
	    "%s: %s", line, e.text);
}

/* One that serves at `listening`, with servers as the words say. */
static struct pen *
begin(const char *listening, const char *servers)
{
	pen = pen_new();
	ck_assert_ptr_nonnull(pen);
	ck_assert_int_eq(
	    spec_parse_listen(&pen->plan->listen, listening, RESOLVE_NAMES, &e),
	    0);
	takes(servers);
	takes("udp; blacklist 100");
	ck_assert_msg(pen_start(pen, &e) == 0, "%s", e.text);
	return pen;
}

static struct server *
server_in(const struct service *svc, unsigned number)
{
	return pool_server(svc->pool, number);
}

static struct server *
server(const struct pen *p, unsigned number)
{
	return server_in(p->service, number);
}

static struct peer
client(uint8_t n)
{
	struct peer who = { .family = AF_INET,
		.ip = { [10] = 0xff, 0xff, 10, 9, 8, n },
		.port = n };

	return who;
}

/* Clients 1 to `count`, of servers 0 and 1 in turn, the last one seen last. */
static void
remember(const struct service *svc, uint8_t count)
{
	struct sticky *sticky = pool_sticky(svc->pool);
	struct peer who;
	sticky_hint hint;
	uint8_t i;

	for (i = 1; i <= count; i++) {
		who = client(i);
		hint = 0;
		ck_assert_int_eq(sticky_remember(sticky, &who, &hint, i % 2,
				     i % 3 == 0, loop_now(svc->pen->loop)),
		    0);
		sticky_count_bytes(sticky, &who, &hint, i, 7);
	}
}

/* Flows of clients that have asked the server, and nothing came back yet. */
static void
begin_flows(struct service *svc, unsigned number, uint8_t count)
{
	struct flow_past past = { .steady = true };
	uint8_t i;

	past.listener = svc->plan->listen.entry[0].at;
	for (i = 1; i <= count; i++) {
		ck_assert_int_eq(
		    addr_parse_ip(&past.client, text("127.0.0.%d", i), i), 0);
		ck_assert(frontend_import_flow(
		    svc->frontend, &past, server_in(svc, number)));
	}
	/* once is enough */
	ck_assert(!frontend_import_flow(
	    svc->frontend, &past, server_in(svc, number)));
}

/* Everything that can be learned, and other services, as the words say. */
static struct pen *
learn_with(const char *services)
{
	struct frontend_stats stats = { .accepted = 17, .flows = { .now = 9 } };
	struct server_elsewhere past = { .connects = 5, .sent = 1000 };
	struct pen *p;
	uint64_t now;

	udp_endpoint(&front, ENDPOINT_TCP4);
	p = begin(front.text,
	    text("server 0 address 10.0.0.1 port 80;"
		 "server 1 address 10.0.0.2 port 80;"
		 "server 2 address 10.0.0.3 port 80;"
		 "server 3 address 10.0.0.4 port 80%s",
		services));
	now = loop_now(p->loop);
	pool_set_admin(p->service->pool, server(p, 0), SERVER_DRAINING);
	pool_failed(p->service->pool, server(p, 1), "of a failure", now);
	stats.reasons[REASON_CLIENT_RESET] = 4;
	stats.datagrams.up = 99;
	remember(p->service, 60);
	frontend_restore_stats(p->service->frontend, &stats);
	pool_restore_counters(p->service->pool, server(p, 2), &past);
	begin_flows(p->service, 2, 20);
	return p;
}

static struct pen *
learn(void)
{
	return learn_with("");
}

static void
write_all(struct pen *p, struct buffer *out)
{
	struct handover_state_writer w;
	int rc;

	buffer_init(out);
	handover_state_writer_init(&w, p);
	while ((rc = handover_state_write(&w, out)) > 0)
		;
	ck_assert_int_eq(rc, 0);
	while ((rc = handover_state_write_flows(&w, out)) > 0)
		;
	ck_assert_int_eq(rc, 0);
}

static void
read_all(struct pen *p, const struct buffer *b)
{
	struct handover_reader r;
	struct handover_record record;
	struct handover_state_reader l;

	handover_reader_init(&r);
	handover_state_reader_init(&l, p);
	(void)handover_feed(&r, buffer_bytes(b), buffer_length(b));
	while (handover_next(&r, &record))
		handover_state_read(&l, &record);
	handover_state_reader_end(&l);
	handover_reader_fini(&r);
}

/* The same servers in another order, one of them missing, one new. It is where
 * the old one was. */
static struct pen *
successor_with(struct pen *old, const char *services)
{
	struct service *svc;

	SERVICE_EACH (old, svc)
		frontend_stop(svc->frontend);
	return begin(front.text,
	    text("server 0 address 10.0.0.3 port 80;"
		 "server 1 address 10.0.0.9 port 80;"
		 "server 2 address 10.0.0.2 port 80;"
		 "server 3 address 10.0.0.1 port 80%s",
		services));
}

static struct pen *
successor(struct pen *old)
{
	return successor_with(old, "");
}

static int
server_of(const struct service *svc, uint8_t n)
{
	struct peer who = client(n);
	sticky_hint hint = 0;
	struct sticky_client *c =
	    sticky_find(pool_sticky(svc->pool), &who, &hint, 0, 0);

	return c != NULL ? (int)c->server : -1;
}

START_TEST(servers_are_found_by_address)
{
	struct pen *old = learn(), *new;
	struct buffer b;

	write_all(old, &b);
	new = successor(old);
	read_all(new, &b);
	ck_assert_int_eq(server_state(server(new, 0)), SERVER_UP);
	ck_assert_int_eq(server_state(server(new, 1)), SERVER_UP);
	ck_assert_int_eq(server_state(server(new, 2)), SERVER_BLACKLISTED);
	ck_assert_int_eq(server_state(server(new, 3)), SERVER_DRAIN);
	ck_assert_str_eq(server_reason(server(new, 2)), "of a failure");
	ck_assert_uint_eq(
	    server(new, 2)->history.changes, server(old, 1)->history.changes);
	ck_assert_uint_eq(server(new, 2)->counters->failures, 1);
	ck_assert_uint_eq(server(new, 0)->counters->connects, 25);
	ck_assert_uint_eq(server(new, 0)->counters->sent, 1000);
	/* the blacklisting ends when it would have */
	pool_revive(
	    new->service->pool, server(old, 1)->blacklisted_until - 1000);
	ck_assert_int_eq(server_state(server(new, 2)), SERVER_BLACKLISTED);
	pool_revive(
	    new->service->pool, server(old, 1)->blacklisted_until + 60000);
	ck_assert_int_eq(server_state(server(new, 2)), SERVER_UP);
	/* the mark is in the plan, and is written */
	ck_assert_int_eq(plan_server(new->plan, 3)->admin, SERVER_DRAINING);
	buffer_fini(&b);
	pen_free(old);
	pen_free(new);
}
END_TEST

/* One that is down until its first success still is. */
START_TEST(unproven_servers)
{
	struct pen *old = learn(), *new;
	struct buffer b;

	server(old, 2)->health =
	    (struct health){ .down = true, .unproven = true };
	write_all(old, &b);
	new = successor(old);
	server(new, 0)->checked = server(new, 3)->checked = true;
	read_all(new, &b);
	ck_assert(server(new, 0)->health.down);
	ck_assert(server(new, 0)->health.unproven);
	ck_assert(!server(new, 3)->health.unproven);
	buffer_fini(&b);
	pen_free(old);
	pen_free(new);
}
END_TEST

START_TEST(clients_and_counters)
{
	struct pen *old = learn(), *new;
	struct sticky *sticky;
	const struct frontend_stats *st;
	const struct sticky_client *c;
	struct buffer b;

	write_all(old, &b);
	new = successor(old);
	sticky = pool_sticky(new->service->pool);
	read_all(new, &b);
	ck_assert_uint_eq(sticky_count(sticky), 80); /* flows have some */
	ck_assert_int_eq(server_of(new->service, 2), 3);
	ck_assert_int_eq(server_of(new->service, 3), 2);
	ck_assert_int_eq(server_of(new->service, 61), -1);
	c = sticky_at(sticky, 0);
	ck_assert_uint_eq(c->connects, 1);
	ck_assert_uint_eq(c->received, 7);
	st = frontend_stats(new->service->frontend);
	ck_assert_uint_eq(st->accepted, 17);
	ck_assert_uint_eq(st->reasons[REASON_CLIENT_RESET], 4);
	ck_assert_uint_eq(st->datagrams.up, 99);
	/* what is there now is counted here */
	ck_assert_uint_eq(st->flows.now, 20);
	ck_assert_uint_eq(server(new, 0)->connections, 20);
	ck_assert_uint_eq(server(new, 0)->counters->connects, 25);
	/* but did not begin here */
	ck_assert_uint_eq(
	    rate_tenths(&server(new, 0)->counters->rate, loop_now(new->loop)),
	    0);
	buffer_fini(&b);
	pen_free(old);
	pen_free(new);
}
END_TEST

static void
see(const struct pen *p, uint8_t n, uint64_t now)
{
	struct peer who = client(n);
	sticky_hint hint = 0;

	ck_assert_int_eq(sticky_remember(pool_sticky(p->service->pool), &who,
			     &hint, 0, true, now),
	    0);
}

/* The client that was seen longest ago is forgotten first, as before. */
START_TEST(clients_are_forgotten_in_their_order)
{
	static const uint8_t seen[] = { 1, 2, 3, 1, 2 };
	struct pen *old, *new;
	struct buffer b;
	size_t i;

	udp_endpoint(&front, ENDPOINT_TCP4);
	old = begin(front.text, "server 0 address 10.0.0.3 port 80");
	for (i = 0; i < sizeof(seen); i++)
		see(old, seen[i], loop_now(old->loop) - 1000 + 100 * i);
	write_all(old, &b);
	new = successor_with(old, ";clients_max 3");
	read_all(new, &b);
	for (i = 0; i < 3; i++)
		ck_assert_int_ge(server_of(new->service, 1 + i), 0);
	see(new, 4, loop_now(new->loop));
	ck_assert_int_eq(server_of(new->service, 3), -1);
	see(new, 5, loop_now(new->loop));
	ck_assert_int_eq(server_of(new->service, 1), -1);
	ck_assert_int_ge(server_of(new->service, 2), 0);
	buffer_fini(&b);
	pen_free(old);
	pen_free(new);
}
END_TEST

/* ---- several services ---- */

/* The words that add a service, whose servers have addresses of the first
 * one's. */
static const char *
service(const char *name, const struct endpoint *at)
{
	return text(";service add %s;service %s listen %s;service %s udp;"
		    "service %s blacklist 100;"
		    "service %s server 0 address 10.0.0.2 port 80;"
		    "service %s server 1 address 10.0.0.1 port 80",
	    name, name, at->text, name, name, name, name);
}

/* As learn(), and of the services b and c. */
static struct pen *
learn_services(void)
{
	struct frontend_stats stats = { .accepted = 34 };
	struct service *b, *c;
	struct pen *p;

	udp_endpoint(&front_b, ENDPOINT_TCP4);
	udp_endpoint(&front_c, ENDPOINT_TCP4);
	p = learn_with(
	    text("%s%s", service("b", &front_b), service("c", &front_c)));
	b = service_find(p, "b");
	c = service_find(p, "c");
	pool_set_admin(b->pool, server_in(b, 0), SERVER_DISABLED);
	pool_set_admin(c->pool, server_in(c, 1), SERVER_DRAINING);
	frontend_restore_stats(b->frontend, &stats);
	stats.accepted = 51;
	frontend_restore_stats(c->frontend, &stats);
	remember(b, 5);
	begin_flows(c, 1, 3);
	return p;
}

/* Reads the records, and the types that they have: "d" is a service, "s" a
 * server and so on; of several that are alike the first. */
static const char *
types_of(const struct buffer *b)
{
	static const char letters[] = "??scmfkd";
	struct handover_reader r;
	struct handover_record record;
	char types[200] = "", now[2] = "";

	handover_reader_init(&r);
	(void)handover_feed(&r, buffer_bytes(b), buffer_length(b));
	while (handover_next(&r, &record)) {
		ck_assert_uint_lt(record.type, sizeof(letters) - 1);
		if (now[0] == letters[record.type])
			continue;
		now[0] = letters[record.type];
		strncat(types, now, sizeof(types) - strlen(types) - 1);
	}
	handover_reader_fini(&r);
	return text("%s", types);
}

/* What an older process understands: no record names the only service, and one
 * that leaves is none. */
START_TEST(one_service_has_no_name)
{
	struct pen *p = learn();
	struct buffer b;

	write_all(p, &b);
	ck_assert_str_eq(types_of(&b), "scmf");
	buffer_fini(&b);
	takes("service add b");
	write_all(p, &b);
	ck_assert_str_eq(types_of(&b), "sdcdcdmdf");
	buffer_fini(&b);
	takes("service b remove");
	ck_assert_ptr_nonnull(p->service->next);
	write_all(p, &b);
	ck_assert_str_eq(types_of(&b), "scmf");
	buffer_fini(&b);
	pen_free(p);
}
END_TEST

/* In another order; one is missing, and one is new. */
START_TEST(services_are_found_by_name)
{
	struct pen *old = learn_services(), *new;
	struct service *b, *c, *d;
	struct endpoint front_d;
	struct buffer state;

	write_all(old, &state);
	ck_assert_str_eq(types_of(&state), "sdsdsdcdcdcdmdmdmdfdf");
	udp_endpoint(&front_d, ENDPOINT_TCP4);
	new = successor_with(old,
	    text("%s%s%s", service("d", &front_d), service("c", &front_c),
		service("b", &front_b)));
	read_all(new, &state);
	b = service_find(new, "b");
	c = service_find(new, "c");
	d = service_find(new, "d");
	ck_assert_int_eq(server_state(server_in(b, 0)), SERVER_MAINT);
	ck_assert_int_eq(server_state(server_in(b, 1)), SERVER_UP);
	ck_assert_int_eq(server_state(server_in(c, 0)), SERVER_UP);
	ck_assert_int_eq(server_state(server_in(c, 1)), SERVER_DRAIN);
	ck_assert_int_eq(server_state(server_in(d, 0)), SERVER_UP);
	ck_assert_int_eq(server_state(server_in(d, 1)), SERVER_UP);
	ck_assert_int_eq(server_state(server(new, 2)), SERVER_BLACKLISTED);
	ck_assert_uint_eq(frontend_stats(new->service->frontend)->accepted, 17);
	ck_assert_uint_eq(frontend_stats(b->frontend)->accepted, 34);
	ck_assert_uint_eq(frontend_stats(c->frontend)->accepted, 51);
	ck_assert_uint_eq(frontend_stats(d->frontend)->accepted, 0);
	ck_assert_int_eq(server_of(b, 1), 1);
	ck_assert_int_eq(server_of(b, 2), 0);
	ck_assert_int_eq(server_of(b, 6), -1);
	ck_assert_uint_eq(sticky_count(pool_sticky(d->pool)), 0);
	ck_assert_uint_eq(frontend_stats(c->frontend)->flows.now, 3);
	ck_assert_uint_eq(frontend_stats(b->frontend)->flows.now, 0);
	ck_assert_uint_eq(
	    frontend_stats(new->service->frontend)->flows.now, 20);
	/* the mark is in the plan, and is written */
	ck_assert_int_eq(plan_server(plan_service(new->plan, "b"), 0)->admin,
	    SERVER_DISABLED);
	buffer_fini(&state);
	pen_free(old);
	pen_free(new);
}
END_TEST

/* What a service has that is not here does not get into another one. */
START_TEST(a_missing_service_is_skipped)
{
	struct pen *old = learn_services(), *new;
	struct buffer state;
	struct service *c;

	write_all(old, &state);
	new = successor_with(old, service("c", &front_c));
	read_all(new, &state);
	c = service_find(new, "c");
	ck_assert_int_eq(server_state(server(new, 2)), SERVER_BLACKLISTED);
	ck_assert_int_eq(server_state(server_in(c, 0)), SERVER_UP);
	ck_assert_int_eq(server_state(server_in(c, 1)), SERVER_DRAIN);
	ck_assert_uint_eq(sticky_count(pool_sticky(c->pool)), 3);
	ck_assert_uint_eq(frontend_stats(c->frontend)->accepted, 51);
	ck_assert_uint_eq(frontend_stats(new->service->frontend)->accepted, 17);
	ck_assert_uint_eq(frontend_stats(c->frontend)->flows.now, 3);
	buffer_fini(&state);
	pen_free(old);
	pen_free(new);
}
END_TEST

/* Copies the state with other bytes where services are named. */
static void
rename_services(
    const struct buffer *from, struct buffer *to, const char *name, size_t n)
{
	struct handover_reader r;
	struct handover_record record;
	struct handover_writer w;

	buffer_init(to);
	handover_begin(&w, to);
	handover_reader_init(&r);
	(void)handover_feed(&r, buffer_bytes(from), buffer_length(from));
	while (handover_next(&r, &record)) {
		handover_open(&w, (enum handover_type)record.type);
		if (record.type == HANDOVER_SERVICE)
			handover_add(&w, name, n);
		else
			handover_add(&w, record.at, record.left);
		handover_close(&w);
	}
	handover_reader_fini(&r);
}

/* What is not the name of a service here names none. */
START_TEST(names_that_are_not_right)
{
	static const struct {
		const char *bytes;
		size_t n;
	} names[] = { { "", 0 }, { "\0", 1 }, { "\1", 1 }, { "\3b", 2 },
		{ "\1B", 2 }, { "\2b/", 3 }, { "\2b\0", 3 }, { "\3b\0c", 4 },
		{ "\377b", 2 }, { "\6default", 7 }, { "\3add", 4 } };
	struct pen *old = learn_services(), *new;
	struct buffer good, other;
	struct service *b;
	size_t i;

	write_all(old, &good);
	new = successor_with(old, service("b", &front_b));
	b = service_find(new, "b");
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		rename_services(&good, &other, names[i].bytes, names[i].n);
		read_all(new, &other);
		buffer_fini(&other);
		ck_assert_int_eq(server_state(server_in(b, 0)), SERVER_UP);
		ck_assert_uint_eq(sticky_count(pool_sticky(b->pool)), 0);
		ck_assert_int_eq(server_state(server(new, 3)), SERVER_DRAIN);
	}
	rename_services(&good, &other, "\1b", 2);
	read_all(new, &other);
	buffer_fini(&other);
	ck_assert_int_eq(server_state(server_in(b, 0)), SERVER_MAINT);
	buffer_fini(&good);
	pen_free(old);
	pen_free(new);
}
END_TEST

/* ---- corrupted ---- */

static unsigned seed = 1;

static unsigned
draw(void)
{
	return (unsigned)rand_r(&seed) >> 4;
}

/* Copies the state; some payloads are changed, cut or longer, with checks that
 * are right. */
static void
corrupt(const struct buffer *from, struct buffer *to)
{
	unsigned char payload[HANDOVER_PAYLOAD_MAX + 64];
	struct handover_reader r;
	struct handover_record record;
	struct handover_writer w;
	size_t n, i;

	buffer_init(to);
	handover_begin(&w, to);
	handover_reader_init(&r);
	ck_assert_int_eq(
	    handover_feed(&r, buffer_bytes(from), buffer_length(from)), 0);
	while (handover_next(&r, &record)) {
		n = record.left;
		memcpy(payload, record.at, n);
		for (i = draw() % 4; i > 0 && n > 0; i--)
			payload[draw() % n] = (unsigned char)draw();
		if (draw() % 8 == 0)
			n = n > 0 ? draw() % n : 0;
		else if (draw() % 8 == 0 && n < HANDOVER_PAYLOAD_MAX)
			for (i = draw() % 32; i > 0; i--)
				payload[n++] = (unsigned char)draw();
		handover_open(&w, (enum handover_type)record.type);
		handover_add(&w, payload, n);
		handover_close(&w);
	}
	handover_reader_fini(&r);
}

/* Whatever comes, there are servers, and clients are served. */
START_TEST(corrupted_states)
{
	struct pen *old, *new;
	struct peer who = client(99);
	struct attempts attempts = { .count = 0 };
	struct buffer good, bad_;
	long i;

	log_level = LOG_LEVEL_ERROR;
	old = learn_services();
	write_all(old, &good);
	new = successor_with(old, service("b", &front_b));
	for (i = suite_rounds((int)suite_amount(10000, 2000)); i > 0; i--) {
		corrupt(&good, &bad_);
		read_all(new, &bad_);
		buffer_fini(&bad_);
	}
	ck_assert_uint_le(sticky_count(pool_sticky(new->service->pool)),
	    pool_options(new->service->pool)->clients_max);
	for (i = 0; i < 4; i++) {
		pool_set_admin(new->service->pool, server(new, (unsigned)i),
		    SERVER_ENABLED);
		ck_assert_int_lt(
		    server_state(server(new, (unsigned)i)), SERVER_STATES);
	}
	ck_assert_ptr_nonnull(pool_choose(
	    new->service->pool, &who, &attempts, loop_now(new->loop)));
	buffer_fini(&good);
	pen_free(old);
	pen_free(new);
}
END_TEST

/* ---- peers ---- */

/* What a peer gets first. */
static void
write_to_peer(
    struct pen *p, struct handover_state_writer *w, struct buffer *out)
{
	int rc;

	buffer_init(out);
	handover_state_writer_init(w, p);
	w->to_peer = true;
	while ((rc = handover_state_write(w, out)) > 0)
		;
	ck_assert_int_eq(rc, 0);
}

/* Returns why it was not read to its end, or NULL. */
static const char *
read_from_peer(struct handover_reader *r, struct handover_state_reader *l,
    const char *bytes, size_t n)
{
	struct handover_record record;

	(void)handover_feed(r, bytes, n);
	while (handover_next(r, &record))
		handover_state_read(l, &record);
	return r->error;
}

static void
begin_to_learn(
    struct pen *p, struct handover_reader *r, struct handover_state_reader *l)
{
	handover_reader_init(r);
	handover_state_reader_init(l, p);
	l->from_peer = true;
}

static void
end_of_learning(struct handover_reader *r, struct handover_state_reader *l)
{
	handover_state_reader_fini(l);
	handover_reader_fini(r);
}

/* Proven clients and the names of servers, and nothing else. */
START_TEST(peers_get_clients)
{
	struct pen *old = learn(), *new;
	struct handover_change change = { old->service, 1, HANDOVER_OF_CLIENT };
	struct handover_state_writer w;
	struct handover_state_reader l;
	struct handover_reader r;
	struct buffer b;
	struct sticky *sticky;

	write_to_peer(old, &w, &b);
	ck_assert_str_eq(types_of(&b), "sm");
	ck_assert(handover_state_is_named(&w));
	new = successor(old);
	begin_to_learn(new, &r, &l);
	ck_assert_ptr_null(read_from_peer(
	    &r, &l, buffer_bytes(&b), buffer_length(&b)));
	sticky = pool_sticky(new->service->pool);
	/* every third is proven, and those with flows */
	ck_assert_uint_eq(l.reported, 40);
	ck_assert_uint_eq(l.new, 40);
	ck_assert_uint_eq(sticky_count(sticky), 40);
	ck_assert(sticky_at(sticky, 0)->reported);
	ck_assert_int_eq(server_state(server(new, 2)), SERVER_UP);
	ck_assert_uint_eq(server(new, 0)->counters->connects, 0);
	/* one that is not proven is no change, a learned one neither */
	buffer_cut(&b, 0);
	ck_assert_uint_eq(handover_state_write_changes(&w, &change, 1, &b), 1);
	ck_assert_ptr_null(read_from_peer(
	    &r, &l, buffer_bytes(&b), buffer_length(&b)));
	ck_assert_uint_eq(l.reported, 40);
	change.at = 2;
	buffer_cut(&b, 0);
	ck_assert_uint_eq(handover_state_write_changes(&w, &change, 1, &b), 1);
	ck_assert_ptr_null(read_from_peer(
	    &r, &l, buffer_bytes(&b), buffer_length(&b)));
	ck_assert_uint_eq(l.reported, 41);
	buffer_fini(&b);
	write_to_peer(new, &w, &b);
	ck_assert_uint_eq(w.clients, 0);
	buffer_fini(&b);
	end_of_learning(&r, &l);
	pen_free(old);
	pen_free(new);
}
END_TEST

/* No client of bytes that are wrong is taken, which those of the last record
 * are. */
static void
learn_nothing(struct pen *p, const char *bytes, size_t n)
{
	struct handover_state_reader l;
	struct handover_reader r;

	begin_to_learn(p, &r, &l);
	(void)read_from_peer(&r, &l, bytes, n);
	ck_assert_uint_eq(l.reported, 0);
	end_of_learning(&r, &l);
}

/* Each bit in turn is wrong; then bytes at random, or the end is missing. */
START_TEST(spoilt_reports)
{
	int rounds = suite_rounds(20000), k;
	struct pen *old = learn(), *new;
	struct handover_state_writer w;
	struct buffer b;
	uint64_t x = 1;
	char *bytes;
	size_t n, i;

	write_to_peer(old, &w, &b);
	n = buffer_length(&b);
	bytes = malloc(n);
	ck_assert_ptr_nonnull(bytes);
	new = successor(old);
	for (i = 0; i < n * 8; i++) {
		memcpy(bytes, buffer_bytes(&b), n);
		bytes[i / 8] ^= (char)(1 << i % 8);
		learn_nothing(new, bytes, n);
	}
	for (k = 0; k < rounds; k++) {
		memcpy(bytes, buffer_bytes(&b), n);
		for (i = 0; i <= (size_t)k % 8; i++) {
			x = hash_mix(x + 1);
			bytes[x % n] ^= (char)(x >> 32 | 1);
		}
		learn_nothing(new, bytes, k % 4 == 0 ? x % n : n);
	}
	ck_assert_uint_eq(sticky_count(pool_sticky(new->service->pool)), 0);
	free(bytes);
	buffer_fini(&b);
	pen_free(old);
	pen_free(new);
}
END_TEST

/* A record of a server in that slot there, at the address. */
static void
add_server(struct handover_writer *w, unsigned slot, const char *host)
{
	struct addr at;
	unsigned i;

	ck_assert_int_eq(addr_parse_ip(&at, host, 80), 0);
	handover_open(w, HANDOVER_SERVER);
	handover_add_number(w, slot, 4);
	handover_add_addr(w, &at);
	for (i = 0; i < 10; i++)
		handover_add_number(w, 0, 8);
	for (i = 0; i < 100; i++)
		handover_add_number(w, 0, 1);
	handover_close(w);
}

static void
read_added(struct handover_reader *r, struct handover_state_reader *l,
    struct buffer *b)
{
	ck_assert_ptr_null(
	    read_from_peer(r, l, buffer_bytes(b), buffer_length(b)));
	buffer_cut(b, 0);
}

/* What a peer reports takes no more memory than the servers here: whatever the
 * slots are, and however often. They are found again, in any order. */
START_TEST(slots_of_a_peer)
{
	struct handover_state_reader l;
	struct handover_writer w;
	struct handover_reader r;
	struct buffer b;
	struct pen *p;
	unsigned i;

	udp_endpoint(&front, ENDPOINT_TCP4);
	p = begin(front.text,
	    "server 0 address 10.0.0.1 port 80;"
	    "server 1 address 10.0.0.2 port 80");
	begin_to_learn(p, &r, &l);
	buffer_init(&b);
	handover_begin(&w, &b);
	add_server(&w, server_slot(4095), "10.0.0.2");
	add_server(&w, server_slot(500), "10.0.0.1");
	add_server(&w, server_slot(700), "10.0.0.9");
	read_added(&r, &l, &b);
	ck_assert_ptr_eq(
	    handover_servers_get(l.now, server_slot(4095)), server(p, 1));
	ck_assert_ptr_eq(
	    handover_servers_get(l.now, server_slot(500)), server(p, 0));
	ck_assert_ptr_null(handover_servers_get(l.now, server_slot(700)));
	handover_go_on(&w, &b);
	add_server(&w, server_slot(500), "10.0.0.9");
	read_added(&r, &l, &b);
	ck_assert_ptr_null(handover_servers_get(l.now, server_slot(500)));
	for (i = 4096; i-- > 0;) {
		handover_go_on(&w, &b);
		add_server(&w, server_slot(i), "10.0.0.1");
		read_added(&r, &l, &b);
	}
	ck_assert_ptr_null(l.now->servers);
	ck_assert_uint_le(l.now->peer_room, 16);
	end_of_learning(&r, &l);
	buffer_fini(&b);
	pen_free(p);
}
END_TEST

SUITE(test_handover_state)
{
	Suite *s = suite_create("handover_state");

	SUITE_ADD(s, servers_are_found_by_address, 10);
	SUITE_ADD(s, unproven_servers, 20);
	SUITE_ADD(s, clients_and_counters, 10);
	SUITE_ADD(s, clients_are_forgotten_in_their_order, 10);
	SUITE_ADD(s, one_service_has_no_name, 10);
	SUITE_ADD(s, services_are_found_by_name, 10);
	SUITE_ADD(s, a_missing_service_is_skipped, 10);
	SUITE_ADD(s, names_that_are_not_right, 20);
	SUITE_ADD(s, corrupted_states, 120);
	SUITE_ADD(s, peers_get_clients, 10);
	SUITE_ADD(s, spoilt_reports, 60);
	SUITE_ADD(s, slots_of_a_peer, 30);
	return s;
}
