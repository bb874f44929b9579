/* test_setting.c: every row that is a value: its range, its reply, and that a
 * bad value changes nothing. */
#include "config.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "control/registry.h"
#include "control/value/choices.h"
#include "control/language/command.h"
#include "control/pen.h"
#include "control/plan/setting.h"
#include "control/value/value.h"
#include "support/ask.h"
#include "support/suite.h"

static struct pen *pen;
static struct error e;
static char answer[2048];

static int
run(const char *line)
{
	return ask_pen(pen, line, answer, sizeof(answer), &e);
}

/* A context that has what the row needs: what is for TLS with clients needs a
 * certificate. */
static void
begin(const struct command *row)
{
	pen_free(pen);
	pen = pen_new();
	if (strncmp(row->name, "ssl_", 4) == 0)
		ck_assert_int_eq(run("ssl_sni_path .; ssl_ca_dir ."), 0);
}

static bool
is_value(const struct command *row)
{
	return !(row->flags & ROW_OPTION) &&
	    (row->kind == KIND_NUMBER || row->kind == KIND_UNSIGNED ||
		row->kind == KIND_INT || row->kind == KIND_SIZE ||
		row->kind == KIND_SECONDS);
}

/* What the row's member of the configuration holds. */
static uint64_t
held(const struct command *row)
{
	const char *place =
	    (const char *)setting_base(pen->plan, pen->plan, row) + row->offset;
	unsigned u;
	uint64_t n;
	int i;

	if (row->kind == KIND_UNSIGNED) {
		memcpy(&u, place, sizeof(u));
		return u;
	}
	if (row->kind == KIND_INT) {
		memcpy(&i, place, sizeof(i));
		return (uint64_t)i;
	}
	memcpy(&n, place, sizeof(n));
	return n;
}

/* As somebody types it, and as it is answered. */
static const char *
shown(const struct command *row, uint64_t value)
{
	if (row->kind != KIND_SECONDS)
		return text("%" PRIu64, value);
	if (value % 1000 == 0)
		return text("%" PRIu64, value / 1000);
	return text("%" PRIu64 ".%03" PRIu64, value / 1000, value % 1000);
}

static void
takes(const struct command *row, uint64_t value)
{
	const char *line = text("%s %s", row->name, shown(row, value));

	ck_assert_msg(run(line) == 0, "%s: %s", line, e.text);
	ck_assert_msg(held(row) == value, "%s: %" PRIu64, line, held(row));
	if (row->reply == NULL && row->run == NULL)
		ck_assert_str_eq(answer, text("%s\n", shown(row, value)));
	else if (row->reply != NULL && row->reply[0] == '\0')
		ck_assert_str_eq(answer, "");
	else
		ck_assert_ptr_nonnull(strstr(answer, shown(row, value)));
	ck_assert_int_eq(run(row->name), 0);
	if (row->reply == NULL && row->run == NULL)
		ck_assert_str_eq(answer, text("%s\n", shown(row, value)));
}

static void
refuses(const struct command *row, const char *word, const char *why)
{
	const char *line = text("%s %s", row->name, word);
	uint64_t before = held(row);

	ck_assert_msg(run(line) == -1, "%s: taken", line);
	ck_assert_str_eq(answer, "");
	ck_assert_msg(strncmp(e.text, row->name, strlen(row->name)) == 0 &&
		strstr(e.text, why) != NULL,
	    "%s: %s", line, e.text);
	ck_assert_msg(held(row) == before, "%s changed it", line);
}

/* The largest value and the one above it, in what it is given in. */
static void
try_limits(const struct command *row)
{
	uint64_t unit = row->kind == KIND_SECONDS ? 1000 : 1;

	takes(row, row->min);
	takes(row, row_max(row));
	takes(row, row->min + (row_max(row) - row->min) / 2);
	refuses(row, text("%" PRIu64, row_max(row) / unit + 1), "out of range");
	refuses(row, "99999999999999999999999", "out of range");
	if (row->min > 0)
		refuses(row, "0", "out of range");
	refuses(row, "-1", "is no");
	refuses(row, "\"\"", "is no");
	refuses(row, "x", "\"x\" is no");
	refuses(row, "1x", "\"1x\" is no");
	refuses(row, "0x10", "is no");
	refuses(row, "1 1", "takes one argument, got \"1\"");
	ck_assert_int_eq(run(text("no %s", row->name)), -1);
	ck_assert_ptr_nonnull(strstr(e.text,
	    text("there is no \"no %s\"; \"%s ", row->name, row->name)));
}

START_TEST(every_value)
{
	const struct command *row;
	int rows = 0;

	COMMAND_EACH (command_groups, row)
	{
		if (!is_value(row))
			continue;
		rows++;
		begin(row);
		/* the default is one that could be given, or a word is */
		ck_assert_msg((held(row) <= row_max(row) &&
				  (held(row) >= row->min || held(row) == 0)) ||
			(row->none != NULL && held(row) == row->nothing),
		    "%s", row->name);
		try_limits(row);
	}
	ck_assert_int_gt(rows, 10);
	pen_free(pen);
	pen = NULL;
}
END_TEST

static bool
is_on(const struct plan *p, const struct command *row)
{
	return *(
	    const bool *)((const char *)setting_base(p, p, row) + row->offset);
}

START_TEST(every_flag)
{
	const struct command *row;
	int rows = 0;

	COMMAND_EACH (command_groups, row)
	{
		int i;

		if (row->kind != KIND_FLAG || row->flags & ROW_OPTION)
			continue;
		rows++;
		begin(row);
		for (i = 0; i < 4; i++) {
			ck_assert_int_eq(
			    run(text("%s%s", i & 2 ? "no " : "", row->name)),
			    0);
			ck_assert_str_eq(answer, "");
			ck_assert_msg(is_on(pen->plan, row) == !(i & 2),
			    "%s", row->name);
		}
		ck_assert_int_eq(run(text("%s 1", row->name)), -1);
		ck_assert_ptr_nonnull(strstr(e.text, "takes no argument"));
		ck_assert(!is_on(pen->plan, row));
	}
	ck_assert_int_gt(rows, 5);
	pen_free(pen);
	pen = NULL;
}
END_TEST

/* Another word than that of the value, which this build takes; NULL: none. */
static const char *
other_choice(const struct choice *c, uint64_t value)
{
	while (c->word != NULL &&
	    (c->value == (int)(value & UINT32_MAX) || c->refused != NULL))
		c++;
	return c->word;
}

/* A value other than the default, as the words behind NAME; "no" and what is
 * behind it for flags that are on; NULL: this build has no other. */
static const char *
other(const struct command *row, const struct plan *defaults)
{
	const struct choice *c = row->choices;
	uint64_t n;

	switch (row->kind) {
	case KIND_FLAG:
		return is_on(defaults, row) ? "no" : "";
	case KIND_ACL:
		return "7";
	case KIND_RATE:
		return "7/2.500";
	case KIND_MODE:
		return "0660";
	case KIND_CHOICE:
		return other_choice(c, setting_number(defaults, row));
	case KIND_BITS:
		while (c->value == 0)
			c++;
		return c->word;
	case KIND_NAME:
		return row->names(1);
	case KIND_TRISTATE:
	case KIND_SELF:
		return "";
	case KIND_SOURCE:
	case KIND_OWN_ADDRESSES:
		return "127.0.0.3";
	case KIND_FORWARDED:
		return "trust 7";
	case KIND_COOKIE:
	case KIND_IDENTITY:
		return "x";
	case KIND_OBSERVE:
		return "5xx 7/3";
	case KIND_CHECK:
		return "dsr 81";
	case KIND_TEXT:
		/* a row that checks its text wants an address */
		return row->after != NULL ? "127.0.0.3" : "x";
	case KIND_FILE:
		/* one that checks it wants an absolute path */
		return row->after != NULL ? "/x" : "x";
	case KIND_PEERS:
		return "127.0.0.3:7 key x";
	case KIND_CERTIFICATES:
	case KIND_KEYS:
		return "x";
	default:
		n = setting_number(defaults, row);
		n = n == row_max(row) ? row->min : row_max(row);
		return text(
		    "%" PRIu64, row->kind == KIND_SECONDS ? n / 1000 : n);
	}
}

static void
set(struct plan *p, const char *line)
{
	struct reply reply;
	struct call c = { .pen = pen, .draft = p, .plan = p, .reply = &reply };

	reply_init(&reply);
	ck_assert_msg(
	    command_run_line(&c, line, &e) == 0, "%s: %s", line, e.text);
	reply_fini(&reply);
}

static void
set_lines(struct plan *p, const char *lines)
{
	size_t n;

	for (; *lines != '\0'; lines += n + 1) {
		n = strcspn(lines, "\n");
		set(p, text("%.*s", (int)n, lines));
	}
}

static bool
agree_in_others(
    const struct plan *a, const struct plan *b, const struct command *but)
{
	const struct command *row;

	SETTING_EACH (row)
		if (row != but && !setting_equal(a, b, row))
			return false;
	return (process_plan_changed(a->process, b->process) == 0) ==
	    (but->scope == SCOPE_SERVICE) &&
	    (setting_next_difference(a, b, NULL) == NULL) ==
	    (but->scope == SCOPE_PROCESS);
}

/* What every row is held to: two plans differ in it and in nothing else, a copy
 * has it too, and what is written of it reads back as the same. */
START_TEST(every_setting_is_compared_and_written)
{
	struct plan *defaults = plan_new(), *changed, *copy, *read;
	const struct command *row;
	struct buffer out;
	const char *how;
	int rows = 0;

	pen = pen_new();
	SETTING_EACH(row)
	{
		rows++;
		how = other(row, defaults);
		if (how == NULL)
			continue;
		changed = plan_new();
		read = plan_new();
		if (strcmp(how, "no") == 0)
			set(changed, text("no %s", row->name));
		else
			set(changed, text("%s %s", row->name, how));
		ck_assert_msg(!setting_equal(defaults, changed, row), "%s: %s",
		    row->name, how);
		ck_assert_msg(
		    agree_in_others(defaults, changed, row), "%s", row->name);
		copy = plan_copy(changed);
		ck_assert(setting_equal(copy, changed, row));
		buffer_init(&out);
		value_print(row, setting_base(changed, changed, row), &out);
		ck_assert_int_eq(buffer_append(&out, "", 1), 0);
		if (row->kind != KIND_KEYS) { /* written with certificates */
			set_lines(read, buffer_bytes(&out));
			ck_assert_msg(setting_equal(read, changed, row), "%s",
			    buffer_bytes(&out));
		}
		buffer_fini(&out);
		plan_free(copy);
		plan_free(changed);
		plan_free(read);
	}
	ck_assert_int_gt(rows, 70);
	plan_free(defaults);
	pen_free(pen);
	pen = NULL;
}
END_TEST

/* All of them, by their names. */
START_TEST(json_shows_every_setting)
{
#ifdef HAVE_JANSSON
	static char all[65536];
	const struct command *row;

	pen = pen_new();
	ck_assert_int_eq(
	    ask_pen(pen, "show settings json", all, sizeof(all), &e), 0);
	SETTING_EACH(row)
	if (row->kind != KIND_SELF)
		ck_assert_msg(strstr(all, text("\"%s\":", row->name)) != NULL,
		    "%s", row->name);
	ck_assert_ptr_nonnull(strstr(all, "\"method\":null"));
	pen_free(pen);
	pen = NULL;
#else
	SKIP("built without Jansson");
#endif
}
END_TEST

/* Pen's defaults and the shape of its answers. */
START_TEST(replies_of_pen)
{
	static const char *const pairs[][2] = { { "blacklist", "30\n" },
		{ "timeout", "3\n" }, { "tracking", "0\n" },
		{ "idle_timeout", "Idle timeout: 0 seconds\n" },
		{ "idle_timeout 600", "Idle timeout: 600 seconds\n" },
		{ "client_acl", "0\n" }, { "debug", "0\n" },
		{ "pending_max", "0\n" }, { "blacklist 0", "0\n" },
		{ "timeout 0.001", "0.001\n" }, { "timeout 1.5", "1.500\n" },
		{ "buffer 64k", "65536\n" }, { "buffer 1g", "1073741824\n" } };
	unsigned i;

	pen = pen_new();
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		ck_assert_msg(run(pairs[i][0]) == 0, "%s", e.text);
		ck_assert_str_eq(answer, pairs[i][1]);
	}
	pen_free(pen);
}
END_TEST

/* A text is answered whole, however long. */
START_TEST(long_text)
{
	char path[1001];

	memset(path, 'x', 1000);
	path[1000] = '\0';
	pen = pen_new();
	ck_assert_int_eq(run(text("web_stats %s", path)), 0);
	ck_assert_int_eq(run("web_stats"), 0);
	ck_assert_str_eq(answer, text("%s\n", path));
	pen_free(pen);
}
END_TEST

/* JSON must be UTF-8; what is something else is told nevertheless. */
START_TEST(json_of_any_bytes)
{
#ifdef HAVE_JANSSON
	pen = pen_new();
	ck_assert_int_eq(run("web_stats /\xc3\xa9"), 0);
	ck_assert_int_eq(run("web_stats json"), 0);
	ck_assert_str_eq(answer, "{\"web_stats\":\"/\xc3\xa9\"}\n");
	ck_assert_int_eq(run("web_stats /a\xe9\xff\x80z"), 0);
	ck_assert_int_eq(run("web_stats json"), 0);
	ck_assert_str_eq(
	    answer, "{\"web_stats\":\"/a\xc3\xa9\xc3\xbf\xc2\x80z\"}\n");
	pen_free(pen);
#else
	SKIP("built without Jansson");
#endif
}
END_TEST

/* Some settings are for the start; the rest reach the rooms at once. */
START_TEST(while_serving)
{
	const struct command *row;

	pen = pen_new();
	ck_assert_int_eq(spec_parse_listen(&pen->plan->listen, scratch("s"),
			     RESOLVE_NAMES, &e),
	    0);
	ck_assert_msg(pen_start(pen, &e) == 0, "%s", e.text);
	COMMAND_EACH (command_groups, row)
	if (is_value(row) && row->flags & ROW_START)
		refuses(row, text("%" PRIu64, row->min),
		    "can be set only at startup");
	ck_assert_int_eq(run("poll"), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "can be set only at startup"));
	ck_assert_int_eq(run("udp"), -1);
	ck_assert_int_eq(run("idle_timeout 7"), 0);
	ck_assert_uint_eq(
	    frontend_options(pen->service->frontend)->idle_timeout_ms, 7000);
	ck_assert_int_eq(run("no splice"), 0);
	ck_assert(!frontend_options(pen->service->frontend)->splice);
	ck_assert_int_eq(run("tracking 8"), 0);
	ck_assert_uint_eq(pool_options(pen->service->pool)->tracking_ms, 8000);
	pen_free(pen);
}
END_TEST

SUITE(test_setting)
{
	Suite *s = suite_create("setting");

	SUITE_ADD(s, every_value, 30);
	SUITE_ADD(s, every_flag, 30);
	SUITE_ADD(s, every_setting_is_compared_and_written, 30);
	SUITE_ADD(s, json_shows_every_setting, 10);
	SUITE_ADD(s, replies_of_pen, 10);
	SUITE_ADD(s, long_text, 10);
	SUITE_ADD(s, json_of_any_bytes, 10);
	SUITE_ADD(s, while_serving, 30);
	return s;
}
