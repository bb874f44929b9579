/* check_connect.c: "connect": the server accepts a connection. The kernel does
 * that for a program that hangs, too. */
#include "config.h"

#include "proxy/check/check_stream.h"

static void
check_connect_on_connected(struct check *c)
{
	check_end(c, CHECK_GOOD, "connected");
}

/* A reset leaves nothing behind, neither here, where each address has only so
 * many ports, nor at a server that does not accept. */
static void
check_connect_start(struct check *c)
{
	static const struct check_talk talk = {
		.reset = true, .on_connected = check_connect_on_connected
	};

	check_stream_start(c, &talk);
}

const struct check_kind check_connect = {
	.name = "connect",
	.needs_port = true,
	.state_size = sizeof(struct check_stream),
	.start = check_connect_start,
	.stop = check_stream_stop,
};
