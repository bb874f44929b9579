/* test_fields.c: the same facts in each style, as text and as JSON. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "control/answer/fields.h"
#include "support/suite.h"

static struct reply r;
static struct fields f;

static void
begin(bool json)
{
	reply_init(&r);
	r.json = json;
}

/* What was told; all is over. */
static const char *
told(void)
{
	const char *s = text("%.*s", (int)buffer_length(&r.out),
	    (const char *)buffer_bytes(&r.out));

	reply_fini(&r);
	return s;
}

static const char *
emit_all(enum fields_style style, bool json)
{
	begin(json);
	fields_begin(&f, &r, style);
	fields_number(&f, "n", UINT64_MAX / 2);
	fields_integer(&f, "i", -3);
	fields_text(&f, "t", "word");
	fields_text(&f, "none", NULL);
	fields_phrase(&f, "p", "two words");
	fields_decimal(&f, "d", "0.2");
	fields_decimal(&f, "whole", "7");
	fields_flag(&f, "yes", true);
	fields_flag(&f, "no", false);
	fields_json_text(&f, "more", "m");
	fields_json_number(&f, "many", 5);
	fields_json_texts(
	    &f, "list", (const char *const[]){ "a", NULL, "b" }, 3);
	fields_end(&f);
	return told();
}

START_TEST(styles_of_text)
{
	ck_assert_str_eq(emit_all(FIELDS_LINE, false),
	    "9223372036854775807 i -3 t word p \"two words\" d 0.2 whole 7 "
	    "yes yes no no\n");
	ck_assert_str_eq(emit_all(FIELDS_LINES, false),
	    "n 9223372036854775807\ni -3\nt word\np \"two words\"\nd 0.2\n"
	    "whole 7\nyes yes\nno no\n");
	ck_assert_str_eq(emit_all(FIELDS_SILENT, false), "");
	ck_assert_ptr_nonnull(strstr(emit_all(FIELDS_HTML, false),
	    "<tr><th>i</th><td class=\"n\">-3</td></tr>\n"));
	/* as many cells as columns */
	ck_assert_str_eq(emit_all(FIELDS_HEADS, false),
	    "<th class=\"n\">n</th><th class=\"n\">i</th><th>t</th>"
	    "<th>none</th><th>p</th><th class=\"n\">d</th>"
	    "<th class=\"n\">whole</th><th>yes</th><th>no</th>");
	ck_assert_str_eq(emit_all(FIELDS_CELLS, false),
	    "<td class=\"n\" data-label=\"n\">9223372036854775807</td>"
	    "<td class=\"n\" data-label=\"i\">-3</td>"
	    "<td data-label=\"t\">word</td><td data-label=\"none\"></td>"
	    "<td data-label=\"p\">two words</td>"
	    "<td class=\"n\" data-label=\"d\">0.2</td>"
	    "<td class=\"n\" data-label=\"whole\">7</td>"
	    "<td data-label=\"yes\">yes</td><td data-label=\"no\">no</td>");
}
END_TEST

START_TEST(html_is_escaped)
{
	begin(false);
	fields_begin(&f, &r, FIELDS_CELLS);
	fields_phrase(&f, "t", "<a href=\"x\">&");
	fields_end(&f);
	ck_assert_str_eq(told(),
	    "<td data-label=\"t\">&lt;a href=&quot;x&quot;>&amp;</td>");
}
END_TEST

START_TEST(nothing_is_no_line)
{
	begin(false);
	fields_begin(&f, &r, FIELDS_LINES);
	fields_end(&f);
	ck_assert_str_eq(told(), "");
}
END_TEST

#ifdef HAVE_JANSSON

START_TEST(one_object)
{
	int style;

	for (style = FIELDS_LINE; style <= FIELDS_SILENT; style++)
		ck_assert_str_eq(emit_all((enum fields_style)style, true),
		    "{\"n\":9223372036854775807,\"i\":-3,\"t\":\"word\","
		    "\"none\":null,\"p\":\"two words\",\"d\":0.2,\"whole\":7,"
		    "\"yes\":true,\"no\":false,\"more\":\"m\",\"many\":5,"
		    "\"list\":[\"a\",null,\"b\"]}\n");
	ck_assert(fields_have_json());
}
END_TEST

START_TEST(texts_that_need_escapes)
{
	begin(true);
	fields_begin(&f, &r, FIELDS_LINE);
	fields_text(&f, "quoted", "a\"b\\c\n");
	fields_text(&f, "utf8", "\xc3\xa4");
	fields_text(&f, "latin1", "\xe4\x80");
	fields_end(&f);
	ck_assert_str_eq(told(),
	    "{\"quoted\":\"a\\\"b\\\\c\\n\",\"utf8\":\"\xc3\xa4\","
	    "\"latin1\":\"\xc3\xa4\xc2\x80\"}\n");
}
END_TEST

START_TEST(lists)
{
	int i;

	begin(true);
	fields_list_begin(&r);
	fields_list_end(&r);
	ck_assert_str_eq(told(), "[]\n");
	begin(true);
	fields_list_begin(&r);
	for (i = 0; i < 3; i++) {
		fields_begin(&f, &r, FIELDS_LINE);
		fields_integer(&f, "i", i);
		fields_end(&f);
	}
	fields_list_end(&r);
	ck_assert_str_eq(told(), "[{\"i\":0},\n{\"i\":1},\n{\"i\":2}]\n");
}
END_TEST

#endif

static const char *
emit_whole(bool json)
{
	struct fields item;
	int i;

	begin(json);
	fields_begin(&f, &r, FIELDS_LINES);
	fields_number(&f, "count", 2);
	fields_items(&f, "items");
	for (i = 0; i < 2; i++) {
		fields_item_begin(&item, &f);
		fields_integer(&item, "i", i);
		fields_text(&item, "name", i == 0 ? "a" : "b");
		fields_end(&item);
	}
	fields_items(&f, "others");
	fields_end(&f);
	return told();
}

START_TEST(items_of_a_whole)
{
	ck_assert_str_eq(emit_whole(false), "count 2\n0 name a\n1 name b\n");
#ifdef HAVE_JANSSON
	ck_assert_str_eq(emit_whole(true),
	    "{\"count\":2,\"items\":[{\"i\":0,\"name\":\"a\"},"
	    "{\"i\":1,\"name\":\"b\"}],\"others\":[]}\n");
#endif
}
END_TEST

SUITE(test_fields)
{
	Suite *s = suite_create("fields");

	SUITE_ADD(s, styles_of_text, 10);
	SUITE_ADD(s, html_is_escaped, 10);
	SUITE_ADD(s, nothing_is_no_line, 10);
#ifdef HAVE_JANSSON
	SUITE_ADD(s, one_object, 10);
	SUITE_ADD(s, texts_that_need_escapes, 10);
	SUITE_ADD(s, lists, 10);
#endif
	SUITE_ADD(s, items_of_a_whole, 10);
	return s;
}
