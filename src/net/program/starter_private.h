/* starter_private.h: the messages between pen and its starter.
 *
 * A request is one message: its head, the arguments, each with its NUL, then
 * the environment. Descriptors that do not fit come before it, in messages of
 * their own. */
#ifndef PEN_NET_STARTER_PRIVATE_H
#define PEN_NET_STARTER_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "net/program/patterns.h"

/* The environment of a program is some dozens of words. */
enum { STARTER_TEXT_MAX = 64 * 1024, STARTER_STRINGS_MAX = 512 };
/* Descriptors of a message (SCM_MAX_FD is 253). */
enum { STARTER_PASS_MAX = 250 };

enum starter_request {
	STARTER_DESCRIPTORS,
	STARTER_PROGRAM,
	STARTER_SUCCESSOR,
	STARTER_SPARE /* another starter; its end of a socket is passed */
};

struct starter_head {
	uint32_t request;
	uint32_t arguments, words; /* strings that follow */
};

struct starter_answer {
	int32_t pid, errno_value, error;
};

struct starter {
	int fd; /* pen's end, or its own; -1: none */
	int other;
	int spare; /* pen's end to another starter; -1: none */
	const char *path;
	char *const *argv;
	bool tries;
	char *bounds; /* a word of the successor's environment; or NULL */
	struct patterns permitted;
};

#endif
