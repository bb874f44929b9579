/* command_text.c: see command_text.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "tools/command_text.h"

int
command_text_add(struct buffer *line, const char *word)
{
	bool quote = word[0] == '\0' || strpbrk(word, " \t\r\"'#\\;") != NULL;

	if (buffer_length(line) > 0 && buffer_append(line, " ", 1) < 0)
		return -1;
	if (quote && buffer_append(line, "\"", 1) < 0)
		return -1;
	for (; *word != '\0'; word++)
		if ((quote && (*word == '"' || *word == '\\') &&
			buffer_append(line, "\\", 1) < 0) ||
		    buffer_append(line, word, 1) < 0)
			return -1;
	return quote ? buffer_append(line, "\"", 1) : 0;
}

/* `json` goes after the last word of each command, not into a comment. */
static int
add_json(struct buffer *line, char *text)
{
	struct words w;
	int rc = 0, i;

	while (rc == 0 && text != NULL) {
		if (words_split(&w, text, &text) < 0)
			return 1;
		for (i = 0; rc == 0 && i < w.count; i++)
			rc = command_text_add(line, w.word[i]);
		if (rc == 0 && w.count > 0)
			rc = command_text_add(line, "json");
		if (rc == 0 && text != NULL)
			rc = buffer_append(line, ";", 1);
	}
	return rc;
}

int
command_text_json(struct buffer *line, const char *text)
{
	char *copy = strdup(text);
	int rc = copy != NULL ? add_json(line, copy) : -1;

	if (rc > 0) {
		buffer_cut(line, 0);
		rc = buffer_append(line, text, strlen(text));
		if (rc == 0)
			rc = command_text_add(line, "json");
	}
	free(copy);
	return rc;
}

int
command_text_join(struct buffer *line, char **words)
{
	int rc = 0, i;

	for (i = 0; rc == 0 && words[i] != NULL; i++)
		rc = i == 0 && words[1] == NULL && words[0][0] != '\0'
		    ? buffer_append(line, words[0], strlen(words[0]))
		    : strcmp(words[i], ";") == 0
		    ? buffer_append(line, ";", 1)
		    : command_text_add(line, words[i]);
	return rc == 0 ? buffer_append(line, "", 1) : -1;
}
