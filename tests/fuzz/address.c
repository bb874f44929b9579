/* address.c: addresses, servers, listening addresses and entries of access
 * lists as text. What is right is the same when it was printed and read
 * again. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "control/value/spec.h"
#include "fuzz/fuzz.h"
#include "pool/acl/acl_entry.h"

static void
check_addr(const char *text)
{
	char host[ADDR_TEXT_MAX], printed[ADDR_TEXT_MAX];
	struct addr a, b;
	struct peer p;

	if (addr_parse_ip(&a, text, 80) == 0) {
		FUZZ_MUST(
		    addr_parse_ip(&b, addr_format_host(&a, host), 80) == 0);
		FUZZ_MUST(addr_equal(&a, &b));
		FUZZ_MUST(spec_parse_ip(&b, addr_format(&a, printed), 1) == 0);
		FUZZ_MUST(addr_equal(&a, &b));
		peer_from_addr(&p, &a);
		(void)peer_format(&p, printed);
	}
	if (addr_parse_unix(&a, text) == 0) {
		FUZZ_MUST(addr_size(&a) <= sizeof(a));
		(void)addr_format(&a, printed);
	}
	if (spec_parse_ip(&a, text, 1) == 0) {
		FUZZ_MUST(spec_parse_ip(&b, addr_format(&a, printed), 1) == 0);
		FUZZ_MUST(addr_equal(&a, &b));
	}
}

static void
check_server(const char *text)
{
	char printed[SPEC_TEXT_MAX], again[SPEC_TEXT_MAX];
	struct server_plan s, t;
	struct error e;

	server_plan_init(&s);
	server_plan_init(&t);
	if (spec_parse_server(&s, text, 80, &e) == 0) {
		(void)spec_format_limits(&s, printed);
		if (strlen(s.host) < ADDR_TEXT_MAX) { /* else it is cut */
			FUZZ_MUST(spec_parse_server(&t, printed, 80, &e) == 0);
			FUZZ_MUST(strcmp(spec_format_limits(&t, again),
				      printed) == 0);
			FUZZ_MUST(strcmp(s.host, t.host) == 0 &&
			    s.port == t.port && s.same_port == t.same_port);
		}
	}
	free(s.host);
	free(t.host);
}

static void
check_listen(const char *text)
{
	struct listen_list list = { .count = 0 };
	struct error e;
	struct addr at;

	if (spec_parse_listen(&list, text, RESOLVE_NUMERIC, &e) == 0)
		FUZZ_MUST(list.count > 0 && list.count <= LISTEN_MAX);
	(void)spec_default_port(&list);
	listen_list_fini(&list);
	(void)spec_parse_web(&at, text, &e);
}

/* As the words of a line. */
static void
check_entry(char *text, bool permit)
{
	char printed[ACL_TEXT_MAX], *more, *rest;
	struct acl_entry entry, again;
	struct error e;

	more = strchr(text, ' ');
	if (more != NULL)
		*more++ = '\0';
	if (acl_entry_parse(&entry, permit, text, more, &e) < 0)
		return;
	(void)acl_format_entry(&entry, printed);
	more = strchr(printed, ' ') + 1;
	rest = strchr(more, ' ');
	if (rest != NULL)
		*rest++ = '\0';
	FUZZ_MUST(acl_entry_parse(&again, permit, more, rest, &e) == 0);
	FUZZ_MUST(acl_entry_equal(&entry, &again) && !again.was_cut);
}

FUZZ(address)
{
	bool permit = fuzz_byte(&data, &size) & 1;
	char *text = fuzz_string(data, size);

	check_addr(text);
	check_server(text);
	check_listen(text);
	check_entry(text, permit);
	free(text);
	return 0;
}
