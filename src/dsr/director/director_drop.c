/* director_drop.c: what goes no further, by reason. */
#include "config.h"

#include "dsr/director/director_private.h"

const char *
director_drop_name(enum director_drop why)
{
	static const char *const names[DIRECTOR_DROPS] = {
		[DIRECTOR_BAD] = "bad",
		[DIRECTOR_OTHER] = "other",
		[DIRECTOR_NO_SERVER] = "no_server",
		[DIRECTOR_NEIGHBOR] = "neighbor",
		[DIRECTOR_FRAGMENT] = "fragment",
		[DIRECTOR_SEND] = "send",
	};

	return names[why];
}

void
director_lose(struct director *d, enum director_drop why, size_t bytes)
{
	tally_add(&d->stats.dropped[why], 1, bytes);
}
