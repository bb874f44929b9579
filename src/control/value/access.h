/* access.h: what a control client may do: read, operate, or everything. */
#ifndef PEN_CONTROL_ACCESS_H
#define PEN_CONTROL_ACCESS_H

enum access {
	ACCESS_LOOK,	/* reports and the values of settings */
	ACCESS_OPERATE, /* servers, access lists, connections, reload */
	ACCESS_ADMIN,	/* everything */
};

const char *access_name(enum access a);
/* Returns 0, or -1 when there is no level of that name. */
int access_find(const char *name, enum access *a);

#endif
