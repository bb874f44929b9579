/* test_readme_running.c: what README.md says of pen while it runs. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/readme_fixture.h"
#include "support/suite.h"
#include "support/wait.h"

#define CLIENT "10.0.0.100"
#define FRONT  "10.0.0.9"
#define ASK    "GET / HTTP/1.1\r\nHost: front\r\n\r\n"
#define UP                                  \
	"pen -r -C /run/pen.ctl --web 8080" \
	" --session-log /var/log/pen.log 80 web1 web2"

static const char *
on_front(const char *program, const char *first, const char *second)
{
	return net_fixture_run(&readme_fixture, NET_FIXTURE_DIRECTOR, 60000,
	    program, first, second, NULL);
}

static void
dummy_answers(void)
{
	WAIT_FOR(machine_listens(NET_FIXTURE_DIRECTOR, 8000), 20000);
	ck_assert_uint_gt(strlen(fetch("http://front:8000/")), 0);
}

static void
page_log_and_turns(void)
{
	expect_turns("http://front/");
	WAIT_FOR(file_has("/var/log/pen.log", "name=web2"), 20000);
	ck_assert_ptr_nonnull(
	    strstr(on_front("curl", "-sS", "http://127.0.0.1:8080/"), "<html"));
	ck_assert_ptr_nonnull(strstr(
	    on_front("curl", "-sS", "http://127.0.0.1:8080/metrics"), "web1"));
}

static void
servers_are_listed(void)
{
	WAIT_FOR(strstr(readme_fixture_output(), "web1") != NULL, 20000);
	ck_assert_ptr_nonnull(strstr(readme_fixture_output(), "web2"));
}

static void
third_up(void)
{
	static struct site web3 = { .name = "web3" };

	webs_up();
	machine_serve(THIRD, 80, site_serve, &web3);
}

static void
one_drains_one_is_new(void)
{
	const char *names;

	ck_assert_ptr_nonnull(strstr(readme_fixture_output(), "\"web3\""));
	names = fetch_names(4, "http://front/");
	ck_assert_ptr_nonnull(strstr(names, "web1"));
	ck_assert_ptr_null(strstr(names, "web2"));
	ck_assert_ptr_nonnull(strstr(names, "web3"));
}

/* The second time with a client in between, who notices nothing. */
static void
program_takes_over(void)
{
	int fd = client_dial(CLIENT, FRONT, 80, ASK);

	ck_assert_ptr_nonnull(strstr(client_hears(fd), "web"));
	on_front("penctl", "/run/pen.ctl", "upgrade");
	expect_turns("http://front/");
	ck_assert_int_eq(send(fd, ASK, strlen(ASK), 0), (int)strlen(ASK));
	ck_assert_ptr_nonnull(strstr(client_hears(fd), "web"));
	close(fd);
}

static void
is_over(void)
{
	WAIT_FOR(readme_fixture_left() == 0, 20000);
}

static void
says_which(void)
{
	const char *s = readme_fixture_output();

	ck_assert_ptr_nonnull(strstr(s, "10.1.2.3"));
	ck_assert(strstr(s, "web1") != NULL || strstr(s, "web2") != NULL);
	ck_assert_int_eq(readme_fixture_left(), 0);
}

static void
file_up(void)
{
	webs_up();
	write_file("/etc/pen.conf",
	    "listen 80\nserver add web1\nserver add web2\nroundrobin\n");
}

static void
file_is_right(void)
{
	ck_assert_int_eq(readme_fixture_left(), 0);
}

static void
in_turn(void)
{
	expect_turns("http://front/");
}

#define LOG "pen -l pen.log 80 web1 web2"

static void
requests_are_logged(void)
{
	fetch("http://front/first");
	WAIT_FOR(file_has("pen.log", "GET /first"), 20000);
}

static void
logs_to_merge(void)
{
	webs_up();
	write_file("log1",
	    "10.0.0.9 - - [01/Jan/2030:00:00:00 +0000] \"GET /a HTTP/1.1\""
	    " 200 5\n");
	write_file("log2", "");
}

static void
merged(void)
{
	ck_assert_ptr_nonnull(strstr(readme_fixture_output(), "GET /a"));
}

const struct example readme_running[] = {
	{ .line = "pen -f -O dummy 8000",
	    .stays = true,
	    .check = dummy_answers },
	{ .line = UP, .before = webs_up, .check = page_log_and_turns },
	{ .line = "penctl /run/pen.ctl servers long",
	    .after = UP,
	    .check = servers_are_listed },
	{ .line = "penctl /run/pen.ctl top",
	    .after = UP,
	    .stays = true,
	    .check = servers_are_listed },
	{ .line = "penctl /run/pen.ctl"
		  " 'server 1 drain; server add web3:80; servers json'",
	    .before = third_up,
	    .after = UP,
	    .check = one_drains_one_is_new },
	{ .line = "penctl /run/pen.ctl upgrade",
	    .before = webs_up,
	    .after = UP,
	    .check = program_takes_over },
	{ .line = "penctl /run/pen.ctl shutdown",
	    .before = webs_up,
	    .after = UP,
	    .check = is_over },
	{ .line = "pen --explain 10.1.2.3 -h 80 web1 web2",
	    .check = says_which },
	{ .line = "pen -F /etc/pen.conf", .before = file_up, .check = in_turn },
	{ .line = "pen --check -F /etc/pen.conf",
	    .before = file_up,
	    .check = file_is_right },
	{ .line = LOG, .before = webs_up, .check = requests_are_logged },
	{ .line = "mergelogs -p pen.log 10.0.0.3:log1 10.0.0.4:log2",
	    .before = logs_to_merge,
	    .after = LOG,
	    .check = merged },
	{ .line = NULL },
};

README_SUITE(test_readme_running, readme_running)
