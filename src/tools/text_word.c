/* text_word.c: see text_word.h. */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tools/text_word.h"

/* A command; what follows the text has room. */
enum { LINE_MAX_LENGTH = 64 * 1024 - 16, PIECE = 4096 };

/* Adds a byte, so that words_split() reads it back. A carriage return becomes a
 * blank, as in pen. */
static int
add_byte(struct buffer *line, char c)
{
	if (c == '\0') {
		errno = EINVAL;
		return -1;
	}
	if ((c == '"' || c == '\\') && buffer_append(line, "\\", 1) < 0)
		return -1;
	c = c == '\n' ? '\r' : c == '\r' ? ' ' : c;
	return buffer_append(line, &c, 1);
}

static int
text_word_explain(struct error *e)
{
	if (errno == EINVAL)
		return error_set(e, "standard input: contains a NUL byte");
	if (errno == E2BIG)
		return error_set(e,
		    "standard input: longer than a command, 64 KiB with a "
		    "backslash before each quote: give pen the file's name");
	return error_set(e, "standard input: %s", strerror(errno));
}

int
text_word_read(struct buffer *line, int fd, struct error *e)
{
	char piece[PIECE];
	ssize_t n = 1, i;
	int rc = buffer_append(line, " \"", 2);

	while (rc == 0 && n > 0) {
		n = read(fd, piece, sizeof(piece));
		rc = n < 0 ? -1 : 0;
		for (i = 0; rc == 0 && i < n; i++)
			rc = add_byte(line, piece[i]);
		if (rc == 0 && buffer_length(line) > LINE_MAX_LENGTH) {
			errno = E2BIG;
			rc = -1;
		}
	}
	if (rc == 0)
		rc = buffer_append(line, "\"", 1);
	return rc == 0 ? 0 : text_word_explain(e);
}
