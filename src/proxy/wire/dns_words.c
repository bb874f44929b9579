/* dns_words.c: names of types and response codes, as IANA's registry of DNS
 * parameters has them. */
#include "config.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "proxy/wire/dns_message.h"

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
