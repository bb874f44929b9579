/* classic.c: see classic.h. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/classic.h"
#include "support/suite.h"
#include "support/wait.h"

static const char classic_path[] = "/usr/bin/pen";

/* It does not say its version itself; the package does. */
bool
classic_is_there(void)
{
	struct child c;
	const char *argv[] = { "dpkg-query", "-W", "-f", "${Version}", "pen",
		NULL };

	if (access(classic_path, X_OK) != 0 || child_find(argv[0]) == NULL)
		return false;
	child_start(&c, argv);
	child_wait(&c, 10000);
	return strncmp(child_out(&c), "0.34.1", 6) == 0;
}

static void
add_all(const char *argv[], int *n, const char *const words[])
{
	while (*words != NULL)
		argv[(*n)++] = *words++;
}

/* argv has n words already. */
static void
start(struct twin *t, const char *argv[], int n, const char *const options[],
    const char *const servers[])
{
	add_all(argv, &n, options);
	argv[n++] = "-C";
	argv[n++] = t->ctl.text;
	argv[n++] = t->front.text;
	add_all(argv, &n, servers);
	argv[n] = NULL;
	child_start(&t->child, argv);
	WAIT_FOR(child_has_ended(&t->child) ||
		(endpoint_is_listening(&t->front) &&
		    endpoint_is_listening(&t->ctl)),
	    10000);
	ck_assert_msg(t->child.running, "%s", child_err(&t->child));
}

void
twin_start_ours(
    struct twin *t, const char *const options[], const char *const servers[])
{
	const char *argv[CHILD_ARGS] = { getenv("PEN"), "-f" };

	endpoint_new(&t->front, ENDPOINT_TCP4);
	endpoint_new(&t->ctl, ENDPOINT_UNIX);
	start(t, argv, 2, options, servers);
}

void
twin_start_classic(
    struct twin *t, const char *const options[], const char *const servers[])
{
	const char *argv[CHILD_ARGS] = { classic_path, "-f" };
	int n = 2;

	endpoint_new(&t->front, ENDPOINT_TCP4);
	endpoint_new(&t->ctl, ENDPOINT_TCP4);
	if (geteuid() == 0) {
		argv[n++] = "-u";
		argv[n++] = "nobody";
	}
	start(t, argv, n, options, servers);
}

void
twin_stop(struct twin *t)
{
	child_stop(&t->child, SIGTERM);
}
