/* acl_report.c: what access lists there are, and what is in them. */
#include "config.h"

#include <string.h>

#include "control/report/acl_report.h"
#include "control/answer/fields.h"

static void
emit_list(struct reply *r, const char *word, const struct acl *l)
{
	struct fields f;

	if (acl_is_empty(l))
		return;
	fields_begin(&f, r, FIELDS_LINE);
	fields_text(&f, "acl", word);
	fields_number(&f, "entries", l->count);
	fields_number(&f, "files", l->spans);
	fields_text(&f, "others", l->rest_denied ? "denied" : "permitted");
	fields_end(&f);
}

void
acl_report_all(const struct plan_acls *all, struct reply *r)
{
	char word[ACL_WORD_MAX];
	const struct acl *l;
	unsigned i;

	fields_list_begin(r);
	for (i = 0; (l = plan_acls_at(all, i, word)) != NULL; i++)
		emit_list(r, word, l);
	fields_list_end(r);
}

/* "permit 10.0.0.0 255.0.0.0" is reported as verb and match. */
static void
emit_entry(struct fields *f, const struct acl_entry *entry)
{
	char text[ACL_TEXT_MAX];
	const char *match = strchr(acl_format_entry(entry, text), ' ') + 1;

	fields_text(f, "verb", entry->permit ? "permit" : "deny");
	fields_text(f, "match", match);
}

static void
emit_file(struct fields *f, const struct acl_item *item)
{
	static const char *const verbs[] = { [ACL_AS_WRITTEN] = NULL,
		[ACL_PERMIT] = "permit",
		[ACL_DENY] = "deny" };

	fields_text(f, "verb", verbs[item->verb]);
	fields_text(f, "file", item->path);
	fields_number(f, "entries", item->entries);
}

static void
emit_item(struct reply *r, const struct acl_item *item)
{
	struct fields f;

	fields_begin(&f, r, FIELDS_SILENT);
	if (item->entry != NULL)
		emit_entry(&f, item->entry);
	else
		emit_file(&f, item);
	fields_end(&f);
}

void
acl_report(const struct acl *l, struct reply *r)
{
	struct acl_item item = { .next = 0 };

	fields_list_begin(r);
	while (acl_next(l, &item))
		if (r->json)
			emit_item(r, &item);
		else
			acl_print_item(&item, &r->out);
	fields_list_end(r);
}
