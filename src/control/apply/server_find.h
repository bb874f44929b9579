/* server_find.h: the server that a word of a command means: its number, its
 * host name or path, or an address, with a port where that is not enough. */
#ifndef PEN_CONTROL_SERVER_FIND_H
#define PEN_CONTROL_SERVER_FIND_H

#include "base/error.h"

struct call;

/* Finds the one server of c->plan that `word` means, or the number that a new
 * server would have: *number. Returns 0, or -1 with a short message: there is
 * no such server, or there are several, which are listed. */
int server_find(
    const struct call *c, const char *word, unsigned *number, struct error *e);

/* Whether the word can mean a server. Returns 0, or -1 with a short message. */
int server_find_check(const char *word, struct error *e);

/* Calls `visit` with the slot of each regular server that `word` means: that of
 * a number, all of a name or an address, and all addresses of a name that ends
 * with "*", or of its number. Returns 0, or -1 with
 * a short message when the word can mean none. */
int server_find_each(const struct call *c, const char *word,
    void (*visit)(void *arg, unsigned slot), void *arg, struct error *e);

/* The error that there is no server of that number, with the numbers that
 * exist. Returns -1. */
int server_find_refuse(const struct call *c, unsigned number, struct error *e);

#endif
