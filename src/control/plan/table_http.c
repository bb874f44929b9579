/* table_http.c: rows of the command table: clients that talk HTTP/1. */
#include "config.h"

#include "control/plan/table.h"

const struct command rows_http[] = {
	{ .name = "http",
	    .kind = KIND_FLAG,
	    .offset = AT(frontend.http.on),
	    .letter = 'H',
	    .option = "http",
	    .help = "connections are HTTP/1: adds X-Forwarded-For and "
		    "X-Forwarded-Proto to each request" },
	{ .name = "forwarded",
	    .kind = KIND_FORWARDED,
	    .offset = AT(forwarded),
	    .option = "forwarded",
	    .args = "[append|replace|trust LIST]",
	    .help = "whether X-Forwarded-For that clients send is kept; trust: "
		    "from those that the access list permits" },
	{ .name = "http_forwarded",
	    .kind = KIND_FLAG,
	    .offset = AT(frontend.http.standard),
	    .option = "http-forwarded",
	    .help = "adds Forwarded (RFC 7239) to each request, too" },
	{ .name = "http_status",
	    .kind = KIND_FLAG,
	    .offset = AT(frontend.http.status),
	    .option = "http-status",
	    .help = "clients get a page, not a reset: 503 if no server can "
		    "take them, 502 or 504 if theirs does not answer" },
	{ .name = "redirect_https",
	    .kind = KIND_UNSIGNED,
	    .offset = AT(frontend.http.redirect_port),
	    .max = UINT16_MAX,
	    .option = "redirect-https",
	    .args = "[PORT]",
	    .help = "clients without TLS are redirected to https, at that "
		    "port; 0: they are not" },
	{ .name = "http_connect",
	    .kind = KIND_FLAG,
	    .offset = AT(frontend.http.connect),
	    .option = "http-connect",
	    .help = "CONNECT is passed on: the servers are proxies" },
	{ .name = "http_sticky",
	    .kind = KIND_COOKIE,
	    .offset = AT(frontend.http.sticky),
	    .flags = ROW_NO,
	    .option = "http-sticky",
	    .args = "[NAME]",
	    .noun = "the name of a cookie",
	    .help = "a cookie of this name brings clients back to their "
		    "server, also behind one address" },
	{ .name = NULL },
};
