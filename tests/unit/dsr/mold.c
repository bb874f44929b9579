/* mold.c: samples as bytes. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "unit/dsr/samples.h"

size_t
unhex(unsigned char *out, size_t room, const char *hex)
{
	size_t n = 0;
	unsigned byte;

	for (; *hex != '\0'; hex += 2) {
		if (n == room || sscanf(hex, "%2x", &byte) != 1)
			ck_abort_msg("sample: %s", hex);
		out[n++] = (unsigned char)byte;
	}
	return n;
}

const struct sample *
sample_named(const char *name)
{
	size_t i;

	for (i = 0; i < samples_n; i++)
		if (strcmp(samples[i].name, name) == 0)
			return &samples[i];
	ck_abort_msg("no sample %s", name);
}

size_t
sample_bytes(const struct sample *s, unsigned char out[SAMPLE_MAX])
{
	return unhex(out, SAMPLE_MAX, s->hex);
}

size_t
put_tag(unsigned char *bytes, size_t n, uint16_t tag)
{
	memmove(bytes + 16, bytes + 12, n - 12);
	bytes[12] = 0x81;
	bytes[13] = 0;
	bytes[14] = (unsigned char)(tag >> 8);
	bytes[15] = (unsigned char)tag;
	return n + 4;
}

void
heal_ip4(unsigned char *bytes, size_t n)
{
	unsigned char *p = bytes + FRAME_HEAD;
	size_t head = n < FRAME_HEAD + 20 ? 0 : (p[0] & 15U) * 4, i;
	unsigned long sum = 0;

	if (head < 20 || FRAME_HEAD + head > n || p[-2] != 8 || p[-1] != 0)
		return;
	p[10] = p[11] = 0;
	for (i = 0; i < head; i += 2)
		sum += (unsigned long)(p[i] << 8 | p[i + 1]);
	sum = 65535 - sum % 65535;
	p[10] = (unsigned char)(sum >> 8);
	p[11] = (unsigned char)sum;
}
