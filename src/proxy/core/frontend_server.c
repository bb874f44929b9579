/* frontend_server.c: what all that connects to servers has in common: how it
 * connects, from which address, the client address for servers, and their
 * failures. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "net/sock_nonlocal.h"
#include "proxy/core/frontend_core.h"

struct sock_keepalive
frontend_keepalive(const struct frontend_core *f)
{
	const struct frontend_options *o = &f->options;

	return (struct sock_keepalive){
		.on = o->keepalive,
		.idle_s = (unsigned)((o->keepalive_ms + 999) / 1000),
		.interval_s =
		    (unsigned)((o->keepalive_interval_ms + 999) / 1000),
		.count = o->keepalive_count,
		.user_ms = (unsigned)o->user_timeout_ms,
	};
}

struct sock_connect_options
frontend_connect_options(struct frontend_core *f, uint16_t port)
{
	const struct frontend_options *o = &f->options;

	return (struct sock_connect_options){
		.sources = &o->source,
		.turn = &f->source_turn,
		.port = port,
		.near_ports = f->near_ports,
		.tuning = f->tuned ? &f->up_tuning : NULL,
	};
}

static void
tell_own(struct frontend_core *f, const struct peer *client,
    const struct addr *to)
{
	char who[PEER_TEXT_MAX], where[ADDR_TEXT_MAX];

	if (f->own_told)
		return;
	f->own_told = true;
	log_info("transparent: servers see pen's address for this kind of "
		 "client client=%s server=%s",
	    peer_format_host(client, who), addr_format_host(to, where));
}

const struct peer *
frontend_client_of(struct frontend_core *f, const struct peer *client,
    const struct addr *to)
{
	if (!f->options.transparent)
		return NULL;
	if (sock_may_pose(client, to))
		return client;
	tell_own(f, client, to);
	return NULL;
}

bool
frontend_server_is_tls(const struct frontend_core *f, const struct server *s)
{
	return f->tls.client != NULL &&
	    (s->set.tls == SERVER_TLS_ON ||
		(s->set.tls == SERVER_TLS_AS_SET && f->tls.upstream));
}

enum proxy_version
frontend_server_proxy(const struct frontend_options *o, const struct server *s)
{
	return s->set.proxy == SERVER_PROXY_AS_SET ? o->proxy
	    : s->set.proxy == SERVER_PROXY_V1	   ? PROXY_V1
	    : s->set.proxy == SERVER_PROXY_V2	   ? PROXY_V2
						   : PROXY_OFF;
}

int
frontend_server_address(const struct server *s, int fd, uint16_t port)
{
	struct addr to, copy;
	unsigned i;

	if (sock_peer_addr(fd, &to) < 0)
		return -1;
	for (i = 0; i < s->addrs.count; i++)
		if (addr_equal(
			&to, addr_with_port(&s->addrs.addr[i], port, &copy)))
			return (int)i;
	return -1;
}

void
frontend_name_ourselves(
    struct proxy_header *h, int fd, const struct addr *to)
{
	struct addr own;

	if (sock_local_addr(fd, &own) < 0)
		return;
	peer_from_addr(&h->client, &own);
	peer_from_addr(&h->server, to);
}

bool
frontend_error_blames_server(const struct frontend_core *f,
    const struct server *s, uint16_t port, int error)
{
	uint16_t first = f->options.first_port;
	const struct addr *at = &s->addrs.addr[0];

	return !sock_error_is_refusal(error) || first == 0 || port == first ||
	    addr_port(at) != 0 || at->u.sa.sa_family == AF_UNIX;
}

void
frontend_server_failed(
    struct frontend_core *f, struct server *s, int error, const char *why)
{
	uint64_t now = loop_now(f->loop);
	bool told;

	if (why == NULL)
		why = strerror(error);
	told = sock_error_is_refusal(error) ? pool_refused(f->pool, s, why, now)
					    : pool_failed(f->pool, s, why, now);
	if (!told)
		log_warn("server failed server=%u name=%s error=\"%s\"%s",
		    s->number, s->name, why, f->label);
}

void
frontend_connection_failed(
    struct frontend_core *f, struct server *s, int error, const char *why)
{
	char text[SERVER_REASON_MAX];

	if (why == NULL)
		why = strerror(error);
	if (f->options.dns.on) {
		snprintf(text, sizeof(text), "TCP: %s", why);
		why = text;
	}
	frontend_server_failed(f, s, error, why);
}
