/* dns_message.h: what a balancer needs of a DNS message (RFC 1035, 4.1): its
 * header and its one question. Pure. */
#ifndef PEN_PROXY_DNS_MESSAGE_H
#define PEN_PROXY_DNS_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DNS_HEADER = 12 };
/* A query of ours: the header, a name of 255 bytes, type and class. */
enum { DNS_QUERY_MAX = DNS_HEADER + 255 + 4 };
/* Response codes (RFC 1035, 4.1.1). */
enum {
	DNS_NOERROR = 0,
	DNS_FORMERR = 1,
	DNS_SERVFAIL = 2,
	DNS_NXDOMAIN = 3,
	DNS_NOTIMP = 4,
	DNS_REFUSED = 5
};

/* The message id. */
uint16_t dns_id(const char *message);
void dns_set_id(char *message, uint16_t id);

/* The length in front of a message over TCP, DNS_PREFIX bytes (4.2.2). */
enum { DNS_PREFIX = 2 };
size_t dns_length(const char *prefix);
void dns_set_length(char *prefix, size_t n);

/* Of an answer: its response code, its number of records, and whether more did
 * not fit (TC). */
unsigned dns_code(const char *message);
unsigned dns_records(const char *message);
bool dns_is_truncated(const char *message);
/* The code in words: "SERVFAIL"; "RCODE 11" for one without a name. */
const char *dns_code_name(unsigned code);
/* How codes are counted. */
enum dns_answer {
	DNS_ANSWER_NOERROR,
	DNS_ANSWER_NXDOMAIN,
	DNS_ANSWER_SERVFAIL,
	DNS_ANSWER_REFUSED,
	DNS_ANSWER_OTHER,
	DNS_ANSWER_KINDS
};
enum dns_answer dns_answer_of(unsigned code);
/* "noerror", .., "other". */
const char *dns_answer_name(enum dns_answer kind);
/* The number of a type of records: "A", "aaaa", "TYPE257" (RFC 3597, 5). 0:
 * there is none of that name. */
unsigned dns_type(const char *word);
/* Writes a query of class IN, recursion desired, for a name of letters that are
 * taken as they are; "." is the root. Returns its length, or 0 when that is no
 * domain name (RFC 1035, 2.3.4). */
size_t dns_make_query(
    char message[DNS_QUERY_MAX], uint16_t id, const char *name, unsigned type);

/* Where the question ends, or 0 when it is no query: too short, an answer, not
 * one question, or a name that does not end. */
size_t dns_query_end(const char *message, size_t n);
/* Whether the message has the opcode QUERY, so that to send it twice does no
 * harm: not an UPDATE, for example (RFC 2136). */
bool dns_is_query(const char *message);
/* Whether `answer` is one to that query: an answer, with the same question
 * (names in any case of letters, RFC 1035, 2.3.3). FORMERR, SERVFAIL, NOTIMP
 * and REFUSED may come without a question; NXDOMAIN, which is about the name,
 * may not. With another opcode than QUERY the header is enough, if it has that
 * opcode: servers may leave out the question (RFC 2136, 3.8). */
bool dns_answers(const char *answer, size_t n, const char *query, size_t end);
/* Turns the query of `n` bytes, whose question ends at `end`, into a SERVFAIL
 * response: the question; CD as it was (RFC 4035, 3.2.2); an OPT record if it
 * had one, with its DO (RFC 6891, 6.1.1; RFC 3225, 3). Returns its length, at
 * most `n`. */
size_t dns_fail(char *message, size_t n, size_t end);

#endif
