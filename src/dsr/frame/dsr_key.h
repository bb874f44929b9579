/* dsr_key.h: what identifies a flow. */
#ifndef PEN_DSR_DSR_KEY_H
#define PEN_DSR_DSR_KEY_H

#include <stdint.h>

/* A client and a VIP, with addresses and ports as in struct peer; compared and
 * hashed as bytes. */
struct dsr_key {
	uint8_t client[16], vip[16];
	uint16_t client_port, vip_port;
	uint8_t protocol, family;
};

#endif
