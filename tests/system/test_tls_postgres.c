/* test_tls_postgres.c: TLS that pen only passes on: a client of PostgreSQL
 * checks the server's certificate against the host name it uses for pen. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "support/identity.h"
#include "support/nginx.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "system/postgres.h"

static struct identity id;
static struct endpoint at, front;
static struct pen pen;

/* What psql needs to trust `ca` and expect `host` at the front. */
static const char *
to(const char *host, const char *ca)
{
	return text("host=%s hostaddr=127.0.0.1 port=%d dbname=postgres"
		    " user=pen sslmode=verify-full sslrootcert=%s"
		    " connect_timeout=10",
	    host, front.port, ca);
}

static const char *
query(const char *sql)
{
	return run_program(
	    60000, "psql", "-XAtwqc", sql, "-d", to("localhost", id.ca), NULL);
}

static void
expect_refusal(const char *where, const char *says)
{
	struct child c;

	child_start(&c,
	    (const char *[]){
		"psql", "-XAtwqc", "select 1", "-d", where, NULL });
	ck_assert_int_eq(child_wait(&c, 20000), 2);
	ck_assert_msg(child_has_said(&c, says), "%s", child_err(&c));
	ck_assert_str_eq(child_out(&c), "");
}

START_TEST(psql_verifies_the_server)
{
	struct identity stranger;

	if (postgres_lacks() != NULL)
		SKIP(postgres_lacks());
	NEED_PROGRAM("psql");
	endpoint_new(&at, ENDPOINT_TCP4);
	endpoint_new(&front, ENDPOINT_TCP4);
	identity_new(&id, "localhost");
	identity_new(&stranger, "localhost");
	postgres_up(&at, "hostssl all all 127.0.0.1/32 trust\n", id.ec);
	pen_up(&pen, &front, "-r", front.text, at.text, NULL);
	ck_assert_str_eq(query("select ssl, version from pg_stat_ssl"
			       " where pid = pg_backend_pid()"),
	    "t|TLSv1.3\n");
	ck_assert_uint_eq(
	    strlen(query("select repeat('x', 1000000)")), 1000001);
	expect_refusal(to("other.test", id.ca), "does not match host name");
	expect_refusal(
	    to("localhost", stranger.ca), "certificate verify failed");
	pen_down(&pen);
	postgres_down("fast");
}
END_TEST

SUITE(test_tls_postgres)
{
	Suite *s = suite_create("tls_postgres");

	SUITE_ADD(s, psql_verifies_the_server, 120);
	return s;
}
