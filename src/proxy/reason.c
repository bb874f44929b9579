/* reason.c: the names of the reasons. */
#include "config.h"

#include "proxy/reason.h"

const char *
reason_name(enum reason r)
{
	static const char *const names[REASONS] = {
		[REASON_DONE] = "done",
		[REASON_CLIENT_RESET] = "client_reset",
		[REASON_SERVER_RESET] = "server_reset",
		[REASON_NO_SERVER] = "no_server",
		[REASON_IDLE_TIMEOUT] = "idle_timeout",
		[REASON_HALF_TIMEOUT] = "half_timeout",
		[REASON_LINGER_TIMEOUT] = "linger_timeout",
		[REASON_FASTCLOSE] = "fastclose",
		[REASON_NO_RESOURCES] = "no_resources",
		[REASON_STOPPED] = "stopped",
		[REASON_SERVER_DOWN] = "server_down",
		[REASON_SERVER_UP] = "server_up",
		[REASON_MAX_AGE] = "max_age",
		[REASON_QUIET_END] = "quiet_end",
		[REASON_TLS_FAILED] = "tls_failed",
		[REASON_TLS_TIMEOUT] = "tls_timeout",
		[REASON_TRUNCATED] = "truncated",
		[REASON_QUEUE_TIMEOUT] = "queue_timeout",
		[REASON_HELLO_TIMEOUT] = "hello_timeout",
		[REASON_HELLO_TOO_LONG] = "hello_too_long",
		[REASON_CLIENT_CONNS] = "client_conns",
		[REASON_CLIENT_RATE] = "client_rate",
		[REASON_TARPIT] = "tarpit",
		[REASON_NO_CLOSE_NOTIFY] = "no_close_notify",
		[REASON_PROXY_REFUSED] = "proxy_refused",
		[REASON_PROXY_INVALID] = "proxy_invalid",
		[REASON_PROXY_TIMEOUT] = "proxy_timeout",
		[REASON_BAD_REQUEST] = "bad_request",
		[REASON_REDIRECTED] = "redirected",
		[REASON_EVICTED] = "evicted",
		[REASON_NO_ANSWER] = "no_answer",
		[REASON_DENIED] = "denied",
	};

	return (unsigned)r < REASONS ? names[r] : "unknown";
}

unsigned
reason_status(enum reason r, bool is_flow)
{
	static const unsigned short status[REASONS] = {
		[REASON_DONE] = 200,
		[REASON_FASTCLOSE] = 200,
		[REASON_QUIET_END] = 200,
		[REASON_REDIRECTED] = 308,
		[REASON_TLS_FAILED] = 400,
		[REASON_HELLO_TOO_LONG] = 400,
		[REASON_PROXY_INVALID] = 400,
		[REASON_BAD_REQUEST] = 400,
		[REASON_PROXY_REFUSED] = 403,
		[REASON_DENIED] = 403,
		[REASON_IDLE_TIMEOUT] = 408,
		[REASON_HALF_TIMEOUT] = 408,
		[REASON_LINGER_TIMEOUT] = 408,
		[REASON_SERVER_UP] = 408,
		[REASON_MAX_AGE] = 408,
		[REASON_TLS_TIMEOUT] = 408,
		[REASON_HELLO_TIMEOUT] = 408,
		[REASON_PROXY_TIMEOUT] = 408,
		[REASON_CLIENT_CONNS] = 429,
		[REASON_CLIENT_RATE] = 429,
		[REASON_TARPIT] = 429,
		[REASON_CLIENT_RESET] = 499,
		[REASON_NO_CLOSE_NOTIFY] = 499,
		[REASON_SERVER_RESET] = 502,
		[REASON_SERVER_DOWN] = 502,
		[REASON_TRUNCATED] = 502,
		[REASON_NO_ANSWER] = 502,
		[REASON_NO_SERVER] = 503,
		[REASON_NO_RESOURCES] = 503,
		[REASON_STOPPED] = 503,
		[REASON_QUEUE_TIMEOUT] = 503,
		[REASON_EVICTED] = 503,
	};

	if (is_flow && r == REASON_IDLE_TIMEOUT)
		return 200;
	return (unsigned)r < REASONS ? status[r] : 500;
}

enum server_end
reason_end(enum reason r)
{
	unsigned status = reason_status(r, false);

	return status < 400 ? SERVER_END_GOOD
	    : status < 500  ? SERVER_END_CLIENT
			    : SERVER_END_FAILED;
}
