/* list.h: doubly linked lists whose links live inside the listed things.
 *
 *     struct list head = LIST_INIT(head);
 *     list_append(&head, &thing->link);
 *     thing = list_entry(list_first(&head), struct thing, link);
 *
 * A list owns nothing. A link that is in no list points at itself, so
 * list_remove() on it is harmless and list_is_empty() on it is true. */
#ifndef PEN_BASE_LIST_H
#define PEN_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *next, *prev;
};

#define LIST_INIT(name)          \
	{                        \
		&(name), &(name) \
	}

#define container_of(ptr, type, member) \
	((type *)(void *)((char *)(ptr)-offsetof(type, member)))
#define list_entry(link, type, member) container_of(link, type, member)

static inline void
list_init(struct list *l)
{
	l->next = l->prev = l;
}

static inline bool
list_is_empty(const struct list *l)
{
	return l->next == l;
}

static inline struct list *
list_first(struct list *head)
{
	return list_is_empty(head) ? NULL : head->next;
}

static inline struct list *
list_last(struct list *head)
{
	return list_is_empty(head) ? NULL : head->prev;
}

/* Puts `link`, which must be in no list, right after `at`. */
static inline void
list_insert_after(struct list *at, struct list *link)
{
	link->prev = at;
	link->next = at->next;
	at->next->prev = link;
	at->next = link;
}

static inline void
list_prepend(struct list *head, struct list *link)
{
	list_insert_after(head, link);
}

static inline void
list_append(struct list *head, struct list *link)
{
	list_insert_after(head->prev, link);
}

static inline void
list_remove(struct list *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
	list_init(link);
}

/* Moves all that is in `from` to the end of `to`. */
static inline void
list_move_all(struct list *to, struct list *from)
{
	struct list *last = from->prev;

	if (list_is_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	last->next = to;
	to->prev = last;
	list_init(from);
}

#endif
