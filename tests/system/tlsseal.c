/* tlsseal.c: the keys of a connection, and AES-GCM with them. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <openssl/evp.h>
#if OPENSSL_VERSION_NUMBER >= 0x30000000L
#include <openssl/core_names.h>
#include <openssl/kdf.h>
#endif

#include "system/tlsseal.h"

bool
tls_seal_begin(struct tls_seal *s, SSL *ssl)
{
#if OPENSSL_VERSION_NUMBER >= 0x30000000L
	static const char label[] = "key expansion";
	unsigned char master[48], seed[sizeof(label) - 1 + 64], block[40];
	char digest[] = "SHA256";
	EVP_KDF *kdf = EVP_KDF_fetch(NULL, "TLS1-PRF", NULL);
	EVP_KDF_CTX *ctx = EVP_KDF_CTX_new(kdf);
	OSSL_PARAM params[4];
	size_t n;

	n = SSL_SESSION_get_master_key(
	    SSL_get_session(ssl), master, sizeof(master));
	memcpy(seed, label, sizeof(label) - 1);
	(void)SSL_get_server_random(ssl, seed + sizeof(label) - 1, 32);
	(void)SSL_get_client_random(ssl, seed + sizeof(label) + 31, 32);
	params[0] =
	    OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0);
	params[1] =
	    OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SECRET, master, n);
	params[2] = OSSL_PARAM_construct_octet_string(
	    OSSL_KDF_PARAM_SEED, seed, sizeof(seed));
	params[3] = OSSL_PARAM_construct_end();
	if (EVP_KDF_derive(ctx, block, sizeof(block), params) != 1)
		abort();
	memcpy(s->key, block, 16);
	memcpy(s->iv, block + 32, 4);
	s->next = 1; /* after Finished */
	EVP_KDF_CTX_free(ctx);
	EVP_KDF_free(kdf);
	return true;
#else
	(void)s;
	(void)ssl;
	return false;
#endif
}

void
tls_seal_record(struct tls_seal *s, unsigned type, const void *payload,
    size_t n, struct bytes *out)
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	unsigned char nonce[12], more[13], sealed[RECORD_MAX], tag[16];
	int i, k;

	memcpy(nonce, s->iv, 4);
	for (i = 0; i < 8; i++)
		nonce[4 + i] = more[i] =
		    (unsigned char)(s->next >> 8 * (7 - i));
	s->next++;
	more[8] = (unsigned char)type;
	more[9] = more[10] = 3;
	more[11] = (unsigned char)(n >> 8);
	more[12] = (unsigned char)n;
	if (n > sizeof(sealed) || ctx == NULL ||
	    EVP_EncryptInit_ex(ctx, EVP_aes_128_gcm(), NULL, s->key, nonce) !=
		1 ||
	    EVP_EncryptUpdate(ctx, NULL, &k, more, sizeof(more)) != 1 ||
	    EVP_EncryptUpdate(ctx, sealed, &k, payload, (int)n) != 1 ||
	    EVP_EncryptFinal_ex(ctx, tag, &k) != 1 ||
	    EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_GET_TAG, sizeof(tag), tag) !=
		1)
		abort();
	EVP_CIPHER_CTX_free(ctx);
	bytes_add_number(out, 1, type);
	bytes_add_number(out, 2, 0x0303);
	bytes_add_number(out, 2, 8 + n + sizeof(tag));
	bytes_add(out, nonce + 4, 8);
	bytes_add(out, sealed, n);
	bytes_add(out, tag, sizeof(tag));
}
