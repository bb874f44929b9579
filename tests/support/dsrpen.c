/* dsrpen.c: its command line, and when it is ready. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/ctl.h"
#include "support/dsrpen.h"
#include "support/endpoint.h"
#include "support/nginx.h"
#include "support/suite.h"
#include "support/wait.h"

static struct net_fixture_tap tap;

bool
dsrpen_is_classic(void)
{
	const char *other = getenv("DSR_PEN"), *pen = getenv("PEN");

	return other != NULL && *other != '\0' &&
	    (pen == NULL || strcmp(other, pen) != 0);
}

bool
dsrpen_is_there(void)
{
	const char *pen = getenv("PEN");

	if (dsrpen_is_classic())
		return access(getenv("DSR_PEN"), X_OK) == 0;
	return strstr(run_program(10000, pen != NULL ? pen : "./pen", "--help",
			  "all", NULL),
		   "dsr_if") != NULL;
}

static int
first_words(struct dsrpen *p, const char *argv[])
{
	const char *wrapper = getenv("PEN_TEST_WRAPPER");
	const char *pen = getenv("PEN");
	static unsigned controls;
	size_t n;
	int i = 0;

	if (dsrpen_is_classic()) {
		argv[i++] = getenv("DSR_PEN");
	} else {
		for (; wrapper != NULL && *wrapper != '\0'; wrapper += n) {
			wrapper += strspn(wrapper, " ");
			n = strcspn(wrapper, " ");
			if (n > 0 && i < 16)
				argv[i++] = text("%.*s", (int)n, wrapper);
		}
		argv[i++] = pen != NULL ? pen : "./pen";
		p->control = scratch(text("ctl%u", ++controls));
		argv[i++] = "-C";
		argv[i++] = p->control;
	}
	argv[i++] = "-f";
	argv[i++] = "-O";
	argv[i++] = "dsr_if eth0";
	return i;
}

/* One question in a while: its answer takes a moment, more questions do not
 * make it come sooner. */
static bool
is_ready(struct dsrpen *p, enum net_fixture_place from)
{
	static int looks;
	uint8_t mac[6], own[6];

	if (child_has_ended(&p->child))
		return true;
	if (looks++ % 16 != 0 && !net_fixture_is_readable(tap.fd))
		return false;
	net_fixture_mac(p->where, own);
	return net_fixture_who_has(&tap, from, p->vip, mac) &&
	    memcmp(mac, own, 6) == 0;
}

static void
start(struct dsrpen *p, const struct net_fixture *r,
    enum net_fixture_place where, const char *vip, va_list words)
{
	const char *argv[CHILD_ARGS];
	int i;

	memset(p, 0, sizeof(*p));
	p->where = where;
	p->vip = vip;
	i = first_words(p, argv);
	while (i < CHILD_ARGS - 1 &&
	    (argv[i] = va_arg(words, const char *)) != NULL)
		i++;
	argv[i] = NULL;
	net_fixture_start(r, where, &p->child, argv);
}

void
dsrpen_start(struct dsrpen *p, const struct net_fixture *r,
    enum net_fixture_place where, const char *vip, ...)
{
	va_list ap;

	va_start(ap, vip);
	start(p, r, where, vip, ap);
	va_end(ap);
}

void
dsrpen_up(struct dsrpen *p, const struct net_fixture *r,
    enum net_fixture_place where, const char *vip, ...)
{
	enum net_fixture_place from =
	    r->is.router ? NET_FIXTURE_ROUTER : NET_FIXTURE_CLIENT;
	va_list ap;

	net_fixture_tap(&tap, r, from, "eth0");
	va_start(ap, vip);
	start(p, r, where, vip, ap);
	va_end(ap);
	WAIT_FOR(is_ready(p, from), 10000);
	net_fixture_tap_close(&tap);
	ck_assert_msg(p->child.running, "pen ended with %d: %s",
	    p->child.status, child_err(&p->child));
}

/* A socket with a path is the same one in each network namespace. */
const char *
dsrpen_ask(const struct dsrpen *p, const char *line)
{
	struct endpoint control;
	const char *answer;
	int fd;

	ck_assert_ptr_nonnull(p->control);
	endpoint_at_path(&control, p->control);
	WAIT_FOR((fd = endpoint_try_connect(&control)) >= 0, 5000);
	endpoint_send(fd, line, strlen(line));
	shutdown(fd, SHUT_WR);
	answer = endpoint_recv_all(fd);
	close(fd);
	ck_assert_msg(
	    strncmp(answer, "error: ", 7) != 0, "%s: %s", line, answer);
	return answer;
}

bool
dsrpen_is_refused(const struct dsrpen *p, const struct net_fixture *r,
    const char *line, const char *why)
{
	const char *argv[] = { ctl_client(), p->control, line, NULL };
	struct child c;

	net_fixture_start(r, p->where, &c, argv);
	return child_wait(&c, 10000) == 1 && strstr(child_err(&c), why) != NULL;
}

void
dsrpen_down(struct dsrpen *p)
{
	int status;

	ck_assert_msg(!child_has_ended(&p->child),
	    "pen was gone already, with %d: %s", p->child.status,
	    child_err(&p->child));
	status = child_stop(&p->child, SIGTERM);
	ck_assert_msg(status == 0 || dsrpen_is_classic(),
	    "pen ended with %d: %s", status, child_err(&p->child));
}
