/* dump.c: data dumps in hex or ASCII, one log line for up to 16 or 64 bytes. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

#include "base/log.h"
#include "proxy/log/dump.h"

enum { HEX_WIDTH = 16, ASCII_WIDTH = 64 };

static void
log_data(unsigned kind, int fd, const char *bytes, size_t n)
{
	char text[ASCII_WIDTH + 1];
	size_t width = kind == DUMP_ASCII ? ASCII_WIDTH : HEX_WIDTH, at, i;

	for (at = 0; at < n; at += width, bytes += width) {
		size_t part = n - at < width ? n - at : width;

		for (i = 0; i < part; i++)
			if (kind == DUMP_HEX)
				snprintf(text + 3 * i, 4, " %02x",
				    (unsigned char)bytes[i]);
			else
				text[i] = isprint((unsigned char)bytes[i])
				    ? bytes[i]
				    : '.';
		if (kind == DUMP_ASCII)
			text[part] = '\0';
		log_debug("data fd=%d at=%zu%s%s", fd, at,
		    kind == DUMP_ASCII ? " " : "", text);
	}
}

void
dump_bytes(void *arg, const struct stream *from, const char *bytes, size_t n)
{
	log_data(*(const unsigned *)arg, from->fd, bytes, n);
}

void
dump_datagrams(unsigned kind, int fd, const struct dgram_batch *b)
{
	char sender[ADDR_TEXT_MAX];
	int error = errno;
	unsigned i;

	for (i = 0; i < b->count; i++) {
		const struct dgram *d = &b->at[i];

		log_debug("datagram fd=%d from=%s bytes=%zu", fd,
		    addr_format(&d->from, sender), d->n);
		log_data(kind, fd, d->bytes, d->n);
	}
	errno = error;
}
