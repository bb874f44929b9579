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
		[REASON_EVICTED] = "evicted",
		[REASON_NO_ANSWER] = "no_answer",
	};

	return (unsigned)r < REASONS ? names[r] : "unknown";
}
