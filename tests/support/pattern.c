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

void
pattern_check(uint64_t seed, uint64_t offset, const void *buf, size_t n)
{
	const unsigned char *in = buf;
	unsigned char want[4096];
	size_t i, step;

	while (n > 0) {
		step = n < sizeof(want) ? n : sizeof(want);
		pattern_fill(seed, offset, want, step);
		if (memcmp(in, want, step) != 0) {
			for (i = 0; in[i] == want[i]; i++)
				;
			ck_abort_msg("stream %llu differs at byte %llu",
			    (unsigned long long)seed,
			    (unsigned long long)(offset + i));
		}
		in += step;
		offset += step;
		n -= step;
	}
}
