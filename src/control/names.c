/* names.c: names to addresses, for plans; owns the queries. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "control/names.h"

void
names_init(struct names *n)
{
	list_init(&n->all);
	n->missing = 0;
	n->on_all = NULL;
}

void
names_forget(struct names *n)
{
	struct list *link;

	while ((link = list_first(&n->all)) != NULL) {
		struct name *one = list_entry(link, struct name, link);

		list_remove(link);
		query_cancel(&one->query);
		free(one->host);
		free(one);
	}
	n->missing = 0;
}

void
names_fini(struct names *n)
{
	names_forget(n);
}

static struct name *
find(const struct names *n, const char *host)
{
	struct list *link;

	for (link = n->all.next; link != &n->all; link = link->next) {
		struct name *one = list_entry(link, struct name, link);

		if (strcmp(one->host, host) == 0)
			return one;
	}
	return NULL;
}

int
names_want(struct names *n, const char *host)
{
	struct name *one;

	if (find(n, host) != NULL)
		return 0;
	one = calloc(1, sizeof(*one));
	if (one == NULL || (one->host = strdup(host)) == NULL) {
		free(one);
		return -1;
	}
	one->names = n;
	query_init(&one->query);
	list_append(&n->all, &one->link);
	n->missing++;
	return 0;
}

const struct name *
names_find(const struct names *n, const char *host)
{
	const struct name *one = find(n, host);

	return one != NULL && one->done ? one : NULL;
}

void
names_look_up_now(struct names *n)
{
	struct list *link;

	for (link = n->all.next; link != &n->all; link = link->next) {
		struct name *one = list_entry(link, struct name, link);

		if (one->done)
			continue;
		one->query.failed =
		    resolve_host(one->host, 0, RESOLVE_NAMES,
			&one->query.result, &one->query.error) < 0;
		one->done = true;
	}
	n->missing = 0;
}

static void
on_done(struct query *q)
{
	struct name *one = list_entry(q, struct name, query);
	struct names *n = one->names;

	one->done = true;
	if (--n->missing == 0)
		n->on_all(n);
}

void
names_look_up(
    struct names *n, struct resolver *r, void (*on_all)(struct names *n))
{
	struct list *link;

	n->on_all = on_all;
	for (link = n->all.next; link != &n->all; link = link->next) {
		struct name *one = list_entry(link, struct name, link);

		if (one->done)
			continue;
		one->query.on_done = on_done;
		resolver_ask(r, &one->query, one->host, 0);
	}
}
