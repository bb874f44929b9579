/* dns_message.c: headers and questions; trusts nothing about lengths. And the
 * words for types of records and response codes. */
#include "config.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "proxy/wire/dns_message.h"

enum { QUESTION_TAIL = 4, LABEL_MAX = 63, NAME_MAX_BYTES = 255 };
enum { ANSWER = 0x80, KEPT_OF_FLAGS = 0x79, AVAILABLE = 0x80, CODE = 0x0f };
enum { CHECKING_DISABLED = 0x10, OPCODE = 0x78 };
enum { RECURSION_DESIRED = 1, TRUNCATED = 2, CLASS_IN = 1 };
/* A record after its name: type, class, TTL, length of its data (RFC 1035,
 * 4.1.3). Of OPT (RFC 6891, 6.1.3) the class is the size of datagrams that its
 * sender takes, and the third byte of the TTL begins with DO. */
enum { RECORD = 10, OPT = 41, OPT_BYTES = 1 + RECORD, DNSSEC_OK = 0x80 };
enum { POINTER = 0xc0, DATAGRAM_SIZE = 1232 };

static unsigned
get16(const char *at)
{
	return (unsigned)(uint8_t)at[0] << 8 | (uint8_t)at[1];
}

static void
dns_message_put16(char *at, unsigned n)
{
	at[0] = (char)(n >> 8);
	at[1] = (char)n;
}

uint16_t
dns_id(const char *message)
{
	return (uint16_t)get16(message);
}

void
dns_set_id(char *message, uint16_t id)
{
	dns_message_put16(message, id);
}

size_t
dns_length(const char *prefix)
{
	return get16(prefix);
}

void
dns_set_length(char *prefix, size_t n)
{
	dns_message_put16(prefix, (unsigned)n);
}

unsigned
dns_code(const char *message)
{
	return message[3] & CODE;
}

unsigned
dns_records(const char *message)
{
	return get16(message + 6);
}

bool
dns_is_query(const char *message)
{
	return (message[2] & OPCODE) == 0;
}

bool
dns_is_truncated(const char *message)
{
	return message[2] & TRUNCATED;
}

/* Where the question after the header ends, or 0. */
static size_t
question_end(const char *m, size_t n)
{
	size_t at = DNS_HEADER, label;

	while (at < n && (label = (uint8_t)m[at]) != 0) {
		if (label > LABEL_MAX) /* no pointer has anything to point at */
			return 0;
		at += 1 + label;
	}
	at += 1 + QUESTION_TAIL;
	return at <= n ? at : 0;
}

size_t
dns_query_end(const char *m, size_t n)
{
	if (n < DNS_HEADER || (uint8_t)m[2] & ANSWER || get16(m + 4) != 1)
		return 0;
	return question_end(m, n);
}

/* Whether a server that gives this code need not have read the question: it has
 * no meaning for the name. */
static bool
needs_no_question(unsigned code)
{
	return code == DNS_FORMERR || code == DNS_SERVFAIL ||
	    code == DNS_NOTIMP || code == DNS_REFUSED;
}

bool
dns_answers(const char *answer, size_t n, const char *query, size_t end)
{
	size_t i;

	if (n < DNS_HEADER || !((uint8_t)answer[2] & ANSWER))
		return false;
	if (!dns_is_query(query) && ((answer[2] ^ query[2]) & OPCODE) == 0)
		return true;
	if (get16(answer + 4) == 0)
		return needs_no_question(answer[3] & CODE);
	if (get16(answer + 4) != 1)
		return false;
	/* which it nearly always is: then it ends where the query's does */
	if (n >= end &&
	    memcmp(answer + DNS_HEADER, query + DNS_HEADER,
		end - DNS_HEADER) == 0)
		return true;
	if (question_end(answer, n) != end)
		return false;
	for (i = DNS_HEADER; i < end; i++)
		if (tolower((uint8_t)answer[i]) != tolower((uint8_t)query[i]))
			return false;
	return true;
}

/* Where the name that begins at `at` ends, be it compressed; `n` or more: not
 * in the message. */
static size_t
dns_message_skip_name(const char *m, size_t n, size_t at)
{
	while (at < n && m[at] != 0) {
		if (((uint8_t)m[at] & POINTER) == POINTER)
			return at + 2;
		at += 1 + (size_t)(uint8_t)m[at];
	}
	return at + 1;
}

/* The OPT record among those after the question, after its name; NULL: there is
 * none. */
static const char *
find_opt(const char *m, size_t n, size_t at)
{
	size_t name;
	unsigned left;

	for (left = get16(m + 6) + get16(m + 8) + get16(m + 10); left > 0;
	     left--) {
		name = at;
		at = dns_message_skip_name(m, n, at);
		if (at + RECORD > n)
			return NULL;
		if (at == name + 1 && get16(m + at) == OPT)
			return m + at;
		at += RECORD + get16(m + at + RECORD - 2);
	}
	return NULL;
}

/* The OPT record of the query is not in front of where that of the response
 * begins. */
size_t
dns_fail(char *m, size_t n, size_t end)
{
	const char *opt = find_opt(m, n, end);
	uint8_t wants_dnssec = opt != NULL ? (uint8_t)opt[6] & DNSSEC_OK : 0;

	m[2] = (char)(((uint8_t)m[2] & KEPT_OF_FLAGS) | ANSWER);
	m[3] = (char)(((uint8_t)m[3] & CHECKING_DISABLED) | AVAILABLE |
	    DNS_SERVFAIL);
	dns_message_put16(m + 4, 1);
	memset(m + 6, 0, 6); /* no records */
	if (opt == NULL)
		return end;
	dns_message_put16(m + 10, 1);
	memset(m + end, 0, OPT_BYTES);
	dns_message_put16(m + end + 1, OPT);
	dns_message_put16(m + end + 3, DATAGRAM_SIZE);
	m[end + 7] = (char)wants_dnssec;
	return end + OPT_BYTES;
}

/* ---- a query of ours ---- */

/* Writes the name as labels. Returns their length, or 0. */
static size_t
dns_message_put_name(char *at, const char *name)
{
	size_t n = 0, label;

	while (*name != '\0' && strcmp(name, ".") != 0) {
		label = strcspn(name, ".");
		if (label == 0 || label > LABEL_MAX ||
		    n + 1 + label >= NAME_MAX_BYTES)
			return 0;
		at[n] = (char)label;
		memcpy(at + n + 1, name, label);
		n += 1 + label;
		name += label;
		if (*name == '.' && *++name == '.')
			return 0;
	}
	at[n] = '\0';
	return n + 1;
}

size_t
dns_make_query(
    char message[DNS_QUERY_MAX], uint16_t id, const char *name, unsigned type)
{
	size_t n = *name != '\0'
	    ? dns_message_put_name(message + DNS_HEADER, name)
	    : 0;

	if (n == 0)
		return 0;
	memset(message, 0, DNS_HEADER);
	dns_message_put16(message, id);
	message[2] = RECURSION_DESIRED;
	dns_message_put16(message + 4, 1);
	n += DNS_HEADER;
	dns_message_put16(message + n, type);
	dns_message_put16(message + n + 2, CLASS_IN);
	return n + QUESTION_TAIL;
}

/* ---- words ---- */

static const char *const codes[] = { "NOERROR", "FORMERR", "SERVFAIL",
	"NXDOMAIN", "NOTIMP", "REFUSED", "YXDOMAIN", "YXRRSET", "NXRRSET",
	"NOTAUTH", "NOTZONE", "RCODE 11", "RCODE 12", "RCODE 13", "RCODE 14",
	"RCODE 15" };

static const struct {
	const char *word;
	unsigned type;
} types[] = {
	{ "A", 1 },
	{ "NS", 2 },
	{ "CNAME", 5 },
	{ "SOA", 6 },
	{ "PTR", 12 },
	{ "MX", 15 },
	{ "TXT", 16 },
	{ "AAAA", 28 },
	{ "SRV", 33 },
	{ "NAPTR", 35 },
	{ "DS", 43 },
	{ "DNSKEY", 48 },
	{ "TLSA", 52 },
	{ "SVCB", 64 },
	{ "HTTPS", 65 },
	{ "CAA", 257 },
	{ NULL, 0 },
};

const char *
dns_code_name(unsigned code)
{
	return codes[code % (sizeof(codes) / sizeof(codes[0]))];
}

enum dns_answer
dns_answer_of(unsigned code)
{
	switch (code) {
	case DNS_NOERROR:
		return DNS_ANSWER_NOERROR;
	case DNS_NXDOMAIN:
		return DNS_ANSWER_NXDOMAIN;
	case DNS_SERVFAIL:
		return DNS_ANSWER_SERVFAIL;
	case DNS_REFUSED:
		return DNS_ANSWER_REFUSED;
	default:
		return DNS_ANSWER_OTHER;
	}
}

const char *
dns_answer_name(enum dns_answer kind)
{
	static const char *const names[DNS_ANSWER_KINDS] = { "noerror",
		"nxdomain", "servfail", "refused", "other" };

	return names[kind];
}

unsigned
dns_type(const char *word)
{
	uint64_t number;
	int i;

	for (i = 0; types[i].word != NULL; i++)
		if (strcasecmp(types[i].word, word) == 0)
			return types[i].type;
	if (strncasecmp(word, "TYPE", 4) == 0 &&
	    number_parse(word + 4, 1, UINT16_MAX, &number) == 0)
		return (unsigned)number;
	return 0;
}
