/* test_facts.c: the same facts in each style, as text and as JSON. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "control/answer/facts.h"
#include "support/suite.h"

static struct reply r;
static struct facts f;

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
tell_all(enum facts_style style, bool json)
{
	begin(json);
	facts_begin(&f, &r, style);
	facts_number(&f, "n", UINT64_MAX / 2);
	facts_integer(&f, "i", -3);
	facts_text(&f, "t", "word");
	facts_text(&f, "none", NULL);
	facts_phrase(&f, "p", "two words");
	facts_decimal(&f, "d", "0.2");
	facts_decimal(&f, "whole", "7");
	facts_flag(&f, "yes", true);
	facts_flag(&f, "no", false);
	facts_json_text(&f, "more", "m");
	facts_json_number(&f, "many", 5);
	facts_json_texts(
	    &f, "list", (const char *const[]){ "a", NULL, "b" }, 3);
	facts_end(&f);
	return told();
}

START_TEST(styles_of_text)
{
	ck_assert_str_eq(tell_all(FACTS_LINE, false),
	    "9223372036854775807 i -3 t word p \"two words\" d 0.2 whole 7 "
	    "yes yes no no\n");
	ck_assert_str_eq(tell_all(FACTS_LINES, false),
	    "n 9223372036854775807\ni -3\nt word\np \"two words\"\nd 0.2\n"
	    "whole 7\nyes yes\nno no\n");
	ck_assert_str_eq(tell_all(FACTS_SILENT, false), "");
	ck_assert_ptr_nonnull(strstr(tell_all(FACTS_HTML, false),
	    "<tr><th>i</th><td class=\"n\">-3</td></tr>\n"));
}
END_TEST

START_TEST(nothing_is_no_line)
{
	begin(false);
	facts_begin(&f, &r, FACTS_LINES);
	facts_end(&f);
	ck_assert_str_eq(told(), "");
}
END_TEST

#ifdef HAVE_JANSSON

START_TEST(one_object)
{
	int style;

	for (style = FACTS_LINE; style <= FACTS_SILENT; style++)
		ck_assert_str_eq(tell_all((enum facts_style)style, true),
		    "{\"n\":9223372036854775807,\"i\":-3,\"t\":\"word\","
		    "\"none\":null,\"p\":\"two words\",\"d\":0.2,\"whole\":7,"
		    "\"yes\":true,\"no\":false,\"more\":\"m\",\"many\":5,"
		    "\"list\":[\"a\",null,\"b\"]}\n");
	ck_assert(facts_have_json());
}
END_TEST

START_TEST(texts_that_need_escapes)
{
	begin(true);
	facts_begin(&f, &r, FACTS_LINE);
	facts_text(&f, "quoted", "a\"b\\c\n");
	facts_text(&f, "utf8", "\xc3\xa4");
	facts_text(&f, "latin1", "\xe4\x80");
	facts_end(&f);
	ck_assert_str_eq(told(),
	    "{\"quoted\":\"a\\\"b\\\\c\\n\",\"utf8\":\"\xc3\xa4\","
	    "\"latin1\":\"\xc3\xa4\xc2\x80\"}\n");
}
END_TEST

START_TEST(lists)
{
	int i;

	begin(true);
	facts_list_begin(&r);
	facts_list_end(&r);
	ck_assert_str_eq(told(), "[]\n");
	begin(true);
	facts_list_begin(&r);
	for (i = 0; i < 3; i++) {
		facts_begin(&f, &r, FACTS_LINE);
		facts_integer(&f, "i", i);
		facts_end(&f);
	}
	facts_list_end(&r);
	ck_assert_str_eq(told(), "[{\"i\":0},\n{\"i\":1},\n{\"i\":2}]\n");
}
END_TEST

#endif

static const char *
tell_whole(bool json)
{
	struct facts item;
	int i;

	begin(json);
	facts_begin(&f, &r, FACTS_LINES);
	facts_number(&f, "count", 2);
	facts_items(&f, "items");
	for (i = 0; i < 2; i++) {
		facts_item_begin(&item, &f);
		facts_integer(&item, "i", i);
		facts_text(&item, "name", i == 0 ? "a" : "b");
		facts_end(&item);
	}
	facts_items(&f, "others");
	facts_end(&f);
	return told();
}

START_TEST(items_of_a_whole)
{
	ck_assert_str_eq(tell_whole(false), "count 2\n0 name a\n1 name b\n");
#ifdef HAVE_JANSSON
	ck_assert_str_eq(tell_whole(true),
	    "{\"count\":2,\"items\":[{\"i\":0,\"name\":\"a\"},"
	    "{\"i\":1,\"name\":\"b\"}],\"others\":[]}\n");
#endif
}
END_TEST

SUITE(test_facts)
{
	Suite *s = suite_create("facts");

	SUITE_ADD(s, styles_of_text, 10);
	SUITE_ADD(s, nothing_is_no_line, 10);
#ifdef HAVE_JANSSON
	SUITE_ADD(s, one_object, 10);
	SUITE_ADD(s, texts_that_need_escapes, 10);
	SUITE_ADD(s, lists, 10);
#endif
	SUITE_ADD(s, items_of_a_whole, 10);
	return s;
}
