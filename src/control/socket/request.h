/* request.h: a line of commands being carried out while the program serves.
 *
 *     request_init() -> request_run() -> REQUEST_DONE
 *                          ^   |
 *                          |   |-> REQUEST_FULL   take the answer, run again
 *                          '---'-> REQUEST_WAITS  on_wake() comes: run again
 *
 * The commands of a line (;) are carried out in order until one is refused.
 * Each changes a draft that is applied as a whole. One that needs names of
 * hosts waits for them and is then done again from its beginning, so that what
 * others changed meanwhile is not lost; so does one that needs a long file of
 * an access list. The answer of some waits for something else, see wait.h. */
#ifndef PEN_CONTROL_REQUEST_H
#define PEN_CONTROL_REQUEST_H

#include "control/answer/wait.h"
#include "control/socket/acl_loads.h"
#include "control/language/command.h"
#include "control/apply/names.h"

enum request_result { REQUEST_DONE, REQUEST_FULL, REQUEST_WAITS };

struct request {
	struct pen *pen;
	struct caller *caller; /* NULL: none; everything is allowed */
	struct reply reply;
	bool failed;
	struct error error; /* why; also in the reply, after "error: " */
	struct errors errors; /* all of a file that it has read */
	/* It waits for names, and is to log nothing again; clear it if what it
	 * reads has changed. */
	bool logged;
	/* Not to be touched from here on. */
	char *line, *next;
	size_t length; /* of the command at `next` */
	char service[SERVICE_NAME_MAX + 1]; /* of the command; "": the first */
	bool prefixed; /* the command itself carries that name */
	struct names names;
	struct acl_loads loads;
	struct wait *wait; /* of the last command; NULL: nothing */
	void (*on_wake)(struct request *q);
};

/* `caller` stays the caller's. */
void request_init(struct request *q, struct pen *p, struct caller *caller,
    void (*on_wake)(struct request *q));
/* Cancels what waits. */
void request_fini(struct request *q);

/* Begins a line, which is copied; the one before is done. Returns 0, or -1
 * without memory: it has failed then. */
int request_begin(struct request *q, const char *line);
/* Goes on. While the answer is REQUEST_FULL, take (some of) reply.out before
 * calling again. */
enum request_result request_run(struct request *q);

#endif
