/* predecessor.c: see predecessor.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/life/predecessor.h"
#include "dsr/director/director.h"

struct predecessor_link {
	char interface[16], kind[16];
	int fd[DIRECTOR_FDS_MAX];
	struct link_past past; /* points to the two above */
	struct predecessor_link *next;
};

void
predecessor_init(struct predecessor *t)
{
	*t = (struct predecessor){ .fd = -1, .error_fd = -1, .blame_fd = -1 };
}

struct link_past *
predecessor_add_link(
    struct predecessor *t, const char *interface, const char *kind)
{
	struct predecessor_link *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return NULL;
	snprintf(l->interface, sizeof(l->interface), "%s", interface);
	snprintf(l->kind, sizeof(l->kind), "%s", kind);
	l->past = (struct link_past){ .kind = l->kind, .fd = l->fd };
	l->next = t->links;
	t->links = l;
	return &l->past;
}

struct link_past *
predecessor_link(const struct predecessor *t, const char *interface)
{
	struct predecessor_link *l = t->links;

	while (l != NULL && strcmp(l->interface, interface) != 0)
		l = l->next;
	return l != NULL ? &l->past : NULL;
}

static void
free_links(struct predecessor_link *l)
{
	struct predecessor_link *next;
	unsigned i;

	for (; l != NULL; l = next) {
		next = l->next;
		for (i = 0; i < l->past.count; i++)
			if (l->fd[i] >= 0)
				close(l->fd[i]);
		free(l);
	}
}

void
predecessor_fini(struct predecessor *t)
{
	free_links(t->links);
	if (t->fd >= 0)
		close(t->fd);
	if (t->error_fd >= 0)
		close(t->error_fd);
	if (t->blame_fd >= 0)
		close(t->blame_fd);
	passed_drop(&t->sockets);
	predecessor_init(t);
}
