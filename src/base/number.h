/* number.h: numbers as digits, and strict parsing of them: the whole word must
 * be a number in range, without sign, blanks, octal, trailing text or silent
 * overflow. */
#ifndef PEN_BASE_NUMBER_H
#define PEN_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parses a decimal number in min..max. Returns 0, or -1 with errno EINVAL (not
 * a number) or ERANGE and `*value` unchanged. */
int number_parse(const char *text, uint64_t min, uint64_t max, uint64_t *value);

/* The same with an optional suffix k, m or g, in either case: powers of 1024.
 */
int number_parse_size(
    const char *text, uint64_t min, uint64_t max, uint64_t *value);

/* Parses seconds with up to three decimals ("3", "0.5"), or a whole number with
 * its unit ("200ms", "5s", "5m", "2h", "1d"). Value and range are in
 * milliseconds. */
int number_parse_ms(
    const char *text, uint64_t min_ms, uint64_t max_ms, uint64_t *value_ms);

/* Writes a number in decimal digits, without a NUL; printf(3) takes ten times
 * as long. Returns how many, NUMBER_TEXT_MAX at most. */
enum { NUMBER_TEXT_MAX = 20 };
size_t number_format(char *to, uint64_t n);

/* Whether there is nothing but decimal digits. */
bool number_is_digits(const char *text);

/* The value of a hexadecimal digit in either case, or -1. */
int number_hex_digit(char c);

/* The number of `size` bytes, 4 or 8, at that offset in a structure. */
uint64_t number_at(const void *from, size_t offset, size_t size);

/* Adds `count` numbers of 64 bits, which may be members of structures, to
 * others, or takes them off. */
void numbers_add(void *to, const void *other, size_t count);
void numbers_subtract(void *from, const void *other, size_t count);
/* Whether one of them is not 0. */
bool numbers_any(const void *of, size_t count);

#endif
