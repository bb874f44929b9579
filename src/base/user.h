/* user.h: numbers of users and groups by name, from /etc/passwd and /etc/group
 * alone: the system's other sources of names (LDAP, NIS) may take long to
 * answer, and while pen serves nothing may block. */
#ifndef PEN_BASE_USER_H
#define PEN_BASE_USER_H

#include <stdint.h>

#include "base/error.h"

#define USERS_FILE "/etc/passwd"
#define GROUPS_FILE "/etc/group"

/* Finds the number of a user or group that is given by number, or by name in a
 * file whose lines are NAME:..:NUMBER:.. Returns 0, or -1 with a full
 * message. */
int user_find(
    const char *path, const char *word, uint32_t *id, struct error *e);

#endif
