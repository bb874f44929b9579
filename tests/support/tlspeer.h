/* tlspeer.h: the other end of TLS in tests: a client on a connected socket and
 * a server that echoes, both by OpenSSL, blocking, with deadlines. Only there
 * when built with OpenSSL.
 *
 * With TLS 1.3 the client is through with its handshake before the server has
 * looked at the client's certificate, and tickets to resume with come later
 * still: a refusal shows at the first read, a session is worth keeping after
 * the first read, and the server has counted after it has answered. */
#ifndef PEN_TEST_TLSPEER_H
#define PEN_TEST_TLSPEER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <openssl/ssl.h>

#include "support/backend.h"
#include "support/certs.h"

/* All zero: any certificate, any version, nothing said. Files are PEM. */
struct tls_wish {
	const char *sni;
	const char *alpn;	/* "h2,http/1.1" */
	const char *ca;		/* file; NULL: any certificate will do */
	const char *verify;	/* with ca: the name or IP address it is for */
	const char *cert, *key; /* files: the client's, with its issuers */
	int min, max;		/* TLS1_2_VERSION ..; 0: OpenSSL's own */
	const char *ciphers;	/* "TLS_..": those of TLS 1.3, else of before */
	const char *sigalgs;	/* "RSA-PSS+SHA256", ..; NULL: OpenSSL's own */
	SSL_SESSION *resume;
	bool ocsp; /* asks for a stapled response */
	bool no_ticket; /* SSL_OP_NO_TICKET: session IDs only (TLS 1.2) */
	/* SSL_set_msg_callback(3): since OpenSSL 3.2 too late afterwards */
	void (*told)(int sent, int version, int type, const void *bytes,
	    size_t n, SSL *ssl, void *arg);
	void *arg; /* of `told` */
};

struct tls_peer;

/* Shakes hands as the client; owns the descriptor from here on. NULL, with the
 * descriptor closed, when that fails. */
struct tls_peer *tls_peer_open(int fd, const struct tls_wish *w);
/* Frees and closes without a word; NULL is fine. */
void tls_peer_close(struct tls_peer *p);
/* Why this thread's last call failed: OpenSSL's text. */
const char *tls_peer_error(void);

/* All of it, else false. */
bool tls_peer_write(struct tls_peer *p, const void *bytes, size_t n);
/* Some; 0: the other end has said goodbye (close_notify); -1 with errno EAGAIN:
 * nothing in 10 s, EPIPE: the stream ended without goodbye, EPROTO: an alert or
 * nonsense, or the socket's error (ECONNRESET). */
ssize_t tls_peer_read(struct tls_peer *p, void *bytes, size_t n);
/* Says goodbye, once; reading goes on. */
bool tls_peer_half_close(struct tls_peer *p);
/* These fail the test: sends a string and expects it back; expects goodbye. */
void tls_peer_expect_echo(struct tls_peer *p, const char *what);
void tls_peer_expect_end(struct tls_peer *p);

/* To resume with; the caller frees it (SSL_SESSION_free). */
SSL_SESSION *tls_peer_session(struct tls_peer *p);
bool tls_peer_is_resumed(const struct tls_peer *p);
int tls_peer_version(const struct tls_peer *p); /* TLS1_3_VERSION .. */
/* These live as long as the peer; "" when there is none. */
const char *tls_peer_alpn(const struct tls_peer *p);
const char *tls_peer_cipher(const struct tls_peer *p);
const char *tls_peer_subject(const struct tls_peer *p); /* cert_subject() */
/* The stapled OCSP response in DER, its length in `n`; NULL: none. */
const unsigned char *tls_peer_ocsp(const struct tls_peer *p, size_t *n);
/* For what is not here. */
SSL *tls_peer_ssl(struct tls_peer *p);

struct tls_echo;
/* A conversation after the handshake. Was there a goodbye? Then it is
 * answered. */
typedef bool tls_talk_fn(struct tls_echo *s, SSL *ssl);

struct tls_echo_options {
	const char *client_ca; /* file; a client must have a certificate */
	const char *alpn;    /* "h2,http/1.1", best first; no match: an alert */
	int min, max;	     /* TLS1_2_VERSION ..; 0: OpenSSL's own */
	tls_talk_fn *talk;   /* NULL: echoes */
	enum endpoint_kind kind; /* of place; 0: IPv4 */
};

/* What the server has seen so far; the words are the last client's. */
struct tls_seen {
	unsigned handshakes, resumed, failed; /* resumed are handshakes too */
	unsigned goodbyes, cut; /* how conversations ended: with, without */
	int version;
	char sni[256], alpn[64], client[CERT_SUBJECT_MAX];
	char error[256]; /* why the last one that failed did */
};

struct tls_echo {
	struct backend backend; /* first; its `at` says where */
	SSL_CTX *ctx;
	tls_talk_fn *talk;
	char alpn[256]; /* as on the wire */
	size_t alpn_len;
	pthread_mutex_t lock;
	struct tls_seen seen; /* under lock */
};

/* Serves at a fresh place with these files until the stop. It
 * echoes, goodbye for goodbye; `o` may be NULL. */
void tls_echo_start(struct tls_echo *s, const char *cert, const char *key,
    const struct tls_echo_options *o);
void tls_echo_stop(struct tls_echo *s);
void tls_echo_look(struct tls_echo *s, struct tls_seen *seen);

#endif
