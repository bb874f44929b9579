/* array.c: grows arrays. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { ROOM_MIN = 4 };

void *
array_lengthen(void *array, uint32_t *room, size_t size, uint32_t number)
{
	uint64_t wanted = *room > 0 ? *room : ROOM_MIN;
	char *grown;

	while (wanted <= number)
		wanted *= 2;
	if (wanted > UINT32_MAX || wanted > SIZE_MAX / size) {
		errno = ENOMEM;
		return NULL;
	}
	grown = realloc(array, (size_t)wanted * size);
	if (grown == NULL)
		return NULL;
	memset(grown + *room * size, 0, ((size_t)wanted - *room) * size);
	*room = (uint32_t)wanted;
	return grown;
}
