/* hash.h: hash functions.
 *
 * hash_keyed() is SipHash-2-4 (Aumasson, Bernstein 2012), for tables that
 * strangers fill: the key is secret. hash_stable() is 64-bit FNV-1a, finished
 * with the splitmix64 mixer. It is the same on every machine and in every
 * version, for choices that two balancers must make alike. */
#ifndef PEN_BASE_HASH_H
#define PEN_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash_key {
	uint64_t k0, k1;
};

/* Makes a key from the system's random numbers. Never fails: if the system has
 * none, the time and the process ID make a weaker key. */
void hash_key_init(struct hash_key *key);
uint64_t hash_keyed(const struct hash_key *key, const void *data, size_t len);
/* SipHash-1-3 of whole words, without their number: for keys whose words are
 * the same number for each family, which the words tell apart. */
uint64_t hash_words(
    const struct hash_key *key, const uint64_t *words, size_t n);
uint64_t hash_stable(const void *data, size_t len);

/* The splitmix64 finaliser: spreads every input bit over the result. */
static inline uint64_t
hash_mix(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

#endif
