/* tls_settings.h: what the operator wants of TLS, as words and numbers. Here also in
 * a build without TLS. */
#ifndef PEN_TLS_TLS_SETTINGS_H
#define PEN_TLS_TLS_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

enum { TLS_PAIRS_MAX = 4, TLS_ALPN_MAX = 256 };

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
	char *password; /* file of lines that keys are decrypted with */
	bool require, request;
	bool request_any; /* certificates of clients need no known issuer */
	char *ciphers; /* TLS 1.2 */
	char *suites;  /* TLS 1.3 */
	char *groups;  /* of key exchange */
	unsigned min;  /* 12: TLS 1.2; 13: TLS 1.3 */
	unsigned options;
	char *alpn; /* "h2,http/1.1" */
	char *sni_path;
	bool strict_sni;
	char
	    *refuse_names; /* "old.test,*.old.test": alert, not a certificate */
	bool tickets;
	char *ticket_key;
	uint64_t session_cache; /* sessions kept when tickets are off */
	char *ocsp;
	uint64_t renegotiation_ms; /* 0: never */
	uint64_t handshake_ms;	   /* how long one may take */
	bool require_close_notify; /* of clients that end */
	uint64_t watch_ms;	   /* between looks at the files; 0: none */
	uint64_t warn_days;	   /* before a certificate ends */
	bool upstream;		   /* TLS towards servers */
	bool upstream_verify;
	char *upstream_ca;   /* NULL: the system's */
	char *upstream_name; /* NULL: the server's host */
	char *upstream_cert, *upstream_key;
	char *upstream_alpn; /* TLS_ALPN_NONE: offer nothing */
	bool upstream_resume;
};

void tls_settings_init(struct tls_settings *s);
/* A copy with strings of its own. Returns 0, or -1 with errno ENOMEM (and then it is
 * empty). */
int tls_settings_copy(struct tls_settings *s, const struct tls_settings *from);
void tls_settings_fini(struct tls_settings *s); /* of such a copy */
/* Whether the same files are read and the same is spoken: times apart, all. */
bool tls_settings_equal(
    const struct tls_settings *a, const struct tls_settings *b);
/* Whether clients talk TLS. */
bool tls_settings_serve(const struct tls_settings *s);
/* The names of a list with commas as RFC 7301 wants them. Returns the length, or
 * -1 when one is empty or longer than 255, or all are too long. */
int tls_alpn_wire(const char *list, unsigned char wire[TLS_ALPN_MAX]);

#endif
