/* frontend_stats.h: what a frontend counts. */
#ifndef PEN_PROXY_FRONTEND_STATS_H
#define PEN_PROXY_FRONTEND_STATS_H

#include <stdint.h>

#include "base/duration.h"
#include "proxy/http/http_responses.h"
#include "proxy/log/reason.h"
#include "proxy/wire/dns_message.h"

/* Everything counts since the start, but for what is there now. */
struct flow_stats {
	uint64_t now;
	uint64_t peak; /* most at once */
	uint64_t opened;
	uint64_t evicted;   /* for others, before their time */
	uint64_t ports;	    /* local ports that they have, now */
	uint64_t ports_max; /* that they may have; 0: not known */
};

/* Those of flows and of DNS; the last six were dropped. */
struct datagram_stats {
	uint64_t up, down;
	uint64_t no_server; /* no server was available */
	uint64_t unsent;    /* the kernel did not take it */
	uint64_t too_long;
	uint64_t no_memory;
	uint64_t flood; /* of newcomers, while they crowd */
	uint64_t unnamed; /* invalid PROXY header, or not from a permitted
			   * proxy */
};

struct dns_stats {
	uint64_t waiting; /* for answers, now */
	uint64_t peak;	  /* most at once */
	uint64_t queries;
	uint64_t failed;    /* answered SERVFAIL: no server did */
	uint64_t malformed; /* no DNS messages */
	uint64_t unasked;   /* responses to no pending query, or late */
	uint64_t evicted;   /* failed early: too many waited */
	uint64_t answers[DNS_ANSWER_KINDS]; /* to clients, of pen itself, too */
};

/* Those of client_conns and client_rate. */
struct limit_stats {
	uint64_t waiting; /* delayed or tarpitted, now */
	uint64_t beyond;  /* connections, flows, datagrams beyond a limit */
	uint64_t refused; /* what became of the connections */
	uint64_t delayed;
	uint64_t tarpitted;
	uint64_t abuse;
	uint64_t dropped; /* datagrams */
	uint64_t untracked; /* connections and datagrams without a limit,
			     * for lack of memory */
	uint64_t pauses;  /* of the listeners, by conn_rate */
};

struct tls_stats {
	uint64_t handshakes; /* with clients, that succeeded */
	uint64_t resumed;    /* of those, without a new key exchange */
	uint64_t up_handshakes, up_resumed; /* the same with servers */
	uint64_t failed, up_failed; /* with clients, with servers */
};

/* Of sessions, since the start. */
struct frontend_durations {
	struct duration connect;    /* of connects that succeeded */
	struct duration first_byte; /* until the answer began; of DNS, too */
	struct duration session;    /* from its beginning to its end */
};

/* Lines of logs that were dropped. */
struct line_stats {
	uint64_t sessions, requests, own; /* own: of pen's log */
};

struct frontend_stats {
	uint64_t sessions;	   /* open now */
	uint64_t sessions_peak;	   /* most open at once */
	uint64_t connecting;	   /* of those, waiting for a server */
	uint64_t queued;	   /* of those, waiting for a place */
	uint64_t accepted;	   /* since the start, as all below */
	uint64_t queued_total;	   /* had to wait for a place */
	uint64_t retries;	   /* servers tried after another failed */
	uint64_t requests_retried; /* sent again, as a server lost them */
	uint64_t up, down;	   /* bytes to servers, to clients */
	uint64_t reasons[REASONS]; /* how sessions ended */
	struct flow_stats flows;
	struct datagram_stats datagrams;
	struct dns_stats dns;
	struct tls_stats tls;
	struct limit_stats limits;
	struct line_stats lines_lost;
	/* Answers of servers, by the class of their status, from 1xx on; where
	 * they are read. */
	uint64_t http_classes[HTTP_CLASSES];
	uint64_t http_pages[HTTP_CLASSES]; /* the same of pen's own */
	struct frontend_durations durations;
	uint64_t preopened; /* connections, now */
};

/* Adds those of another process, or takes them off. The greater number of ports
 * that there may be stays. */
void frontend_stats_add(
    struct frontend_stats *to, const struct frontend_stats *other);
void frontend_stats_subtract(
    struct frontend_stats *from, const struct frontend_stats *other);
/* Peaks are what is there now, and what they were in `before`, at the least. */
void frontend_stats_raise_peaks(
    struct frontend_stats *st, const struct frontend_stats *before);
void frontend_stats_drop_peaks(struct frontend_stats *st);
/* Peaks, and what is there now, become zero. */
void frontend_stats_drop_gauges(struct frontend_stats *st);

#endif
