/* requestlog.c: a line for each request, to a file or by UDP. */
#include "config.h"

#include <stdio.h>
#include <time.h>

#include "base/words.h"
#include "net/sink.h"
#include "proxy/log/requestlog.h"

enum { LINE_MAX_LENGTH = 1000 }; /* tools/log_line.h compares as much */

static size_t
take_text(char *to, const char *bytes, size_t n)
{
	size_t i;

	for (i = 0; i < n && i < LINE_MAX_LENGTH; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (c == '\r' || c == '\n')
			break;
		to[i] = (char)c;
	}
	text_make_printable(to, i);
	return i;
}

void
requestlog_line(struct sink *s, const struct peer *client,
    const struct addr *server, const char *bytes, size_t n)
{
	char line[PEER_TEXT_MAX + ADDR_TEXT_MAX + LINE_MAX_LENGTH + 32];
	char who[PEER_TEXT_MAX], at[ADDR_TEXT_MAX] = "none";
	size_t length;

	if (server != NULL)
		addr_format_host(server, at);
	peer_format_host(client, who);
	length = (size_t)(!sink_is_datagram(s)
		? snprintf(line, sizeof(line), "%s %lld %s ", who,
		      (long long)time(NULL), at)
		: snprintf(line, sizeof(line), "+ %s %s ", who, at));
	length += take_text(line + length, bytes, n);
	line[length++] = '\n';
	sink_put(s, line, length);
}
