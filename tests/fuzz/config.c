/* config.c: configuration files. One that is right is the same when it was
 * printed and read again. */
#include "config.h"

#include <string.h>

#include "fuzz/fuzz.h"
#include "fuzz/plan.h"

/* Whether it may name other files. */
static bool
names_files(const uint8_t *data, size_t size)
{
	return memmem(data, size, "include", 7) != NULL ||
	    memmem(data, size, "file", 4) != NULL;
}

FUZZ(config)
{
	struct buffer printed;
	struct pen *p;

	if (names_files(data, size))
		return 0;
	fuzz_silence_log();
	p = pen_new();
	FUZZ_MUST(p != NULL);
	buffer_init(&printed);
	if (fuzz_load(p, data, size, &printed) == 0)
		fuzz_check_printed(p, &printed);
	buffer_fini(&printed);
	pen_free(p);
	return 0;
}
