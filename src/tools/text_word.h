/* text_word.h: a file as a word of a command. */
#ifndef PEN_TOOLS_TEXT_WORD_H
#define PEN_TOOLS_TEXT_WORD_H

#include "base/buffer.h"
#include "base/error.h"

/* Appends all that the descriptor gives until its end to a command: a blank and
 * a word in quotes, in which a carriage return stands for the end of a line.
 * Blocks. Returns 0, or -1 with a full message: also if the command would be
 * longer than pen reads. */
int text_word_read(struct buffer *line, int fd, struct error *e);

#endif
