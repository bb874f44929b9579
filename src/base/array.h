/* array.h: arrays that grow by doubling, such as a record for each server slot.
 *
 *     struct record *new = array_grow(list, &room, sizeof(*list), number);
 *
 *     if (new == NULL)
 *         return -1;
 *     list = new;
 */
#ifndef PEN_BASE_ARRAY_H
#define PEN_BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/* Grows an array of `*room` records of `size` bytes until it has record
 * `number`, and returns it; it may have moved. Added records are zero. An array
 * that is long enough is returned as it is; NULL with a room of 0 is an empty
 * one. The caller owns the array and frees it with free().
 *
 * Returns NULL with errno ENOMEM if memory is short: the old array and `*room`
 * stay valid. */
static inline void *array_grow(
    void *array, uint32_t *room, size_t size, uint32_t number);

/* The part of array_grow() that is not inline: for arrays that are too
 * short. */
void *array_lengthen(
    void *array, uint32_t *room, size_t size, uint32_t number);

static inline void *
array_grow(void *array, uint32_t *room, size_t size, uint32_t number)
{
	return number < *room ? array
			      : array_lengthen(array, room, size, number);
}

#endif
