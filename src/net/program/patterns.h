/* patterns.h: programs with the arguments that they may have.
 *
 * In an argument {address} and {port} stand for at most 128 letters, digits and
 * ".:/_%@+,=-"; an argument that begins with one of them does not begin with
 * "-", which could be an option. */
#ifndef PEN_NET_PATTERNS_H
#define PEN_NET_PATTERNS_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: none. */
struct patterns {
	char ***list; /* owned */
	uint32_t count, room;
};

/* Copies a program and its arguments, unless it is there. Returns 0, or -1 with
 * errno ENOMEM. */
int patterns_add(struct patterns *p, char *const *argv);
void patterns_fini(struct patterns *p);
/* Whether one of them is a program of that path. */
bool patterns_name(const struct patterns *p, const char *path);
/* Whether one of them fits. */
bool patterns_fit(const struct patterns *p, char *const *argv);

#endif
