/* inherit.c: listening sockets and their descriptors from the environment. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/number.h"
#include "control/upgrade/inherit.h"

/* The first descriptor that systemd passes (SD_LISTEN_FDS_START), and how many
 * there may be. */
enum { FIRST = 3, SOCKETS_MAX = 1024 };

/* How many descriptors are passed to this process. */
static unsigned
count_of_systemd(void)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	uint64_t owner, count;

	if (pid == NULL || fds == NULL ||
	    number_parse(pid, 1, INT32_MAX, &owner) < 0 ||
	    owner != (uint64_t)getpid() ||
	    number_parse(fds, 0, SOCKETS_MAX, &count) < 0)
		return 0;
	return (unsigned)count;
}

/* systemd's names, separated by colons, are for messages alone. Returns the
 * length of the first one. */
static int
name_length(const char *names)
{
	return (int)strcspn(names, ":");
}

void
inherit_sockets(struct inherited *in)
{
	unsigned i, count = count_of_systemd();
	const char *names = getenv("LISTEN_FDNAMES");
	struct error e;
	int n;

	if (names == NULL)
		names = "";
	for (i = 0; i < count; i++) {
		n = name_length(names);
		if (inherited_add(in, (int)(FIRST + i), false, &e) < 0) {
			log_warn("inherited descriptor closed fd=%u name=%.*s "
				 "error=\"%s\"",
			    FIRST + i, n, names, e.text);
			close((int)(FIRST + i));
		}
		names += n + (names[n] == ':');
	}
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	unsetenv("LISTEN_PIDFDID");
}
