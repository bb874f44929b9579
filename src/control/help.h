/* help.h: --help and --version, made from the command table. */
#ifndef PEN_CONTROL_HELP_H
#define PEN_CONTROL_HELP_H

void help_print(void);
/* Version, libraries and features. */
void help_print_version(void);

#endif
