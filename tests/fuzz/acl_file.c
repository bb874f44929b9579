/* acl_file.c: files of access lists. What a file has is the same when it was
 * printed and read again, and the index finds what a walk finds. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "fuzz/fuzz.h"
#include "pool/acl/acl.h"

static size_t
find_slowly(const struct acl *l, const struct peer *who)
{
	size_t i;

	for (i = 0; i < l->count; i++)
		if (acl_matches(acl_at(l, i), who))
			break;
	return i;
}

/* The first and the last address of each entry. */
static void
check_index(const struct acl *l)
{
	const struct acl_entry *entry;
	struct peer who;
	size_t i;
	unsigned k;

	for (i = 0; i < l->count; i++) {
		entry = acl_at(l, i);
		memset(&who, 0, sizeof(who));
		who.family = entry->family;
		memcpy(who.ip, entry->ip, sizeof(who.ip));
		FUZZ_MUST(acl_find(l, &who) == find_slowly(l, &who));
		for (k = 0; k < sizeof(who.ip); k++)
			who.ip[k] |= (uint8_t)~entry->mask[k];
		FUZZ_MUST(acl_find(l, &who) == find_slowly(l, &who));
		(void)acl_permits(l, &who);
	}
}

static int
load(struct acl *l, const void *bytes, size_t n, enum acl_verb verb)
{
	struct acl_file_facts facts;
	struct error e;

	acl_init(l);
	return acl_add_file(l, fuzz_file(bytes, n), verb, NULL, &facts, &e);
}

static void
print(const struct acl *l, struct buffer *out)
{
	char text[ACL_TEXT_MAX];
	size_t i;

	for (i = 0; i < l->count; i++) {
		(void)acl_format_entry(acl_at(l, i), text);
		FUZZ_MUST(buffer_append(out, text, strlen(text)) == 0 &&
		    buffer_append(out, "\n", 1) == 0);
	}
}

FUZZ(acl_file)
{
	enum acl_verb verb = (enum acl_verb)(fuzz_byte(&data, &size) % 3);
	struct acl l, again;
	struct buffer text;
	size_t i;

	if (load(&l, data, size, verb) == 0) {
		check_index(&l);
		buffer_init(&text);
		print(&l, &text);
		FUZZ_MUST(load(&again, buffer_bytes(&text),
			      buffer_length(&text), verb) == 0);
		FUZZ_MUST(again.count == l.count);
		for (i = 0; i < l.count; i++)
			FUZZ_MUST(
			    acl_entry_equal(acl_at(&l, i), acl_at(&again, i)));
		FUZZ_MUST(again.rest_denied == l.rest_denied);
		buffer_fini(&text);
		acl_fini(&again);
	}
	acl_fini(&l);
	return 0;
}
