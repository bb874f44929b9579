/* test_pauses.c: pen is stopped for longer than its timeouts, as by SIGSTOP or
 * when its machine is moved, while its clients and servers go on: what has come
 * meanwhile counts, and nobody is blamed for the pause. */
#include "config.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/suite.h"
#include "support/tlschain.h"
#include "support/wait.h"

enum { SESSIONS = 300, LIGHT = 40 };

static struct tls_chain c;
static long long stopped;
static int pause_ms = 4000; /* longer than all timeouts */

static void
stop_pen(void)
{
	pen_freeze(&c.pen);
	stopped = wait_now_ms();
}

static void
continue_pen(void)
{
	WAIT_FOR(wait_now_ms() - stopped >= pause_ms, pause_ms);
	pen_thaw(&c.pen);
}

static void
nobody_is_blamed(void)
{
	const char *said = child_err(&c.pen.child);

	ck_assert_msg(strstr(said, "server ") == NULL, "%s", said);
}

/* Timeouts of the test: what took `ms` so far may take three times that. Longer
 * ones end in the pause all the same. */
static void
set_timeouts(long long ms)
{
	int seconds = 3 + (int)(3 * ms / 1000);

	endpoint_ask(&c.ctl,
	    text("idle_timeout %d;check_timeout %d\n", seconds, seconds - 1));
	pause_ms = (seconds + 1) * 1000;
}

/* Half of the clients speak meanwhile; the others have been idle for a part of
 * their time. Checks are due. */
START_TEST(sessions_live_on)
{
	int fds[SESSIONS], i, n = (int)suite_amount(SESSIONS, LIGHT);
	long long began;
	struct backend a, b;
	char word = 'x';

	if (*child_status_line(getpid(), "State") == '\0')
		SKIP("states of processes cannot be read here");
	tls_chain_begin(&c);
	backend_start(&a, ENDPOINT_TCP4, backend_echo, NULL);
	backend_start(&b, ENDPOINT_TCP4, backend_echo, NULL);
	tls_chain_up(&c,
	    "check connect;check_interval 100ms;check_timeout 60;"
	    "check_fall 1",
	    a.at.text, b.at.text, NULL);
	began = wait_now_ms();
	for (i = 0; i < n; i++) {
		fds[i] = endpoint_connect(&c.front);
		endpoint_expect_echo(fds[i], "hello");
	}
	set_timeouts(wait_now_ms() - began);
	stop_pen();
	for (i = 0; i < n; i += 2)
		endpoint_send(fds[i], &word, 1);
	continue_pen();
	for (i = 1; i < n; i += 2)
		endpoint_send(fds[i], &word, 1);
	for (i = 0; i < n; i++) {
		endpoint_recv(fds[i], &word, 1);
		close(fds[i]);
	}
	nobody_is_blamed();
	tls_chain_down(&c);
	tls_chain_end(&c);
	backend_stop(&a);
	backend_stop(&b);
}
END_TEST

/* ---- servers ---- */

static backend_fn *shake_hands;
static atomic_bool pause_has_begun;

static void
answer_in_the_pause(struct backend *b, int fd)
{
	while (!atomic_load(&pause_has_begun) && !atomic_load(&b->stopping))
		wait_nap();
	shake_hands(b, fd);
}

/* Handshakes with servers are under way, which answer in the pause: neither is
 * found to be too slow. */
START_TEST(handshakes_go_on)
{
	struct tls_echo servers[2];
	int fds[LIGHT], i;

	if (*child_status_line(getpid(), "State") == '\0')
		SKIP("states of processes cannot be read here");
	tls_chain_begin(&c);
	for (i = 0; i < 2; i++) {
		tls_echo_start(&servers[i], c.site, c.site, NULL);
		shake_hands = servers[i].backend.serve;
		servers[i].backend.serve = answer_in_the_pause;
	}
	tls_chain_up(&c,
	    text("timeout 2;retry 0;ssl_upstream;ssl_upstream_ca %s",
		c.ca_file),
	    servers[0].backend.at.text, servers[1].backend.at.text, NULL);
	for (i = 0; i < LIGHT; i++) {
		fds[i] = endpoint_connect(&c.front);
		endpoint_send(fds[i], "x", 1);
	}
	WAIT_FOR(servers[0].backend.accepted + servers[1].backend.accepted ==
		LIGHT,
	    2000);
	stop_pen();
	atomic_store(&pause_has_begun, true);
	continue_pen();
	for (i = 0; i < LIGHT; i++) {
		endpoint_recv(fds[i], &(char){ 0 }, 1);
		close(fds[i]);
	}
	nobody_is_blamed();
	tls_chain_down(&c);
	tls_chain_end(&c);
	for (i = 0; i < 2; i++)
		tls_echo_stop(&servers[i]);
}
END_TEST

SUITE(test_pauses)
{
	Suite *s = suite_create("pauses");

	SUITE_ADD(s, sessions_live_on, 60);
	SUITE_ADD(s, handshakes_go_on, 60);
	return s;
}
