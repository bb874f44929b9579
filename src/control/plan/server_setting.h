/* server_setting.h: the settings of one server of a plan: one walk over the
 * rows of table_server.c for all of them. */
#ifndef PEN_CONTROL_SERVER_SETTING_H
#define PEN_CONTROL_SERVER_SETTING_H

#include "control/plan/plan.h"
#include "control/value/row.h"

/* Sets by the words from words->word[1] on: "weight 5 drain". "remove" empties
 * it. Returns 0, or -1 with a short message; then `s` has what came before. */
int server_setting_run(struct call *c, struct server_plan *s, struct error *e);
/* Appends its settings but the check as such words, a blank before each. */
void server_setting_print(const struct server_plan *s, struct buffer *out);
/* The same without settings that are as a new server has them. */
void server_setting_print_short(
    const struct server_plan *s, struct buffer *out);
/* The check, if it has one of its own: nothing can follow in that line. */
void server_setting_print_check(
    const struct server_plan *s, struct buffer *out);
/* Reports as JSON the pool's values of them, and its access list. */
void server_setting_report(struct fields *f, const struct server_settings *s,
    const struct acl_ref *acl);

#endif
