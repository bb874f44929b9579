/* words.c: words, quotes, comments; strings. */
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"

static const char blanks[] = " \t\r\n";

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Copies one word from *from to *to, without its quotes. Returns 0, or -1 when
 * missing closing quote. */
static int
words_take(char **from, char **to)
{
	char quote = '\0', *f = *from, *t = *to;

	for (; *f != '\0'; f++) {
		if (*f == '\n' ||
		    (quote == '\0' && (*f == ';' || is_blank(*f))))
			break;
		if (quote == '\0' && (*f == '"' || *f == '\'')) {
			quote = *f;
		} else if (*f == quote) {
			quote = '\0';
		} else {
			if (quote == '"' && *f == '\\' &&
			    (f[1] == '"' || f[1] == '\\'))
				f++;
			*t++ = *f;
		}
	}
	*from = f;
	*to = t;
	return quote == '\0' ? 0 : -1;
}

int
words_split(struct words *w, char *line, char **rest)
{
	char *from = line, *to, end = '\0';

	w->count = 0;
	*rest = NULL;
	while (end != ';') {
		from += strspn(from, blanks);
		w->end = from;
		end = *from;
		if (end == '\0' || end == '#')
			break;
		if (end == ';') {
			from++;
			break;
		}
		if (w->count == WORDS_MAX) {
			errno = E2BIG;
			return -1;
		}
		w->word[w->count++] = to = from;
		if (words_take(&from, &to) < 0) {
			errno = EINVAL;
			return -1;
		}
		end = *from;
		w->end = from;
		if (end != '\0')
			from++;
		*to = '\0';
	}
	if (end == ';')
		*rest = from;
	w->word[w->count] = NULL;
	return 0;
}

size_t
text_bom(const char *text)
{
	static const char bom[] = "\xef\xbb\xbf";

	return strncmp(text, bom, strlen(bom)) == 0 ? strlen(bom) : 0;
}

bool
text_equal(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* The bytes of the character there; 0: it is none. */
static size_t
utf8_length(const unsigned char *c, size_t n)
{
	size_t i, length = c[0] < 0x80 ? 1
	    : c[0] < 0xc2	       ? 0
	    : c[0] < 0xe0	       ? 2
	    : c[0] < 0xf0	       ? 3
	    : c[0] < 0xf5	       ? 4
				       : 0;

	if (length > n)
		return 0;
	for (i = 1; i < length; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	/* longer than necessary, surrogates, beyond Unicode */
	if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) ||
	    (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] > 0x8f))
		return 0;
	return length;
}

bool
text_is_utf8(const char *text, size_t n)
{
	size_t i, length;

	for (i = 0; i < n; i += length) {
		length = utf8_length((const unsigned char *)text + i, n - i);
		if (length == 0)
			return false;
	}
	return true;
}

void
text_make_printable(char *text, size_t n)
{
	size_t i, length;
	unsigned char c;

	for (i = 0; i < n; i += length > 0 ? length : 1) {
		c = (unsigned char)text[i];
		length = utf8_length((const unsigned char *)text + i, n - i);
		if ((c < ' ' && c != '\t') || c == 0x7f || length == 0)
			text[i] = '?';
		else if (c == 0xc2 && (unsigned char)text[i + 1] < 0xa0)
			text[i] = text[i + 1] = '?';
	}
}

/* White_Space and Default_Ignorable_Code_Point of Unicode 15 beyond ASCII, but
 * not variation selectors, which shape the character before. */
static bool
is_invisible(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = { { 0xa0, 0xa0 }, { 0xad, 0xad }, { 0x34f, 0x34f },
		{ 0x61c, 0x61c }, { 0x115f, 0x1160 }, { 0x1680, 0x1680 },
		{ 0x17b4, 0x17b5 }, { 0x180b, 0x180f }, { 0x2000, 0x200f },
		{ 0x2028, 0x202f }, { 0x205f, 0x206f }, { 0x2800, 0x2800 },
		{ 0x3000, 0x3000 }, { 0x3164, 0x3164 }, { 0xfeff, 0xfeff },
		{ 0xffa0, 0xffa0 }, { 0xfff0, 0xfffb }, { 0xe0000, 0xe0fff } };
	size_t i;

	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

/* The number of a character of that many bytes. */
static uint32_t
utf8_number(const unsigned char *c, size_t length)
{
	uint32_t n = length == 1 ? c[0] : c[0] & (0xffu >> (length + 1));
	size_t i;

	for (i = 1; i < length; i++)
		n = n << 6 | (c[i] & 0x3fu);
	return n;
}

void
text_show(char *text, size_t size)
{
	size_t i, length, all = strlen(text), n;
	char name[16];
	uint32_t c;

	text_make_printable(text, all);
	for (i = 0; i < all; i += length) {
		length = utf8_length((const unsigned char *)text + i, all - i);
		if (length == 0) { /* the end was cut */
			text[i] = '\0';
			return;
		}
		c = utf8_number((const unsigned char *)text + i, length);
		if (!is_invisible(c))
			continue;
		n = (size_t)snprintf(
		    name, sizeof(name), "<U+%04X>", (unsigned)c);
		if (all - length + n >= size) { /* the end makes room */
			all = i + n < size ? size - 1 - n + length : i;
			text[all] = '\0';
		}
		if (all == i)
			return;
		memmove(text + i + n, text + i + length, all - i - length + 1);
		memcpy(text + i, name, n);
		all += n - length;
		length = n;
	}
}

/* Files have variables outside of single quotes. */
static bool
is_variable(const char *word)
{
	return word[0] == '$' && word[1] == '{';
}

static int
append_single(struct buffer *out, const char *word)
{
	size_t n = strlen(word);

	if (buffer_reserve(out, n + 2) == NULL)
		return -1;
	(void)buffer_append(out, "'", 1);
	(void)buffer_append(out, word, n);
	return buffer_append(out, "'", 1);
}

int
words_append(struct buffer *out, const char *word)
{
	bool quote = word[0] == '\0' || word[0] == '#' ||
	    strpbrk(word, " \t\r\n\"'\\;") != NULL;

	if (strstr(word, "${") != NULL && strchr(word, '\'') == NULL)
		return append_single(out, word);
	if (!quote)
		return buffer_append(out, word, strlen(word));
	if (buffer_reserve(out, 5 * strlen(word) + 2) == NULL)
		return -1;
	(void)buffer_append(out, "\"", 1);
	for (; *word != '\0'; word++) {
		if (is_variable(word)) {
			(void)buffer_append(out, "\"'$'\"", 5);
			continue;
		}
		if (*word == '"' || *word == '\\')
			(void)buffer_append(out, "\\", 1);
		(void)buffer_append(out, word, 1);
	}
	return buffer_append(out, "\"", 1);
}

enum { COMPARED_MAX = 40, FAR = 1000 };

/* Letters to change, add or leave out to get from one word to the other
 * (Levenshtein); FAR when one of them is longer than 40. */
static unsigned
distance(const char *a, const char *b)
{
	unsigned row[COMPARED_MAX + 1], i, k, n = (unsigned)strlen(b);

	if (strlen(a) > COMPARED_MAX || n > COMPARED_MAX)
		return FAR;
	for (k = 0; k <= n; k++)
		row[k] = k;
	for (i = 0; a[i] != '\0'; i++) {
		unsigned diagonal = row[0];

		row[0] = i + 1;
		for (k = 0; k < n; k++) {
			unsigned best = diagonal + (a[i] != b[k]);

			diagonal = row[k + 1];
			if (diagonal + 1 < best)
				best = diagonal + 1;
			if (row[k] + 1 < best)
				best = row[k] + 1;
			row[k + 1] = best;
		}
	}
	return row[n];
}

struct words_nearest
words_nearest_to(const char *typed, bool strict)
{
	return (struct words_nearest){ .typed = typed,
		.distance = strict && strlen(typed) < 5 ? 2 : WORDS_TYPO };
}

void
words_nearest_offer(struct words_nearest *n, const char *name)
{
	unsigned d = distance(n->typed, name);

	if (d >= n->distance)
		return;
	n->distance = d;
	n->best = name;
}

/* ---- owned strings ---- */

int
text_set(char **held, const char *text)
{
	char *new = NULL;

	if (text != NULL && (new = strdup(text)) == NULL)
		return -1;
	free(*held);
	*held = new;
	return 0;
}

int
text_free(char **text)
{
	free(*text);
	*text = NULL;
	return 0;
}

int
text_own(char **text)
{
	if (*text == NULL)
		return 0;
	*text = strdup(*text);
	return *text != NULL ? 0 : -1;
}
