/* test_session_time.c: which sessions wait for their times, in a real loop. */
#include "config.h"

#include <check.h>
#include <unistd.h>

#include "proxy/session/session_private.h"
#include "support/fixture.h"
#include "support/suite.h"

static const struct session *
only_session(void)
{
	const struct id_table *ids = &frontend_sessions(fixture.frontend)->ids;

	ck_assert_uint_eq(ids->end, 1);
	return ids->entry[0];
}

static bool
waits(uint64_t idle_timeout_ms, bool until_settled)
{
	const struct session *s;
	bool is_waiting;
	int fd;

	fixture_begin();
	fixture.options.idle_timeout_ms = idle_timeout_ms;
	fixture_with(backend_echo, NULL);
	fd = fixture_talks();
	s = only_session();
	if (until_settled)
		RUN_UNTIL(s->settled);
	is_waiting = expiry_is_waiting(&s->expiry);
	close(fd);
	fixture_end();
	backend_stop(&fixture.backend);
	return is_waiting;
}

/* A time that is long enough is waited for by sessions that last. */
START_TEST(long_times_can_wait)
{
	ck_assert(waits(9000, false));
	ck_assert(!waits(60000, false));
	ck_assert(waits(60000, true));
	ck_assert(!waits(0, true));
}
END_TEST

SUITE(test_session_time)
{
	Suite *s = suite_create("session_time");

	SUITE_ADD(s, long_times_can_wait, 30);
	return s;
}
