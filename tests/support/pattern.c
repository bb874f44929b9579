/* pattern.c: streams of eight mixed bytes a step. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "support/pattern.h"

uint64_t
pattern_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

void
pattern_fill(uint64_t seed, uint64_t offset, void *buf, size_t n)
{
	unsigned char *out = buf;
	uint64_t word;
	size_t skip, step;

	while (n > 0) {
		word = pattern_mix(seed * 0x1000193u + offset / 8);
		skip = (size_t)(offset % 8);
		step = 8 - skip < n ? 8 - skip : n;
		memcpy(out, (unsigned char *)&word + skip, step);
		out += step;
		offset += step;
		n -= step;
	}
}

size_t
pattern_differs(uint64_t seed, uint64_t offset, const void *buf, size_t n)
{
	const unsigned char *in = buf;
	unsigned char want[4096];
	size_t at, i, step;

	for (at = 0; at < n; at += step) {
		step = n - at < sizeof(want) ? n - at : sizeof(want);
		pattern_fill(seed, offset + at, want, step);
		if (memcmp(in + at, want, step) == 0)
			continue;
		for (i = 0; in[at + i] == want[i]; i++)
			;
		return at + i;
	}
	return n;
}

void
pattern_check(uint64_t seed, uint64_t offset, const void *buf, size_t n)
{
	size_t i = pattern_differs(seed, offset, buf, n);

	ck_assert_msg(i == n, "stream %llu differs at byte %llu",
	    (unsigned long long)seed, (unsigned long long)(offset + i));
}
