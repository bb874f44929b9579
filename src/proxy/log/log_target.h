/* log_target.h: where lines of sessions, or of requests, go: each destination
 * is open once, and all services that have it write there.
 *
 *     sessionlog --n:1-- log_target --1:1-- sink
 *
 * The pen has the list of them, and owns no member: the last use closes. */
#ifndef PEN_PROXY_LOG_TARGET_H
#define PEN_PROXY_LOG_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/list.h"

struct log_format;
struct log_target;
struct loop;
struct session_record;
struct sessionlog_options;
struct sink;

/* Whether the file could be written to, or the socket of a log daemon is there.
 * Returns 0, or -1 with a short message. */
int log_target_check(const struct sessionlog_options *o, struct error *e);

struct log_use {
	struct list link; /* of those of the target */
	struct log_target *target;
	uint64_t *lost; /* the counter for lost lines, the caller's, or NULL */
};

/* Writes to that destination, which is opened unless it is in the list `all`.
 * The use must stay where it is. Returns 0, or -1 with a short message. */
int log_use_open(struct log_use *u, struct list *all, struct loop *l,
    const struct sessionlog_options *o, struct error *e);
/* Closes the use; one that was not opened is fine. */
void log_use_close(struct log_use *u);
/* Lines that the destination loses from now on are counted there, by the first
 * of its uses with a counter: which line was whose is not known by then. */
void log_use_count(struct log_use *u, uint64_t *lost);
/* Whether a line may be written now: the program's own log has ten a second at
 * most, of all services. `now` in ms, as that of the loop. */
bool log_use_has_room(struct log_use *u, uint64_t now);
/* Writes the line; fills in the time. */
void log_use_put(struct log_use *u, const struct log_format *format,
    struct session_record *r);
/* The sink of the target after *at, which is NULL at first, as messages name
 * it; NULL after the last. Those in the program's own log have none. */
struct sink *log_target_next(
    struct list *all, struct list **at, const char **what);

#endif
