/* services_fixture.c */
#include "config.h"

#include <check.h>
#include <stdlib.h>

#include "support/services_fixture.h"
#include "support/wait.h"

enum { SOON = 20000 };

struct services_fixture services;

void
services_begin(void)
{
	int i;

	backend_start(&services.back, ENDPOINT_TCP4, backend_say, "served");
	for (i = 0; i < SERVICES_MOST; i++)
		endpoint_new(&services.front[i], ENDPOINT_TCP4);
	endpoint_new(&services.ctl, ENDPOINT_UNIX);
	endpoint_new(&services.web, ENDPOINT_TCP4);
	services.conf = scratch("pen.conf");
}

const char *
services_section(int i, const char *before, const char *after)
{
	return text("\nservice s%d\n%slisten %s\n"
		    "server 0 address 127.0.0.1 port %d\n%s",
	    i, before, services.front[i].text, services.back.at.port, after);
}

const char *
services_sections(const char *before, const char *last)
{
	const char *all = "";
	int i;

	for (i = 0; i < SERVICES_MOST; i++)
		all = text("%s%s", all,
		    services_section(
			i, before, i == SERVICES_MOST - 1 ? last : ""));
	return all;
}

const char *
services_run(const char *option, int status)
{
	child_start(&services.child,
	    (const char *[]){
		getenv("PEN"), option, "-F", services.conf, NULL });
	ck_assert_int_eq(child_wait(&services.child, SOON), status);
	return child_err(&services.child);
}

void
services_up(const char *file)
{
	write_file(services.conf, file);
	pen_up(&services.pen, &services.front[0], "-C", services.ctl.text, "-F",
	    services.conf, NULL);
}
