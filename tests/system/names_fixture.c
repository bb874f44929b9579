/* names_fixture.c: see names_fixture.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/suite.h"
#include "system/names_fixture.h"

void
names_fixture_begin(struct names_fixture *r)
{
	struct endpoint at;

	nameserver_start(&r->names);
	nameserver_set(&r->names, NAME, "127.0.0.1", NULL);
	backend_start(&r->one, ENDPOINT_TCP4, backend_say, "one");
	endpoint_at_host(&at, &r->one.at, "127.0.0.2");
	backend_start_at(&r->two, &at, backend_say, "two");
	endpoint_new(&r->front, ENDPOINT_TCP4);
	endpoint_new(&r->ctl, ENDPOINT_UNIX);
}

const char *
names_fixture_server(const struct names_fixture *r)
{
	return text(NAME ":%d", r->one.at.port);
}

const char *
names_fixture_all(const struct names_fixture *r)
{
	return text(NAME "*:%d", r->one.at.port);
}

const char *
names_fixture_user(void)
{
	return geteuid() == 0 ? "-unobody" : "-f";
}

void
names_fixture_start(struct names_fixture *r, const char *interval)
{
	pen_up(&r->pen, &r->front, "-r", "-C", r->ctl.text, "--resolver",
	    r->names.text, "--resolve-interval", interval, r->front.text,
	    names_fixture_server(r), NULL);
}

int
names_fixture_said(const struct names_fixture *r, const char *what)
{
	return count_in(child_err(&r->pen.child), what);
}

bool
names_fixture_has(const struct names_fixture *r, const char *first,
    const char *second, const char *third)
{
	const char *answer = endpoint_ask(&r->ctl, "servers\n");
	const char *const want[] = { first, second, third };
	char line[64];
	unsigned i;

	for (i = 0; i < 3; i++) {
		snprintf(line, sizeof(line), "%u addr %s port %d ", i,
		    want[i] != NULL ? want[i] : "0.0.0.0",
		    want[i] != NULL ? r->one.at.port : 0);
		if (strstr(answer, line) == NULL &&
		    (want[i] != NULL ||
			strstr(answer, text("%u addr ", i)) != NULL))
			return false;
	}
	return true;
}

void
names_fixture_end(struct names_fixture *r)
{
	pen_down(&r->pen);
	backend_stop(&r->one);
	backend_stop(&r->two);
	nameserver_stop(&r->names);
}
