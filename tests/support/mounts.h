/* mounts.h: directories that only the test and its children see, until it ends.
 * Needs root, and Linux. */
#ifndef PEN_TEST_MOUNTS_H
#define PEN_TEST_MOUNTS_H

#include <stdbool.h>

/* Mounts are the test's own from here on; false where that cannot be. */
bool mounts_private(void);
/* Makes the file `at` a mount of the file `from`. */
bool mounts_file(const char *from, const char *at);
/* An empty file system there, of `size` ("64k"); NULL: of any. */
bool mounts_empty(const char *at, const char *size);
/* The same, and a /dev with null and urandom alone: without a log daemon. */
bool mounts_devices(void);

#endif
