/* config_file.c: lines of a file, and where each stands. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "control/file/config_file.h"
#include "control/life/context.h"

enum { FILE_MAX = 64 * 1024 * 1024, DEPTH_MAX = 8, ORIGIN_MAX = 400 };

/* What some editors put before UTF-8. */
static const char bom[] = "\xef\xbb\xbf";

struct reading {
	struct call *call;
	const char *path;
	char origin[ORIGIN_MAX]; /* "PATH:" and the line */
	size_t origin_line;	 /* where that begins */
	void (*on_error)(const char *sentence);
	struct error first;
	bool failed;
	bool skips; /* the lines of a section that could not begin */
};

char *
config_next_line(char **rest, unsigned *lines)
{
	char *line = *rest, *end = line;

	if (*lines == 0 && strncmp(line, bom, sizeof(bom) - 1) == 0)
		end = line += sizeof(bom) - 1;
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
	line += strspn(line, " \t");
	return strncmp(line, "service", 7) == 0 &&
	    strchr(" \t", line[7]) != NULL && line[7] != '\0';
}

/* After an error, lines are read to find more errors: those of a section that
 * could not begin are not of the one before. */
static void
run_line(struct reading *r, const char *line, unsigned number)
{
	struct call c = *r->call;
	struct error e;

	r->skips = r->skips && !begins_section(line);
	if (r->skips)
		return;
	r->origin[r->origin_line +
	    number_format(r->origin + r->origin_line, number)] = '\0';
	c.origin = r->origin;
	c.depth++;
	if (command_run_line(&c, line, &e) == 0) {
		r->call->plan = c.plan; /* of the service that it began */
		r->call->service = c.service;
		r->call->grows = c.grows;
		return;
	}
	error_of(&e, "%.380s", r->origin);
	if (!r->failed)
		r->first = e;
	r->failed = true;
	r->skips = begins_section(line);
	if (r->on_error != NULL)
		r->on_error(e.text);
}

/* ---- what looks like something else ---- */

/* A line without a command loses nothing in a comment. */
static bool
says_nothing(const char *raw)
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

	if (number == 1 && strncmp(raw, bom, sizeof(bom) - 1) == 0)
		return "begins with a byte order mark, which is ignored";
	if (n > 1 && raw[n - 1] == '\r' && raw[n - 2] == '\\')
		return "the backslash before a carriage return does not "
		       "continue the line";
	if (n > 0 && raw[n - 1] == '\\' && *text == '#' && raw[n] == '\n' &&
	    !says_nothing(raw + n + 1))
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

/* All of it, as a string. Only before clients are served may it wait for
 * more. */
static int
read_text(const char *path, bool wait, struct buffer *text, struct error *e)
{
	if (file_read(path, FILE_MAX, wait, text, e) < 0)
		return -1;
	if (buffer_length(text) > 0 &&
	    memchr(buffer_bytes(text), '\0', buffer_length(text)) != NULL)
		return error_set(e, "contains a NUL byte");
	return buffer_append(text, "", 1) == 0 ? 0
					       : error_set(e, "out of memory");
}

int
config_load_text(struct call *c, const char *path, char *text,
    void (*on_error)(const char *sentence), struct error *e)
{
	struct reading r = { .call = c, .path = path, .on_error = on_error };
	unsigned lines = 0, number;

	r.origin_line =
	    (size_t)snprintf(r.origin, sizeof(r.origin), "%.380s:", path);
	while (text != NULL && (!r.failed || on_error != NULL)) {
		number = lines + 1;
		run_line(&r, config_next_line(&text, &lines), number);
	}
	if (r.failed)
		*e = r.first;
	return r.failed ? -1 : 0;
}

int
config_load(struct call *c, const char *path,
    void (*on_error)(const char *sentence), struct error *e)
{
	struct buffer text;
	int rc;

	if (c->depth >= DEPTH_MAX)
		return error_set(e,
		    "\"%.200s\": include nesting too deep (maximum %d)", path,
		    DEPTH_MAX);
	buffer_init(&text);
	if (read_text(path, c->pen->phase < PHASE_SERVING, &text, e) < 0) {
		buffer_fini(&text);
		error_of(e, "\"%.300s\"", path);
		if (on_error != NULL && c->depth == 0)
			on_error(e->text);
		return -1;
	}
	if (!c->dry)
		warn_of_lines(path, buffer_bytes(&text));
	rc = config_load_text(
	    c, path, text.data + text.start, on_error, e);
	buffer_fini(&text);
	return rc;
}

int
config_check_services(const struct plan *p, struct error *e)
{
	const struct plan *one;
	unsigned i;

	/* the first may be left out */
	for (i = 1; (one = plan_service_at(p, i)) != NULL; i++) {
		if (one->listen.count == 0 &&
		    plan_service_leading_to(p, one->name) == NULL)
			return error_set(e,
			    "service %s: no listening address, and no route "
			    "leads to it",
			    one->name);
		if (!plan_service_leads_somewhere(one))
			return error_set(e, "service %s: no server", one->name);
	}
	return 0;
}

/* A plan that cannot serve any client is a mistake; but a start may be before
 * its servers, which come by the control socket or the file. A file that has
 * lost its servers is refused. */
static int
check_whole(const struct pen *pen, const struct plan *p, struct error *e)
{
	if (config_check_services(p, e) < 0)
		return -1;
	if (p->listen.count == 0 && p->service_count > 0 && !plan_has_server(p))
		return 0;
	if (p->listen.count == 0)
		return error_set(e,
		    "no listening address (usage: pen [options] "
		    "[address:]port server ...; pen --help lists the "
		    "options)");
	if (plan_service_leads_somewhere(p) ||
	    ((p->control_count > 0 || p->config.file != NULL) &&
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
	const struct plan_acls *all = &like->pen->given->acls;
	struct call c = *like;
	char list[ACL_WORD_MAX];
	const struct acl *l;
	unsigned i;

	c.origin = "option -O";
	for (i = 0; (l = plan_acls_at(all, i, list)) != NULL; i++)
		if (l->spans > 0 && read_list(&c, list, l, e) < 0)
			return -1;
	return 0;
}

struct plan *
config_draft(struct pen *p, bool reload, void (*on_error)(const char *sentence),
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
	if (p->phase >= PHASE_SERVING && plan_is_from_stdin(draft)) {
		plan_free(draft);
		error_set(e,
		    "the configuration was standard input, which cannot be "
		    "read again");
		return NULL;
	}
	reply_init(&unheard);
	if (reload)
		rc = read_lists(&c, e);
	if (rc == 0 && p->given->config.file != NULL)
		rc = config_load(&c, p->given->config.file, on_error, e);
	reply_fini(&unheard);
	if (rc < 0) {
		plan_free(draft);
		return NULL;
	}
	if (check_whole(p, draft, e) == 0)
		return draft;
	if (on_error != NULL)
		on_error(e->text);
	plan_free(draft);
	return NULL;
}
