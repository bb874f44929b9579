/* reason.c: the rows of the reasons. */
#include "config.h"

#include "proxy/log/reason.h"

const struct reason_row reason_rows[REASONS] = {
	[REASON_DONE] = { "done", 200, RESET_NEVER, false },
	[REASON_CLIENT_RESET] = { "client_reset", 499, RESET_NEVER, true },
	[REASON_SERVER_RESET] = { "server_reset", 502, RESET_UNTOLD, false },
	[REASON_NO_SERVER] = { "no_server", 503, RESET_ALWAYS, false },
	[REASON_IDLE_TIMEOUT] = { "idle_timeout", 408, RESET_LAGGING, false },
	[REASON_HALF_TIMEOUT] = { "half_timeout", 408, RESET_LAGGING, false },
	[REASON_LINGER_TIMEOUT] = { "linger_timeout", 408, RESET_UNTOLD,
	    false },
	[REASON_FASTCLOSE] = { "fastclose", 200, RESET_NEVER, false },
	[REASON_NO_RESOURCES] = { "no_resources", 503, RESET_ALWAYS, false },
	[REASON_STOPPED] = { "stopped", 503, RESET_ALWAYS, true },
	[REASON_SERVER_DOWN] = { "server_down", 502, RESET_ALWAYS, true },
	[REASON_SERVER_UP] = { "server_up", 408, RESET_UNTOLD, true },
	[REASON_MAX_AGE] = { "max_age", 408, RESET_UNTOLD, true },
	[REASON_QUIET_END] = { "quiet_end", 200, RESET_NEVER, false },
	[REASON_TLS_FAILED] = { "tls_failed", 400, RESET_NEVER, true },
	[REASON_TLS_TIMEOUT] = { "tls_timeout", 408, RESET_NEVER, false },
	[REASON_TRUNCATED] = { "truncated", 502, RESET_UNTOLD, true },
	[REASON_QUEUE_TIMEOUT] = { "queue_timeout", 503, RESET_ALWAYS, false },
	[REASON_HELLO_TIMEOUT] = { "hello_timeout", 408, RESET_NEVER, false },
	[REASON_HELLO_TOO_LONG] = { "hello_too_long", 400, RESET_NEVER, false },
	[REASON_CLIENT_CONNS] = { "client_conns", 429, RESET_ALWAYS, false },
	[REASON_CLIENT_RATE] = { "client_rate", 429, RESET_ALWAYS, false },
	[REASON_TARPIT] = { "tarpit", 429, RESET_ALWAYS, false },
	[REASON_NO_CLOSE_NOTIFY] = { "no_close_notify", 499, RESET_NEVER,
	    false },
	[REASON_PROXY_REFUSED] = { "proxy_refused", 403, RESET_NEVER, false },
	[REASON_PROXY_INVALID] = { "proxy_invalid", 400, RESET_NEVER, false },
	[REASON_PROXY_TIMEOUT] = { "proxy_timeout", 408, RESET_NEVER, false },
	[REASON_BAD_REQUEST] = { "bad_request", 400, RESET_NEVER, false },
	[REASON_REDIRECTED] = { "redirected", 308, RESET_NEVER, false },
	[REASON_EVICTED] = { "evicted", 503, RESET_NEVER, false },
	[REASON_NO_ANSWER] = { "no_answer", 502, RESET_NEVER, false },
	[REASON_DENIED] = { "denied", 403, RESET_ALWAYS, false },
	[REASON_SERVICE_FULL] = { "service_full", 503, RESET_ALWAYS, false },
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
