/* readme.h: the commands that README.md shows: the lines of its blocks for the
 * shell, without comments. */
#ifndef PEN_TEST_README_H
#define PEN_TEST_README_H

#include <stddef.h>

enum { README_MAX = 100 };

struct readme_command {
	const char *typed; /* as it stands, continuation lines included */
	const char *line;  /* the same in one line */
};

struct readme {
	struct readme_command commands[README_MAX];
	size_t n;
};

/* Reads the README.md of the source tree. Texts live until the test ends. */
void readme_read(struct readme *r);
/* The command of that line; NULL: it is not there. */
const struct readme_command *readme_find(
    const struct readme *r, const char *line);
/* A character that some shell would expand where it stands, or '\0'. */
char readme_risky_character(const char *line);

#endif
