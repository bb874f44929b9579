/* check_text.c: see check_text.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "proxy/check/check_text.h"

/* ---- reading ---- */

/* Reads what follows a backslash. Returns how many characters that is, or 0. */
static size_t
read_escape(const char *at, char *byte)
{
	static const char names[] = "rnt\\\"", bytes[] = "\r\n\t\\\"";
	const char *name = *at != '\0' ? strchr(names, *at) : NULL;

	if (name != NULL) {
		*byte = bytes[name - names];
		return 1;
	}
	if (*at != 'x' || number_hex_digit(at[1]) < 0 ||
	    number_hex_digit(at[2]) < 0)
		return 0;
	*byte = (char)(number_hex_digit(at[1]) << 4 | number_hex_digit(at[2]));
	return 3;
}

/* Returns the number of bytes, or 0 with a short message. */
static size_t
read_bytes(char *bytes, const char *word, struct error *e)
{
	size_t n = 0, used;

	for (; *word != '\0'; n++) {
		if (*word != '\\') {
			bytes[n] = *word++;
			continue;
		}
		used = read_escape(word + 1, &bytes[n]);
		if (used == 0) {
			error_set(e,
			    "\"%.20s\": expects \\r, \\n, \\t, \\\\, \\\" or "
			    "\\xHH",
			    word);
			return 0;
		}
		word += 1 + used;
	}
	if (n == 0)
		error_set(e, "the text is empty");
	return n;
}

int
check_text_parse(struct check_text *t, const char *word, struct error *e)
{
	size_t n = strlen(word);

	if (n > CHECK_TEXT_MAX)
		return error_set(
		    e, "the text is longer than %d characters", CHECK_TEXT_MAX);
	t->bytes = malloc(n + 1);
	t->restart = calloc(n + 1, sizeof(*t->restart));
	if (t->bytes == NULL || t->restart == NULL)
		error_set(e, "out of memory");
	else if ((t->length = read_bytes(t->bytes, word, e)) > 0) {
		size_t i, k = 0;

		/* restart[i]: the longest proper beginning of the text that its
		 * first i + 1 bytes end with. */
		for (i = 1; i < t->length; i++) {
			while (k > 0 && t->bytes[k] != t->bytes[i])
				k = t->restart[k - 1];
			k += t->bytes[k] == t->bytes[i];
			t->restart[i] = (uint16_t)k;
		}
	}
	if (t->length > 0)
		return 0;
	check_text_fini(t);
	return -1;
}

void
check_text_fini(struct check_text *t)
{
	free(t->bytes);
	free(t->restart);
	*t = (struct check_text){ .length = 0 };
}

/* ---- finding ---- */

size_t
check_text_find(
    const struct check_text *t, size_t matched, const char *bytes, size_t n)
{
	size_t i;

	for (i = 0; i < n && matched < t->length; i++) {
		while (matched > 0 && t->bytes[matched] != bytes[i])
			matched = t->restart[matched - 1];
		matched += t->bytes[matched] == bytes[i];
	}
	return matched;
}
