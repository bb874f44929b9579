/* framegen_private.h: how frames are built (framegen.c), for kinds of them
 * (framegen_kinds.c, framegen_wrong.c). */
#ifndef PEN_TEST_FRAMEGEN_PRIVATE_H
#define PEN_TEST_FRAMEGEN_PRIVATE_H

#include "support/framegen.h"

enum {
	HEAD = 14,
	IP4 = 20,
	IP6 = 40,
	TCP = 20,
	UDP = 8,
	ICMP = 8,
	ARP = 28
};
enum {
	P_HOPS = 0,
	P_ICMP = 1,
	P_TCP = 6,
	P_UDP = 17,
	P_ROUTING = 43,
	P_FRAGMENT = 44,
	P_AH = 51,
	P_ICMP6 = 58,
	P_DST = 60
};

/* What is not as in the plainest frame. */
struct shape {
	uint16_t tag_type, tag;	    /* type 0: none */
	unsigned char between[200]; /* options, or extension headers */
	size_t between_n;
	uint8_t first;	/* IPv6: what kind the first extension is, */
	size_t last_at; /* and where the last one begins */
	bool cut;	/* a fragment: */
	bool more;
	unsigned offset; /* in eights */
	uint32_t id;
	unsigned char content[1500]; /* behind TCP's or UDP's header; all of it
				      * when `bare` */
	size_t content_n;
	bool bare;
	bool ah; /* IPv4: an authentication header behind the options */
};

typedef void kind_fn(
    struct framegen *g, struct framegen_frame *m, struct shape *s);
struct kind {
	const char *what; /* NULL: the end of the list */
	kind_fn *make;
	unsigned often;	  /* for a director */
	unsigned anybody; /* from anybody: a right one */
};
extern const struct kind framegen_kinds[], framegen_wrong[];

void random_bytes(struct framegen *g, unsigned char *p, size_t n);
void set16(unsigned char *p, unsigned n);
/* Writes m as the shape says, for m->v6, protocol, client and port. */
void build(struct framegen *g, struct framegen_frame *m, const struct shape *s);
/* The same; what comes of it must be dropped. */
void drop(struct framegen *g, struct framegen_frame *m, const struct shape *s);
/* The Ethernet header; returns what follows it. */
unsigned char *put_link(const struct framegen *g, struct framegen_frame *m,
    const struct shape *s, unsigned type);
/* Makes the header's checksum right again (IPv4), or TCP's, UDP's, ICMP's. */
void sum_header(struct framegen_frame *m);
void sum_transport(struct framegen_frame *m);
/* The addresses on the wire; returns how many bytes. */
size_t client_ip(const struct framegen *g, const struct framegen_frame *m,
    unsigned char *ip);
size_t vip(const struct framegen *g, const struct framegen_frame *m,
    unsigned char *ip);
/* Sets m->is from and to: client and VIP with these ports. */
void set_ends(const struct framegen *g, struct framegen_frame *m,
    unsigned client_port, unsigned vip_port);

#endif
