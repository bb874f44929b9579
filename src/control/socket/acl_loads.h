/* acl_loads.h: long files of access lists that a command needs, which are read
 * while traffic goes on.
 *
 *     command --> acl_loads_add(): ACL_LOAD_WAITS, its draft is given up
 *                      |
 *                 some lines in each turn of the loop, on_done()
 *                      |
 *     the command again --> acl_loads_add(): ACL_LOAD_DONE, in no time
 *
 * They belong to the request that carries the command out. */
#ifndef PEN_CONTROL_ACL_LOADS_H
#define PEN_CONTROL_ACL_LOADS_H

#include "base/list.h"
#include "net/loop/loop.h"
#include "pool/acl/acl.h"

struct acl_load;

struct acl_loads {
	struct loop *loop;
	struct list all;	  /* of struct acl_load */
	struct acl_load *reading; /* NULL: none */
	struct task turn;
	void (*on_done)(struct acl_loads *l);
};

enum acl_load_result { ACL_LOAD_FAILED = -1, ACL_LOAD_DONE, ACL_LOAD_WAITS };

void acl_loads_init(
    struct acl_loads *l, void (*on_done)(struct acl_loads *l));
/* As acl_add_file(), or begins to read the file: then on_done() comes, and the
 * same call gives the result. */
enum acl_load_result acl_loads_add(struct acl_loads *l, struct acl *list,
    const char *path, enum acl_verb verb, const struct acl *like,
    struct acl_file_facts *facts, struct error *e);
/* Whether a file is being read. */
bool acl_loads_wait(const struct acl_loads *l);
/* Gives up what has been read, and what is. */
void acl_loads_clear(struct acl_loads *l);

#endif
