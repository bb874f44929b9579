/* number.h: strict parsing of numbers: the whole word, in range, or an error.
 * No sign, no blanks, no octal, no trailing text, no silent overflow. */
#ifndef PEN_BASE_NUMBER_H
#define PEN_BASE_NUMBER_H

#include <stdint.h>

/* A decimal number in min..max. Returns 0, or -1 with errno EINVAL (not a
 * number) or ERANGE, `*value` untouched. */
int number_parse(const char *text, uint64_t min, uint64_t max, uint64_t *value);

/* The same with an optional k, m or g (powers of 1024, any case) behind it. */
int number_parse_size(
    const char *text, uint64_t min, uint64_t max, uint64_t *value);

/* Seconds with up to three decimals ("3", "0.5") or "200ms", as milliseconds.
 * The range is in milliseconds too. */
int number_parse_ms(
    const char *text, uint64_t min_ms, uint64_t max_ms, uint64_t *value_ms);

#endif
