/* config_file.c: lines of a file, and where each stands. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "base/words.h"
#include "control/file/config_environment.h"
#include "control/file/config_file.h"
#include "control/language/defaults.h"
#include "control/life/context.h"

enum { FILE_MAX = 64 * 1024 * 1024, DEPTH_MAX = 8, ORIGIN_MAX = 400 };

struct reading {
	struct call *call;
	char origin[ORIGIN_MAX]; /* "PATH:" and the line */
	size_t origin_line;	 /* where that begins */
	bool skips; /* the lines of a section that could not begin */
};

char *
config_next_line(char **rest, unsigned *lines)
{
	char *line = *rest, *end = line;

	if (*lines == 0)
		end = line += text_bom(line);
	do {
		end += strcspn(end, "\n");
		++*lines;
		if (*end == '\0') {
			*rest = NULL;
			return line;
		}
		if (end == line || end[-1] != '\\')
			break;
		memmove(line + 2, line, (size_t)(end - 1 - line));
		line += 2;
		end++;
	} while (true);
	*end = '\0';
	*rest = end + 1;
	return line;
}

static bool
begins_section(const char *line)
{
	size_t n;

	line += strspn(line, " \t");
	n = strcspn(line, " \t\r;#");
	return (n == 7 && strncmp(line, "service", n) == 0 &&
		   strchr(" \t", line[n]) != NULL && line[n] != '\0') ||
	    (n == strlen(DEFAULTS_NAME) &&
		strncmp(line, DEFAULTS_NAME, n) == 0);
}

/* Keeps an error, so that the rest of the file can be searched for more. If a
 * section could not begin, its lines are skipped: they are not of the section
 * before it. */
static int
refuse_line(struct reading *r, const char *line, struct error *e)
{
	struct errors *all = r->call->pen->errors;
	const struct error why = *e;

	r->skips = begins_section(line);
	if (all != NULL && r->skips)
		error_set(e, "%.400s (its section is not checked)", why.text);
	error_of(e, "%.380s", r->origin);
	if (!errors_add(all, e))
		return -1;
	errors_refuse(all, line);
	r->call->plan->flawed = r->call->plan->flawed || !r->skips;
	return 0;
}

/* Carries out a line, after its variables were replaced by their values. */
static int
run_words(struct call *c, const char *line, struct error *e)
{
	struct buffer text;
	int rc;

	if (strstr(line, "${") == NULL)
		return command_run_line(c, line, e);
	buffer_init(&text);
	rc = config_environment_put(line, &text, e);
	if (rc == 0)
		rc = command_run_line(c, buffer_bytes(&text), e);
	buffer_fini(&text);
	return rc;
}

static int
run_line(
    struct reading *r, const char *line, unsigned number, struct error *e)
{
	struct call c = *r->call;

	r->skips = r->skips && !begins_section(line);
	if (r->skips) {
		errors_refuse(c.pen->errors, line);
		return 0;
	}
	r->origin[r->origin_line +
	    number_format(r->origin + r->origin_line, number)] = '\0';
	c.origin = r->origin;
	c.depth++;
	if (run_words(&c, line, e) < 0)
		return refuse_line(r, line, e);
	r->call->plan = c.plan; /* of the service that it began */
	r->call->service = c.service;
	r->call->grows = c.grows;
	return 0;
}

/* ---- what looks like something else ---- */

/* A line without a command loses nothing in a comment. */
static bool
has_no_command(const char *raw)
{
	raw += strspn(raw, " \t\r");
	return *raw == '#' || *raw == '\n' || *raw == '\0';
}

/* `raw` is the line as it stands in the file. */
static const char *
find_warning(const char *raw, unsigned number)
{
	size_t n = strcspn(raw, "\n");
	const char *text = raw + strspn(raw, " \t");

	if (number == 1 && text_bom(raw) > 0)
		return "begins with a byte order mark, which is ignored";
	if (n > 1 && raw[n - 1] == '\r' && raw[n - 2] == '\\')
		return "the backslash before a carriage return does not "
		       "continue the line";
	if (n > 0 && raw[n - 1] == '\\' && *text == '#' && raw[n] == '\n' &&
	    !has_no_command(raw + n + 1))
		return "the backslash makes the next line part of this "
		       "comment";
	if (n > 0 && raw[n] == '\0')
		return "the last line has no newline: is the file complete?";
	if (n > 0 && raw[n - 1] == '\\' && raw[n + 1] == '\0')
		return "the backslash continues the last line: is the file "
		       "complete?";
	return NULL;
}

static void
warn_of_lines(const char *path, const char *text)
{
	const char *warning;
	unsigned number;

	for (number = 1; *text != '\0'; number++) {
		warning = find_warning(text, number);
		if (warning != NULL)
			log_write(NULL, LOG_LEVEL_WARN, "%.380s:%u: %s",
			    path, number, warning);
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
}

/* Refuses bytes that are no text: a NUL byte would end it. */
static int
check_text(const struct buffer *text, struct error *e)
{
	size_t n = buffer_length(text);
	const char *from = n > 0 ? buffer_bytes(text) : "", *at = from, *nul;
	unsigned line = 1;

	nul = memchr(from, '\0', n);
	if (n == 0 || nul == NULL)
		return 0;
	if (strncmp(from, "\xff\xfe", 2) == 0 ||
	    strncmp(from, "\xfe\xff", 2) == 0)
		return error_set(e, "is in UTF-16: save it in UTF-8");
	while ((at = memchr(at, '\n', (size_t)(nul - at))) != NULL) {
		line++;
		at++;
	}
	return error_set(e, "contains a NUL byte in line %u", line);
}

/* Reads the whole file as a string. It may wait for more bytes (of a pipe, or
 * of a terminal) only if clients are not served yet, and not for a file within
 * a file, about which it would wait without a word. */
static int
read_text(const char *path, bool wait, struct buffer *text, struct error *e)
{
	if (file_read(path, FILE_MAX, wait, text, e) < 0)
		return -1;
	if (check_text(text, e) < 0)
		return -1;
	return buffer_append(text, "", 1) == 0 ? 0
					       : error_set(e, "out of memory");
}

/* Reads a file. A worker gets the bytes that its leader has read: the file
 * itself may have changed since then. */
static int
read_file(
    struct call *c, const char *path, struct buffer *text, struct error *e)
{
	struct pen *p = c->pen;
	bool wait = p->phase < PHASE_SERVING && c->origin == NULL;

	if (p->role.member > 0)
		return process_role_next_file(p, path, text, e);
	if (read_text(path, wait, text, e) < 0)
		return error_of(e, "\"%.300s\"", path);
	return process_role_add_file(p, path, text, e);
}

/* An error in a file within a file names both. */
static void
name_include(const struct call *c, unsigned from)
{
	struct error operand;

	if (c->origin == NULL)
		return;
	error_set(&operand, "%.380s: include", c->origin);
	errors_of(c->pen->errors, from, operand.text);
}

int
config_load_text(
    struct call *c, const char *path, char *text, struct error *e)
{
	struct reading r = { .call = c };
	struct defaults none = { .plan = NULL };
	bool outermost = c->defaults == NULL;
	unsigned lines = 0, number, from = errors_count(c->pen->errors);
	int rc = 0;

	if (outermost)
		c->defaults = &none;
	r.origin_line =
	    (size_t)snprintf(r.origin, sizeof(r.origin), "%.380s:", path);
	while (rc == 0 && text != NULL) {
		number = lines + 1;
		rc = run_line(&r, config_next_line(&text, &lines), number, e);
	}
	name_include(c, from);
	if (outermost) {
		defaults_end(c);
		c->defaults = NULL;
	}
	return rc;
}

int
config_load(struct call *c, const char *path, struct error *e)
{
	struct buffer text;
	int rc;

	if (c->depth >= DEPTH_MAX)
		return error_set(e,
		    "\"%.200s\": include nesting too deep (maximum %d)", path,
		    DEPTH_MAX);
	buffer_init(&text);
	if (read_file(c, path, &text, e) < 0) {
		buffer_fini(&text);
		return -1;
	}
	if (!c->dry)
		warn_of_lines(path, buffer_bytes(&text));
	rc = config_load_text(c, path, text.data + text.start, e);
	buffer_fini(&text);
	return rc;
}

static int
check_service(const struct plan *p, const struct plan *one, struct error *e)
{
	if (one->listen.count == 0 &&
	    plan_service_leading_to(p, one->name) == NULL)
		return error_set(e,
		    "service %s: no listening address, and no route leads to "
		    "it",
		    one->name);
	return plan_service_leads_somewhere(one)
	    ? 0
	    : error_set(e, "service %s: no server", one->name);
}

int
config_check_services(
    const struct plan *p, struct errors *all, struct error *e)
{
	const struct plan *one;
	unsigned i;

	/* the first may be left out */
	for (i = 1; (one = plan_service_at(p, i)) != NULL; i++)
		if (check_service(p, one, e) < 0 && !errors_add(all, e))
			return -1;
	return 0;
}

/* A plan that cannot serve any client is a mistake; but a start may be before
 * its servers, which come by the control socket or the file. A file that has
 * lost its servers is refused. */
static int
check_whole(const struct pen *pen, const struct plan *p, struct error *e)
{
	if (config_check_services(p, pen->errors, e) < 0)
		return -1;
	if (p->listen.count == 0 && p->service_count > 0 && !plan_has_server(p))
		return 0;
	if (p->listen.count == 0)
		return error_set(e,
		    "no listening address (usage: pen [options] "
		    "[address:]port server ...; pen --help lists the "
		    "options)");
	if (plan_service_leads_somewhere(p) ||
	    ((p->process->control_count > 0 || p->process->file != NULL) &&
		!plan_has_server(pen->plan)))
		return 0;
	return error_set(e,
	    "no server (usage: pen [options] [address:]port server ...; pen "
	    "--help lists the options)");
}

/* ---- access lists of the command line ---- */

/* Makes the list anew, of the same commands. */
static int
read_list(
    struct call *c, const char *list, const struct acl *l, struct error *e)
{
	struct acl_item item = { .next = 0 };
	struct buffer line;
	int rc;

	buffer_init(&line);
	reply_add(&line, "no acl %s", list);
	while (acl_next(l, &item)) {
		reply_add(&line, "; acl %s ", list);
		acl_print_item(&item, &line);
	}
	rc = buffer_append(&line, "", 1) == 0
	    ? command_run_line(c, buffer_bytes(&line), e)
	    : error_set(e, "out of memory");
	buffer_fini(&line);
	return rc;
}

/* Files of entries may have changed since the start, which has read them. */
static int
read_lists(const struct call *like, struct error *e)
{
	const struct plan_acls *all = &like->pen->given->process->acls;
	struct call c = *like;
	char list[ACL_WORD_MAX];
	const struct acl *l;
	unsigned i;

	c.origin = "option -O";
	for (i = 0; (l = plan_acls_at(all, i, list)) != NULL; i++)
		if (l->spans > 0 && read_list(&c, list, l, e) < 0 &&
		    !errors_add(like->pen->errors, e))
			return -1;
	return 0;
}

static struct plan *
make_draft(struct pen *p, const char *path, char *text, bool reload,
    struct error *e)
{
	struct plan *draft = plan_copy(p->given);
	struct reply unheard;
	struct call c = { .pen = p,
		.service = p->service,
		.draft = draft,
		.plan = draft,
		.reply = &unheard };
	int rc = 0;

	if (draft == NULL) {
		error_set(e, "out of memory");
		return NULL;
	}
	if (p->phase >= PHASE_SERVING && plan_is_from_stdin(draft) &&
	    path == p->given->process->file) {
		plan_free(draft);
		error_set(e,
		    "the configuration was standard input, which cannot be "
		    "read again");
		return NULL;
	}
	reply_init(&unheard);
	if (reload)
		rc = read_lists(&c, e);
	if (rc == 0 && text != NULL)
		rc = config_load_text(&c, path, text, e);
	else if (rc == 0 && path != NULL)
		rc = config_load(&c, path, e);
	reply_fini(&unheard);
	/* what is missing may be in a line that was refused */
	if (rc == 0 && errors_count(p->errors) == 0 &&
	    check_whole(p, draft, e) < 0)
		rc = errors_add(p->errors, e) ? 0 : -1;
	if (rc == 0)
		return draft;
	plan_free(draft);
	return NULL;
}

struct plan *
config_draft(struct pen *p, bool reload, struct error *e)
{
	return make_draft(p, p->given->process->file, NULL, reload, e);
}

struct plan *
config_draft_of(struct pen *p, const char *path, struct error *e)
{
	return make_draft(p, path, NULL, false, e);
}

struct plan *
config_draft_of_text(struct pen *p, char *text, struct error *e)
{
	return make_draft(p, "-", text, false, e);
}
