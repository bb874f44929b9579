/* session_record.h: what is known of a session, of a flow, or of a request of
 * HTTP, when it is over, and the fields that a line of the logs may have. Pure.
 *
 *     field       example                         of a session
 *     time        2026-11-22T12:00:00.250+01:00   when it ended (RFC 3339)
 *     clf_time    22/Nov/2026:12:00:00 +0100      the same, as Apache's log
 *     epoch       1795345200                      the same
 *     reason      done                            why it ended
 *     status      200                             the same, as of HTTP
 *     client      192.0.2.1:40000                 its address
 *     client_ip   192.0.2.1
 *     clf_host    192.0.2.1                       127.0.0.1 for Unix clients
 *     via         192.0.2.9:5000                  the proxy in front
 *     id          e376615e324affeb                as sent to servers
 *     request_id  e376615e324affeb0000000000000001
 *                                                 http_request_id; of a session
 *                                                 that of its last request
 *     port        443                             the client connected to
 *     service     web                             of the session
 *     session     17                              its number, for commands
 *     server      10.0.0.1:80                     its address
 *     number      0                               that server's
 *     name        web1                            that server's
 *     up, down    517, 33004                      bytes to server, to client
 *     datagrams_up, datagrams_down
 *                 3, 3                            the same, of a flow of UDP
 *     queue_ms    20                              waited for a full server
 *     connect_ms  0.431                           the connect took
 *     first_ms    12                              until the first answer byte
 *     ms          140                             all of it
 *     failures    1                               servers that failed it
 *     tried       web2:80,10.0.0.3:80             which; the first of them
 *     tls         TLSv1.3                         of the client's side
 *     cipher      TLS_AES_256_GCM_SHA384
 *     sni         www.example.org
 *     alpn        http/1.1
 *     resumed     yes                             the client's TLS session was
 *     subject     CN=alice                        of the client's certificate
 *     server_tls  TLSv1.3                         of the server's side
 *
 * A request has these, too, but for queue_ms, connect_ms, failures, tried and
 * those of datagrams: as they are of itself, or of its session. And besides:
 *
 *     request     GET /a?b HTTP/1.1               its first line, as it came
 *     method      GET
 *     path        /a?b                            with the query
 *     protocol    HTTP/1.1
 *     malformed   GET<tab>/                       the first line of what is
 *                                                 none
 *     host        www.example.org                 the field Host
 *     user_agent  curl/8.5.0                      the same
 *     referer     https://example.org/            the same
 *     status      200                             of its answer; of one that
 *                                                 has none, as of its end
 *     body        32768                           bytes of the answer after
 *                                                 its header section
 *     retries     1                               servers that failed it */
#ifndef PEN_PROXY_SESSION_RECORD_H
#define PEN_PROXY_SESSION_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/clock.h"
#include "proxy/log/reason.h"

struct server;
struct tls_facts;

/* Bytes of a name, and of values; of a request some may be longer. */
enum { RECORD_NAME_MAX = 16, RECORD_VALUE_MAX = 512, RECORD_LONG_MAX = 2200 };

/* Whose field it is. */
enum record_scope { RECORD_BOTH, RECORD_SESSION, RECORD_REQUEST };

/* The wall clock as text; made once a second. */
struct record_time {
	int64_t second;		   /* of the epoch; 0: not made yet */
	char local[24];		   /* 2026-11-22T12:00:00 */
	char zone[CLOCK_ZONE_MAX]; /* +01:00 */
	char clf[32];
};

struct log_format;

/* Bytes of another owner; of length 0: none. */
struct record_text {
	const char *at;
	size_t length;
};

struct request_record {
	struct record_text line, method, path, protocol;
	struct record_text host, user_agent, referer;
	uint64_t status;
	uint64_t body;
	uint64_t retries;
	uint64_t first_us; /* UINT64_MAX: no byte came */
	uint64_t total_us;
};

struct session_record {
	/* NULL: it is of a session, or a flow. */
	const struct request_record *request;
	const struct record_time *time;
	unsigned time_ms; /* of the second */
	enum reason reason;
	const struct peer *client, *sender; /* sender: a proxy; NULL: none */
	const char *id;			    /* of id_n bytes; 0: none */
	size_t id_n;
	struct record_text request_id; /* of the last request, or this one */
	uint64_t port; /* also of a server with port 0; 0: a Unix socket */
	const char *service; /* NULL: the first */
	const struct log_format *format; /* of the service; NULL: logfmt */
	uint64_t session;
	const struct server *server; /* NULL: none */
	const struct addr *server_at; /* its address; NULL: none */
	uint64_t up, down;
	bool is_flow; /* of datagrams, */
	uint64_t datagrams_up, datagrams_down; /* so many */
	uint64_t queued_ms;  /* 0: not */
	uint32_t connect_us; /* 0: no connect */
	uint64_t first_ms;   /* UINT64_MAX: no byte came */
	uint64_t total_ms;
	uint64_t failures; /* of servers, before this one */
	const char *tried; /* those, as record_add_tried() has it; NULL: none */
	const struct tls_facts *client_tls, *server_tls; /* NULL: none */
	const char *sni; /* NULL: none */
};

struct record_field {
	const char *name;
	bool is_number;	 /* JSON needs no quotes */
	bool is_plain;	 /* no value needs quotes or escapes */
	bool is_address; /* the same, unless it is of a Unix socket */
	bool is_tls;	 /* only sessions with TLS have it; these are last */
	bool on_request; /* not in the lines with all fields */
	enum record_scope scope;
	/* As record_put(); NULL: it is the number `at` there in the record,
	 * a uint64_t. */
	size_t (*put)(const struct session_record *r, char *value);
	size_t at;
	bool or_none; /* the number 0 is none */
};

/* Writes the value of at most RECORD_LONG_MAX bytes, of a session
 * RECORD_VALUE_MAX, and no more than a NUL after it; returns its length, 0:
 * there is none. */
size_t record_put(const struct record_field *f, const struct session_record *r,
    char *value);

/* Writes the text, cut to so many bytes; returns its length. */
size_t record_put_text(char *value, const char *text, size_t most);

extern const struct record_field record_fields[]; /* ended by no name */

static inline bool
record_field_is_of(const struct record_field *f, enum record_scope scope)
{
	return f->scope == RECORD_BOTH || f->scope == scope;
}

/* The field of that name, for lines of sessions or of requests. NULL: there is
 * none. */
const struct record_field *record_field_find(
    const char *name, size_t n, enum record_scope scope);

/* A list of servers that were tried has so many at most, and RECORD_VALUE_MAX
 * bytes. */
enum { RECORD_TRIED_MAX = 8 };
/* Adds a server to such a list, NULL or from the heap, if there is room: its
 * name, or its address if it has no name, and its port, which is `port` if it
 * has none of its own. Returns the list, as it was if memory is short. */
char *record_add_tried(char *list, const struct server *s, uint16_t port);

/* Whether the name that an operator gave a server is an address, or a path. */
bool record_is_address(const char *name);

/* Makes the texts again when the second has changed. */
void record_time_set(struct record_time *t, int64_t second);

#endif
