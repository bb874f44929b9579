/* proxy_header.c: headers of the PROXY protocol from strangers. A whole one is
 * read the same without what follows it, is incomplete without its last byte,
 * and says the same when it is written again. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "proxy/wire/proxy_header.h"

static bool
same_text(struct proxy_text a, struct proxy_text b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.at, b.at, a.n) == 0);
}

static bool
is_kept(struct proxy_text is, struct proxy_text was, size_t max)
{
	return was.n > max ? is.n == 0 : same_text(is, was);
}

static void
write_again(const struct proxy_header *h)
{
	struct proxy_header again = { .datagram = h->datagram };
	char bytes[PROXY_HEADER_MAX];
	const char *why;
	size_t n = proxy_header_write(bytes, PROXY_V2, h);

	FUZZ_MUST(n <= sizeof(bytes));
	FUZZ_MUST(proxy_header_read(&again, bytes, n, &why) == (ssize_t)n);
	if (h->client.family != AF_INET && h->client.family != AF_INET6) {
		FUZZ_MUST(again.client.family == 0);
		return;
	}
	FUZZ_MUST(memcmp(&again.client, &h->client, sizeof(h->client)) == 0);
	FUZZ_MUST(memcmp(&again.server, &h->server, sizeof(h->server)) == 0);
	FUZZ_MUST(is_kept(again.sni, h->sni, PROXY_TEXT_MAX));
	FUZZ_MUST(is_kept(again.alpn, h->alpn, PROXY_TEXT_MAX));
	FUZZ_MUST(is_kept(again.id, h->id, PROXY_ID_MAX));
	FUZZ_MUST(again.tls.on == h->tls.on);
	if (h->datagram)
		return;
	n = proxy_header_write(bytes, PROXY_V1, h);
	FUZZ_MUST(proxy_header_read(&again, bytes, n, &why) == (ssize_t)n);
	FUZZ_MUST(memcmp(&again.client, &h->client, sizeof(h->client)) == 0);
	FUZZ_MUST(memcmp(&again.server, &h->server, sizeof(h->server)) == 0);
}

/* The result for the first `n` bytes, in memory that ends there. */
static ssize_t
read_part(struct proxy_header *h, const void *bytes, size_t n)
{
	char *copy = fuzz_copy(bytes, n);
	const char *why = NULL;
	ssize_t used = proxy_header_read(h, copy, n, &why);

	FUZZ_MUST(used <= (ssize_t)n && (used >= 0 || why != NULL));
	if (used > 0)
		write_again(h);
	free(copy);
	return used;
}

FUZZ(proxy_header)
{
	bool datagram = fuzz_byte(&data, &size) & 1;
	struct proxy_header h = { .datagram = datagram }, part = h;
	ssize_t used = read_part(&h, data, size);

	if (used <= 0)
		return 0;
	FUZZ_MUST(read_part(&part, data, (size_t)used) == used);
	FUZZ_MUST(memcmp(&part.client, &h.client, sizeof(h.client)) == 0);
	FUZZ_MUST(
	    read_part(&part, data, (size_t)used - 1) == (datagram ? -1 : 0));
	return 0;
}
