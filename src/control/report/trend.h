/* trend.h: how the totals and servers of each service did in the last ten
 * minutes, and how sessions ended in the last one: a sample every five seconds,
 * kept while they may be requested. Samples of all services are taken
 * together. */
#ifndef PEN_CONTROL_TREND_H
#define PEN_CONTROL_TREND_H

#include "base/buffer.h"
#include "control/value/row.h"
#include "net/loop/loop.h"
#include "proxy/log/reason.h"
#include "tls/tls_server.h"

struct pen;
struct service;

enum { TREND_SAMPLES = 120, TREND_STEP_MS = 5000, TREND_MINUTE = 12 };
enum trend_total {
	TREND_SESSIONS,
	TREND_ACCEPTED, /* a second, as all after it */
	TREND_UP,
	TREND_DOWN,
	TREND_FRAMES, /* forwarded by direct return */
	TREND_FRAME_BYTES,
	TREND_QUERIES, /* of DNS */
	TREND_TOTALS
};

/* Connects of a server in each step. */
struct trend_server {
	uint16_t connects[TREND_SAMPLES];
	uint64_t before;     /* its counter at the last sample */
	unsigned generation; /* whose these are */
};

/* What was counted until a sample; of numbers of sessions the low bits, which
 * are enough for a minute. */
struct trend_mark {
	uint32_t reasons[REASONS];
	uint32_t lines_lost;
	uint64_t answers, first_us; /* how many began, after how long in all */
	uint64_t dns, servfail;	    /* answers of DNS; those without one */
};

/* The last minute. */
struct trend_minute {
	uint64_t ended;	  /* sessions */
	uint64_t failed;  /* of those, with a status of 5xx, not by command */
	uint64_t refused; /* with 400, 403, 429: TLS, access lists, limits */
	uint64_t lines_lost;
	uint64_t answers;	/* that began */
	uint64_t dns, servfail;
	uint64_t first_byte_us; /* mean; 0: there was none */
	/* The most frequent reason; REASON_DONE: none. */
	enum reason failed_most, refused_most;
};

/* Of a service. */
struct trend {
	float totals[TREND_TOTALS][TREND_SAMPLES];
	uint64_t before[TREND_TOTALS];
	struct trend_mark marks[TREND_MINUTE];
	/* The certificate that ends first, looked for each minute. */
	bool looked;
	char certificate[128]; /* its name; "": there is none */
	time_t certificate_ends;
	struct trend_server *servers; /* by slot */
	uint32_t room;
};

struct trends {
	struct pen *pen;
	struct timer timer;
	unsigned count, next; /* samples that are there; where the next goes */
	unsigned mark_next;   /* the oldest mark */
};

/* Takes samples from now on. NULL with errno. */
struct trends *trends_new(struct pen *p);
void trends_free(struct trends *ts); /* what was sampled stays */
/* No samples are taken any more. */
void trends_stop(struct pen *p);
/* Each service has its trend, svc->trend, from now on: new ones, too. NULL: out
 * of memory. */
void trends_follow(struct trends *ts);

/* The last minute of a service; all 0 if it has no trend. */
void trend_last_minute(
    const struct trends *ts, const struct service *svc, struct trend_minute *m);

/* Appends the samples of a service, or with NULL the sums of all services,
 * without servers, as an object of JSON, in pieces: `*at` is 0 at first. The
 * oldest sample comes first. Returns false when that was the last. */
bool trends_more(const struct trends *ts, const struct service *svc,
    unsigned *at, struct buffer *out);

#endif
