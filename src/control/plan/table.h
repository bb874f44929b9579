/* table.h: the rows of all settings, and what follows from some of them. */
#ifndef PEN_CONTROL_TABLE_H
#define PEN_CONTROL_TABLE_H

#include "control/plan/plan.h"
#include "control/value/row.h"

/* Where a member of struct config is. */
#define AT(member) offsetof(struct config, member)
/* The same of struct process_plan: a setting of the process. */
#define OF_PROCESS(member) \
	.scope = SCOPE_PROCESS, .offset = offsetof(struct process_plan, member)

/* Each is ended by a row without a name. */
extern const struct command rows_choosing[], rows_servers[], rows_connections[],
    rows_log[], rows_limits[], rows_http[], rows_ends[], rows_tls[], rows_dsr[],
    rows_checks[], rows_configuration[], rows_process[], rows_obsolete[];
/* Those of a server, which are no commands; see table_server.c. */
extern const struct command rows_server[];

/* The setting after `row`, which is the last of its list. */
const struct command *table_behind(const struct command *row);
/* The setting after `row`; NULL begins, and ends. */
static inline const struct command *
table_next(const struct command *row)
{
	return row != NULL && row[1].name != NULL ? row + 1 : table_behind(row);
}
#define TABLE_EACH(row)                               \
	for ((row) = table_next(NULL); (row) != NULL; \
	     (row) = table_next(row))

/* The same of those with a value and that scope. */
const struct command *table_next_of(
    enum row_scope scope, const struct command *row);
#define TABLE_EACH_OF(scope, row)                                 \
	for ((row) = table_next_of((scope), NULL); (row) != NULL; \
	     (row) = table_next_of((scope), row))

/* The setting of that name, which is not only an option, or NULL. */
const struct command *table_find(const char *name);

/* Whether the caller of the command may name that host as a server. Returns 0,
 * or -1 with a short message. */
int may_be_server(const struct call *c, const char *host, struct error *e);

/* ---- table_hooks.c: hooks of rows ---- */

const char *balance_name(unsigned i);
const char *balance_alias(const char *word);
int after_address(struct call *c, void *base, struct error *e);
int after_balance(struct call *c, void *base, struct error *e);
int after_blacklist(struct call *c, void *base, struct error *e);
int after_check_address(struct call *c, void *base, struct error *e);
int after_web_host(struct call *c, void *base, struct error *e);
int after_check(struct call *c, void *base, struct error *e);
int after_server_check(struct call *c, void *base, struct error *e);
int after_conn_max(struct call *c, void *base, struct error *e);
int after_program(struct call *c, void *base, struct error *e);
int after_web(struct call *c, void *base, struct error *e);
int after_config(struct call *c, void *base, struct error *e);
int after_resolver(struct call *c, void *base, struct error *e);
void emit_balance(struct fields *f, const char *key, const struct plan *p);
void emit_conn_max(struct fields *f, const char *key, const struct plan *p);
void emit_sticky(struct fields *f, const char *key, const struct plan *p);
int run_conn_max(struct call *c, struct error *e);
int run_idlers(struct call *c, struct error *e);

#endif
