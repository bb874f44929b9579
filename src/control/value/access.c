/* access.c: names of the access levels. */
#include "config.h"

#include "control/value/access.h"
#include "control/value/choices.h"

const char *
access_name(enum access a)
{
	return choice_name(choices_access, (int)a);
}

int
access_find(const char *name, enum access *a)
{
	const struct choice *found = choice_find(choices_access, name);

	if (found == NULL)
		return -1;
	*a = (enum access)found->value;
	return 0;
}
