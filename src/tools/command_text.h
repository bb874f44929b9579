/* command_text.h: lines of commands, made from words. Each function returns 0,
 * or -1 when memory is out. */
#ifndef PEN_TOOLS_COMMAND_TEXT_H
#define PEN_TOOLS_COMMAND_TEXT_H

#include "base/buffer.h"

/* Appends a word as pen reads it back: quoted if it has to be. */
int command_text_add(struct buffer *line, const char *word);
/* The words of the command line, which end with NULL, as one line, ended by a
 * NUL. One alone may be a whole line, as for ssh. */
int command_text_join(struct buffer *line, char **words);
/* `text` with the word `json` in each command. What cannot be cut into words is
 * left to pen, which refuses it. */
int command_text_json(struct buffer *line, const char *text);

#endif
