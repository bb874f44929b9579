/* tls_settings.h: the settings of TLS, as words and numbers. A build without
 * TLS has them, too. */
#ifndef PEN_TLS_TLS_SETTINGS_H
#define PEN_TLS_TLS_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

enum { TLS_PAIRS_MAX = 4, TLS_ALPN_MAX = 256, TLS_ISSUER_MAX = 256 };

#define TLS_ALPN_NONE "none"

/* Bits of tls_settings.options. */
enum {
	TLS_NO_1_2 = 1,
	TLS_NO_1_3 = 2,
	TLS_SERVER_PREFERENCE = 4, /* of ciphers; else the client's */
};

/* A certificate chain and its key; no key: it is in the same file. */
struct tls_pair {
	char *cert, *key;
};

struct tls_settings {
	struct tls_pair pair[TLS_PAIRS_MAX];
	unsigned pairs; /* 0: no TLS towards clients, unless sni_path */
	char *ca_file, *ca_dir, *crl; /* for certificates of clients */
	char *password; /* a file of passwords of keys, a line each */
	bool require, request;
	bool request_any; /* certificates of clients need no known issuer */
	char *ciphers; /* TLS 1.2 */
	char *suites;  /* TLS 1.3 */
	char *groups;  /* of key exchange */
	unsigned min;  /* 12: TLS 1.2; 13: TLS 1.3 */
	unsigned options;
	char *alpn; /* "h2,http/1.1" */
	bool no_h2; /* it is left out of that, and of upstream_alpn */
	char *sni_path;
	bool strict_sni;
	/* "old.test,*.old.test": clients that request these get an alert. */
	char *refuse_names;
	bool tickets;
	char *ticket_key;
	uint64_t session_cache; /* sessions kept when tickets are off */
	char *ocsp;
	uint64_t renegotiation_ms; /* 0: never */
	uint64_t handshake_ms;	   /* how long one may take */
	bool require_close_notify; /* of clients that end */
	uint64_t watch_ms;	   /* between checks of the files; 0: none */
	uint64_t warn_days;	   /* before a certificate expires */
	bool upstream;		   /* TLS towards servers */
	bool upstream_verify;
	char *upstream_ca;   /* NULL: the system's */
	char *upstream_name; /* NULL: the server's host */
	char *upstream_cert, *upstream_key;
	char *upstream_alpn; /* TLS_ALPN_NONE: offer nothing */
	bool upstream_resume;
};

void tls_settings_init(struct tls_settings *s);
/* Copies, strings included. Returns 0, or -1 with errno ENOMEM, `s` being empty
 * then. */
int tls_settings_copy(struct tls_settings *s, const struct tls_settings *from);
void tls_settings_fini(struct tls_settings *s); /* of such a copy */
/* Whether contexts made of both are the same. Does not compare handshake_ms,
 * watch_ms, warn_days and what else a session reads. */
bool tls_settings_equal(
    const struct tls_settings *a, const struct tls_settings *b);
/* Whether clients have to talk TLS. */
bool tls_settings_serve(const struct tls_settings *s);
/* Encodes a comma-separated list, blanks may follow a comma, as RFC 7301 wants
 * it. Returns the length, or -1 when a name is empty, longer than 255 or has a
 * blank, or the whole is too long. */
int tls_alpn_wire(const char *list, unsigned char wire[TLS_ALPN_MAX]);
/* Takes a name out of it. Returns the new length. */
int tls_alpn_without(unsigned char *wire, int length, const char *name);
bool tls_alpn_has(const char *list, const char *name);

#endif
