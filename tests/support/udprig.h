/* udprig.h: a rig (rig.h) for datagrams: flows or DNS, servers and clients in
 * this very thread. What clients send is a DNS query in both cases. */
#ifndef PEN_TEST_UDPRIG_H
#define PEN_TEST_UDPRIG_H

#include "support/rig.h"

enum { UDPRIG_QUERY = 24 }; /* bytes of one */

extern struct addr udprig_from; /* of what came to a server last */

/* As rig_begin() and rig_front(). */
void udprig_begin(bool dns);
void udprig_front(void);
/* A server's socket there; udprig_server() also finds the place and tells the
 * pool. */
int udprig_serve(const struct spot *at);
int udprig_server(unsigned index, struct spot *at);
/* A client sends; it arrives there; the answer to what came last is back. */
void udprig_ask(int fd);
/* The query with zeros behind it, `n` bytes in all. */
void udprig_ask_long(int fd, size_t n);
void udprig_arrives(int fd);
void udprig_answer(int server_fd, int client_fd);

#endif
