/* hex_pattern.c: digits to bytes, and the comparison. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "proxy/check/hex_pattern.h"

static int
parse_bytes(struct hex_pattern *p, const char *text, bool wild, struct error *e)
{
	size_t i;

	for (i = 0; i < p->n; i++, text += 2) {
		int high = number_hex_digit(text[0]),
		    low = number_hex_digit(text[1]);

		if (wild && text[0] == '.' && text[1] == '.')
			continue;
		if (high < 0 || low < 0)
			return error_set(e,
			    "\"%.2s\" is not a byte of two hexadecimal "
			    "digits%s",
			    text, wild ? ", nor .." : "");
		p->bytes[i] = (unsigned char)(high << 4 | low);
		p->mask[i] = 0xff;
	}
	return 0;
}

int
hex_pattern_parse(
    struct hex_pattern *p, const char *text, bool wild, struct error *e)
{
	size_t n = strlen(text);

	if (n == 0 || n % 2 != 0)
		return error_set(
		    e, "expects two hexadecimal digits for each byte");
	if (n / 2 > HEX_PATTERN_MAX)
		return error_set(e, "more than %d bytes", (int)HEX_PATTERN_MAX);
	p->bytes = calloc(1, n);
	if (p->bytes == NULL)
		return error_set(e, "out of memory");
	p->n = n / 2;
	p->mask = p->bytes + p->n;
	if (parse_bytes(p, text, wild, e) == 0)
		return 0;
	hex_pattern_fini(p);
	return -1;
}

void
hex_pattern_fini(struct hex_pattern *p)
{
	free(p->bytes);
	*p = (struct hex_pattern){ .bytes = NULL };
}

bool
hex_pattern_begins(const struct hex_pattern *p, const void *bytes, size_t n)
{
	const unsigned char *b = bytes;
	size_t i;

	if (n < p->n)
		return false;
	for (i = 0; i < p->n; i++)
		if ((b[i] & p->mask[i]) != p->bytes[i])
			return false;
	return true;
}
