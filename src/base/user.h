/* user.h: numbers of users and groups by name, from /etc/passwd and /etc/group
 * alone: the system's other sources of names (LDAP, NIS) may take long to
 * answer, and while pen serves nothing may block. */
#ifndef PEN_BASE_USER_H
#define PEN_BASE_USER_H

#include <stdint.h>

#include "base/error.h"

/* Finds the number of a user or group that is given by number or name. Returns
 * 0, or -1 with a full message. */
int user_find(const char *word, uint32_t *uid, struct error *e);
int group_find(const char *word, uint32_t *gid, struct error *e);
/* The same in a file whose lines are NAME:..:NUMBER:.. */
int user_find_in(
    const char *path, const char *word, uint32_t *id, struct error *e);

#endif
