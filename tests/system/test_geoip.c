/* test_geoip.c: access lists by country, and a database that changes while pen
 * serves. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/mmdb.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

#ifdef HAVE_MAXMINDDB
enum { BUILT_IN = 1, SOON = 20000 };
#else
enum { BUILT_IN = 0, SOON = 20000 };
#endif

static struct endpoint front, ctl;
static struct backend b;
static struct pen pen;

static const char *
database(void)
{
	return scratch("country.mmdb");
}

/* Written beside it and renamed, as updates of such files are. */
static void
write_database(const char *country, unsigned made)
{
	struct mmdb *m = mmdb_new(MMDB_NESTED);

	mmdb_add(m, "10.0.0.0/8", "NO");
	mmdb_add(m, "127.0.0.0/8", country);
	mmdb_add(m, "2001:db8::/32", "DE");
	mmdb_write(m, scratch("new.mmdb"), made);
	ck_assert_int_eq(rename(scratch("new.mmdb"), database()), 0);
}

static void
up(void)
{
	write_database("SE", 86400);
	backend_start(&b, ENDPOINT_TCP4, backend_say, "a");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "-r", "-C", ctl.text, "--geoip", database(), "-O",
	    "acl local permit country SE; acl local permit country DE", "-O",
	    "client_acl local", front.text, b.at.text, NULL);
}

static void
down(void)
{
	pen_down(&pen);
	backend_stop(&b);
}

static const char *
command(const char *line)
{
	return endpoint_ask(&ctl, text("%s\n", line));
}

static bool
says(const char *line, const char *what)
{
	return strstr(command(line), what) != NULL;
}

/* Others are reset, with or without what the server had said. */
static bool
is_served(void)
{
	int fd = endpoint_connect(&front);
	char c = 0;
	bool served = recv(fd, &c, 1, 0) == 1 && c == 'a';

	close(fd);
	return served;
}

START_TEST(clients_by_country)
{
	const char *answer;

	if (!BUILT_IN)
		SKIP("built without libmaxminddb");
	up();
	ck_assert(is_served());
	answer = command("explain 127.0.0.1");
	ck_assert_ptr_nonnull(strstr(answer, "\nacl local\n"));
	ck_assert_ptr_nonnull(strstr(answer, "\ncountry SE\n"));
	ck_assert_ptr_nonnull(strstr(answer, "\nentry 1\n"));
	ck_assert_ptr_nonnull(strstr(answer, "\nmatches permit country SE\n"));
	answer = command("explain 10.0.0.1");
	ck_assert_ptr_nonnull(strstr(answer, "\npermitted no\n"));
	ck_assert_ptr_nonnull(strstr(answer, "\ncountry NO\n"));
	ck_assert_ptr_nonnull(strstr(answer, "\nentry none\n"));
	ck_assert(says("explain 2001:db8::1", "\nentry 2\n"));
	ck_assert(says("explain 2001:db9::1", "\ncountry unknown\n"));
	ck_assert(says("geoip json", database()));
	down();
}
END_TEST

/* The file is replaced; by one that is no database; it is right again. What
 * comes in between is served all the time. */
START_TEST(databases_change)
{
	if (!BUILT_IN)
		SKIP("built without libmaxminddb");
	up();
	WAIT_FOR(child_has_said(&pen.child, "built=1970-01-02"), SOON);
	write_database("NO", 2 * 86400);
	WAIT_FOR(!is_served(), SOON);
	WAIT_FOR(child_has_said(&pen.child, "built=1970-01-03"), SOON);
	write_file(scratch("new.mmdb"), "no database");
	ck_assert_int_eq(rename(scratch("new.mmdb"), database()), 0);
	WAIT_FOR(child_has_said(&pen.child,
		     "geoip: database not reloaded, keeping the old one"),
	    SOON);
	ck_assert(says("explain 127.0.0.1", "\ncountry NO\n"));
	ck_assert(!is_served());
	write_database("SE", 3 * 86400);
	(void)command("reload");
	WAIT_FOR(is_served(), SOON);
	down();
}
END_TEST

/* A database of something else, such as GeoLite2-ASN, would permit or deny all
 * clients without a word. */
START_TEST(database_without_countries)
{
	struct mmdb *m = mmdb_new(MMDB_OTHER);

	mmdb_add(m, "10.0.0.0/8", "NO");
	mmdb_add(m, "127.0.0.0/8", "SE");
	mmdb_write(m, scratch("asn.mmdb"), 86400);
	if (!BUILT_IN)
		SKIP("built without libmaxminddb");
	up();
	ck_assert(
	    says(text("geoip %s", scratch("asn.mmdb")), "has no countries"));
	ck_assert(is_served());
	ck_assert_int_eq(rename(scratch("asn.mmdb"), database()), 0);
	WAIT_FOR(child_has_said(&pen.child, "has no countries"), SOON);
	ck_assert(is_served());
	pen_expect_failure("has no countries", "--check", "--geoip", database(),
	    front.text, b.at.text, NULL);
	down();
}
END_TEST

/* Each worker opens it. */
START_TEST(read_is_said_once)
{
	if (!BUILT_IN)
		SKIP("built without libmaxminddb");
	setenv("PEN_TEST_WORKERS", "2", 1);
	up();
	WAIT_FOR(child_has_said(&pen.child, "built=1970-01-02"), SOON);
	write_database("NO", 2 * 86400);
	(void)command("reload");
	WAIT_FOR(!is_served() && !is_served() && !is_served(), SOON);
	WAIT_FOR(child_has_said(&pen.child, "built=1970-01-03"), SOON);
	ck_assert_int_eq(
	    count_in(child_err(&pen.child), "built=1970-01-03"), 1);
	down();
}
END_TEST

/* Each directory of the path is, in the new root, a link to that root. */
static const char *
make_jail(void)
{
	const char *jail = scratch("jail");
	char *copy = strdup(jail), *rest = copy, *name;

	ck_assert_int_eq(mkdir(jail, 0755), 0);
	while ((name = strtok_r(rest, "/", &rest)) != NULL)
		if (symlink("/", text("%s/%s", jail, name)) < 0)
			ck_assert_int_eq(errno, EEXIST);
	free(copy);
	return jail;
}

static void
up_in(const char *root, const char *path)
{
	backend_start(&b, ENDPOINT_TCP4, backend_say, "a");
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-r", "-j", root, "-u", "nobody", "--geoip", path,
	    "-O", "acl 1 permit country SE; client_acl 1", front.text,
	    b.at.text, NULL);
}

/* There is no /proc, by which an open directory has a path. */
START_TEST(changes_in_another_root)
{
	const char *jail, *path;

	if (!BUILT_IN)
		SKIP("built without libmaxminddb");
	if (geteuid() != 0 || getpwnam("nobody") == NULL)
		SKIP("needs root and the user nobody");
	jail = make_jail();
	path = text("%s/country.mmdb", jail);
	write_database("SE", 86400);
	ck_assert_int_eq(rename(database(), path), 0);
	pen_without_leak_checker();
	up_in(jail, path);
	ck_assert(is_served());
	write_database("NO", 2 * 86400);
	ck_assert_int_eq(rename(database(), path), 0);
	WAIT_FOR(!is_served(), SOON);
	ck_assert(!child_has_said(&pen.child, "database not reloaded"));
	down();
}
END_TEST

START_TEST(settings_that_are_refused)
{
	if (!BUILT_IN)
		SKIP("built without libmaxminddb");
	up();
	ck_assert(says(text("geoip %s", scratch("nowhere")),
	    "error: geoip: geoip \""));
	ck_assert(is_served());
	/* a pipe is not waited for, nor one that took the file's place */
	ck_assert_int_eq(mkfifo(scratch("pipe"), 0600), 0);
	ck_assert(says(text("geoip %s", scratch("pipe")), "is a pipe"));
	ck_assert(is_served());
	ck_assert_int_eq(rename(scratch("pipe"), database()), 0);
	WAIT_FOR(child_has_said(&pen.child, "geoip: database not reloaded"),
	    SOON);
	ck_assert(is_served());
	write_file(scratch("bad"), "no database");
	pen_expect_failure("geoip", "-f", "--geoip", scratch("bad"),
	    front.text, b.at.text, NULL);
	pen_expect_failure("geoip", "--check", "--geoip", scratch("bad"),
	    front.text, b.at.text, NULL);
	ck_assert_str_eq(command("no geoip"), "");
	ck_assert(!is_served());
	ck_assert(child_has_said(&pen.child,
	    "countries in access list local match no client without geoip"));
	down();
}
END_TEST

/* mmdblookup, of libmaxminddb, reads what the tests write. */
START_TEST(as_mmdblookup_says)
{
	char said[200] = "";
	FILE *f;

	if (!BUILT_IN)
		SKIP("built without libmaxminddb");
	if (system("command -v mmdblookup >/dev/null") != 0)
		SKIP("there is no mmdblookup");
	write_database("SE", 86400);
	f = popen(text("mmdblookup --file %s --ip 127.9.9.9 country iso_code",
		      database()),
	    "r");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_gt(fread(said, 1, sizeof(said) - 1, f), 0);
	ck_assert_int_eq(pclose(f), 0);
	ck_assert_msg(strstr(said, "\"SE\"") != NULL, "%s", said);
}
END_TEST

SUITE(test_geoip)
{
	Suite *s = suite_create("geoip");

	SUITE_ADD(s, clients_by_country, 30);
	SUITE_ADD(s, databases_change, 90);
	SUITE_ADD(s, database_without_countries, 60);
	SUITE_ADD(s, read_is_said_once, 30);
	SUITE_ADD(s, changes_in_another_root, 60);
	SUITE_ADD(s, settings_that_are_refused, 30);
	SUITE_ADD(s, as_mmdblookup_says, 30);
	return s;
}
