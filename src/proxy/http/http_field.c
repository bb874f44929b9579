/* http_field.c: see http_field.h. */
#include "config.h"

#include <string.h>

#include "proxy/http/http_field.h"

/* ---- characters ---- */

/* A bit for each character of ASCII. */
struct set {
	uint64_t low, high;
};

/* !#$%&'*+-.^_`|~ DIGIT ALPHA */
static const struct set token = { 0x03ff6cfa00000000, 0x57ffffffc7fffffe };
/* -._~ !$&'()*+,;= :[]% DIGIT ALPHA (RFC 3986, 3.2.2) */
static const struct set host = { 0x2fff7ff200000000, 0x47fffffeaffffffe };

static bool
is_all_of(struct http_text t, const struct set *s)
{
	size_t i;

	for (i = 0; i < t.length; i++) {
		unsigned char c = (unsigned char)t.at[i];
		uint64_t half = c < 64 ? s->low : c < 128 ? s->high : 0;

		if ((half >> (c & 63) & 1) == 0)
			return false;
	}
	return true;
}

bool
http_is_token(struct http_text t)
{
	return t.length > 0 && is_all_of(t, &token);
}

bool
http_is_host(struct http_text t)
{
	return is_all_of(t, &host);
}

static bool
is_control(char byte)
{
	unsigned char c = (unsigned char)byte;

	return (c < 0x20 && c != '\t') || c == 0x7f;
}

/* Whether one of eight bytes is below 0x20 or is 0x7f. */
static bool
may_have_control(const char *at)
{
	const uint64_t ones = 0x0101010101010101;
	uint64_t bytes, deleted;

	memcpy(&bytes, at, sizeof(bytes));
	deleted = bytes ^ ones * 0x7f;
	return ((((bytes - ones * 0x20) & ~bytes) |
		    ((deleted - ones) & ~deleted)) &
		   ones * 0x80) != 0;
}

bool
http_is_value(struct http_text t)
{
	size_t i = 0, end;

	while (i < t.length) {
		end = t.length;
		if (end - i >= sizeof(uint64_t)) {
			end = i + sizeof(uint64_t);
			if (!may_have_control(t.at + i))
				i = end;
		}
		for (; i < end; i++)
			if (is_control(t.at[i]))
				return false;
	}
	return true;
}

bool
http_is_target(struct http_text t)
{
	unsigned bad = t.length == 0;
	size_t i;

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
		if (i == t.length || lower_of(t.at[i]) != lower[i])
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
	const char *colon = memchr(line.at, ':', line.length);

	if (colon == NULL)
		return false;
	*name = (struct http_text){ line.at, (size_t)(colon - line.at) };
	*value = trimmed((struct http_text){
	    colon + 1, line.length - name->length - 1 });
	return http_is_token(*name) && http_is_value(*value);
}
