/* addr_text.h: IP addresses as text, for lines of which there may be many a
 * second: inet_ntop(3) calls printf(3) for each part. Same texts as that. */
#ifndef PEN_BASE_ADDR_TEXT_H
#define PEN_BASE_ADDR_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct addr_text {
	bool is_ip6;
	const uint8_t *ip; /* 4 or 16 bytes in network order */
	uint32_t scope;	   /* of a link-local IPv6 address; 0: none */
};
/* "192.0.2.1", "fe80::1%2"; "192.0.2.1:80", "[fe80::1%2]:80". The longest run
 * of zeros is "::", as RFC 5952 has it. */
void addr_text_host(char *to, const struct addr_text *a);
void addr_text_with_port(char *to, const struct addr_text *a, uint16_t port);

#endif
