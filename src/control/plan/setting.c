/* setting.c: settings of a plan: set, read, compared, printed. */
#include "config.h"

#include "control/answer/fields.h"
#include "control/plan/setting.h"
#include "control/plan/table.h"
#include "control/value/value.h"

/* ---- all of them ---- */

const struct command *
setting_next(const struct command *row)
{
	do
		row = table_next(row);
	while (row != NULL &&
	    (!value_is_there(row) || row->flags & ROW_OPTION ||
		row->alias != NULL));
	return row;
}

const void *
setting_base(const struct plan *all, const struct plan *service,
    const struct command *row)
{
	return row->scope == SCOPE_PROCESS ? (const void *)all->process
					   : (const void *)service->config;
}

bool
setting_equal(
    const struct plan *a, const struct plan *b, const struct command *row)
{
	const void *x = setting_base(a, a, row), *y = setting_base(b, b, row);

	return x == NULL || y == NULL || !value_is_there(row) ||
	    value_equal(row, x, y);
}

const struct command *
setting_next_difference(
    const struct plan *a, const struct plan *b, const struct command *row)
{
	do
		row = setting_next(row);
	while (row != NULL &&
	    (row->scope != SCOPE_SERVICE || setting_equal(a, b, row)));
	return row;
}

static void
setting_emit(struct fields *f, const struct plan *all,
    const struct plan *service, const struct command *row)
{
	const char *key = row->key != NULL ? row->key : row->name;

	if (row->emit != NULL)
		row->emit(f, key, service);
	else
		value_emit(f, key, row, setting_base(all, service, row));
}

/* Emits the settings that only options set, but for --check, which has no value
 * to report. */
static void
emit_options(
    struct fields *f, const struct plan *all, const struct plan *service)
{
	const struct command *row;

	TABLE_EACH (row)
		if (value_is_there(row) && row->flags & ROW_OPTION &&
		    table_find(row->name) == NULL)
			setting_emit(f, all, service, row);
}

/* Emits all settings. If rows share a value, only the one with a key reports
 * it. */
void
setting_emit_all(
    struct fields *f, const struct plan *all, const struct plan *service)
{
	const struct command *row;

	SETTING_EACH (row)
		if (row->kind != KIND_SELF || row->key != NULL)
			setting_emit(f, all, service, row);
	emit_options(f, all, service);
}

void
setting_print_all(
    const struct plan *all, const struct plan *service, struct buffer *out)
{
	const struct command *row;

	SETTING_EACH (row)
		value_print(row, setting_base(all, service, row), out);
}

/* ---- one ---- */

const char *
setting_string(const struct plan *p, const struct command *row)
{
	const char *base = setting_base(p, p, row);

	if (base == NULL || (row->kind != KIND_TEXT && row->kind != KIND_FILE))
		return NULL;
	return *(char *const *)(base + row->offset);
}

uint64_t
setting_number(const struct plan *p, const struct command *row)
{
	return value_number(row, setting_base(p, p, row));
}

/* ---- as commands ---- */

static int
setting_answer(struct call *c, struct error *e)
{
	struct fields f;

	if (c->row->run != NULL)
		return c->row->run(c, e);
	if (!c->reply->json) {
		value_answer(c->row, setting_base(c->draft, c->plan, c->row),
		    &c->reply->out);
		return 0;
	}
	fields_begin(&f, c->reply, FIELDS_SILENT);
	setting_emit(&f, c->draft, c->plan, c->row);
	fields_end(&f);
	return 0;
}

/* Whether the value is one that is given up while the program serves: its
 * memory only grows. */
static bool
shrinks(const struct call *c, uint64_t before)
{
	return c->row->flags & ROW_GROWS && c->grows != NULL &&
	    setting_number(c->plan, c->row) < before;
}

/* NULL with errno ENOMEM. */
static void *
base_to_change(struct call *c)
{
	return c->row->scope == SCOPE_PROCESS
	    ? (void *)plan_edit_process(c->draft)
	    : (void *)plan_edit_config(c->plan);
}

static int
setting_set(struct call *c, struct error *e)
{
	const struct command *row = c->row;
	uint64_t before =
	    value_is_number(row) ? setting_number(c->plan, row) : 0;
	void *base = base_to_change(c);

	if (base == NULL)
		return error_set(e, "out of memory");
	if (value_set(row, base, c->words, c->no, e) < 0)
		return -1;
	if (shrinks(c, before))
		value_put_number(row, base, before);
	return row->after != NULL ? row->after(c, base, e) : 0;
}

int
setting_run(struct call *c, struct error *e)
{
	if (!row_changes(c->row, c->words->count, c->no))
		return setting_answer(c, e);
	if (setting_set(c, e) < 0)
		return -1;
	return value_echoes(c->row) && !c->no ? setting_answer(c, e) : 0;
}
