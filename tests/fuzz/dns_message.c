/* dns_message.c: a query of a stranger and an answer to it. A query turned into
 * an answer answers it, and so does a failure. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "proxy/wire/dns_message.h"

enum { RESPONSE = 0x80 }; /* QR, in the third byte */

static void
answer_it(const char *query, size_t n, size_t end)
{
	char *message = fuzz_copy(query, n);
	size_t length;

	FUZZ_MUST(end > DNS_HEADER && end <= n);
	FUZZ_MUST(dns_query_end(message, end) == end);
	message[2] |= (char)RESPONSE;
	FUZZ_MUST(dns_answers(message, n, query, end));
	FUZZ_MUST(dns_query_end(message, n) == 0);
	memcpy(message, query, n);
	length = dns_fail(message, n, end);
	FUZZ_MUST(length >= end && length <= n);
	FUZZ_MUST(dns_answers(message, length, query, end));
	FUZZ_MUST(dns_id(message) == dns_id(query));
	free(message);
}

static void
make_query(const uint8_t *data, size_t size)
{
	char query[DNS_QUERY_MAX], *name = fuzz_string(data, size);
	size_t n = dns_make_query(query, 7, name, 1);

	FUZZ_MUST(n <= sizeof(query) && (n == 0 || n > DNS_HEADER));
	FUZZ_MUST(dns_query_end(query, n) == n);
	(void)dns_type(name);
	free(name);
}

FUZZ(dns_message)
{
	size_t n = fuzz_byte(&data, &size), end;
	char *query, *answer;

	n = n < size ? n : size;
	query = fuzz_copy(data, n);
	answer = fuzz_copy(data + n, size - n);
	end = dns_query_end(query, n);
	if (end > 0) {
		(void)dns_answers(answer, size - n, query, end);
		answer_it(query, n, end);
	}
	if (size - n >= DNS_HEADER) {
		FUZZ_MUST(dns_code_name(dns_code(answer)) != NULL);
		(void)dns_records(answer);
		(void)dns_is_truncated(answer);
		(void)dns_is_query(answer);
	}
	free(query);
	free(answer);
	make_query(data, size);
	return 0;
}
