/* tls_tickets.c: AES-256-CBC and HMAC-SHA-256, as RFC 5077, 4 recommends. */
#include "config.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>
#if OPENSSL_VERSION_NUMBER >= 0x30000000L
#include <openssl/core_names.h>
#endif

#include "base/clock.h"
#include "tls/tls_tickets.h"

/* A key encrypts tickets for RENEW_MS and decrypts them TICKET_GOOD_S
 * longer. */
enum { RENEW_MS = 3600 * 1000, KEPT = 2 + TICKET_GOOD_S * 1000 / RENEW_MS };

struct tls_tickets *
tls_tickets_new(void)
{
	struct tls_tickets *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->refs = 1;
	t->renewed_ms = clock_monotonic_ms();
	if (RAND_bytes(t->secret, sizeof(t->secret)) == 1)
		return t;
	tls_tickets_drop(t);
	return NULL;
}

struct tls_tickets *
tls_tickets_hold(struct tls_tickets *t)
{
	t->refs++;
	return t;
}

void
tls_tickets_drop(struct tls_tickets *t)
{
	if (t == NULL || --t->refs > 0)
		return;
	OPENSSL_cleanse(t, sizeof(*t));
	free(t);
}

static void
take_keys(struct tls_tickets *t, const void *from, size_t count)
{
	const unsigned char *at = from;
	size_t i;

	t->count = (unsigned)count;
	for (i = 0; i < count; i++, at += TICKET_KEY_BYTES) {
		memcpy(t->key[i].name, at, 16);
		memcpy(t->key[i].mac, at + 16, 32);
		memcpy(t->key[i].cipher, at + 48, 32);
	}
}

int
tls_tickets_read(
    struct tls_tickets *t, const struct buffer *text, struct error *e)
{
	size_t n = buffer_length(text);

	if (n == 0 || n % TICKET_KEY_BYTES != 0 ||
	    n / TICKET_KEY_BYTES > TICKET_KEYS)
		return error_set(e, "expected 1 to %d keys of %d bytes",
		    TICKET_KEYS, TICKET_KEY_BYTES);
	t->fixed = true;
	take_keys(t, buffer_bytes(text), n / TICKET_KEY_BYTES);
	return 0;
}

/* One that is older than the machine's clock counts as new: that is less than
 * its whole time. */
bool
tls_tickets_import(struct tls_tickets *t, const unsigned char *bytes, size_t n)
{
	uint64_t age = 0, now = clock_monotonic_ms();
	unsigned i;

	if (t->fixed || n <= 8 || (n - 8) % TICKET_KEY_BYTES != 0 ||
	    (n - 8) / TICKET_KEY_BYTES > KEPT)
		return false;
	for (i = 0; i < 8; i++)
		age |= (uint64_t)bytes[i] << 8 * i;
	t->renewed_ms = age < now ? now - age : now;
	take_keys(t, bytes + 8, (n - 8) / TICKET_KEY_BYTES);
	return true;
}

/* One of several values that follow from the secret. */
static bool
derive(const struct tls_tickets *t, unsigned char which, unsigned char out[32])
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned n = 0;
	bool good = HMAC(EVP_sha256(), t->secret, sizeof(t->secret), &which, 1,
			digest, &n) != NULL;

	if (good)
		memcpy(out, digest, 32);
	OPENSSL_cleanse(digest, sizeof(digest));
	return good;
}

/* Puts a key of the secret first, and drops one that is too old for a valid
 * ticket. */
static bool
make_key(struct tls_tickets *t)
{
	unsigned char name[32];
	struct ticket_key key;

	if (!derive(t, 1, name) || !derive(t, 2, key.mac) ||
	    !derive(t, 3, key.cipher) || !derive(t, 4, t->secret))
		return false;
	memcpy(key.name, name, sizeof(key.name));
	memmove(&t->key[1], &t->key[0], (KEPT - 1) * sizeof(t->key[0]));
	t->key[0] = key;
	if (t->count < KEPT)
		t->count++;
	OPENSSL_cleanse(&key, sizeof(key));
	return true;
}

/* Makes the keys whose time has come. Returns whether there is a key. */
static bool
renew(struct tls_tickets *t)
{
	uint64_t now = clock_monotonic_ms();

	if (!t->fixed && t->count == 0 && !make_key(t))
		return false;
	while (!t->fixed && now - t->renewed_ms >= RENEW_MS) {
		if (!make_key(t))
			return false;
		t->renewed_ms += RENEW_MS;
	}
	return t->count > 0;
}

size_t
tls_tickets_export(struct tls_tickets *t, unsigned char bytes[TICKETS_BYTES])
{
	unsigned char *at = bytes + 8;
	uint64_t age;
	unsigned i;

	/* the keys that are due now: workers make the same ones, from the
	 * secret that they have from this process */
	if (t->fixed || !renew(t))
		return 0;
	age = clock_monotonic_ms() - t->renewed_ms;
	for (i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(age >> 8 * i);
	for (i = 0; i < t->count; i++, at += TICKET_KEY_BYTES) {
		memcpy(at, t->key[i].name, 16);
		memcpy(at + 16, t->key[i].mac, 32);
		memcpy(at + 48, t->key[i].cipher, 32);
	}
	return (size_t)(at - bytes);
}

size_t
tls_tickets_share(const struct tls_tickets *t, void *bytes)
{
	if (t->fixed)
		return 0;
	memcpy(bytes, t, sizeof(*t));
	return sizeof(*t);
}

void
tls_tickets_join(struct tls_tickets *t, const void *bytes, size_t n)
{
	unsigned refs = t->refs;

	if (t->fixed || n != sizeof(*t))
		return;
	memcpy(t, bytes, n);
	t->refs = refs;
}

/* The key of a ticket, with the cipher set up. *result is what the callback
 * returns to OpenSSL: -1: failed; 0: no such key, so a full handshake; 1: fine;
 * 2: fine, but send a new ticket. TLS 1.3 always gets 2, as its tickets are
 * used once (RFC 8446, C.4). */
static struct ticket_key *
tls_ticket_prepare(SSL *ssl, unsigned char name[16], unsigned char *iv,
    EVP_CIPHER_CTX *cipher, int making, int *result)
{
	struct tls_tickets *t = tls_tickets_of(ssl);
	struct ticket_key *k;
	unsigned at = 0;

	*result = -1;
	if (t == NULL || !renew(t))
		return NULL;
	if (making) {
		k = &t->key[0];
		memcpy(name, k->name, sizeof(k->name));
		if (RAND_bytes(iv, 16) != 1 ||
		    EVP_EncryptInit_ex(
			cipher, EVP_aes_256_cbc(), NULL, k->cipher, iv) != 1)
			return NULL;
		*result = 1;
		return k;
	}
	while (at < t->count && memcmp(t->key[at].name, name, 16) != 0)
		at++;
	k = at < t->count ? &t->key[at] : NULL;
	*result = k == NULL				   ? 0
	    : at == 0 && SSL_version(ssl) < TLS1_3_VERSION ? 1
							   : 2;
	if (k != NULL &&
	    EVP_DecryptInit_ex(
		cipher, EVP_aes_256_cbc(), NULL, k->cipher, iv) != 1) {
		*result = -1;
		return NULL;
	}
	return k;
}

#if OPENSSL_VERSION_NUMBER >= 0x30000000L
static int
on_ticket(SSL *ssl, unsigned char *name, unsigned char *iv,
    EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, int making)
{
	char digest[] = "SHA256";
	OSSL_PARAM params[3];
	struct ticket_key *k;
	int result;

	k = tls_ticket_prepare(ssl, name, iv, cipher, making, &result);
	if (k == NULL)
		return result;
	params[0] = OSSL_PARAM_construct_octet_string(
	    OSSL_MAC_PARAM_KEY, k->mac, sizeof(k->mac));
	params[1] =
	    OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0);
	params[2] = OSSL_PARAM_construct_end();
	return EVP_MAC_CTX_set_params(mac, params) == 1 ? result : -1;
}
#else
static int
on_ticket(SSL *ssl, unsigned char *name, unsigned char *iv,
    EVP_CIPHER_CTX *cipher, HMAC_CTX *mac, int making)
{
	struct ticket_key *k;
	int result;

	k = tls_ticket_prepare(ssl, name, iv, cipher, making, &result);
	if (k == NULL)
		return result;
	return HMAC_Init_ex(mac, k->mac, sizeof(k->mac), EVP_sha256(), NULL) ==
		1
	    ? result
	    : -1;
}
#endif

void
tls_tickets_serve(SSL_CTX *ctx)
{
#if OPENSSL_VERSION_NUMBER >= 0x30000000L
	SSL_CTX_set_tlsext_ticket_key_evp_cb(ctx, on_ticket);
#else
	SSL_CTX_set_tlsext_ticket_key_cb(ctx, on_ticket);
#endif
}
