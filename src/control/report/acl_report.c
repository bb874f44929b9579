/* acl_report.c: what access lists there are, and what is in them. */
#include "config.h"

#include <string.h>

#include "control/report/acl_report.h"
#include "control/answer/facts.h"

static void
tell_list(struct reply *r, const char *word, const struct acl *l)
{
	struct facts f;

	if (acl_is_empty(l))
		return;
	facts_begin(&f, r, FACTS_LINE);
	facts_text(&f, "acl", word);
	facts_number(&f, "entries", l->count);
	facts_number(&f, "files", l->spans);
	facts_text(&f, "others", l->rest_denied ? "denied" : "permitted");
	facts_end(&f);
}

void
acl_report_all(const struct plan_acls *all, struct reply *r)
{
	char word[ACL_WORD_MAX];
	const struct acl *l;
	unsigned i;

	facts_list_begin(r);
	for (i = 0; (l = plan_acls_at(all, i, word)) != NULL; i++)
		tell_list(r, word, l);
	facts_list_end(r);
}

/* "permit 10.0.0.0 255.0.0.0" is told as verb and match. */
static void
tell_entry(struct facts *f, const struct acl_entry *entry)
{
	char text[ACL_TEXT_MAX];
	const char *match = strchr(acl_format_entry(entry, text), ' ') + 1;

	facts_text(f, "verb", entry->permit ? "permit" : "deny");
	facts_text(f, "match", match);
}

static void
tell_file(struct facts *f, const struct acl_item *item)
{
	static const char *const verbs[] = { [ACL_AS_WRITTEN] = NULL,
		[ACL_PERMIT] = "permit",
		[ACL_DENY] = "deny" };

	facts_text(f, "verb", verbs[item->verb]);
	facts_text(f, "file", item->path);
	facts_number(f, "entries", item->entries);
}

static void
tell_item(struct reply *r, const struct acl_item *item)
{
	struct facts f;

	facts_begin(&f, r, FACTS_SILENT);
	if (item->entry != NULL)
		tell_entry(&f, item->entry);
	else
		tell_file(&f, item);
	facts_end(&f);
}

void
acl_report(const struct acl *l, struct reply *r)
{
	struct acl_item item = { .next = 0 };

	facts_list_begin(r);
	while (acl_next(l, &item))
		if (r->json)
			tell_item(r, &item);
		else
			acl_print_item(&item, &r->out);
	facts_list_end(r);
}
