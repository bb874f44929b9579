/* acl_loads.c: see acl_loads.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "control/socket/acl_loads.h"

/* Files shorter than that are read at once, in a few milliseconds; what is read
 * of others in one turn of the loop, in about one. */
enum { SHORT_FILE = 128 * 1024, LINES_IN_TURN = 1000 };

struct acl_load {
	struct list link;
	struct acl before; /* the list that the file is added to */
	char *path;
	enum acl_verb verb;
	struct acl_reader *reader;
	int result; /* as acl_reader_read() */
	struct error why;
};

static struct acl_load *
acl_loads_of(struct list *link)
{
	return list_entry(link, struct acl_load, link);
}

static void
free_load(struct acl_load *load)
{
	if (load == NULL)
		return;
	acl_reader_free(load->reader);
	acl_fini(&load->before);
	free(load->path);
	free(load);
}

static void
acl_loads_on_turn(struct task *t)
{
	struct acl_loads *l = list_entry(t, struct acl_loads, turn);
	struct acl_load *load = l->reading;

	load->result =
	    acl_reader_read(load->reader, LINES_IN_TURN, &load->why);
	if (load->result == 1) {
		loop_soon(l->loop, &l->turn);
		return;
	}
	l->reading = NULL;
	l->on_done(l);
}

void
acl_loads_init(struct acl_loads *l, void (*on_done)(struct acl_loads *l))
{
	*l = (struct acl_loads){ .turn.run = acl_loads_on_turn,
		.on_done = on_done };
	list_init(&l->all);
	list_init(&l->turn.link);
}

bool
acl_loads_wait(const struct acl_loads *l)
{
	return l->reading != NULL;
}

void
acl_loads_clear(struct acl_loads *l)
{
	struct list *link;

	while ((link = list_first(&l->all)) != NULL) {
		list_remove(link);
		free_load(acl_loads_of(link));
	}
	list_remove(&l->turn.link);
	l->reading = NULL;
}

static struct acl_load *
acl_loads_find(struct acl_loads *l, const struct acl *list, const char *path,
    enum acl_verb verb)
{
	struct list *link;

	for (link = l->all.next; link != &l->all; link = link->next)
		if (acl_loads_of(link)->verb == verb &&
		    strcmp(acl_loads_of(link)->path, path) == 0 &&
		    acl_equal(&acl_loads_of(link)->before, list))
			return acl_loads_of(link);
	return NULL;
}

static enum acl_load_result
acl_loads_begin(struct acl_loads *l, const struct acl *list, const char *path,
    enum acl_verb verb, struct error *e)
{
	struct acl_load *load = calloc(1, sizeof(*load));

	if (load == NULL || (load->path = strdup(path)) == NULL) {
		free_load(load);
		error_set(e, "out of memory");
		return ACL_LOAD_FAILED;
	}
	load->verb = verb;
	acl_copy(&load->before, list);
	load->reader = acl_reader_new(list, path, verb, e);
	if (load->reader == NULL) {
		free_load(load);
		return ACL_LOAD_FAILED;
	}
	list_append(&l->all, &load->link);
	l->reading = load;
	loop_soon(l->loop, &l->turn);
	return ACL_LOAD_WAITS;
}

static bool
acl_loads_is_short(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 || st.st_size < SHORT_FILE;
}

enum acl_load_result
acl_loads_add(struct acl_loads *l, struct acl *list, const char *path,
    enum acl_verb verb, const struct acl *like, struct acl_file_facts *facts,
    struct error *e)
{
	struct acl_load *load;

	if (acl_file_is_unchanged(list, path, verb, like, facts))
		return ACL_LOAD_DONE;
	if (l->reading != NULL) /* one after the other */
		return ACL_LOAD_WAITS;
	load = acl_loads_find(l, list, path, verb);
	if (load == NULL && !acl_loads_is_short(path))
		return acl_loads_begin(l, list, path, verb, e);
	if (load == NULL)
		return acl_add_file(list, path, verb, NULL, facts, e) == 0
		    ? ACL_LOAD_DONE
		    : ACL_LOAD_FAILED;
	if (load->result < 0) {
		*e = load->why;
		return ACL_LOAD_FAILED;
	}
	acl_reader_take(load->reader, list, facts);
	return ACL_LOAD_DONE;
}
