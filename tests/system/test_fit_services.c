/* test_fit_services.c: of thirty services one has no server: what that does to
 * the others, in files for keepalived and BIRD and in /readyz. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/services_fixture.h"
#include "support/suite.h"
#include "support/wait.h"
#include "support/web_fixture.h"

enum { SERVICES = SERVICES_MOST, SOON = 20000 };

static const char common[] = "check connect\ncheck_interval 0.1\n";

static void
begin(void)
{
	services_begin();
	ck_assert_int_eq(mkdir(scratch("fit"), 0755), 0);
}

static const char *
of_process(void)
{
	return text("web %s\n", services.web.text);
}

static int
ready(const char *query)
{
	const char *got =
	    web_fixture_get_from(&services.web, text("/readyz%s", query), "");

	return atoi(strchr(got, ' '));
}

static bool
has_metric(const char *service, int value)
{
	return strstr(web_fixture_get_from(&services.web, "/metrics", ""),
		   text("\npen_fit{service=\"%s\"} %d\n", service, value)) !=
	    NULL;
}

static bool
is_fit(const char *name)
{
	return access(scratch(name), F_OK) == 0;
}

/* The servers of one of thirty are gone: so are they for the other hosts, and
 * the address of this one stays here with the rest. */
START_TEST(one_service_without_servers)
{
	struct endpoint none;
	const char *file;

	begin();
	endpoint_new(&none, ENDPOINT_TCP4);
	file = text("%sfit_file %s\ndefaults\n%s%sfit_file %s\n"
		    "service own\nlisten %s\nserver 0 address 127.0.0.1 port "
		    "%d\nfit_file %s\n",
	    of_process(), scratch("fit/all"), common, services_sections("", ""),
	    scratch("fit/s29"), scratch("own"), none.port, scratch("fit/own"));
	write_file(services.conf, file);
	ck_assert_str_eq(services_run("--check", 0), "");
	services_up(file);
	WAIT_FOR(is_fit("fit/all") && is_fit("fit/s29"), SOON);
	WAIT_FOR(strstr(pen_ask(&services.ctl, "services"), "own state down") !=
		NULL,
	    SOON);
	WAIT_FOR(!is_fit("fit/own"), SOON);
	ck_assert_str_eq(endpoint_hear(&services.front[7]), "served");
	ck_assert(is_fit("fit/all") && is_fit("fit/s29"));
	ck_assert_int_eq(ready(""), 200);
	ck_assert_int_eq(ready("?service=s29"), 200);
	ck_assert_int_eq(ready("?service=own"), 503);
	ck_assert_int_eq(ready("?all"), 503);
	ck_assert_int_eq(ready("?all=1"), 503);
	ck_assert_int_eq(ready("?other"), 200);
	ck_assert_int_eq(ready("?service=none"), 404);
	/* it comes back; another one goes; at last all */
	pen_answers(&services.ctl,
	    text("service own server 0 port %d", services.back.at.port), "");
	WAIT_FOR(is_fit("fit/own"), SOON);
	ck_assert_int_eq(ready("?all"), 200);
	pen_answers(&services.ctl, "service s29 maint", "");
	WAIT_FOR(!is_fit("fit/s29"), SOON);
	WAIT_FOR(
	    child_has_said(&services.pen.child,
		text("not fit file=%s reason=\"no server is up\" service=s29",
		    scratch("fit/s29"))),
	    SOON);
	ck_assert(is_fit("fit/all") && is_fit("fit/own"));
	backend_stop(&services.back);
	WAIT_FOR(!is_fit("fit/all") && !is_fit("fit/own"), SOON);
	WAIT_FOR(child_has_said(&services.pen.child,
		     text("not fit file=%s reason=\"no service can serve\"",
			 scratch("fit/all"))),
	    SOON);
	ck_assert_int_eq(ready(""), 503);
	pen_down(&services.pen);
}
END_TEST

/* ---- three hosts ---- */

enum { HOSTS = 3, LONE = 7 };

static struct pen hosts[HOSTS];
static struct endpoint host_front[HOSTS], host_web[HOSTS];

static const char *
host_file(int host, int service)
{
	return scratch(text("h%d-s%d", host, service));
}

/* One of its services has a server of its own, each of them a file. */
static void
start_host(int host, const struct backend *lone)
{
	const char *path = scratch(text("h%d.conf", host)), *all;
	struct endpoint at;
	int i;

	endpoint_new(&host_web[host], ENDPOINT_TCP4);
	all = text("web %s\ndefaults\nbalance leastconn\nidle_timeout 5m\n"
		   "client_conns 50\nqueue 5\n%s",
	    host_web[host].text, common);
	for (i = 0; i < SERVICES; i++) {
		endpoint_new(&at, ENDPOINT_TCP4);
		all = text("%s\nservice s%d\nlisten %s\nfit_file %s\n"
			   "server 0 address 127.0.0.1 port %d\n",
		    all, i, at.text, host_file(host, i),
		    i == LONE ? lone->at.port : services.back.at.port);
		if (i == 0)
			host_front[host] = at;
	}
	write_file(path, all);
	pen_up(&hosts[host], &host_front[host], "-F", path, NULL);
}

/* How many hosts a router would send clients of the service to. */
static int
next_hops(int service)
{
	int i, count = 0;

	for (i = 0; i < HOSTS; i++)
		count += access(host_file(i, service), F_OK) == 0;
	return count;
}

static int
all_next_hops(void)
{
	int i, count = 0;

	for (i = 0; i < SERVICES; i++)
		count += next_hops(i);
	return count;
}

/* All servers of one service are gone, on each of three hosts: a router sends
 * none of them its clients, and all of them those of the other 29. */
START_TEST(three_hosts)
{
	struct backend lone;
	int i;

	backend_start(&services.back, ENDPOINT_TCP4, backend_say, "served");
	backend_start(&lone, ENDPOINT_TCP4, backend_say, "lone");
	for (i = 0; i < HOSTS; i++)
		start_host(i, &lone);
	WAIT_FOR(all_next_hops() == HOSTS * SERVICES, SOON);
	backend_stop(&lone);
	WAIT_FOR(next_hops(LONE) == 0, SOON);
	ck_assert_int_eq(all_next_hops(), HOSTS * (SERVICES - 1));
	for (i = 0; i < HOSTS; i++) {
		services.web = host_web[i];
		ck_assert_int_eq(ready(""), 200);
		ck_assert_int_eq(ready("?service=s7"), 503);
		ck_assert_str_eq(endpoint_hear(&host_front[i]), "served");
	}
	for (i = 0; i < HOSTS; i++)
		pen_down(&hosts[i]);
	backend_stop(&services.back);
}
END_TEST

/* All files go when pen is killed; what a reload may do with them. */
START_TEST(files_of_services)
{
	const char *file, *more, *said;

	begin();
	file = text("%sdefaults\n%s%sfit_file %s\n", of_process(), common,
	    services_sections("", ""), scratch("fit/s29"));
	more = text("service more\nlisten %s\nfit_file %s\n"
		    "server 0 address 127.0.0.1 port %d\n",
	    scratch("more"), scratch("fit/more"), services.back.at.port);
	services_up(file);
	WAIT_FOR(is_fit("fit/s29"), SOON);
	write_file(services.conf, text("%s%s", file, more));
	pen_answers(&services.ctl, "reload",
	    "fit_file: can be set only at startup, not for a new service");
	write_file(services.conf,
	    text("%sdefaults\n%s%s", of_process(), common,
		services_sections("", "")));
	pen_answers(
	    &services.ctl, "reload", "fit_file: can be set only at startup");
	pen_answers(&services.ctl, "service s29 fit_file /tmp/x",
	    "can be set only at startup");
	/* gone with its service */
	pen_answers(&services.ctl, "service s29 remove", "");
	WAIT_FOR(!is_fit("fit/s29"), SOON);
	ck_assert(
	    child_has_said(&services.pen.child, "the service was removed"));
	pen_down(&services.pen);
	/* two services, each its own */
	write_file(services.conf,
	    text("%sdefaults\nfit_file %s\n%s", of_process(), scratch("fit/x"),
		services_sections("", "")));
	said = services_run("--check", 1);
	ck_assert_ptr_nonnull(strstr(said,
	    text("service s1: %s:3: fit_file: \"%s\": is the file of service "
		 "s0, too; each needs its own",
		services.conf, scratch("fit/x"))));
	/* what a killed pen leaves */
	services_up(text("%s%s", file, more));
	WAIT_FOR(is_fit("fit/s29") && is_fit("fit/more"), SOON);
	pen_kill(&services.pen);
	WAIT_FOR(!is_fit("fit/s29") && !is_fit("fit/more"), SOON);
	backend_stop(&services.back);
}
END_TEST

/* For Prometheus. */
START_TEST(metric_of_each)
{
	struct endpoint none;

	begin();
	endpoint_new(&none, ENDPOINT_TCP4);
	services_up(
	    text("%sdefaults\n%sservice a\nlisten %s\n"
		 "server 0 address 127.0.0.1 port %d\n"
		 "service b\nlisten %s\nserver 0 address 127.0.0.1 port %d\n",
		of_process(), common, services.front[0].text,
		services.back.at.port, services.front[1].text, none.port));
	WAIT_FOR(has_metric("a", 1) && has_metric("b", 0), SOON);
	pen_answers(&services.ctl,
	    text("service b server 0 port %d", services.back.at.port), "");
	WAIT_FOR(has_metric("b", 1), SOON);
	pen_answers(&services.ctl, "service a maint", "");
	WAIT_FOR(has_metric("a", 0), SOON);
	ck_assert(has_metric("b", 1));
	pen_down(&services.pen);
	backend_stop(&services.back);
}
END_TEST

SUITE(test_fit_services)
{
	Suite *s = suite_create("fit_services");

	SUITE_ADD(s, one_service_without_servers, 60);
	SUITE_ADD(s, three_hosts, 60);
	SUITE_ADD(s, files_of_services, 60);
	SUITE_ADD(s, metric_of_each, 60);
	return s;
}
