/* table_http.c: rows of the command table: clients that talk HTTP/1. */
#include "config.h"

#include "control/plan/table.h"

const struct command rows_http[] = {
	{ .name = "http",
	    .kind = KIND_FLAG,
	    .offset = AT(frontend.http.on),
	    .letter = 'H',
	    .help = "HTTP/1 mode: adds X-Forwarded-For and X-Forwarded-Proto "
		    "to each request" },
	{ .name = "forwarded",
	    .kind = KIND_FORWARDED,
	    .offset = AT(forwarded),
	    .args = "[append|replace|trust LIST]",
	    .help = "whether to keep X-Forwarded-For sent by clients; trust: "
		    "only from clients that the access list permits" },
	{ .name = "http_forwarded",
	    .kind = KIND_FLAG,
	    .offset = AT(frontend.http.standard),
	    .help = "also adds Forwarded (RFC 7239) to each request" },
	{ .name = "http_status",
	    .kind = KIND_FLAG,
	    .offset = AT(frontend.http.status),
	    .help = "answer errors with a page instead of a reset: 403 "
		    "denied, 503 no server available, 502 or 504 no answer" },
	{ .name = "redirect_https",
	    .kind = KIND_UNSIGNED,
	    .offset = AT(frontend.http.redirect_port),
	    .max = UINT16_MAX,
	    .args = "[PORT]",
	    .help = "redirect clients without TLS to https on this port; 0: "
		    "off" },
	{ .name = "http_connect",
	    .kind = KIND_FLAG,
	    .offset = AT(frontend.http.connect),
	    .help = "pass CONNECT on, for servers that are proxies" },
	{ .name = "http_errors",
	    .kind = KIND_UNSIGNED,
	    .offset = AT(http_errors),
	    .max = 100,
	    .args = "[PERCENT]",
	    .help = "report servers of which more than this share of the "
		    "responses of the last minute are errors (5xx); 0: off" },
	{ .name = "observe",
	    .kind = KIND_OBSERVE,
	    .offset = AT(observe),
	    .flags = ROW_NO,
	    .help = "take a server out of rotation for its blacklist time "
		    "after N errors (5xx) in SEC seconds; at most half of "
		    "those that are up" },
	{ .name = "http_request_id",
	    .kind = KIND_IDENTITY,
	    .offset = AT(frontend.http.request_id),
	    .flags = ROW_NO,
	    .help = "identify each request to servers and in the logs by this "
		    "header field; on: X-Request-ID" },
	{ .name = "http_sticky",
	    .kind = KIND_COOKIE,
	    .offset = AT(frontend.http.sticky),
	    .flags = ROW_NO,
	    .help = "name of a cookie for stickiness, which also works for "
		    "clients that share an address" },
	{ .name = NULL },
};
