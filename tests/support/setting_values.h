/* setting_values.h: for each setting a value that it can have, and has not. */
#ifndef PEN_TEST_SETTING_VALUES_H
#define PEN_TEST_SETTING_VALUES_H

#include <stdbool.h>

#include "support/endpoint.h"

/* What a setting is tried with: TLS with clients, or with servers, needs other
 * settings. */
enum setting_base {
	SETTING_PLAIN,
	SETTING_TLS,
	SETTING_UPSTREAM,
	SETTING_BASES
};

/* Makes files that settings name. Pages and ports of peers are at that place,
 * where nothing listens. */
void setting_values_begin(const struct endpoint *place);

enum setting_base setting_base_for(const char *name);
/* Lines of a file. */
const char *setting_base_lines(enum setting_base base);
/* Whether this machine or build may lack it, or workers do. */
bool setting_may_lack(const char *name);

/* Of the JSON that `show settings json` prints: the next name, behind which
 * *json moves, NULL at the end; and the value of a name. */
const char *setting_next_name(const char **json);
const char *setting_in_json(const char *json, const char *name);
/* "W" of the help "weight W    what it does"; NULL: it is no command. */
const char *setting_arguments(const char *name, const char *help);

/* The command that changes it: "NAME VALUE", "NAME" or "no NAME". `args` are
 * those of its help, `now` is its value in JSON. NULL: it is no setting; the
 * test fails when it has no value for it. */
const char *setting_line(const char *name, const char *args, const char *now);
/* The same of the next setting of a server, "server 0 weight 3" of "[weight W]"
 * in the help, which it moves on; NULL: that was all. */
const char *setting_line_of_server(const char **help);

#endif
