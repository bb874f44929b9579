/* mac.h: Ethernet addresses. Pure. */
#ifndef PEN_DSR_MAC_H
#define PEN_DSR_MAC_H

#include <stdbool.h>
#include <stdint.h>

struct mac {
	uint8_t byte[6];
};

enum { MAC_TEXT_MAX = 18 };

/* ff:ff:ff:ff:ff:ff */
extern const struct mac mac_broadcast;

/* Six bytes in hexadecimal, one or two digits each, with ':' or '-' between
 * them. Returns 0, or -1 when `text` is anything else. */
int mac_parse(struct mac *m, const char *text);
/* "02:00:5e:10:00:01". Returns `text`. */
char *mac_format(const struct mac *m, char text[MAC_TEXT_MAX]);

bool mac_equal(const struct mac *a, const struct mac *b);
/* Whether it can be the address of one machine: not zero, no group. */
bool mac_is_station(const struct mac *m);
/* The address of a group of IPv6 (RFC 2464, 7). */
void mac_of_group(struct mac *m, const uint8_t ip[16]);

#endif
