/* text.c: see text.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "control/value/text.h"

int
text_set(char **held, const char *text)
{
	char *new = NULL;

	if (text != NULL && (new = strdup(text)) == NULL)
		return -1;
	free(*held);
	*held = new;
	return 0;
}

int
text_free(char **text)
{
	free(*text);
	*text = NULL;
	return 0;
}

int
text_own(char **text)
{
	if (*text == NULL)
		return 0;
	*text = strdup(*text);
	return *text != NULL ? 0 : -1;
}
