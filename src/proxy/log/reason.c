/* reason.c: the rows of the reasons. */
#include "config.h"

#include "proxy/log/reason.h"

const struct reason_row reason_rows[REASONS] = {
	[REASON_DONE] = { .name = "done", .status = 200 },
	[REASON_CLIENT_RESET] = { .name = "client_reset",
	    .status = 499,
	    .resets_server = true },
	[REASON_SERVER_RESET] = { .name = "server_reset",
	    .status = 502,
	    .resets_client = RESETS_UNLESS_TOLD },
	[REASON_NO_SERVER] = { .name = "no_server",
	    .status = 503,
	    .resets_client = RESETS_ALWAYS },
	[REASON_IDLE_TIMEOUT] = { .name = "idle_timeout", .status = 408 },
	[REASON_HALF_TIMEOUT] = { .name = "half_timeout", .status = 408 },
	[REASON_LINGER_TIMEOUT] = { .name = "linger_timeout", .status = 408 },
	[REASON_FASTCLOSE] = { .name = "fastclose", .status = 200 },
	[REASON_NO_RESOURCES] = { .name = "no_resources",
	    .status = 503,
	    .resets_client = RESETS_ALWAYS },
	[REASON_STOPPED] = { .name = "stopped",
	    .status = 503,
	    .resets_client = RESETS_ALWAYS,
	    .resets_server = true },
	[REASON_SERVER_DOWN] = { .name = "server_down",
	    .status = 502,
	    .resets_client = RESETS_ALWAYS,
	    .resets_server = true },
	[REASON_SERVER_UP] = { .name = "server_up",
	    .status = 408,
	    .resets_client = RESETS_UNLESS_TOLD,
	    .resets_server = true },
	[REASON_MAX_AGE] = { .name = "max_age",
	    .status = 408,
	    .resets_client = RESETS_UNLESS_TOLD,
	    .resets_server = true },
	[REASON_QUIET_END] = { .name = "quiet_end", .status = 200 },
	[REASON_TLS_FAILED] = { .name = "tls_failed",
	    .status = 400,
	    .resets_server = true },
	[REASON_TLS_TIMEOUT] = { .name = "tls_timeout", .status = 408 },
	[REASON_TRUNCATED] = { .name = "truncated",
	    .status = 502,
	    .resets_client = RESETS_UNLESS_TOLD,
	    .resets_server = true },
	[REASON_QUEUE_TIMEOUT] = { .name = "queue_timeout",
	    .status = 503,
	    .resets_client = RESETS_ALWAYS },
	[REASON_HELLO_TIMEOUT] = { .name = "hello_timeout", .status = 408 },
	[REASON_HELLO_TOO_LONG] = { .name = "hello_too_long", .status = 400 },
	[REASON_CLIENT_CONNS] = { .name = "client_conns",
	    .status = 429,
	    .resets_client = RESETS_ALWAYS },
	[REASON_CLIENT_RATE] = { .name = "client_rate",
	    .status = 429,
	    .resets_client = RESETS_ALWAYS },
	[REASON_TARPIT] = { .name = "tarpit",
	    .status = 429,
	    .resets_client = RESETS_ALWAYS },
	[REASON_NO_CLOSE_NOTIFY] = { .name = "no_close_notify", .status = 499 },
	[REASON_PROXY_REFUSED] = { .name = "proxy_refused", .status = 403 },
	[REASON_PROXY_INVALID] = { .name = "proxy_invalid", .status = 400 },
	[REASON_PROXY_TIMEOUT] = { .name = "proxy_timeout", .status = 408 },
	[REASON_BAD_REQUEST] = { .name = "bad_request", .status = 400 },
	[REASON_REDIRECTED] = { .name = "redirected", .status = 308 },
	[REASON_EVICTED] = { .name = "evicted", .status = 503 },
	[REASON_NO_ANSWER] = { .name = "no_answer", .status = 502 },
	[REASON_DENIED] = { .name = "denied",
	    .status = 403,
	    .resets_client = RESETS_ALWAYS },
};

const char *
reason_name(enum reason r)
{
	return (unsigned)r < REASONS ? reason_rows[r].name : "unknown";
}

unsigned
reason_status(enum reason r, bool is_flow)
{
	if (is_flow && r == REASON_IDLE_TIMEOUT)
		return 200;
	return (unsigned)r < REASONS ? reason_rows[r].status : 500;
}

enum server_end
reason_end(enum reason r)
{
	unsigned status = reason_status(r, false);

	return status < 400 ? SERVER_END_GOOD
	    : status < 500  ? SERVER_END_CLIENT
			    : SERVER_END_FAILED;
}
