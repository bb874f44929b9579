/* completion.h: completion scripts for shells, made from the command table. */
#ifndef PEN_CONTROL_COMPLETION_H
#define PEN_CONTROL_COMPLETION_H

struct command_group;

/* Prints the script for "bash", "zsh" or "fish", for pen and penctl both, to
 * stdout. Returns 0, or -1 when there is no such shell. */
int completion_print(
    const struct command_group *all, const char *shell);

#endif
