/* first_words.c: see first_words.h. */
#include "config.h"

#include <string.h>

#include "control/value/first_words.h"
#include "proxy/wire/route.h"

static void
set_protocol(struct first *f, const char *name)
{
	unsigned p;

	for (p = FIRST_UNKNOWN; p <= FIRST_POSTGRES; p++)
		if (strcmp(first_protocol_name((enum first_protocol)p), name) ==
		    0)
			f->protocol = (enum first_protocol)p;
}

static bool
first_words_set_alpn(struct first *f, const char *name)
{
	size_t n = strlen(name);

	if (n == 0 || f->alpn_length + 1 + n > sizeof(f->alpn))
		return false;
	f->alpn[f->alpn_length] = (unsigned char)n;
	memcpy(f->alpn + f->alpn_length + 1, name, n);
	f->alpn_length += 1 + n;
	return true;
}

int
first_words_set(
    struct first *f, const char *word, const char *value, struct error *e)
{
	static const char *const examples[] = {
		[ROUTE_SNI] = "www.example.org",
		[ROUTE_ALPN] = "h2",
		[ROUTE_HOST] = "www.example.org",
		[ROUTE_PROTOCOL] = "ssh",
	};
	enum route_kind kind;
	bool good = false;

	if (!route_kind_find(word, &kind) || kind == ROUTE_DEFAULT)
		return error_set(e,
		    "\"%.100s\": expected sni, alpn, host or protocol", word);
	if (value == NULL)
		return error_set(e, "%s: expects a name, for example %s %s",
		    word, word, examples[kind]);
	if (kind == ROUTE_SNI)
		good = first_set_name(f->sni, value, strlen(value));
	else if (kind == ROUTE_HOST)
		good = first_set_name(f->host, value, strlen(value));
	else if (kind == ROUTE_ALPN)
		good = first_words_set_alpn(f, value);
	else
		good = route_pattern_is_valid(kind, value);
	if (!good)
		return error_set(
		    e, "%s: \"%.100s\" is not a valid value", word, value);
	set_protocol(f,
	    kind == ROUTE_PROTOCOL   ? value
		: kind == ROUTE_HOST ? "http"
				     : "tls");
	return 0;
}
