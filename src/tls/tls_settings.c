/* tls_settings.c: defaults: Mozilla's intermediate profile. */
#include "config.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "tls/tls_settings.h"

void
tls_settings_init(struct tls_settings *s)
{
	*s = (struct tls_settings){
		.min = 12,
		.options = TLS_SERVER_PREFERENCE,
		.tickets = true,
		.session_cache = 20000,
		.handshake_ms = 10 * 1000,
		.watch_ms = 5 * 1000,
		.warn_days = 14,
		.upstream_verify = true,
		.upstream_resume = true,
	};
}

/* ---- strings ---- */

enum { TEXTS = 2 * TLS_PAIRS_MAX + 17 };

/* Pointers to all strings. */
static void
list_texts(struct tls_settings *s, char **text[TEXTS])
{
	char **single[] = { &s->ca_file, &s->ca_dir, &s->crl, &s->ciphers,
		&s->suites, &s->groups, &s->alpn, &s->sni_path, &s->ticket_key,
		&s->ocsp, &s->upstream_ca, &s->upstream_name, &s->upstream_cert,
		&s->upstream_key, &s->upstream_alpn, &s->password,
		&s->refuse_names };
	size_t i, n = 0;

	for (i = 0; i < TLS_PAIRS_MAX; i++) {
		text[n++] = &s->pair[i].cert;
		text[n++] = &s->pair[i].key;
	}
	for (i = 0; i < sizeof(single) / sizeof(single[0]); i++)
		text[n++] = single[i];
}

int
tls_settings_copy(struct tls_settings *s, const struct tls_settings *from)
{
	char **text[TEXTS];
	int i, rc = 0;

	*s = *from;
	list_texts(s, text);
	for (i = 0; i < TEXTS; i++)
		if (*text[i] != NULL &&
		    (*text[i] = strdup(*text[i])) == NULL)
			rc = -1;
	if (rc == 0)
		return 0;
	tls_settings_fini(s);
	errno = ENOMEM;
	return -1;
}

void
tls_settings_fini(struct tls_settings *s)
{
	char **text[TEXTS];
	int i;

	list_texts(s, text);
	for (i = 0; i < TEXTS; i++) {
		free(*text[i]);
		*text[i] = NULL;
	}
}

bool
tls_settings_equal(const struct tls_settings *a, const struct tls_settings *b)
{
	struct tls_settings x = *a, y = *b;
	char **p[TEXTS], **q[TEXTS];
	int i;

	list_texts(&x, p);
	list_texts(&y, q);
	for (i = 0; i < TEXTS; i++)
		if (!text_equal(*p[i], *q[i]))
			return false;
	return a->pairs == b->pairs && a->require == b->require &&
	    a->request == b->request && a->request_any == b->request_any &&
	    a->min == b->min && a->options == b->options &&
	    a->strict_sni == b->strict_sni && a->no_h2 == b->no_h2 &&
	    a->tickets == b->tickets &&
	    a->session_cache == b->session_cache &&
	    a->renegotiation_ms == b->renegotiation_ms &&
	    a->upstream_verify == b->upstream_verify &&
	    a->upstream_resume == b->upstream_resume;
}

/* ---- words ---- */

bool
tls_settings_serve(const struct tls_settings *s)
{
	return s->pairs > 0 || s->sni_path != NULL;
}

int
tls_alpn_wire(const char *list, unsigned char wire[TLS_ALPN_MAX])
{
	size_t at = 0, n;

	while (list != NULL && *list != '\0') {
		list += strspn(list, " \t");
		n = strcspn(list, ",");
		if (n == 0 || n > 255 || at + 1 + n > TLS_ALPN_MAX ||
		    strcspn(list, " \t") < n)
			return -1;
		wire[at++] = (unsigned char)n;
		memcpy(wire + at, list, n);
		at += n;
		list += n;
		if (*list == ',' && *++list == '\0')
			return -1;
	}
	return (int)at;
}

int
tls_alpn_without(unsigned char *wire, int length, const char *name)
{
	size_t n = strlen(name), whole = n + 1;
	int at = 0;

	while (at < length) {
		unsigned char *next = wire + at + 1 + wire[at];

		if (wire[at] == n && memcmp(wire + at + 1, name, n) == 0) {
			memmove(wire + at, next,
			    (size_t)(wire + length - next));
			length -= (int)whole;
		} else {
			at += 1 + wire[at];
		}
	}
	return length;
}

bool
tls_alpn_has(const char *list, const char *name)
{
	unsigned char wire[TLS_ALPN_MAX];
	int n = tls_alpn_wire(list, wire);

	return n > 0 && tls_alpn_without(wire, n, name) < n;
}
