/* text.h: strings that a plan owns; NULL: none. */
#ifndef PEN_CONTROL_TEXT_H
#define PEN_CONTROL_TEXT_H

/* Replaces a string; NULL empties it. Returns 0, or -1 with errno ENOMEM. */
int text_set(char **held, const char *text);
/* Gives `text`, a copy of another owner's pointer, a string of its own. Returns
 * 0, or -1 with errno ENOMEM and nothing there. */
int text_own(char **text);
/* Empties it. Returns 0. */
int text_free(char **text);

#endif
