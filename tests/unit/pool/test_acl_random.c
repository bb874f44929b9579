/* test_acl_random.c: 10,000 random lists and addresses, against an evaluator
 * that walks what was drawn and shares nothing with the lists but their words.
 */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "pool/acl/acl.h"
#include "pool/acl/countries.h"
#include "support/mmdb.h"
#include "support/suite.h"

static struct error e;
static uint64_t state = 42;

static unsigned
draw(unsigned n)
{
	state += UINT64_C(0x9e3779b97f4a7c15);
	return (unsigned)((hash_mix(state) >> 32) * n >> 32);
}

/* ---- what is drawn ---- */

enum kind { IP4, IP6, ALL_UNIX, UID, GID, COUNTRY };

/* The address of a client, or of an entry with its mask. */
struct drawn {
	enum kind kind; /* of clients: IP4, IP6, or ALL_UNIX: owner unknown */
	uint8_t ip[16]; /* the first 4 of IPv4 */
	uint8_t mask[16];
	unsigned uid, gid;
	const char *country;
	bool permit;
};

static const char *const codes[] = { "SE", "NO", "AA", "ZZ", "DE" };
enum { CODES = sizeof(codes) / sizeof(codes[0]), NETWORKS = 60, MOST = 4000 };

/* Few bits differ, so that entries nest, repeat and match. */
static void
draw_ip(struct drawn *d)
{
	unsigned i, n;

	d->kind = draw(2) == 0 ? IP4 : IP6;
	n = d->kind == IP4 ? 4 : 16;
	memset(d->ip, 0, sizeof(d->ip));
	for (i = 0; i < n; i++)
		if (draw(3) == 0)
			d->ip[i] = (uint8_t)(0x81u >> draw(8));
	if (d->kind == IP4)
		d->ip[0] = 10;
}

static void
set_mask(struct drawn *d, unsigned bits)
{
	unsigned i;

	memset(d->mask, 0, sizeof(d->mask));
	for (i = 0; i < bits; i++)
		d->mask[i / 8] |= (uint8_t)(0x80u >> i % 8);
}

static bool
is_in(const struct drawn *net, const struct drawn *who)
{
	unsigned i, n = net->kind == IP4 ? 4 : 16;

	if (net->kind != who->kind)
		return false;
	for (i = 0; i < n; i++)
		if ((net->ip[i] & net->mask[i]) != (who->ip[i] & net->mask[i]))
			return false;
	return true;
}

/* ---- countries ---- */

static struct drawn networks[NETWORKS];
static struct countries *countries;

static const char *
format_ip(const struct drawn *d, char text[64])
{
	inet_ntop(d->kind == IP4 ? AF_INET : AF_INET6, d->ip, text, 64);
	return text;
}

static void
draw_countries(void)
{
	struct mmdb *m = mmdb_new(MMDB_NESTED);
	char ip[64], network[80];
	unsigned i, bits;

	for (i = 0; i < NETWORKS; i++) {
		struct drawn *d = &networks[i];

		draw_ip(d);
		bits = d->kind == IP4 ? 8 + draw(25) : 97 + draw(32);
		set_mask(d, bits);
		/* ::/96 is IPv4's in the file */
		if (d->kind == IP6)
			d->ip[0] = 0x20;
		d->country = draw(5) == 0 ? "" : codes[draw(CODES)];
		snprintf(network, sizeof(network), "%s/%u", format_ip(d, ip),
		    bits);
		mmdb_add(m, network, d->country);
	}
	mmdb_write(m, scratch("c.mmdb"), 1);
	countries = countries_new();
	ck_assert_msg(
	    countries_open(countries, scratch("c.mmdb"), &e) == 0, "%s",
	    e.text);
}

/* What was said last of a network holds. */
static const char *
country_of(const struct drawn *who)
{
	unsigned i;

	for (i = NETWORKS; i-- > 0;)
		if (is_in(&networks[i], who))
			return networks[i].country;
	return "";
}

/* ---- entries ---- */

static unsigned
draw_mask(struct drawn *d)
{
	unsigned bits = draw(d->kind == IP4 ? 33 : 129);

	if (d->kind == IP4 && draw(8) == 0) {
		d->mask[0] = (uint8_t)draw(256);
		d->mask[1] = (uint8_t)draw(256);
		d->mask[2] = 255;
		d->mask[3] = (uint8_t)draw(256);
		return 0;
	}
	set_mask(d, bits);
	return bits;
}

/* Draws an entry, and its words. */
static void
draw_entry(struct drawn *d, char words[160])
{
	char ip[64], mask[64];
	unsigned kind = draw(20), bits;

	d->permit = draw(2) == 0;
	d->uid = d->gid = draw(3);
	d->country = codes[draw(CODES)];
	draw_ip(d);
	if (kind == 0) {
		d->kind = ALL_UNIX;
		strcpy(words, "unix");
	} else if (kind == 1) {
		d->kind = UID;
		sprintf(words, "uid %u", d->uid);
	} else if (kind == 2) {
		d->kind = GID;
		sprintf(words, "gid %u", d->gid);
	} else if (kind < 6 && countries_are_built_in()) {
		d->kind = COUNTRY;
		sprintf(words, "country %s", d->country);
	} else if ((bits = draw_mask(d)) > 0 || d->kind == IP6) {
		sprintf(words, "%s/%u", format_ip(d, ip), bits);
	} else {
		inet_ntop(AF_INET, d->mask, mask, sizeof(mask));
		sprintf(words, "%s %s", format_ip(d, ip), mask);
	}
}

static bool
matches(const struct drawn *entry, const struct drawn *who)
{
	bool is_unix = who->kind != IP4 && who->kind != IP6;

	switch (entry->kind) {
	case ALL_UNIX:
		return is_unix;
	case UID:
		return who->kind == UID && who->uid == entry->uid;
	case GID:
		return who->kind == UID && who->gid == entry->gid;
	case COUNTRY:
		return !is_unix &&
		    strcmp(country_of(who), entry->country) == 0;
	default:
		return is_in(entry, who);
	}
}

/* ---- lists ---- */

static struct drawn entries[MOST];
static unsigned count;

/* The number of the entry that decides, or `count`. */
static unsigned
naive(const struct drawn *who)
{
	unsigned i = 0;

	while (i < count && !matches(&entries[i], who))
		i++;
	return i;
}

static void
add_words(struct acl *l, const struct drawn *d, char *words)
{
	char *more = strchr(words, ' ');
	struct acl_entry entry;

	if (more != NULL)
		*more++ = '\0';
	ck_assert_msg(
	    acl_entry_parse(&entry, d->permit, words, more, &e) == 0, "%s",
	    e.text);
	ck_assert_int_eq(acl_add_entry(l, &entry, NULL), 0);
}

/* Draws so many entries more, by themselves or in a file. */
static void
draw_entries(struct acl *l, unsigned more, bool in_file)
{
	struct acl_file_facts facts;
	FILE *f = in_file ? fopen(scratch("list"), "w") : NULL;
	char words[160];

	while (more-- > 0) {
		struct drawn *d = &entries[count++];

		draw_entry(d, words);
		if (f != NULL)
			fprintf(f, "%s%s\n",
			    d->permit && draw(2) == 0 ? ""
				: d->permit	      ? "permit "
						      : "deny ",
			    words);
		else
			add_words(l, d, words);
	}
	if (f == NULL)
		return;
	fclose(f);
	ck_assert_msg(acl_add_file(l, scratch("list"), ACL_PERMIT, NULL,
			  &facts, &e) == 0,
	    "%s", e.text);
}

static void
draw_client(struct drawn *d, struct peer *p)
{
	struct peer_owner owner;

	*p = (struct peer){ .family = AF_UNIX };
	if (draw(12) == 0) {
		d->kind = draw(3) == 0 ? ALL_UNIX : UID;
		owner.pid = 1 + draw(9);
		owner.uid = d->uid = draw(4);
		owner.gid = d->gid = draw(4);
		if (d->kind == UID)
			peer_set_owner(p, &owner);
		return;
	}
	draw_ip(d);
	if (d->kind == IP6 && draw(2) == 0)
		d->ip[0] = 0x20;
	p->family = d->kind == IP4 ? AF_INET : AF_INET6;
	if (d->kind == IP4) {
		p->ip[10] = p->ip[11] = 0xff;
		memcpy(p->ip + 12, d->ip, 4);
	} else {
		memcpy(p->ip, d->ip, 16);
	}
}

static void
compare(const struct acl *l)
{
	struct drawn who;
	struct peer p;
	unsigned n;
	bool permitted;

	draw_client(&who, &p);
	n = naive(&who);
	permitted = n < count	 ? entries[n].permit
	    : count == 0	 ? true
				 : !entries[count - 1].permit;
	ck_assert_uint_eq(acl_find(l, &p), n);
	ck_assert(acl_permits(l, &p) == permitted);
}

static unsigned
draw_length(void)
{
	unsigned n = draw(100);

	return n == 0 ? draw(MOST - 200) : n < 10 ? draw(300) : draw(50);
}

START_TEST(as_a_naive_evaluator)
{
	long lists = suite_amount(10000, 1500), i;
	struct acl l;
	unsigned k;

	if (countries_are_built_in())
		draw_countries();
	for (i = 0; i < lists; i++) {
		acl_init(&l);
		count = 0;
		draw_entries(&l, draw_length(), false);
		if (draw(8) == 0) {
			draw_entries(&l, 1 + draw(100), true);
			draw_entries(&l, draw(20), false);
		}
		l.countries = countries;
		for (k = 0; k < 20; k++)
			compare(&l);
		acl_fini(&l);
	}
	countries_free(countries);
}
END_TEST

SUITE(test_acl_random)
{
	Suite *s = suite_create("acl_random");

	SUITE_ADD(s, as_a_naive_evaluator, 60);
	return s;
}
