/* access_command.c: commands about access lists, and source addresses. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "control/socket/acl_loads.h"
#include "control/report/acl_report.h"
#include "control/commands/commands.h"
#include "control/language/command.h"
#include "control/answer/fields.h"
#include "control/life/context.h"
#include "control/value/value.h"

/* ---- access lists ---- */

static bool
is_on_tcp(const struct control_plan *k)
{
	unsigned i;

	for (i = 0; i < k->at.count; i++)
		if (k->at.entry[i].at.u.sa.sa_family != AF_UNIX)
			return true;
	return false;
}

/* A change of the list of a control socket gives others its rights. */
static bool
guards_a_control(const struct process_plan *p, const struct acl_ref *list)
{
	unsigned i;

	if (!acl_ref_equal(&p->control_acl, list))
		return false;
	for (i = 0; i < p->control_count; i++)
		if (is_on_tcp(&p->controls[i]))
			return true;
	return false;
}

/* Names the entry that an address with bits beyond its mask has become. */
static void
emit_cut(const struct call *c, const struct acl_entry *entry)
{
	const struct words *w = c->words;
	const char *mask = w->count > 3 ? w->word[3] : "";
	char taken[ACL_TEXT_MAX];

	if (c->dry)
		return;
	acl_format_entry(entry, taken);
	log_warn("acl: address has host bits set "
		 "acl=%s given=\"%.60s%s%.20s\" taken=\"%s\"%s%s",
	    w->word[0], w->word[2], *mask != '\0' ? " " : "", mask, taken,
	    c->origin != NULL ? " at=" : "",
	    c->origin != NULL ? c->origin : "");
	if (c->caller != NULL)
		reply_add(&c->reply->out,
		    "warning: %.60s has host bits set, using %s\n", w->word[2],
		    taken);
}

/* The same of the lines of a file. */
static void
emit_cuts(
    const struct call *c, const char *path, const struct acl_file_facts *facts)
{
	if (facts->cut == 0 || c->dry)
		return;
	log_warn("acl: addresses have host bits set acl=%s entries=%zu "
		 "first=%.300s:%u",
	    c->words->word[0], facts->cut, path, facts->first_cut);
	if (c->caller != NULL)
		reply_add(&c->reply->out,
		    "warning: %zu addresses have host bits set, the first at "
		    "%.300s:%u\n",
		    facts->cut, path, facts->first_cut);
}

/* Warns of a file whose last line has no newline. It may be cut in the middle
 * of an address, and the rest may be another valid address. */
static void
emit_no_end(
    const struct call *c, const char *path, const struct acl_file_facts *facts)
{
	if (!facts->has_no_end || c->dry)
		return;
	log_warn("acl: the last line has no newline acl=%s file=%.300s",
	    c->words->word[0], path);
	if (c->caller != NULL)
		reply_add(&c->reply->out,
		    "warning: the last line of %.300s has no newline: is the "
		    "file complete?\n",
		    path);
}

/* Warns of an entry, at `place` in a file if that is not empty, that matches no
 * client that an earlier one does not. As the last one it decides about all
 * others all the same. */
static void
emit_overruled(const struct call *c, const char *place,
    const struct acl_entry *entry, const struct acl_entry *by)
{
	char what[ACL_TEXT_MAX], other[ACL_TEXT_MAX];

	if (c->dry)
		return;
	acl_format_entry(entry, what);
	acl_format_entry(by, other);
	log_warn("acl: entry matches no client "
		 "acl=%s entry=\"%s\" after=\"%s\"%s%s",
	    c->words->word[0], what, other, place[0] != '\0' ? " at=" : "",
	    place);
	if (c->caller != NULL)
		reply_add(&c->reply->out,
		    "warning: %s%s%s matches no client after %s\n", place,
		    place[0] != '\0' ? ": " : "", what, other);
}

static bool
denies_the_rest(const struct acl *l)
{
	return l != NULL && !acl_is_empty(l) && l->rest_denied;
}

/* Warns of a command that makes the running list admit clients which no entry
 * names: the last entry decides about these. Scripts for numbered lists expect
 * no reply. */
static void
emit_opened(const struct call *c, const struct acl_ref *list,
    const struct acl *running)
{
	if (c->caller == NULL || c->dry || !denies_the_rest(running))
		return;
	log_warn("acl: clients that match no entry are permitted, as the last "
		 "one denies acl=%s",
	    c->words->word[0]);
	if (list->name == NULL)
		return;
	reply_add(&c->reply->out,
	    "warning: clients that match no entry of list %s are permitted "
	    "while its last entry denies\n",
	    c->words->word[0]);
}

static int
access_add_entry(struct call *c, struct acl *l, bool permit,
    const struct acl *like, struct error *e)
{
	const struct words *w = c->words;
	const struct acl_entry *by;
	struct acl_entry entry;

	if (acl_entry_parse(&entry, permit, w->word[2], w->word[3], e) < 0)
		return -1;
	by = acl_overruling(l, &entry);
	if (by != NULL)
		emit_overruled(
		    c, c->origin != NULL ? c->origin : "", &entry, by);
	if (acl_add_entry(l, &entry, like) < 0)
		return error_set(e, "out of memory");
	if (entry.was_cut)
		emit_cut(c, &entry);
	return 0;
}

/* The same of the entries of a file, from `first` on: of the first of them. */
static void
emit_overruled_file(
    const struct call *c, const char *path, const struct acl *l, size_t first)
{
	const struct acl_entry *by = NULL, *entry = NULL;
	struct acl before = *l;
	char place[320];
	size_t i;

	before.count = first;
	for (i = first; by == NULL && i < l->count && i - first < ACL_COMPARED;
	     i++) {
		entry = acl_at(l, i);
		by = acl_overruling(&before, entry);
	}
	if (by == NULL)
		return;
	snprintf(place, sizeof(place), "%.300s:%u", path, entry->line);
	emit_overruled(c, place, entry, by);
}

static int
access_add_file(struct call *c, struct acl *l, enum acl_verb verb,
    const struct acl *like, const char *path, struct error *e)
{
	struct acl_file_facts facts;
	size_t count = l->count;
	int rc;

	/* an error quotes the file */
	if (call_needs_local(c, e) < 0)
		return -1;
	if (c->pen->loads == NULL)
		rc = acl_add_file(l, path, verb, like, &facts, e);
	else
		rc = acl_loads_add(
		    c->pen->loads, l, path, verb, like, &facts, e);
	if (rc == 0) {
		emit_cuts(c, path, &facts);
		emit_no_end(c, path, &facts);
		emit_overruled_file(c, path, l, count);
	}
	return rc < 0 ? -1 : 0;
}

/* Adds what the words after the list name: [permit|deny] file PATH, or an
 * entry. A list that is built again shares entries with the running one, as far
 * as both are the same. */
static int
access_add_words(
    struct call *c, const struct acl *like, struct acl *l, struct error *e)
{
	const struct words *w = c->words;
	enum acl_verb verb = ACL_AS_WRITTEN;

	if (w->count == 3 && strcmp(w->word[1], "file") == 0)
		return access_add_file(c, l, verb, like, w->word[2], e);
	if (strcmp(w->word[1], "permit") == 0)
		verb = ACL_PERMIT;
	else if (strcmp(w->word[1], "deny") == 0)
		verb = ACL_DENY;
	else
		return error_set(e, "\"%.100s\": expected permit or deny",
		    w->word[1]);
	if (w->count == 4 && strcmp(w->word[2], "file") == 0)
		return access_add_file(c, l, verb, like, w->word[3], e);
	return access_add_entry(c, l, verb == ACL_PERMIT, like, e);
}

static int
access_add(
    struct call *c, const struct acl_ref *list, struct acl *l, struct error *e)
{
	const struct acl *running =
	    plan_acls_of(&c->pen->plan->process->acls, list);
	bool denied = denies_the_rest(l);

	if (access_add_words(c, running, l, e) < 0)
		return -1;
	if (denied && !denies_the_rest(l))
		emit_opened(c, list, running);
	return 0;
}

static int
run_acls(struct call *c, struct error *e)
{
	(void)e;
	acl_report_all(&c->draft->process->acls, c->reply);
	return 0;
}

/* "acl LIST" prints; in a file it is a mistake. */
static int
answer_acl(struct call *c, struct error *e)
{
	const struct plan_acls *all = &c->draft->process->acls;
	struct acl_ref list = ACL_REF_NONE;
	const struct acl *l;

	if (acl_word_parse(c->words->word[0], &list.number, e) < 0)
		return -1;
	if (list.number < 0)
		list.name = c->words->word[0];
	l = plan_acls_of(all, &list);
	if (l == NULL)
		return error_set(
		    e, "there is no access list \"%s\"", list.name);
	acl_report(l, c->reply);
	return 0;
}

static int
run_acl(struct call *c, struct error *e)
{
	const struct words *w = c->words;
	struct acl_ref list = ACL_REF_NONE;
	struct process_plan *process;
	struct acl *l;

	if (w->count == 1 && !c->no && c->origin == NULL && c->option == NULL)
		return answer_acl(c, e);
	if (w->count < (c->no ? 1 : 3) || w->count > (c->no ? 1 : 4))
		return error_set(e, "expects %s", c->no ? "N" : c->row->args);
	if (acl_word_parse(w->word[0], &list.number, e) < 0)
		return -1;
	if (list.number < 0)
		list.name = w->word[0];
	if (c->caller != NULL && c->caller->access < ACCESS_ADMIN &&
	    guards_a_control(c->pen->plan->process, &list))
		return error_set(e,
		    "needs the level admin, yours is %s, because "
		    "control_acl uses this list",
		    access_name(c->caller->access));
	process = call_edit_process(c, e);
	l = process != NULL ? plan_acls_edit(&process->acls, w->word[0], e)
			    : NULL;
	if (l == NULL)
		return -1;
	if (!c->no)
		return access_add(c, &list, l, e);
	acl_fini(l);
	return 0;
}

/* ---- control sockets ---- */

static void
remove_controls(struct process_plan *p)
{
	while (p->control_count > 0) {
		free(p->controls[--p->control_count].text);
		free(p->controls[p->control_count].origin);
		listen_list_fini(&p->controls[p->control_count].at);
	}
}

/* A bare port is for this host alone: the socket has no password. */
static int
parse_control(
    struct call *c, const char *text, struct listen_list *at, struct error *e)
{
	enum resolve_how how =
	    c->pen->phase < PHASE_SERVING ? RESOLVE_NAMES : RESOLVE_NUMERIC;
	const struct process_plan *now = c->pen->plan->process;
	unsigned i;

	for (i = 0; i < now->control_count; i++)
		if (strcmp(now->controls[i].text, text) == 0)
			return listen_list_copy(at, &now->controls[i].at) == 0
			    ? 0
			    : error_set(e, "out of memory");
	return spec_parse_local(at, text, how, e);
}

static int
access_add_control(
    struct call *c, struct process_plan *p, const char *text, struct error *e)
{
	struct control_plan *k = &p->controls[p->control_count];

	if (p->control_count == CONTROLS_MAX)
		return error_set(e, "more than %d", CONTROLS_MAX);
	*k = p->next_control;
	k->text = strdup(text);
	if (k->text == NULL)
		return error_set(e, "out of memory");
	if (parse_control(c, text, &k->at, e) < 0) {
		listen_list_fini(&k->at);
		free(k->text);
		return -1;
	}
	p->control_count++;
	return 0;
}

/* Pen's reply names one address: the last one given. */
static int
answer_control(struct call *c)
{
	const struct process_plan *p = c->draft->process;
	struct fields f;
	unsigned i;

	if (!c->reply->json) {
		if (p->control_count > 0)
			reply_line(&c->reply->out,
			    p->controls[p->control_count - 1].text);
		return 0;
	}
	fields_list_begin(c->reply);
	for (i = 0; i < p->control_count; i++) {
		fields_begin(&f, c->reply, FIELDS_SILENT);
		fields_text(&f, "control", p->controls[i].text);
		fields_text(&f, "level", access_name(p->controls[i].level));
		fields_text(&f, "others", access_name(p->controls[i].others));
		fields_end(&f);
	}
	fields_list_end(c->reply);
	return 0;
}

static int
run_control(struct call *c, struct error *e)
{
	struct process_plan *p;

	if (c->words->count == 0 && !c->no)
		return answer_control(c);
	p = call_edit_process(c, e);
	if (p == NULL)
		return -1;
	if (c->no) {
		remove_controls(p);
		return c->words->count == 0
		    ? 0
		    : error_set(e, "no control takes no argument");
	}
	if (c->words->count > 1)
		return error_set(e, "expects %s", c->row->args);
	return access_add_control(c, p, c->words->word[0], e);
}

static int
parse_level(const char *word, enum access *level, struct error *e)
{
	if (access_find(word, level) == 0)
		return 0;
	return error_set(
	    e, "\"%.100s\": expected read, operate or admin", word);
}

static int
run_control_level(struct call *c, struct error *e)
{
	struct process_plan *p = call_edit_process(c, e);
	struct control_plan *k = p != NULL ? &p->next_control : NULL;
	const struct words *w = c->words;

	if (k == NULL)
		return -1;
	if (w->count < 1 || w->count > 2)
		return error_set(e, "expects %s", c->row->args);
	if (parse_level(w->word[0], &k->level, e) < 0)
		return -1;
	k->others = k->level < ACCESS_LOOK ? k->level : ACCESS_LOOK;
	return w->count == 2 ? parse_level(w->word[1], &k->others, e) : 0;
}

static int
run_control_mode(struct call *c, struct error *e)
{
	struct process_plan *p = call_edit_process(c, e);
	unsigned mode;

	if (p == NULL)
		return -1;
	if (c->words->count != 1)
		return error_set(e, "expects %s", c->row->args);
	if (value_parse_mode(c->words->word[0], &mode, e) < 0)
		return -1;
	p->next_control.mode = (mode_t)mode;
	return 0;
}

const struct command acl_commands[] = {
	{ .name = "acl",
	    .kind = KIND_CHANGE,
	    .flags = ROW_NO | ROW_OPERATE | ROW_PRINTS,
	    .scope = SCOPE_PROCESS,
	    .run = run_acl,
	    .args = "LIST permit|deny {ADDRESS[/LEN] [MASK] | unix | uid USER "
		    "| gid GROUP | country CC | file PATH}",
	    .help = "adds an entry to an access list, 0..9 or a name, or "
		    "prints it; no acl LIST empties it" },
	{ .name = "acls",
	    .kind = KIND_REPORT,
	    .flags = ROW_LOOK,
	    .scope = SCOPE_PROCESS,
	    .run = run_acls,
	    .help = "prints the access lists" },
	{ .name = NULL },
};

const struct command control_commands[] = {
	{ .name = "control",
	    .kind = KIND_CHANGE,
	    .flags = ROW_NO | ROW_LOCAL,
	    .scope = SCOPE_PROCESS,
	    .run = run_control,
	    .letter = 'C',
	    .option = "control",
	    .args = "[ADDRESS]",
	    .help = "control socket: [address:]port or /path; may be "
		    "repeated" },
	{ .name = "control_level",
	    .kind = KIND_CHANGE,
	    .flags = ROW_LOCAL,
	    .scope = SCOPE_PROCESS,
	    .run = run_control_level,
	    .option = "control-level",
	    .args = "LEVEL [OTHERS]",
	    .help =
		"what clients of the next control sockets may do; OTHERS: the "
		"same for users other than root and pen's; LEVEL: read, "
		"operate, admin" },
	{ .name = "control_mode",
	    .kind = KIND_CHANGE,
	    .flags = ROW_LOCAL,
	    .scope = SCOPE_PROCESS,
	    .run = run_control_mode,
	    .option = "control-mode",
	    .args = "MODE",
	    .help = "file mode of the next control sockets" },
	{ .name = NULL },
};
