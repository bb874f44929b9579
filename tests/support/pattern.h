/* pattern.h: random-looking bytes that any position can be computed of, so
 * that each byte of a long stream can be compared without keeping it. */
#ifndef PEN_TEST_PATTERN_H
#define PEN_TEST_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* A well mixed number from another. */
uint64_t pattern_mix(uint64_t x);
/* Fills `buf` with the bytes at `offset` of stream number `seed`. */
void pattern_fill(uint64_t seed, uint64_t offset, void *buf, size_t n);
/* The first index where `buf` differs from them; `n` when none does. */
size_t pattern_differs(
    uint64_t seed, uint64_t offset, const void *buf, size_t n);
/* Fails the test, naming the position, unless `buf` holds those bytes. */
void pattern_check(uint64_t seed, uint64_t offset, const void *buf, size_t n);

#endif
