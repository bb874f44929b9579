/* hash.c: SipHash-2-4 and FNV-1a with a finaliser. */
#include "config.h"

#include <fcntl.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>
#ifdef HAVE_SYS_RANDOM_H
#include <sys/random.h>
#endif

#include "base/hash.h"

/* getentropy() needs neither a descriptor nor a /dev in the chroot; the device
 * is for systems, and kernels older than their library, that lack it. */
static bool
key_from_system(struct hash_key *key)
{
	ssize_t n;
	int fd;

#ifdef HAVE_GETENTROPY
	if (getentropy(key, sizeof(*key)) == 0)
		return true;
#endif
	fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, key, sizeof(*key));
	close(fd);
	return n == (ssize_t)sizeof(*key);
}

/* Without random numbers, the key at least differs from run to run. */
void
hash_key_init(struct hash_key *key)
{
	struct timespec now;

	if (key_from_system(key))
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	key->k0 = hash_mix((uint64_t)now.tv_nsec ^ (uint64_t)getpid() << 32);
	key->k1 = hash_mix(key->k0 ^ (uint64_t)now.tv_sec);
}

static uint64_t
rotl(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

static inline void
sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotl(v[1], 13) ^ v[0];
	v[0] = rotl(v[0], 32);
	v[2] += v[3];
	v[3] = rotl(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotl(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotl(v[1], 17) ^ v[2];
	v[2] = rotl(v[2], 32);
}

/* Eight bytes, least significant first, whatever the machine; compilers make
 * one load of it where that is the machine's own order. */
static inline uint64_t
load8(const uint8_t *b)
{
	return (uint64_t)b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 |
	    (uint64_t)b[3] << 24 | (uint64_t)b[4] << 32 | (uint64_t)b[5] << 40 |
	    (uint64_t)b[6] << 48 | (uint64_t)b[7] << 56;
}

/* The same for the last `n` < 8 bytes of a key of that length. If the key is
 * long enough, one load begins in the bytes before them, which are shifted
 * out. */
static inline uint64_t
load(const uint8_t *bytes, size_t n, size_t length)
{
	uint64_t x = 0;

	if (n == 0)
		return 0;
	if (length >= 8)
		return load8(bytes + n - 8) >> (64 - 8 * n);
	while (n-- > 0)
		x = x << 8 | bytes[n];
	return x;
}

uint64_t
hash_words(const struct hash_key *key, const uint64_t *words, size_t n)
{
	uint64_t v[4] = {
		key->k0 ^ UINT64_C(0x736f6d6570736575),
		key->k1 ^ UINT64_C(0x646f72616e646f6d),
		key->k0 ^ UINT64_C(0x6c7967656e657261),
		key->k1 ^ UINT64_C(0x7465646279746573),
	};
	size_t i;

	for (i = 0; i < n; i++) {
		v[3] ^= words[i];
		sip_round(v);
		v[0] ^= words[i];
	}
	v[2] ^= 0xff;
	for (i = 0; i < 3; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t
hash_keyed(const struct hash_key *key, const void *data, size_t len)
{
	const uint8_t *at = data;
	uint64_t v[4] = {
		key->k0 ^ UINT64_C(0x736f6d6570736575),
		key->k1 ^ UINT64_C(0x646f72616e646f6d),
		key->k0 ^ UINT64_C(0x6c7967656e657261),
		key->k1 ^ UINT64_C(0x7465646279746573),
	};
	uint64_t last = (uint64_t)len << 56, word;
	size_t all = len;
	int i;

	for (; len >= 8; at += 8, len -= 8) {
		word = load8(at);
		v[3] ^= word;
		sip_round(v);
		sip_round(v);
		v[0] ^= word;
	}
	last |= load(at, len, all);
	v[3] ^= last;
	sip_round(v);
	sip_round(v);
	v[0] ^= last;
	v[2] ^= 0xff;
	for (i = 0; i < 4; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t
hash_stable(const void *data, size_t len)
{
	const uint8_t *bytes = data;
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	size_t i;

	for (i = 0; i < len; i++) {
		h ^= bytes[i];
		h *= UINT64_C(0x100000001b3);
	}
	return hash_mix(h);
}
