/* http_field.c: see http_field.h. */
#include "config.h"

#include <string.h>

#include "proxy/http/http_field.h"

/* ---- characters ---- */

/* TOKEN: !#$%&'*+-.^_`|~ DIGIT ALPHA (RFC 9110, 5.6.2); HOST, with its port:
 * -._~ !$&'()*+,;= :[]% DIGIT ALPHA (RFC 3986, 3.2.2). */
enum { TOKEN = 1, HOST = 2 };
/* The sets that each byte belongs to, from the blank on: */
/* clang-format off */
static const unsigned char sets[256] = {
	[' '] =
	/*  !"#$%&'()*+,-./ */ 0, 3, 0, 1, 3, 3, 3, 3, 2, 2, 3, 3, 2, 3, 3, 0,
	/* 0123456789:;<=>? */ 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 0, 2, 0, 0,
	/* @ABCDEFGHIJKLMNO */ 0, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
	/* PQRSTUVWXYZ[\]^_ */ 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 0, 2, 1, 3,
	/* `abcdefghijklmno */ 1, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
	/* pqrstuvwxyz{|}~  */ 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 0, 1, 0, 3, 0,
};
/* clang-format on */

/* How many bytes at the beginning of the text are of the set. */
static inline size_t
count_of(struct http_text t, unsigned set)
{
	size_t i = 0;

	while (i < t.length && sets[(unsigned char)t.at[i]] & set)
		i++;
	return i;
}

bool
http_is_token(struct http_text t)
{
	return t.length > 0 && count_of(t, TOKEN) == t.length;
}

bool
http_is_host(struct http_text t)
{
	return count_of(t, HOST) == t.length;
}

/* ---- eight bytes at once ---- */

enum { EIGHT = sizeof(uint64_t) };
static const uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;

/* Whether one of eight bytes is below `least`, at most 0x80. */
static bool
has_below(uint64_t bytes, unsigned char least)
{
	return ((bytes - ones * least) & ~bytes & tops) != 0;
}

static bool
has_byte(uint64_t bytes, unsigned char byte)
{
	return has_below(bytes ^ ones * byte, 1);
}

/* Whether is_odd() is true of any eight bytes of a text, which has at least
 * eight; the last eight may overlap those before. */
static inline bool
has_odd(struct http_text t, bool (*is_odd)(uint64_t bytes))
{
	const char *at = t.at, *last = t.at + t.length - EIGHT;
	bool odd = false;
	uint64_t bytes;

	for (; at < last; at += EIGHT) {
		memcpy(&bytes, at, EIGHT);
		odd |= is_odd(bytes);
	}
	memcpy(&bytes, last, EIGHT);
	return odd || is_odd(bytes);
}

static bool
is_control(char byte)
{
	unsigned char c = (unsigned char)byte;

	return (c < 0x20 && c != '\t') || c == 0x7f;
}

/* Whether one of eight bytes is a control character; here a tab is one, too. */
static bool
has_control(uint64_t bytes)
{
	return has_below(bytes, 0x20) || has_byte(bytes, 0x7f);
}

bool
http_is_value(struct http_text t)
{
	size_t i;

	if (t.length >= EIGHT && !has_odd(t, has_control))
		return true;
	for (i = 0; i < t.length; i++)
		if (is_control(t.at[i]))
			return false;
	return true;
}

static bool
has_no_target(uint64_t bytes)
{
	return (bytes & tops) != 0 || has_below(bytes, 0x21) ||
	    has_byte(bytes, 0x7f) || has_byte(bytes, '#');
}

bool
http_is_target(struct http_text t)
{
	unsigned bad = t.length == 0;
	size_t i;

	if (t.length >= EIGHT)
		return !has_odd(t, has_no_target);
	for (i = 0; i < t.length; i++)
		bad |=
		    (unsigned)((unsigned char)(t.at[i] - 0x21) > 0x7e - 0x21) |
		    (t.at[i] == '#');
	return bad == 0;
}

/* ---- words ---- */

static char
lower_of(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

bool
http_text_begins(struct http_text t, const char *lower)
{
	size_t i;

	for (i = 0; lower[i] != '\0'; i++)
		if (i == t.length ||
		    (t.at[i] != lower[i] && lower_of(t.at[i]) != lower[i]))
			return false;
	return true;
}

bool
http_text_equals(struct http_text a, struct http_text b)
{
	size_t i;

	for (i = 0; i < a.length && i < b.length; i++)
		if (lower_of(a.at[i]) != lower_of(b.at[i]))
			return false;
	return a.length == b.length;
}

static bool
is_alphanumeric(char c)
{
	c = lower_of(c);
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
}

char
http_lower_like(char c)
{
	return is_alphanumeric(c) ? lower_of(c) : '-';
}

bool
http_text_is_like(struct http_text t, const char *lower)
{
	size_t i;

	if (t.length != strlen(lower))
		return false;
	for (i = 0; i < t.length; i++)
		if (lower_of(t.at[i]) != lower[i] &&
		    (lower[i] != '-' || is_alphanumeric(t.at[i])))
			return false;
	return true;
}

int
http_length_parse(struct http_text t, uint64_t *length)
{
	uint64_t n = 0;
	size_t i;

	if (t.length == 0)
		return -1;
	for (i = 0; i < t.length; i++) {
		unsigned char digit = (unsigned char)(t.at[i] - '0');

		if (digit > 9 || n > ((uint64_t)INT64_MAX - digit) / 10)
			return -1;
		n = n * 10 + digit;
	}
	*length = n;
	return 0;
}

static bool
http_field_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct http_text
trimmed(struct http_text t)
{
	while (t.length > 0 && http_field_is_blank(t.at[0])) {
		t.at++;
		t.length--;
	}
	while (t.length > 0 && http_field_is_blank(t.at[t.length - 1]))
		t.length--;
	return t;
}

bool
http_list_next(struct http_text *list, struct http_text *element)
{
	while (list->length > 0) {
		const char *comma = memchr(list->at, ',', list->length);
		size_t n =
		    comma != NULL ? (size_t)(comma - list->at) : list->length;

		*element = trimmed((struct http_text){ list->at, n });
		n += comma != NULL;
		list->at += n;
		list->length -= n;
		if (element->length > 0)
			return true;
	}
	return false;
}

int
http_lengths_parse(struct http_text list, bool known, uint64_t *length)
{
	struct http_text one;
	bool any = false;
	uint64_t n;

	for (; http_list_next(&list, &one); any = known = true) {
		if (http_length_parse(one, &n) < 0 || (known && n != *length))
			return -1;
		*length = n;
	}
	return any ? 0 : -1;
}

bool
http_is_chunked(struct http_text codings, bool before)
{
	struct http_text one;

	while (http_list_next(&codings, &one))
		before = http_text_is(one, "chunked");
	return before;
}

struct http_text
http_section_next(struct http_text *section)
{
	struct http_text line = *section;
	const char *feed = memchr(line.at, '\n', line.length);
	size_t taken = line.length;

	if (feed != NULL) {
		line.length = (size_t)(feed - line.at);
		taken = line.length + 1;
		if (line.length > 0 && feed[-1] == '\r')
			line.length--;
	}
	section->at += taken;
	section->length -= taken;
	return line;
}

bool
http_field_split(
    struct http_text line, struct http_text *name, struct http_text *value)
{
	size_t n = count_of(line, TOKEN);

	if (n == 0 || n == line.length || line.at[n] != ':')
		return false;
	*name = (struct http_text){ line.at, n };
	*value =
	    trimmed((struct http_text){ line.at + n + 1, line.length - n - 1 });
	return http_is_value(*value);
}
