/* number.c: numbers from words, all or nothing. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/number.h"

/* The digits at the start of `text`; returns how many, 0 with errno EINVAL or
 * ERANGE. */
static size_t
parse_digits(const char *text, uint64_t *value)
{
	uint64_t v = 0;
	size_t n;

	for (n = 0; text[n] >= '0' && text[n] <= '9'; n++) {
		uint64_t digit = (uint64_t)(text[n] - '0');

		if (v > (UINT64_MAX - digit) / 10) {
			errno = ERANGE;
			return 0;
		}
		v = v * 10 + digit;
	}
	if (n == 0)
		errno = EINVAL;
	*value = v;
	return n;
}

/* `v` times `unit`, if it is in range and nothing follows it. */
static int
number_finish(const char *rest, uint64_t v, uint64_t unit, uint64_t min,
    uint64_t max, uint64_t *value)
{
	if (*rest != '\0') {
		errno = EINVAL;
		return -1;
	}
	if (v > UINT64_MAX / unit || v * unit < min || v * unit > max) {
		errno = ERANGE;
		return -1;
	}
	*value = v * unit;
	return 0;
}

int
number_parse(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	uint64_t v = 0;
	size_t n = parse_digits(text, &v);

	return n == 0 ? -1 : number_finish(text + n, v, 1, min, max, value);
}

int
number_parse_size(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	static const char units[] = "kKmMgG";
	uint64_t v = 0, unit = 1;
	size_t n = parse_digits(text, &v);
	const char *at;

	if (n == 0)
		return -1;
	at = text[n] != '\0' ? strchr(units, text[n]) : NULL;
	if (at != NULL) {
		unit = UINT64_C(1) << (10 * ((at - units) / 2 + 1));
		n++;
	}
	return number_finish(text + n, v, unit, min, max, value);
}

/* Milliseconds of a unit of time, 0: it is none. */
static uint64_t
unit_ms(const char *text)
{
	static const struct {
		const char *name;
		uint64_t ms;
	} units[] = { { "ms", 1 }, { "s", 1000 }, { "m", 60 * 1000 },
		{ "h", 3600 * 1000 }, { "d", 24 * 3600 * 1000 } };
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(text, units[i].name) == 0)
			return units[i].ms;
	return 0;
}

/* Up to three digits after a point, as thousandths. Returns 0, or -1 with
 * errno EINVAL. */
static int
parse_thousandths(const char *text, uint64_t *value)
{
	uint64_t unit = 100;

	*value = 0;
	do {
		if (*text < '0' || *text > '9' || unit == 0) {
			errno = EINVAL;
			return -1;
		}
		*value += unit * (uint64_t)(*text - '0');
		unit /= 10;
	} while (*++text != '\0');
	return 0;
}

int
number_parse_ms(
    const char *text, uint64_t min_ms, uint64_t max_ms, uint64_t *value_ms)
{
	uint64_t v = 0, fraction = 0, unit;
	size_t n = parse_digits(text, &v);

	if (n == 0)
		return -1;
	unit = unit_ms(text + n);
	if (unit > 0)
		return number_finish("", v, unit, min_ms, max_ms, value_ms);
	if (text[n] == '.') {
		if (parse_thousandths(text + n + 1, &fraction) < 0)
			return -1;
		n = strlen(text);
	}
	if (v > UINT64_MAX / 1000 - 1) {
		errno = ERANGE;
		return -1;
	}
	return number_finish(
	    text + n, v * 1000 + fraction, 1, min_ms, max_ms, value_ms);
}

bool
number_is_digits(const char *text)
{
	return text[strspn(text, "0123456789")] == '\0';
}

int
number_hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at;

	if (c >= 'A' && c <= 'F')
		c = (char)(c - 'A' + 'a');
	at = c != '\0' ? strchr(digits, c) : NULL;
	return at != NULL ? (int)(at - digits) : -1;
}

size_t
number_format(char *to, uint64_t n)
{
	size_t count = 1, at;
	uint64_t rest;

	for (rest = n; rest >= 10; rest /= 10)
		count++;
	for (at = count; at > 0; n /= 10)
		to[--at] = (char)('0' + n % 10);
	return count;
}

/* ---- several ---- */

/* Modulo 2^64 what is added times -1 is taken off. */
static void
numbers_combine(void *to, const void *other, size_t count, uint64_t times)
{
	char *at = to;
	const char *from = other;
	uint64_t n, more;

	for (; count > 0; count--, at += sizeof(n), from += sizeof(n)) {
		memcpy(&n, at, sizeof(n));
		memcpy(&more, from, sizeof(more));
		n += times * more;
		memcpy(at, &n, sizeof(n));
	}
}

void
numbers_add(void *to, const void *other, size_t count)
{
	numbers_combine(to, other, count, 1);
}

void
numbers_subtract(void *from, const void *other, size_t count)
{
	numbers_combine(from, other, count, UINT64_MAX);
}

bool
numbers_any(const void *of, size_t count)
{
	const char *at = of;
	uint64_t n = 0;

	for (; count > 0 && n == 0; count--, at += sizeof(n))
		memcpy(&n, at, sizeof(n));
	return n != 0;
}

uint64_t
number_at(const void *from, size_t offset, size_t size)
{
	uint64_t wide;
	uint32_t narrow;

	if (size == sizeof(wide)) {
		memcpy(&wide, (const char *)from + offset, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, (const char *)from + offset, sizeof(narrow));
	return narrow;
}
