/* ask.h: one line to a control socket, and its answer.
 *
 * Every line has a connection of its own: the other side answers and closes.
 * An answer is a refusal if its last line begins with "error: ", or is one of
 * classic Pen's refusals (of close and exit). Everything here blocks, but never
 * longer than the target's timeout without progress. */
#ifndef PEN_TOOLS_ASK_H
#define PEN_TOOLS_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/error.h"
#include "net/resolve/resolve.h"

/* The peer. */
struct target {
	struct resolved at;  /* tried in this order */
	uint64_t timeout_ms; /* for the connection, and for each wait */
};

/* Sets the addresses from HOST:PORT, [V6]:PORT, V6:PORT, :PORT or PORT (of this
 * host), /PATH or @NAME; resolves names. Returns 0, or -1 with a full
 * message. */
int target_parse(struct target *t, const char *text, struct error *e);

/* Whether the word can only be an address: no command looks like it. */
bool target_is_clearly(const char *word);

/* Takes the next bytes of an answer (`n` > 0), not always whole lines; `error`:
 * of lines that begin with "error: ". Returns 0, or -1 to stop. */
typedef int ask_take(void *arg, bool error, const char *bytes, size_t n);
/* One that appends all of them to a buffer, its `arg`. */
ask_take ask_append;

enum ask_status {
	ASK_ANSWERED = 0,
	ASK_REFUSED = 1,
	ASK_NO_ANSWER = 2, /* or only the beginning of one */
	ASK_STOPPED = 3	   /* by `take` */
};

/* Sends the `n` bytes of `line` and a newline, and passes the answer to `take`
 * as it is received. With ASK_NO_ANSWER `e` has the reason. */
enum ask_status ask(const struct target *t, const char *line, size_t n,
    ask_take *take, void *arg, struct error *e);

#endif
