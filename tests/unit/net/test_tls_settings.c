/* test_tls_settings.c: copies, comparison, and lists of protocols. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tls/tls_settings.h"
#include "support/suite.h"

enum { TEXTS = 2 * TLS_PAIRS_MAX + 17 };

static struct tls_settings a, b;

/* Where the strings are, each of its own. */
static void
texts_of(struct tls_settings *s, char **place[TEXTS])
{
	char **all[TEXTS] = { &s->pair[0].cert, &s->pair[0].key,
		&s->pair[1].cert, &s->pair[1].key, &s->pair[2].cert,
		&s->pair[2].key, &s->pair[3].cert, &s->pair[3].key, &s->ca_file,
		&s->ca_dir, &s->crl, &s->ciphers, &s->suites, &s->groups,
		&s->alpn, &s->sni_path, &s->ticket_key, &s->ocsp,
		&s->upstream_ca, &s->upstream_name, &s->upstream_cert,
		&s->upstream_key, &s->upstream_alpn, &s->password,
		&s->refuse_names };

	memcpy(place, all, sizeof(all));
}

static void
fill(struct tls_settings *s)
{
	char **place[TEXTS];
	int i;

	tls_settings_init(s);
	texts_of(s, place);
	for (i = 0; i < TEXTS; i++) {
		*place[i] = strdup(text("text %d", i));
		ck_assert_ptr_nonnull(*place[i]);
	}
	s->pairs = TLS_PAIRS_MAX;
}

START_TEST(defaults)
{
	memset(&a, 0x5a, sizeof(a));
	tls_settings_init(&a);
	ck_assert_uint_eq(a.pairs, 0);
	ck_assert(!tls_settings_serve(&a));
	ck_assert_uint_eq(a.min, 12);
	ck_assert(a.tickets);
	ck_assert(a.upstream_verify);
	ck_assert(!a.upstream);
	ck_assert(!a.strict_sni);
	ck_assert_uint_eq(a.renegotiation_ms, 0);
	ck_assert_uint_eq(a.handshake_ms, 10000);
	ck_assert_uint_eq(a.watch_ms, 5000);
	ck_assert_uint_eq(a.warn_days, 14);
	ck_assert_ptr_null(a.sni_path);
	tls_settings_fini(&a);
	a.pairs = 1;
	ck_assert(tls_settings_serve(&a));
	a.pairs = 0;
	a.sni_path = strdup("/d");
	ck_assert(tls_settings_serve(&a));
	tls_settings_fini(&a);
	ck_assert_ptr_null(a.sni_path);
}
END_TEST

START_TEST(copies)
{
	char **from[TEXTS], **to[TEXTS];
	int i;

	fill(&a);
	a.watch_ms = 77;
	ck_assert_int_eq(tls_settings_copy(&b, &a), 0);
	texts_of(&a, from);
	texts_of(&b, to);
	for (i = 0; i < TEXTS; i++) {
		ck_assert_ptr_ne(*from[i], *to[i]);
		ck_assert_str_eq(*from[i], *to[i]);
	}
	ck_assert_uint_eq(b.watch_ms, 77);
	ck_assert_uint_eq(b.pairs, TLS_PAIRS_MAX);
	tls_settings_fini(&a);
	for (i = 0; i < TEXTS; i++) {
		ck_assert_ptr_null(*from[i]);
		ck_assert_str_eq(*to[i], text("text %d", i));
	}
	tls_settings_fini(&b);
	tls_settings_fini(&b);
	tls_settings_init(&a);
	ck_assert_int_eq(tls_settings_copy(&b, &a), 0);
	ck_assert(tls_settings_equal(&a, &b));
	tls_settings_fini(&b);
}
END_TEST

static void
differ_in_texts(void)
{
	char **place[TEXTS], *old, other[] = "other";
	int i;

	texts_of(&b, place);
	for (i = 0; i < TEXTS; i++) {
		old = *place[i];
		*place[i] = NULL;
		ck_assert_msg(!tls_settings_equal(&a, &b), "text %d", i);
		ck_assert_msg(!tls_settings_equal(&b, &a), "text %d", i);
		*place[i] = other;
		ck_assert_msg(!tls_settings_equal(&a, &b), "text %d", i);
		*place[i] = old;
	}
	ck_assert(tls_settings_equal(&a, &b));
}

#define DIFFERS(what)                                        \
	do {                                                 \
		struct tls_settings other_ = b;              \
		other_.what = !other_.what;                  \
		ck_assert(!tls_settings_equal(&a, &other_)); \
	} while (0)
#define SAME(what)                                          \
	do {                                                \
		struct tls_settings other_ = b;             \
		other_.what++;                              \
		ck_assert(tls_settings_equal(&a, &other_)); \
	} while (0)

/* Times may change without a file read anew. */
START_TEST(compares)
{
	fill(&a);
	fill(&b);
	ck_assert(tls_settings_equal(&a, &b));
	differ_in_texts();
	DIFFERS(pairs);
	DIFFERS(require);
	DIFFERS(request);
	DIFFERS(min);
	DIFFERS(options);
	DIFFERS(strict_sni);
	DIFFERS(tickets);
	DIFFERS(session_cache);
	DIFFERS(renegotiation_ms);
	DIFFERS(upstream_verify);
	DIFFERS(upstream_resume);
	DIFFERS(request_any);
	SAME(handshake_ms);
	SAME(watch_ms);
	SAME(warn_days);
	ck_assert(tls_settings_equal(&a, &b));
	tls_settings_fini(&a);
	tls_settings_fini(&b);
}
END_TEST

static void
wire_is(const char *list, const char *bytes, int n)
{
	unsigned char wire[TLS_ALPN_MAX];

	ck_assert_int_eq(tls_alpn_wire(list, wire), n);
	if (n > 0)
		ck_assert_int_eq(memcmp(wire, bytes, (size_t)n), 0);
}

START_TEST(protocols)
{
	char name[300];

	wire_is(NULL, "", 0);
	wire_is("", "", 0);
	wire_is("h2", "\2h2", 3);
	wire_is("h2,http/1.1", "\2h2\10http/1.1", 12);
	wire_is("h2,", "", -1);
	wire_is(",h2", "", -1);
	wire_is("h2,,x", "", -1);
	wire_is(",", "", -1);
	/* with its length as long as the list may be, and longer */
	memset(name, 'x', sizeof(name));
	name[TLS_ALPN_MAX - 1] = '\0';
	wire_is(name, text("\377%s", name), TLS_ALPN_MAX);
	name[TLS_ALPN_MAX - 1] = 'x';
	name[TLS_ALPN_MAX] = '\0';
	wire_is(name, "", -1);
	name[TLS_ALPN_MAX - 1] = '\0';
	wire_is(text("%s,x", name), "", -1);
	memset(name, ',', sizeof(name));
	name[299] = '\0';
	wire_is(name, "", -1);
}
END_TEST

SUITE(test_tls_settings)
{
	Suite *s = suite_create("tls_settings");

	SUITE_ADD(s, defaults, 10);
	SUITE_ADD(s, copies, 10);
	SUITE_ADD(s, compares, 10);
	SUITE_ADD(s, protocols, 10);
	return s;
}
