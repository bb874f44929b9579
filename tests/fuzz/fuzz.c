/* fuzz.c: see fuzz.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "fuzz/fuzz.h"

enum { PIECES = 64 };

static char path[128];

void
fuzz_fail(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
	abort();
}

uint8_t
fuzz_byte(const uint8_t **data, size_t *size)
{
	if (*size == 0)
		return 0;
	--*size;
	return *(*data)++;
}

size_t
fuzz_step(const uint8_t **data, size_t *size)
{
	size_t step = fuzz_byte(data, size) + 1u, least = *size / PIECES + 1;

	return step > least ? step : least;
}

void *
fuzz_copy(const void *bytes, size_t n)
{
	void *copy = malloc(n > 0 ? n : 1);

	FUZZ_MUST(copy != NULL);
	if (n > 0)
		memcpy(copy, bytes, n);
	return copy;
}

char *
fuzz_string(const void *bytes, size_t n)
{
	char *copy = strndup(n > 0 ? bytes : "", n);

	FUZZ_MUST(copy != NULL);
	return copy;
}

static void
remove_file(void)
{
	(void)unlink(path);
}

const char *
fuzz_file(const void *bytes, size_t n)
{
	static int fd;
	const char *dir = getenv("TMPDIR");

	if (dir == NULL || dir[0] == '\0' || strlen(dir) > 64)
		dir = "/tmp";
	if (path[0] == '\0') {
		snprintf(path, sizeof(path), "%.64s/pen-fuzz-XXXXXX", dir);
		fd = mkstemp(path);
		FUZZ_MUST(fd >= 0 && atexit(remove_file) == 0);
	}
	FUZZ_MUST(
	    ftruncate(fd, 0) == 0 && pwrite(fd, bytes, n, 0) == (ssize_t)n);
	return path;
}

void
fuzz_silence_log(void)
{
	log_open_syslog("/nonexistent", "fuzz");
	log_use_syslog();
}
