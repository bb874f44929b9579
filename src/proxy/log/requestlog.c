/* requestlog.c: a line for each request, to a file or by UDP. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/words.h"
#include "net/sink.h"
#include "proxy/log/requestlog.h"

enum { LINE_MAX_LENGTH = 1000 };

static const char what[] = "request";

struct requestlog {
	struct sink *sink;
};

/* Takes the sink over, also when it fails; NULL: `e` has the reason. */
static struct requestlog *
new_log(struct sink *s, struct error *e)
{
	struct requestlog *r;

	if (s == NULL)
		return NULL;
	r = malloc(sizeof(*r));
	if (r == NULL) {
		sink_close(s);
		error_set(e, "%s", strerror(ENOMEM));
		return NULL;
	}
	r->sink = s;
	return r;
}

struct requestlog *
requestlog_open_file(struct loop *l, const char *path, struct error *e)
{
	return new_log(sink_open_file(l, what, path, e), e);
}

struct requestlog *
requestlog_open_udp(struct loop *l, const struct addr *to, struct error *e)
{
	return new_log(sink_open_datagram(l, what, to, e), e);
}

void
requestlog_close(struct requestlog *r)
{
	if (r == NULL)
		return;
	sink_close(r->sink);
	free(r);
}

int
requestlog_reopen(struct requestlog *r, struct error *e)
{
	return sink_reopen(r->sink, e);
}

void
requestlog_follow(struct requestlog *r)
{
	sink_follow(r->sink);
}

void
requestlog_give(struct requestlog *r, uid_t user)
{
	sink_give(r->sink, user);
}

void
requestlog_count_lost(struct requestlog *r, uint64_t *counter)
{
	sink_count_lost(r->sink, counter);
}

uint64_t
requestlog_lost(const struct requestlog *r)
{
	return sink_lost(r->sink);
}

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
requestlog_line(struct requestlog *r, const struct peer *client,
    const struct server *server, const char *bytes, size_t n)
{
	char line[PEER_TEXT_MAX + ADDR_TEXT_MAX + LINE_MAX_LENGTH + 32];
	char who[PEER_TEXT_MAX], at[ADDR_TEXT_MAX] = "none";
	size_t length;

	if (server != NULL && server->addrs.count > 0)
		addr_format_host(&server->addrs.addr[server->addr_first], at);
	peer_format_host(client, who);
	length = (size_t)(!sink_is_datagram(r->sink)
		? snprintf(line, sizeof(line), "%s %lld %s ", who,
		      (long long)time(NULL), at)
		: snprintf(line, sizeof(line), "+ %s %s ", who, at));
	length += take_text(line + length, bytes, n);
	line[length++] = '\n';
	sink_put(r->sink, line, length);
}
