/* ecmp_fixture.c: hosts that announce addresses to a router. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <unistd.h>

#include "net/ecmp_fixture.h"
#include "support/suite.h"
#include "support/wait.h"

static const struct net_fixture_options network = {
	.servers = ECMP_SERVERS + 1, .two_directors = true, .router = true
};
static struct child router;

struct ecmp_host ecmp_hosts[ECMP_HOSTS] = {
	{ .where = NET_FIXTURE_DIRECTOR },
	{ .where = NET_FIXTURE_DIRECTOR2 },
	/* a host that could be a server */
	{ .where =
		(enum net_fixture_place)(NET_FIXTURE_SERVER + ECMP_SERVERS) },
};

/* What the files of the second and third host have. */
static const char *const differs[ECMP_HOSTS][5] = {
	{ NULL },
	{ "192.0.2.11", "192.0.2.12", "192.0.2.31", "192.0.2.32" },
	{ "192.0.2.11", "192.0.2.13", "192.0.2.31", "192.0.2.33" },
};

void
ecmp_carry_out(struct guide *g, enum net_fixture_place where, const char *lines)
{
	net_fixture_run(
	    &g->fixture, where, ECMP_SOON, "sh", "-e", "-c", lines, NULL);
}

static void
give_address(struct guide *g, enum net_fixture_place where, int number)
{
	ecmp_carry_out(g, where,
	    text("ip addr flush dev eth0; ip addr flush dev lo\n"
		 "ip addr add 192.0.2.%d/24 dev eth0\n",
		number));
}

static void
start_bird(struct guide *g, struct child *c, enum net_fixture_place where,
    const char *lines)
{
	const char *conf = guide_path("/run/bird/bird.conf");

	write_file(conf, lines);
	net_fixture_run(&g->fixture, where, ECMP_SOON, child_find("bird"), "-p",
	    "-c", conf, NULL);
	net_fixture_start(&g->fixture, where, c,
	    (const char *[]){ child_find("bird"), "-f", "-c", conf, "-s",
		guide_path("/run/bird/bird.ctl"), "-P",
		guide_path("/run/bird/pid"), NULL });
	WAIT_FOR(
	    access(guide_path("/run/bird/bird.ctl"), F_OK) == 0, ECMP_SOON);
}

static void
prepare_router(struct guide *g)
{
	guide_machine(g, "router-");
	ecmp_carry_out(g, NET_FIXTURE_ROUTER,
	    "ip addr flush dev eth0; ip addr add 192.0.2.1/24 dev eth0");
	net_fixture_set(&g->fixture, NET_FIXTURE_ROUTER,
	    "ipv4/fib_multipath_hash_policy", "1");
	start_bird(g, &router, NET_FIXTURE_ROUTER,
	    guide_quote(
		"ecmp-bird.conf", "these lines in bird.conf, and no change"));
}

const char *
ecmp_up(struct guide *g)
{
	static const char *const programs[] = { "bird", "birdc", "sysctl" };
	const char *why;
	size_t i;

	for (i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		if (child_find(programs[i]) == NULL)
			return text("no %s", programs[i]);
	if (geteuid() != 0)
		return "BIRD needs root";
	if ((why = net_fixture_up(&g->fixture, &network)) != NULL)
		return why;
	for (i = 0; i < ECMP_SERVERS; i++)
		give_address(g, NET_FIXTURE_SERVER + (int)i, 21 + (int)i);
	prepare_router(g);
	return NULL;
}

/* The files as they stand, with the addresses of this host. */
void
ecmp_start(struct guide *g, int i, const char *(*at_boot)(void),
    const char *(*bird)(void))
{
	struct ecmp_host *h = &ecmp_hosts[i];
	const char *script;

	guide_machine(g, text("d%d-", i));
	guide_differs(differs[i]);
	give_address(g, h->where, 11 + i);
	ecmp_carry_out(g, h->where, at_boot());
	guide_start_at(g, &h->pen, h->where);
	start_bird(g, &h->bird, h->where, bird());
	script = guide_path("/etc/pen/ecmp-announce.sh");
	write_file(script, guide_text("ecmp-announce.sh"));
	net_fixture_start(&g->fixture, h->where, &h->announcer,
	    (const char *[]){ "/bin/sh", script,
		guide_path(text("/run/pen-%s", g->name)), NULL });
}

const char *
ecmp_routes(struct guide *g, const char *address)
{
	return net_fixture_run(&g->fixture, NET_FIXTURE_ROUTER, ECMP_SOON, "ip",
	    "route", "show", "root", address, NULL);
}

void
ecmp_down(struct guide *g)
{
	int i;

	for (i = 0; i < ECMP_HOSTS; i++)
		child_stop(&ecmp_hosts[i].announcer, SIGKILL);
	net_fixture_down(&g->fixture);
}
