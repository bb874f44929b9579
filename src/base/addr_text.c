/* addr_text.c: bytes of addresses as digits. */
#include "config.h"

#include <string.h>

#include "base/addr_text.h"
#include "base/number.h"

enum { GROUPS = 8 };

static size_t
addr_text_ip4(char *to, const uint8_t ip[4])
{
	size_t n = 0;
	int i;

	for (i = 0; i < 4; i++) {
		if (i > 0)
			to[n++] = '.';
		if (ip[i] >= 100)
			to[n++] = (char)('0' + ip[i] / 100);
		if (ip[i] >= 10)
			to[n++] = (char)('0' + ip[i] / 10 % 10);
		to[n++] = (char)('0' + ip[i] % 10);
	}
	return n;
}

static size_t
put_group(char *to, unsigned group)
{
	static const char digits[] = "0123456789abcdef";
	unsigned shift = 12;
	size_t n = 0;

	while (shift > 0 && group >> shift == 0)
		shift -= 4;
	for (;; shift -= 4) {
		to[n++] = digits[group >> shift & 15];
		if (shift == 0)
			return n;
	}
}

/* The first of the longest runs of at least two zeros: where it begins, and how
 * many they are; 0: there is none. */
static unsigned
find_zeros(const unsigned group[GROUPS], unsigned *count)
{
	unsigned i, n, best = 0;

	*count = 0;
	for (i = 0; i < GROUPS; i += n + 1) {
		for (n = 0; i + n < GROUPS && group[i + n] == 0; n++)
			;
		if (n > 1 && n > *count) {
			best = i;
			*count = n;
		}
	}
	return best;
}

static size_t
addr_text_ip6(char *to, const uint8_t ip[16])
{
	unsigned group[GROUPS], i, from, count, last = GROUPS;
	size_t n = 0;

	for (i = 0; i < GROUPS; i++)
		group[i] = (unsigned)ip[2 * i] << 8 | ip[2 * i + 1];
	from = find_zeros(group, &count);
	/* ::1.2.3.4 and ::ffff:1.2.3.4 (RFC 4291, section 2.5.5) */
	if (from == 0 && (count == 6 || (count == 5 && group[5] == 0xffff)))
		last = GROUPS - 2;
	for (i = 0; i < last; i++) {
		if (count > 0 && i == from) {
			to[n++] = ':';
			i += count - 1;
			if (i == GROUPS - 1)
				to[n++] = ':';
			continue;
		}
		if (i > 0)
			to[n++] = ':';
		n += put_group(to + n, group[i]);
	}
	if (last == GROUPS)
		return n;
	to[n++] = ':';
	return n + addr_text_ip4(to + n, ip + 12);
}

static size_t
put_host(char *to, const struct addr_text *a)
{
	size_t n = a->is_ip6 ? addr_text_ip6(to, a->ip)
			     : addr_text_ip4(to, a->ip);

	if (a->scope != 0) {
		to[n++] = '%';
		n += number_format(to + n, a->scope);
	}
	return n;
}

void
addr_text_host(char *to, const struct addr_text *a)
{
	to[put_host(to, a)] = '\0';
}

void
addr_text_with_port(char *to, const struct addr_text *a, uint16_t port)
{
	size_t n;

	to[0] = '[';
	n = a->is_ip6 + put_host(to + a->is_ip6, a);
	if (a->is_ip6)
		to[n++] = ']';
	to[n++] = ':';
	n += number_format(to + n, port);
	to[n] = '\0';
}
