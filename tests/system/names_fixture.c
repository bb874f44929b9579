/* names_fixture.c: see names_fixture.h. */
#include "config.h"

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

void
names_fixture_end(struct names_fixture *r)
{
	pen_down(&r->pen);
	backend_stop(&r->one);
	backend_stop(&r->two);
	nameserver_stop(&r->names);
}
