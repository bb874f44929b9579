/* ownroot.h: a machine's files as a test wants them: /etc, /run, /var/log and
 * /usr/local/bin are this process's own, and vanish with it and what it has
 * started. Nobody else sees a change. */
#ifndef PEN_TEST_OWNROOT_H
#define PEN_TEST_OWNROOT_H

/* Makes it so, as root or as root of a user namespace; before there are
 * threads. /etc has what the machine has there, but these files of its own:
 * `hosts`, names by no other means than that, and /etc/pen, which is empty.
 * The other directories are empty; /usr/local/bin comes first in PATH. NULL, or
 * why this machine cannot. */
const char *ownroot_begin(const char *hosts);
/* Writes an executable script. */
void ownroot_script(const char *path, const char *text);

#endif
