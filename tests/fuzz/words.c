/* words.c: lines split into words, numbers, bytes in digits, health checks in
 * words. Words are the same when they were written and split again. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/words.h"
#include "fuzz/fuzz.h"
#include "proxy/check/check_spec.h"
#include "proxy/check/hex_pattern.h"

static void
write_again(const struct words *w)
{
	struct words again;
	struct buffer out;
	char *rest = NULL;
	int i;

	buffer_init(&out);
	for (i = 0; i < w->count; i++) {
		if (i > 0)
			FUZZ_MUST(buffer_append(&out, " ", 1) == 0);
		words_append(&out, w->word[i]);
	}
	FUZZ_MUST(buffer_append(&out, "", 1) == 0);
	FUZZ_MUST(words_split(&again, out.data + out.start, &rest) == 0);
	FUZZ_MUST(rest == NULL && again.count == w->count);
	for (i = 0; i < w->count; i++)
		FUZZ_MUST(strcmp(w->word[i], again.word[i]) == 0);
	buffer_fini(&out);
}

static void
check_number(const char *word)
{
	char digits[NUMBER_TEXT_MAX + 1];
	uint64_t n, again;

	(void)number_parse_size(word, 0, UINT64_MAX, &n);
	(void)number_parse_ms(word, 0, UINT64_MAX, &n);
	if (number_parse(word, 0, UINT64_MAX, &n) < 0)
		return;
	digits[number_format(digits, n)] = '\0';
	FUZZ_MUST(number_parse(digits, n, n, &again) == 0 && again == n);
}

static void
check_check(const struct words *w)
{
	struct check_spec *s, *again;
	struct hex_pattern p;
	struct error e;

	if (w->count == 0)
		return;
	if (hex_pattern_parse(&p, w->word[0], true, &e) == 0) {
		(void)hex_pattern_begins(&p, w->word[0], strlen(w->word[0]));
		hex_pattern_fini(&p);
	}
	s = check_spec_new(w, &e);
	if (s == NULL)
		return;
	again = check_spec_read(check_spec_text(s), &e);
	FUZZ_MUST(again != NULL && check_spec_equal(s, again));
	FUZZ_MUST(strcmp(check_spec_text(s), check_spec_text(again)) == 0);
	check_spec_drop(again);
	check_spec_drop(s);
}

static void
check_printable(char *text, size_t n)
{
	size_t i;

	text_make_printable(text, n);
	FUZZ_MUST(text_is_utf8(text, n));
	for (i = 0; i < n; i++)
		FUZZ_MUST((unsigned char)text[i] >= ' ' || text[i] == '\t');
}

static void
check_shown(char *text)
{
	size_t room = strlen(text) + 1;

	text_show(text, room);
	FUZZ_MUST(strlen(text) < room && text_is_utf8(text, strlen(text)));
}

FUZZ(words)
{
	char *line = fuzz_string(data, size), *at = line;
	struct words_nearest nearest;
	struct words w;
	int i;

	while (at != NULL && words_split(&w, at, &at) == 0) {
		write_again(&w);
		check_check(&w);
		for (i = 0; i < w.count; i++)
			check_number(w.word[i]);
		if (w.count == 0)
			continue;
		nearest = words_nearest_to(w.word[0], true);
		words_nearest_offer(&nearest, "blacklist");
	}
	free(line);
	line = fuzz_string(data, size);
	check_shown(line);
	free(line);
	line = fuzz_copy(data, size);
	check_printable(line, size);
	free(line);
	return 0;
}
