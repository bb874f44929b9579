/* http_identity.c: see http_identity.h. */
#include "config.h"

#include <string.h>

#include "proxy/http/http_identity.h"
#include "proxy/http/http_request.h"

/* ---- the name ---- */

bool
http_identity_name_is_valid(const char *name)
{
	static const char *const others[] = { "keep-alive", "proxy-connection",
		"te", "trailer" };
	struct http_text t = { name, strlen(name) };
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (http_text_is_like(t, others[i]))
			return false;
	return t.length < HTTP_IDENTITY_NAME && http_is_token(t) &&
	    !http_field_is_known(t);
}

void
http_identities_set(struct http_identities *all, const char *name)
{
	size_t i;

	memset(all->name, 0, sizeof(all->name));
	memset(all->like, 0, sizeof(all->like));
	for (i = 0; i < sizeof(all->name) - 1 && name[i] != '\0'; i++) {
		all->name[i] = name[i];
		all->like[i] = http_lower_like(name[i]);
	}
	all->length = i;
}

/* ---- in a section ---- */

/* The section was read strictly: each line is a field, or the request. */
bool
http_identity_is_line(const struct http_identity *id, struct http_text line)
{
	size_t n = id->all->length;

	return n > 0 && line.length > n && line.at[n] == ':' &&
	    http_text_is_like((struct http_text){ line.at, n }, id->all->like);
}

bool
http_identity_is_in(const struct http_identity *id, struct http_text section)
{
	while (section.length > 0)
		if (http_identity_is_line(id, http_section_next(&section)))
			return true;
	return false;
}

/* ---- the value ---- */

/* Whether the client's identifier is taken over: it goes to logs, and to
 * servers that may use it unchecked. */
static bool
is_taken(struct http_text value)
{
	size_t i;

	for (i = 0; i < value.length; i++)
		if (value.at[i] <= ' ' || value.at[i] > '~' ||
		    value.at[i] == '"' || value.at[i] == '\\')
			return false;
	return value.length > 0 && value.length <= HTTP_IDENTITY_MAX;
}

static void
put_digits(char *to, uint64_t n)
{
	static const char digits[] = "0123456789abcdef";
	int i;

	for (i = 15; i >= 0; i--, n >>= 4)
		to[i] = digits[n & 15];
}

static void
make_id(struct http_identity *id)
{
	put_digits(id->text, id->all->high);
	put_digits(id->text + 16, id->all->next++);
	id->length = 32;
}

/* The one line that names it is kept if it is valid. */
void
http_identity_find(struct http_identity *id, struct http_text section)
{
	struct http_text line, name, value, kept = { NULL, 0 };
	unsigned found = 0;

	id->length = 0;
	id->kept = id->drops = false;
	if (id->all->length == 0)
		return;
	while (section.length > 0) {
		line = http_section_next(&section);
		if (!http_identity_is_line(id, line))
			continue;
		found++;
		if (http_field_split(line, &name, &value) &&
		    http_text_equals(name,
			(struct http_text){ id->all->name, id->all->length }))
			kept = value;
	}
	id->kept = id->trusted && found == 1 && is_taken(kept);
	id->drops = found > 0 && !id->kept;
	if (!id->kept) {
		make_id(id);
		return;
	}
	memcpy(id->text, kept.at, kept.length);
	id->length = kept.length;
}

size_t
http_identity_line(
    const struct http_identity *id, char line[HTTP_IDENTITY_LINE])
{
	size_t n = id->all->length;

	if (id->length == 0 || id->kept)
		return 0;
	memcpy(line, id->all->name, n);
	memcpy(line + n, ": ", 2);
	memcpy(line + n + 2, id->text, id->length);
	memcpy(line + n + 2 + id->length, "\r\n", 2);
	return n + id->length + 4;
}
