/* udp_fixture.h: a fixture (fixture.h) for datagrams: flows or DNS, servers and
 * clients in this very thread. What clients send is a DNS query in both cases.
 */
#ifndef PEN_TEST_UDP_FIXTURE_H
#define PEN_TEST_UDP_FIXTURE_H

#include "support/fixture.h"

enum { UDP_FIXTURE_QUERY = 24 }; /* bytes of one */

extern struct addr udp_fixture_from; /* of what came to a server last */

/* As fixture_begin() and fixture_front(). */
void udp_fixture_begin(bool dns);
void udp_fixture_front(void);
/* A server's socket there; udp_fixture_server() also finds the place and tells
 * the pool. */
int udp_fixture_serve(const struct endpoint *at);
int udp_fixture_server(unsigned index, struct endpoint *at);
/* A client sends; it arrives there; the answer to what came last is back. */
void udp_fixture_ask(int fd);
/* The query with zeros behind it, `n` bytes in all. */
void udp_fixture_ask_long(int fd, size_t n);
void udp_fixture_arrives(int fd);
void udp_fixture_answer(int server_fd, int client_fd);

#endif
