/* if_dl.h: addresses of links as link_addr(3) of FreeBSD and getifaddrs(3) have
 * them, so that `portable.sh bsd` compiles what uses them. */
#ifndef BSD_NET_IF_DL_H
#define BSD_NET_IF_DL_H

#include <sys/types.h>

#define AF_LINK 18

struct sockaddr_dl {
	u_char sdl_len, sdl_family;
	u_short sdl_index;
	u_char sdl_type;
	u_char sdl_nlen; /* bytes of the name in sdl_data, without a NUL */
	u_char sdl_alen; /* bytes of the link's address after it */
	u_char sdl_slen;
	char sdl_data[46];
};

#endif
