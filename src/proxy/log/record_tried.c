/* record_tried.c: the servers that failed a session, as a value of its line. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "pool/server/server.h"
#include "proxy/log/session_record.h"

static size_t
put_tried_server(const struct server *s, uint16_t port, char *value)
{
	struct addr copy;
	const struct addr *at;
	size_t n;

	if (s->addrs.count == 0)
		return s->name == NULL
		    ? 0
		    : record_put_text(value, s->name, RECORD_VALUE_MAX);
	at = addr_with_port(&s->addrs.addr[s->addr_first], port, &copy);
	/* several servers have this name */
	if (s->name == NULL || record_is_address(s->name) ||
	    strchr(s->name, '*') != NULL)
		return strlen(addr_format(at, value));
	n = record_put_text(
	    value, s->name, RECORD_VALUE_MAX - 1 - NUMBER_TEXT_MAX);
	value[n++] = ':';
	return n + number_format(value + n, addr_port(at));
}

static unsigned
count_tried(const char *list)
{
	unsigned n = 1;

	for (; (list = strchr(list, ',')) != NULL; list++)
		n++;
	return n;
}

char *
record_add_tried(char *list, const struct server *s, uint16_t port)
{
	char one[RECORD_VALUE_MAX + 1], *longer;
	size_t used = list == NULL ? 0 : strlen(list) + 1;
	size_t n = put_tried_server(s, port, one);

	if (n == 0 || used + n > RECORD_VALUE_MAX ||
	    (list != NULL && count_tried(list) >= RECORD_TRIED_MAX))
		return list;
	longer = realloc(list, used + n + 1);
	if (longer == NULL)
		return list;
	if (used > 0)
		longer[used - 1] = ',';
	memcpy(longer + used, one, n);
	longer[used + n] = '\0';
	return longer;
}
