/* tlshello.c: a ClientHello of OpenSSL's, and what answers it. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <openssl/ssl.h>

#include "support/tlshello.h"

enum { RECORD_ALERT = 21, RECORD_HEAD = 5 };

void
tls_hello_make(struct tls_hello *h, const char *name)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	SSL *ssl = ctx != NULL ? SSL_new(ctx) : NULL;
	BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
	char sni[256];
	int n;

	ck_assert(ssl != NULL && in != NULL && out != NULL);
	SSL_set_bio(ssl, in, out);
	h->name_n = strlen(name);
	ck_assert_uint_lt(h->name_n, sizeof(sni));
	memcpy(sni, name, h->name_n + 1);
	ck_assert_int_eq(SSL_set_tlsext_host_name(ssl, sni), 1);
	ck_assert_int_le(SSL_connect(ssl), 0);
	n = BIO_read(out, h->bytes, sizeof(h->bytes));
	ck_assert_int_gt(n, 0);
	h->n = (size_t)n;
	for (h->name_at = 0; h->name_at + h->name_n <= h->n; h->name_at++)
		if (memcmp(h->bytes + h->name_at, name, h->name_n) == 0)
			break;
	ck_assert_uint_le(h->name_at + h->name_n, h->n);
	SSL_free(ssl);
	SSL_CTX_free(ctx);
}

void
tls_hello_ask(struct tls_hello *h, const char *name)
{
	memcpy(h->bytes + h->name_at, name, h->name_n);
}

/* One at a time: what is left over of clients that have gone would be memory in
 * use. It does not say the end first, which would keep its port for a
 * minute. */
static void
wait_for_end(int fd)
{
	static const unsigned char give_up[] = { RECORD_ALERT, 3, 3, 0, 2, 2,
		40 };
	char rest[4096];

	if (send(fd, give_up, sizeof(give_up), MSG_NOSIGNAL) < 0)
		return;
	while (recv(fd, rest, sizeof(rest), 0) > 0)
		;
}

int
tls_hello_say(const struct tls_hello *h, const struct endpoint *to)
{
	int fd = endpoint_try_connect(to), result = TLS_HELLO_CUT;
	unsigned char got[RECORD_HEAD + 2]; /* of an alert: level, number */

	if (fd < 0)
		return TLS_HELLO_CUT;
	if (send(fd, h->bytes, h->n, MSG_NOSIGNAL) == (ssize_t)h->n &&
	    recv(fd, got, sizeof(got), MSG_WAITALL) == (ssize_t)sizeof(got))
		result = got[0] == RECORD_ALERT ? got[RECORD_HEAD + 1]
						: TLS_HELLO_ANSWERED;
	wait_for_end(fd);
	endpoint_reset(fd);
	return result;
}
