/* nginx.c: its configuration, its life, and programs that run to an end. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/nginx.h"
#include "support/suite.h"
#include "support/wait.h"

static const char config[] =
    "daemon off; master_process off; pid %s/pid; error_log stderr;\n"
    "%s\n"
    "events { worker_connections 2048; }\n"
    "http {\n"
    "  access_log off; keepalive_requests 1000000000; sendfile on;\n"
    "  client_max_body_size 0;\n"
    "  client_body_temp_path %s/t1; proxy_temp_path %s/t2;\n"
    "  fastcgi_temp_path %s/t3; uwsgi_temp_path %s/t4;\n"
    "  scgi_temp_path %s/t5;\n"
    "  server {\n"
    "    listen %s backlog=4096 %s; %s\n"
    "    root %s; default_type text/plain;\n"
    "    location = / { return 200 '%s'; }\n"
    "    location = /status { stub_status; }\n"
    "    location /files/ { dav_methods PUT; create_full_put_path on; }\n"
    "  }\n"
    "}\n";

void
nginx_again(struct nginx *n, const char *page)
{
	const char *d = n->root, *file = text("%s/conf", d);
	const char *argv[] = { child_find("nginx"), "-p", d, "-c", file, "-e",
		"stderr", NULL };

	/* Files in the scratch directory are ours, nginx's user must be us. */
	write_file(file,
	    text(config, d, geteuid() == 0 ? "user root;" : "", d, d, d, d, d,
		n->at.text, n->listen, n->lines, d, page));
	child_start(&n->child, argv);
	WAIT_FOR(
	    child_has_ended(&n->child) || endpoint_is_listening(&n->at), 10000);
	ck_assert_msg(n->child.running, "nginx: %s", child_err(&n->child));
}

void
nginx_up_with(
    struct nginx *n, const char *page, const char *listen, const char *lines)
{
	static int count;

	memset(n, 0, sizeof(*n));
	n->listen = listen;
	n->lines = lines;
	n->root = scratch(text("nginx%d", ++count));
	ck_assert_int_eq(mkdir(n->root, 0755), 0);
	endpoint_new(&n->at, ENDPOINT_TCP4);
	nginx_again(n, page);
}

void
nginx_up(struct nginx *n, const char *page)
{
	nginx_up_with(n, page, "", "");
}

void
nginx_down(struct nginx *n)
{
	child_stop(&n->child, SIGTERM);
}

long
nginx_requests(const struct nginx *n)
{
	const char *s =
	    endpoint_ask(&n->at, "GET /status HTTP/1.0\r\nHost: x\r\n\r\n");
	long accepted, handled, requests;

	s = strstr(s, "handled requests\n");
	ck_assert_ptr_nonnull(s);
	ck_assert_int_eq(sscanf(s, "handled requests\n %ld %ld %ld", &accepted,
			     &handled, &requests),
	    3);
	return requests - 1;
}

const char *
run_program(int ms, ...)
{
	const char *argv[CHILD_ARGS];
	struct child c;
	va_list ap;
	int n = 0;

	va_start(ap, ms);
	while (
	    n < CHILD_ARGS - 1 && (argv[n] = va_arg(ap, const char *)) != NULL)
		n++;
	va_end(ap);
	argv[n] = NULL;
	child_start(&c, argv);
	ck_assert_msg(child_wait(&c, ms) == 0, "%s: exit %d: %s", argv[0],
	    c.status, child_err(&c));
	return child_out(&c);
}

long
report_number(const char *report, const char *label)
{
	const char *s = strstr(report, label);

	ck_assert_msg(s != NULL, "no \"%s\" in: %s", label, report);
	return strtol(s + strlen(label), NULL, 10);
}
