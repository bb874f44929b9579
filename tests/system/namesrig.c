/* namesrig.c: see namesrig.h. */
#include "config.h"

#include "support/suite.h"
#include "system/namesrig.h"

void
names_rig_begin(struct names_rig *r)
{
	struct spot at;

	nameserver_start(&r->names);
	nameserver_set(&r->names, NAME, "127.0.0.1", NULL);
	backend_start(&r->one, SPOT_TCP4, backend_say, "one");
	spot_at_host(&at, &r->one.at, "127.0.0.2");
	backend_start_at(&r->two, &at, backend_say, "two");
	spot_new(&r->front, SPOT_TCP4);
	spot_new(&r->ctl, SPOT_UNIX);
}

const char *
names_rig_server(const struct names_rig *r)
{
	return text(NAME ":%d", r->one.at.port);
}

void
names_rig_start(struct names_rig *r, const char *interval)
{
	pen_up(&r->pen, &r->front, "-r", "-C", r->ctl.text, "--resolver",
	    r->names.text, "--resolve-interval", interval, r->front.text,
	    names_rig_server(r), NULL);
}

int
names_rig_said(const struct names_rig *r, const char *what)
{
	return count_in(child_err(&r->pen.child), what);
}

void
names_rig_end(struct names_rig *r)
{
	pen_down(&r->pen);
	backend_stop(&r->one);
	backend_stop(&r->two);
	nameserver_stop(&r->names);
}
