/* parties.c: what clients and servers do, and what they must get. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "model/parties.h"
#include "proxy/log/reason.h"
#include "support/pattern.h"

enum { LONG = 400 * 1000, SHORT = 3000, PIECE = 128 * 1024 };

struct parties parties;

void
parties_begin(void)
{
	memset(&parties, 0, sizeof(parties));
}

static size_t
some_room(void)
{
	static const unsigned rooms[] = { 16, 300, 4096, 70000, 300000 };

	return rooms[kernel_below(5)];
}

static struct party *
party_new(struct conn *c)
{
	struct party *p = calloc(1, sizeof(*p));

	MUST(p != NULL);
	p->conn = c;
	c->arg = p;
	p->stream = c->number;
	p->first = "";
	p->quota = kernel_one_in(3) ? 0
	    : kernel_one_in(12)	    ? kernel_below(LONG)
				    : kernel_below(SHORT);
	p->polite = !kernel_one_in(3);
	p->reason = -1;
	p->next = parties.first;
	parties.first = p;
	return p;
}

bool
parties_visit(uint16_t port)
{
	struct sockaddr_in from = { .sin_family = AF_INET };
	struct conn *c;
	struct party *p;

	from.sin_addr.s_addr = htonl(0x7f000100 + kernel_below(40));
	from.sin_port = htons((uint16_t)(1024 + kernel_below(60000)));
	c = kernel_visit(&from, port, some_room());
	if (c == NULL)
		return false;
	p = party_new(c);
	p->is_client = true;
	if (kernel_one_in(4))
		p->first = "GET / HTTP/1.0\r\n\r\n";
	parties.clients++;
	parties.born++;
	return true;
}

struct party *
parties_accept(struct conn *c, unsigned server)
{
	struct party *p;

	kernel_size(c, some_room());
	p = party_new(c);
	p->server = server;
	parties.servers++;
	return p;
}

/* ---- bytes ---- */

static void
bytes_of(const struct party *p, uint64_t at, char *bytes, size_t n)
{
	size_t first = strlen(p->first), i;

	pattern_fill(p->stream, at, bytes, n);
	for (i = 0; i < n && at + i < first; i++)
		bytes[i] = p->first[at + i];
}

static void
say(struct party *p)
{
	static char bytes[PIECE];
	size_t first = strlen(p->first);
	uint64_t left = p->quota + first - p->sent;
	size_t room = kernel_room(p->conn), n;

	if (p->finished || p->closed || left == 0 || room == 0)
		return;
	n = left < room ? (size_t)left : room;
	if (n > PIECE)
		n = PIECE;
	if (kernel_one_in(2))
		n = 1 + kernel_below((unsigned)n);
	if (p->sent == 0 && first > 0 && n >= first)
		n = first; /* a request by itself */
	bytes_of(p, p->sent, bytes, n);
	kernel_put(p->conn, bytes, n);
	p->sent += n;
}

static void
hear(struct party *p, bool all)
{
	static char bytes[PIECE], want[PIECE];
	size_t n,
	    most = all || kernel_one_in(2) ? PIECE : 1 + kernel_below(PIECE);

	if (p->closed || (p->partner == NULL && p->conn->out.n > 0))
		return;
	n = kernel_take(p->conn, bytes, most);
	if (n > 0) {
		bytes_of(p->partner, p->got, want, n);
		MUST_OR(memcmp(bytes, want, n) == 0,
		    "%s %u got other bytes at %llu",
		    p->is_client ? "client" : "server", p->conn->number,
		    (unsigned long long)p->got);
		p->got += n;
		MUST(p->got <= p->partner->sent);
	}
	if (p->conn->out.n == 0 && (p->conn->out.end || p->conn->out.reset))
		p->told = true;
	p->reset |= p->conn->out.reset;
}

/* ---- what they do ---- */

static void
finish(struct party *p)
{
	if (p->finished || p->closed)
		return;
	p->finished = true;
	kernel_finish(p->conn);
}

static void
close_it(struct party *p)
{
	p->closed = true;
	kernel_hang_up(p->conn);
}

static void
leave(struct party *p)
{
	if (!p->polite && kernel_one_in(2)) {
		p->closed = true;
		kernel_reset(p->conn);
	} else if (!p->polite || (p->told && p->finished)) {
		close_it(p);
	}
}

/* A polite one that has said all, or has been told that all is over, ends. */
static void
act(struct party *p)
{
	bool done = p->sent == p->quota + strlen(p->first);

	if (p->closed || p->conn->connecting)
		return;
	switch (kernel_below(8)) {
	case 0:
		if (done || p->told || !p->polite)
			finish(p);
		break;
	case 1:
		if (p->told || kernel_one_in(6))
			leave(p);
		break;
	case 2:
	case 3:
	case 4:
		say(p);
		break;
	default:
		hear(p, false);
	}
}

static void
hurry(struct party *p)
{
	if (p->closed || p->conn->connecting)
		return;
	hear(p, true);
	finish(p);
	if (p->told)
		close_it(p);
}

void
parties_act(void)
{
	unsigned i, all = parties.clients + parties.servers;
	struct party *p = parties.first;

	if (all == 0)
		return;
	for (i = kernel_below(all); i > 0; i--)
		p = p->next;
	if (parties.hurried)
		for (p = parties.first; p != NULL; p = p->next)
			hurry(p);
	else
		act(p);
}

/* ---- what they must have got ---- */

/* A client that gets another server has heard nothing of the one before. */
void
parties_join(struct conn *client, struct conn *server)
{
	struct party *c = client->arg, *s = server->arg;

	if (c->partner == s)
		return;
	MUST_OR(c->partner == NULL || client->out.put == 0,
	    "client %u has bytes of server connection %u, and gets %u",
	    client->number, (unsigned)c->partner->stream, server->number);
	MUST_OR(s->partner == NULL,
	    "server connection %u has clients %u "
	    "and %u",
	    server->number, s->partner->conn->number, client->number);
	c->partner = s;
	s->partner = c;
}

/* Two that keep the peace, and a session that ends well: nothing is lost, and
 * nobody is reset. */
static void
judge(const struct party *p)
{
	const struct party *o = p->partner;
	int reason = p->is_client || o == NULL ? p->reason : o->reason;

	if (reason != REASON_DONE || !p->polite || o == NULL || !o->polite ||
	    o->partner != p || (p->let_go && !p->is_client))
		return;
	MUST_OR(p->got == o->sent && !p->reset,
	    "%s %u, in peace, got %llu bytes of %llu, and %s",
	    p->is_client ? "client" : "server", p->conn->number,
	    (unsigned long long)p->got, (unsigned long long)o->sent,
	    p->reset ? "a reset" : "an end");
}

static void
bury(struct party *p)
{
	if (p->is_client)
		parties.clients--;
	else
		parties.servers--;
	judge(p);
	kernel_forget(p->conn);
	p->conn = NULL;
	p->next = parties.past;
	parties.past = p;
}

/* What the program has closed without having used it ends here, too. */
static void
give_up(struct party *p)
{
	if (p->closed || p->conn->fd != -1 || !p->conn->out.end ||
	    p->partner != NULL)
		return;
	p->conn->out.n = 0;
	p->told = true;
	close_it(p);
}

void
parties_tidy(void)
{
	struct party **at = &parties.first, *p;

	while ((p = *at) != NULL) {
		give_up(p);
		if (p->conn->fd == -1 && p->conn->out.end && p->closed) {
			*at = p->next;
			bury(p);
		} else {
			at = &p->next;
		}
	}
}

void
parties_end(void)
{
	struct party *p;

	for (p = parties.first; p != NULL; p = p->next)
		hurry(p);
	parties_tidy();
	MUST(parties.first == NULL);
	while ((p = parties.past) != NULL) {
		parties.past = p->next;
		free(p);
	}
}
