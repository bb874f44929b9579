/* access.c: names of the access levels. */
#include "config.h"

#include <string.h>

#include "control/access.h"

static const char *const names[ACCESS_LEVELS] = { "look", "operate", "admin" };

const char *
access_name(enum access a)
{
	return names[a];
}

int
access_find(const char *name, enum access *a)
{
	int i;

	for (i = 0; i < ACCESS_LEVELS; i++)
		if (strcmp(names[i], name) == 0) {
			*a = (enum access)i;
			return 0;
		}
	return -1;
}
