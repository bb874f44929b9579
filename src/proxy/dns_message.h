/* dns_message.h: what a balancer must know of a DNS message (RFC 1035, 4.1):
 * its header and its one question. Pure. */
#ifndef PEN_PROXY_DNS_MESSAGE_H
#define PEN_PROXY_DNS_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DNS_HEADER = 12 };
/* Response codes (RFC 1035, 4.1.1). */
enum {
	DNS_FORMERR = 1,
	DNS_SERVFAIL = 2,
	DNS_NXDOMAIN = 3,
	DNS_NOTIMP = 4,
	DNS_REFUSED = 5
};

/* The message id. */
uint16_t dns_id(const char *message);
void dns_set_id(char *message, uint16_t id);

/* Where the question ends, or 0 when it is no query: too short, an answer, not
 * one question, or a name that does not end. */
size_t dns_query_end(const char *message, size_t n);
/* Whether `answer` is one to that query: an answer, with the same question
 * (names in any case of letters, RFC 1035, 2.3.3). FORMERR, SERVFAIL, NOTIMP
 * and REFUSED may come without a question; NXDOMAIN, which is about the name,
 * may not. */
bool dns_answers(const char *answer, size_t n, const char *query, size_t end);
/* Turns the query, of which `end` bytes are kept, into an answer that nobody
 * could answer it. Returns its length. */
size_t dns_fail(char *message, size_t end);

#endif
