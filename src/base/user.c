/* user.c: see user.h. */
#include "config.h"

#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "base/user.h"

enum { USERS_FILE_MAX = 16 * 1024 * 1024 };

/* The third field of a line that begins with "NAME:". */
static int
parse_line(const char *line, const char *end, size_t name, uint32_t *id)
{
	const char *from = memchr(line + name + 1, ':',
	    (size_t)(end - line) - name - 1);
	char digits[16];
	uint64_t n;
	size_t i = 0;

	if (from == NULL)
		return -1;
	for (from++; from < end && *from != ':' && i < sizeof(digits) - 1;)
		digits[i++] = *from++;
	digits[i] = '\0';
	if (number_parse(digits, 0, UINT32_MAX, &n) < 0)
		return -1;
	*id = (uint32_t)n;
	return 0;
}

static int
find_line(const struct buffer *text, const char *name, uint32_t *id)
{
	size_t left = buffer_length(text), n = strlen(name);
	const char *line = buffer_bytes(text), *end;

	while (left > 0) {
		end = memchr(line, '\n', left);
		if (end == NULL)
			end = line + left;
		if ((size_t)(end - line) > n && line[n] == ':' &&
		    memcmp(line, name, n) == 0)
			return parse_line(line, end, n, id);
		left -= (size_t)(end - line);
		line = end;
		if (left > 0) {
			line++;
			left--;
		}
	}
	return -1;
}

int
user_find(const char *path, const char *word, uint32_t *id, struct error *e)
{
	struct buffer text;
	struct error why;
	uint64_t n;
	int rc;

	if (number_parse(word, 0, UINT32_MAX, &n) == 0) {
		*id = (uint32_t)n;
		return 0;
	}
	buffer_init(&text);
	rc = file_read(path, USERS_FILE_MAX, false, &text, &why);
	if (rc < 0)
		error_set(e, "\"%.100s\": %.200s", path, why.text);
	else if ((rc = find_line(&text, word, id)) < 0)
		error_set(e, "\"%.100s\" is not a number, nor a name of %s",
		    word, path);
	buffer_fini(&text);
	return rc;
}
