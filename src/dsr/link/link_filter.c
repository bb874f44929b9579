/* link_filter.c: writes the program
 *
 *     to this MAC or a group?  x = 4 after a tag, else 0
 *     ARP:  request or reply?
 *     IPv6: NDP?  MLD?  one of the addresses?  of the nets?
 *     IPv4: one of the addresses?  of the nets?
 *
 * A load beyond the frame's end refuses the frame. Jumps are short, so that
 * each test returns by itself. */
#include "config.h"

#include <string.h>

#include "dsr/link/link_filter.h"

/* The instructions in use, from their parts. */
enum {
	LD_BYTE = 0x00 | 0x10 | 0x20, /* BPF_LD | BPF_B | BPF_ABS */
	LD_HALF = 0x00 | 0x08 | 0x20,
	LD_WORD = 0x00 | 0x00 | 0x20,
	LD_BYTE_X = 0x00 | 0x10 | 0x40, /* BPF_IND: x is added */
	LD_HALF_X = 0x00 | 0x08 | 0x40,
	LD_WORD_X = 0x00 | 0x00 | 0x40,
	SET_X = 0x01,	/* BPF_LDX | BPF_IMM */
	GO = 0x05,	/* BPF_JMP | BPF_JA */
	EQUAL = 0x15,	/* BPF_JMP | BPF_JEQ | BPF_K */
	GREATER = 0x25, /* BPF_JGT */
	AT_LEAST = 0x35,
	HAS_BIT = 0x45, /* BPF_JSET */
	RETURN = 0x06	/* BPF_RET | BPF_K */
};

enum {
	REFUSE = 0,
	ACCEPT = 0x40000, /* bytes: all of any frame */
	FIXED = 64,	  /* more than all that is not addresses */
	EACH_IP4 = 2,
	EACH_IP6 = 9,
	EACH_NET4 = 3,
	EACH_NET6 = 10
};

static void
filter_put(
    struct link_program *p, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
	p->at[p->count++] = (struct link_insn){ code, yes, no, k };
}

static uint32_t
word(const uint8_t *b)
{
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 |
	    (uint32_t)b[2] << 8 | b[3];
}

/* A switch floods frames for a MAC that it has not learnt, and other programs
 * may have made the interface promiscuous. Two directors that forward each
 * other's frames would never stop. */
static void
put_mac(struct link_program *p, const struct mac *mac)
{
	filter_put(p, LD_BYTE, 0, 0, 0);
	filter_put(p, HAS_BIT, 1, 5, 0);
	filter_put(p, LD_WORD, 0, 0, 0);
	filter_put(p, EQUAL, word(mac->byte), 0, 2);
	filter_put(p, LD_HALF, 4, 0, 0);
	filter_put(p, EQUAL, (uint32_t)mac->byte[4] << 8 | mac->byte[5], 1, 0);
	filter_put(p, RETURN, REFUSE, 0, 0);
}

static void
put_tag(struct link_program *p)
{
	filter_put(p, SET_X, 0, 0, 0);
	filter_put(p, LD_HALF, 12, 0, 0);
	filter_put(p, EQUAL, 0x8100, 0, 2);
	filter_put(p, SET_X, 4, 0, 0);
	filter_put(p, LD_HALF, 16, 0, 0);
}

static void
put_arp(struct link_program *p)
{
	filter_put(p, EQUAL, 0x0806, 0, 5);
	filter_put(p, LD_HALF_X, 20, 0, 0);
	filter_put(p, EQUAL, 1, 1, 0);
	filter_put(p, EQUAL, 2, 0, 1);
	filter_put(p, RETURN, ACCEPT, 0, 0);
	filter_put(p, RETURN, REFUSE, 0, 0);
}

static void
put_ndp(struct link_program *p)
{
	filter_put(p, LD_BYTE_X, 20, 0, 0);
	filter_put(p, EQUAL, 58, 0, 4);
	filter_put(p, LD_BYTE_X, 54, 0, 0);
	filter_put(p, AT_LEAST, 133, 0, 2);
	filter_put(p, GREATER, 137, 1, 0);
	filter_put(p, RETURN, ACCEPT, 0, 0);
}

/* Queries, behind the one option that they have. */
static void
put_mld(struct link_program *p)
{
	filter_put(p, LD_BYTE_X, 20, 0, 0);
	filter_put(p, EQUAL, 0, 0, 5);
	filter_put(p, LD_HALF_X, 54, 0, 0);
	filter_put(p, EQUAL, 58 << 8, 0, 3);
	filter_put(p, LD_BYTE_X, 62, 0, 0);
	filter_put(p, EQUAL, 130, 0, 1);
	filter_put(p, RETURN, ACCEPT, 0, 0);
}

static void
put_ip6(struct link_program *p, const struct peer *a)
{
	for (unsigned w = 0; w < 4; w++) {
		filter_put(p, LD_WORD_X, 38 + 4 * w, 0, 0);
		filter_put(
		    p, EQUAL, word(a->ip + 4 * w), 0, (uint8_t)(7 - 2 * w));
	}
	filter_put(p, RETURN, ACCEPT, 0, 0);
}

/* The last of the words that begin with the first `bits` of this one. */
static uint32_t
last_of(uint32_t first, unsigned bits)
{
	return bits == 0 ? UINT32_MAX : first | (UINT32_MAX >> 1 >> (bits - 1));
}

/* The word that is loaded stays there for the next test. */
static void
put_net4(struct link_program *p, const struct link_net *t)
{
	uint32_t first = word(t->ip.ip + 12);

	filter_put(p, AT_LEAST, first, 0, 2);
	filter_put(p, GREATER, last_of(first, t->bits), 1, 0);
	filter_put(p, RETURN, ACCEPT, 0, 0);
}

/* Accepts packets to IPv6 addresses of the net: compares whole words, then the
 * range of the last one. */
static void
put_net6(struct link_program *p, const struct link_net *t)
{
	unsigned whole = t->bits / 32, rest = t->bits % 32;
	unsigned over = 2 * whole + (rest > 0 ? 3 : 0); /* to after RETURN */
	uint32_t first;

	for (unsigned w = 0; w < whole; w++) {
		filter_put(p, LD_WORD_X, 38 + 4 * w, 0, 0);
		over -= 2;
		filter_put(
		    p, EQUAL, word(t->ip.ip + 4 * w), 0, (uint8_t)(over + 1));
	}
	if (rest > 0) {
		first = word(t->ip.ip + 4 * whole);
		filter_put(p, LD_WORD_X, 38 + 4 * whole, 0, 0);
		filter_put(p, AT_LEAST, first, 0, 2);
		filter_put(p, GREATER, last_of(first, rest), 1, 0);
	}
	filter_put(p, RETURN, ACCEPT, 0, 0);
}

static void
put_nets(struct link_program *p, const struct link_filter *f, unsigned family)
{
	for (unsigned i = 0; i < f->nets; i++) {
		if (f->net[i].ip.family != family)
			continue;
		if (family == AF_INET6)
			put_net6(p, &f->net[i]);
		else
			put_net4(p, &f->net[i]);
	}
}

/* Writes the filter program: the frames that are for `mac` and of a kind that
 * pen handles, to the addresses of `f`; with `any` to all addresses. */
static void
write_with(struct link_program *p, const struct link_filter *f,
    const struct mac *mac, bool any)
{
	unsigned over;

	p->count = 0;
	put_mac(p, mac);
	put_tag(p);
	put_arp(p);
	filter_put(p, EQUAL, 0x86dd, 1, 0);
	over = p->count;
	filter_put(p, GO, 0, 0, 0); /* over IPv6: how far is known below */
	put_ndp(p);
	put_mld(p);
	for (unsigned i = 0; i < f->count && !any; i++) {
		if (f->address[i].family == AF_INET6)
			put_ip6(p, &f->address[i]);
	}
	if (!any)
		put_nets(p, f, AF_INET6);
	filter_put(p, RETURN, any ? ACCEPT : REFUSE, 0, 0);
	p->at[over].k = p->count - over - 1;
	filter_put(p, EQUAL, 0x0800, 1, 0);
	filter_put(p, RETURN, REFUSE, 0, 0);
	filter_put(p, LD_WORD_X, 30, 0, 0);
	for (unsigned i = 0; i < f->count && !any; i++) {
		if (f->address[i].family != AF_INET)
			continue;
		filter_put(p, EQUAL, word(f->address[i].ip + 12), 0, 1);
		filter_put(p, RETURN, ACCEPT, 0, 0);
	}
	if (!any)
		put_nets(p, f, AF_INET);
	filter_put(p, RETURN, any ? ACCEPT : REFUSE, 0, 0);
}

bool
link_filter_write(
    struct link_program *p, const struct link_filter *f, const struct mac *mac)
{
	unsigned long size = FIXED;

	for (unsigned i = 0; i < f->count; i++)
		size += f->address[i].family == AF_INET6 ? EACH_IP6 : EACH_IP4;
	for (unsigned i = 0; i < f->nets; i++)
		size += f->net[i].ip.family == AF_INET6 ? EACH_NET6 : EACH_NET4;
	write_with(p, f, mac, size > LINK_PROGRAM_MAX);
	return size <= LINK_PROGRAM_MAX;
}

void
link_filter_write_any(
    struct link_program *p, const struct link_filter *f, const struct mac *mac)
{
	write_with(p, f, mac, true);
}
