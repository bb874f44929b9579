/* test_config_environment.c: ${NAME} in lines of files: where it is a variable,
 * and that its value is never more than a part of a word. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "control/file/config_environment.h"
#include "support/suite.h"

static struct error e;

static void
set(const char *name, const char *value)
{
	ck_assert_int_eq(setenv(name, value, 1), 0);
}

static void
begin(void)
{
	set("T_HOST", "web1.test");
	set("T_EMPTY", "");
	set("T_BAD", "a b;c # \"d\" \\ 'e' ${T_HOST}");
	set("T_LINES", "a\nb");
	set("T_1", "one");
	unsetenv("T_NONE");
}

/* The words of all commands of the line, each in brackets. */
static const char *
words(const char *line)
{
	struct buffer out;
	struct words w;
	const char *got = "";
	char *next;
	int i;

	buffer_init(&out);
	if (config_environment_put(line, &out, &e) < 0) {
		buffer_fini(&out);
		return NULL;
	}
	for (next = out.data + out.start; next != NULL;) {
		ck_assert_int_eq(words_split(&w, next, &next), 0);
		for (i = 0; i < w.count; i++)
			got = text("%s[%s]", got, w.word[i]);
		got = text("%s%s", got, next != NULL ? ";" : "");
	}
	buffer_fini(&out);
	return got;
}

static void
gives(const char *line, const char *wanted)
{
	const char *got = words(line);

	ck_assert_msg(got != NULL, "%s: %s", line, e.text);
	ck_assert_str_eq(got, wanted);
}

static void
fails(const char *line, const char *why)
{
	ck_assert_msg(words(line) == NULL, "%s: taken", line);
	ck_assert_msg(strstr(e.text, why) != NULL, "%s: %s", line, e.text);
}

START_TEST(values)
{
	begin();
	gives("a ${T_HOST} b", "[a][web1.test][b]");
	gives("a x${T_HOST}y${T_1}", "[a][xweb1.testyone]");
	gives("a \"x ${T_HOST}\" b", "[a][x web1.test][b]");
	gives("a ${T_EMPTY} b", "[a][][b]");
	gives("a x${T_EMPTY}y", "[a][xy]");
	gives("a b; c ${T_1}; d", "[a][b];[c][one];[d]");
	/* without one, a line is what it was */
	gives("a $T_HOST $ {T_HOST} {T_HOST} $$ b$",
	    "[a][$T_HOST][$][{T_HOST}]"
	    "[{T_HOST}][$$][b$]");
}
END_TEST

/* Not more words, commands or comments, and no variables of their own. */
START_TEST(hostile_values)
{
	begin();
	gives("a ${T_BAD} f", "[a][a b;c # \"d\" \\ 'e' ${T_HOST}][f]");
	gives("a \"${T_BAD}\" f", "[a][a b;c # \"d\" \\ 'e' ${T_HOST}][f]");
	gives("a x${T_BAD}\"${T_BAD}\"y",
	    "[a][xa b;c # \"d\" \\ 'e' ${T_HOST}a b;c # \"d\" \\ 'e' "
	    "${T_HOST}y]");
	fails("a ${T_LINES}", "has several lines");
}
END_TEST

START_TEST(defaults_of_variables)
{
	begin();
	gives("a ${T_NONE-80} b", "[a][80][b]");
	gives("a ${T_1-80} b", "[a][one][b]");
	gives("a ${T_EMPTY-80} b", "[a][][b]");
	gives("a ${T_NONE-} b", "[a][][b]");
	gives("a \"${T_NONE-x y;z}\" b", "[a][x y;z][b]");
	gives("a ${T_NONE-/run/x-1:#{} b", "[a][/run/x-1:#{][b]");
	fails("a ${T_NONE-x y} b", "no \"}\" before the end of its word");
	fails("a ${T_NONE-${T_1}} b", "no \"}\" before the end of its word");
	fails("a ${T_NONE-x;y} b", "no \"}\" before the end of its word");
	fails("a \"${T_NONE-x\"}", "no \"}\" before the end of its word");
	fails("a ${T_1-80", "no \"}\" before the end of its word");
}
END_TEST

START_TEST(not_there)
{
	begin();
	fails(
	    "a ${T_NONE} b", "${T_NONE}: the environment variable is not set");
	fails(
	    "a \"${T_NONE}\" b", "${T_NONE}: the environment variable is not");
	fails("a b; c ${T_NONE}", "is not set");
	fails("a ${} b", "expected ${NAME}");
	fails("a ${", "expected ${NAME}");
	fails("a ${T_HOST", "expected ${NAME}");
	fails("a ${T_HOST b}", "expected ${NAME}");
	fails("a ${1T}", "expected ${NAME}");
	fails("a ${T_${T_1}}", "expected ${NAME}");
	fails("a ${T.H}", "expected ${NAME}");
	fails("a ${T_HOST:-x}", "expected ${NAME}");
	fails(text("a ${%0300d}", 0), "expected ${NAME}");
	fails(text("a ${A%0300d}", 0), "expected ${NAME}");
}
END_TEST

/* Single quotes, comments, names of commands. */
START_TEST(left_alone)
{
	begin();
	gives("a '${T_HOST}' '${T_NONE}'", "[a][${T_HOST}][${T_NONE}]");
	gives("a x'${'T_HOST} \"'${T_1}'\"", "[a][x${T_HOST}]['one']");
	gives("a b # ${T_HOST} ${T_NONE} ${", "[a][b]");
	gives("# ${T_NONE}", "");
	gives("a b; # ${T_NONE}", "[a][b];");
	gives("a b#${T_1}", "[a][b#one]");
	gives("${T_NONE} ${T_1}; ${T_NONE}", "[${T_NONE}][one];[${T_NONE}]");
	gives("a \"\\\"${T_1}\\\\\" b", "[a][\"one\\][b]");
	gives("a \"\\${T_1}\"", "[a][\\one]");
}
END_TEST

/* What words_append() writes is read back as it was. */
START_TEST(written_words)
{
	static const char *const list[] = { "${T_1}", "a ${T_1} b",
		"it's ${T_1}", "'${T_1}\"\\", "$", "${", "$'{", "\"${T_NONE}",
		"a${T_1}${T_1}'", "#${x" };
	struct buffer line;
	size_t i;

	begin();
	for (i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		buffer_init(&line);
		ck_assert_int_eq(buffer_append(&line, "a ", 2), 0);
		ck_assert_int_eq(words_append(&line, list[i]), 0);
		ck_assert_int_eq(buffer_append(&line, "", 1), 0);
		gives(buffer_bytes(&line), text("[a][%s]", list[i]));
		buffer_fini(&line);
	}
}
END_TEST

SUITE(test_config_environment)
{
	Suite *s = suite_create("config_environment");

	SUITE_ADD(s, values, 10);
	SUITE_ADD(s, hostile_values, 10);
	SUITE_ADD(s, defaults_of_variables, 10);
	SUITE_ADD(s, not_there, 10);
	SUITE_ADD(s, left_alone, 10);
	SUITE_ADD(s, written_words, 10);
	return s;
}
