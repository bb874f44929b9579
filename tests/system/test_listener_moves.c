/* test_listener_moves.c: each kind of listener in each kind of change, by a
 * reload and by an upgrade: what accepts afterwards, how many descriptors there
 * are, and that no client is refused meanwhile. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/upgrading.h"
#include "support/visitors.h"
#include "support/wait.h"

enum { SOON = 20000, PLACES = 3, SERVICES = 3 };

/* ---- the table ---- */

enum way { WAY_RELOAD = 1, WAY_UPGRADE = 2, WAY_BOTH = 3 };

/* What listens at X, Y and Z before and after: the services a, b and c, the
 * page w, the port p of peers, the control socket k. */
struct move {
	const char *what, *before, *after;
	enum way way;
};

static const struct move of_services[] = {
	{ "kept", "X:a Y:b", "X:a Y:b", WAY_BOTH },
	{ "dropped", "X:a Z:a Y:b", "Z:a Y:b", WAY_BOTH },
	{ "new", "X:a Y:b", "X:a Z:a Y:b", WAY_BOTH },
	{ "at another address", "X:a Y:b", "Z:a Y:b", WAY_BOTH },
	{ "of a service that is new", "Y:b", "X:a Y:b", WAY_BOTH },
	{ "of a service that leaves", "X:a Y:b", "Y:b", WAY_BOTH },
	{ "of a service that is renamed", "X:a Y:b", "X:c Y:b", WAY_BOTH },
	{ "moved to another service", "X:a Z:a Y:b", "Z:a X:b Y:b", WAY_BOTH },
	{ "moved to a new service", "X:a Z:a Y:b", "Z:a X:c Y:b", WAY_BOTH },
	{ "moved from one that leaves", "X:a Y:b", "X:b Y:b", WAY_BOTH },
	{ "swapped by two services", "X:a Y:b", "X:b Y:a", WAY_BOTH },
	{ "passed round by three", "X:a Y:b Z:c", "X:b Y:c Z:a", WAY_BOTH },
};

static const struct move of_process[] = {
	{ "page kept", "X:w Y:b", "X:w Y:b", WAY_BOTH },
	{ "page dropped", "X:w Y:b", "Y:b", WAY_BOTH },
	{ "page new", "Y:b", "X:w Y:b", WAY_BOTH },
	{ "page at another address", "X:w Y:b", "Z:w Y:b", WAY_BOTH },
	{ "page in place of a service", "X:a Y:b", "X:w Y:b", WAY_BOTH },
	{ "service in place of a page", "X:w Y:b", "X:a Y:b", WAY_UPGRADE },
	{ "control socket kept", "X:k Y:b", "X:k Y:b", WAY_BOTH },
	{ "control socket dropped", "X:k Y:b", "Y:b", WAY_UPGRADE },
	{ "control socket new", "Y:b", "X:k Y:b", WAY_UPGRADE },
	{ "control socket elsewhere", "X:k Y:b", "Z:k Y:b", WAY_UPGRADE },
	{ "peer port kept", "X:p Y:b", "X:p Y:b", WAY_BOTH },
	{ "peer port dropped", "X:p Y:b", "Y:b", WAY_BOTH },
	{ "peer port new", "Y:b", "X:p Y:b", WAY_BOTH },
	{ "peer port elsewhere", "X:p Y:b", "Z:p Y:b", WAY_BOTH },
	{ "peer port in place of a service", "X:a Y:b", "X:p Y:b", WAY_BOTH },
};

enum kind { KIND_TCP4, KIND_TCP6, KIND_UNIX, KIND_ABSTRACT, KIND_UDP,
	KIND_INHERITED, KINDS };

static const char *const kind_names[KINDS] = { "TCP", "TCP on IPv6", "Unix",
	"abstract", "UDP", "inherited" };

/* ---- what there is ---- */

static enum kind kind;
static struct endpoint places[PLACES], ctl;
static struct backend servers[SERVICES];
static struct udp_server udp_servers[SERVICES];
static int given[PLACES], given_count; /* as by systemd */
static const char *program, *conf, *key;

static enum endpoint_kind
endpoint_of(enum kind k)
{
	switch (k) {
	case KIND_TCP6:
		return ENDPOINT_TCP6;
	case KIND_UNIX:
		return ENDPOINT_UNIX;
	case KIND_ABSTRACT:
		return ENDPOINT_ABSTRACT;
	default:
		return ENDPOINT_TCP4;
	}
}

static void
begin(enum kind k)
{
	static const char *const letters[SERVICES] = { "a", "b", "c" };
	int i;

	kind = k;
	for (i = 0; i < SERVICES; i++)
		if (kind == KIND_UDP)
			udp_server_start(
			    &udp_servers[i], ENDPOINT_TCP4, letters[i]);
		else
			backend_start(&servers[i], ENDPOINT_TCP4, backend_say,
			    letters[i]);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	conf = scratch("pen.conf");
	key = scratch("key");
	write_file(key, "a secret of more than 32 bytes, shared\n");
	ck_assert_int_eq(chmod(key, 0600), 0);
}

static void
end(void)
{
	int i;

	for (i = 0; i < SERVICES; i++)
		if (kind == KIND_UDP)
			udp_server_stop(&udp_servers[i]);
		else
			backend_stop(&servers[i]);
}

/* What listens at that place, as a letter; 0: nothing. */
static char
listens_at(const char *map, int place)
{
	const char *at = strchr(map, "XYZ"[place]);

	return at != NULL ? at[2] : '\0';
}

/* The addresses of one of them, with commas. */
static const char *
places_of(const char *map, char letter)
{
	const char *list = "";
	int i;

	for (i = 0; i < PLACES; i++)
		if (listens_at(map, i) == letter)
			list = text("%s%s%s", list, *list != '\0' ? "," : "",
			    places[i].text);
	return list;
}

static const char *
line_if(const char *map, char letter, const char *name, const char *rest)
{
	const char *at = places_of(map, letter);

	return *at != '\0' ? text("%s %s%s\n", name, at, rest) : "";
}

static const char *
section(const char *map, int service)
{
	const char *at = places_of(map, "abc"[service]);

	if (*at == '\0')
		return "";
	return text("service %c\n%slisten %s\nserver 0 address %s port %d\n",
	    "abc"[service], kind == KIND_UDP ? "udp\nudp_timeout 1\n" : "", at,
	    kind == KIND_UDP ? udp_host(&udp_servers[service].at) : "127.0.0.1",
	    kind == KIND_UDP ? udp_servers[service].at.port
			     : servers[service].at.port);
}

static void
write_conf(const char *map)
{
	write_file(conf,
	    text("session_log off\n%s%s%s%s%s%s",
		line_if(map, 'k', "control", ""), line_if(map, 'w', "web", ""),
		line_if(map, 'p', "peer_listen", text(" key %s", key)),
		section(map, 0), section(map, 1), section(map, 2)));
}

static bool
is_up(void)
{
	return endpoint_is_listening(&ctl) &&
	    strtol(pen_ask(&ctl, "pid"), NULL, 10) > 0;
}

static void
up(struct pen *pen)
{
	struct child_gifts gifts = { .fds = given, .count = given_count };

	pen_start_given(
	    pen, &gifts, "-f", "-C", ctl.text, "-F", conf, NULL);
	WAIT_FOR(child_has_ended(&pen->child) || is_up(), SOON);
	ck_assert_msg(pen->child.running, "%s", child_err(&pen->child));
	pen_wait_ready(pen, &ctl);
}

/* New places for each change: nothing is left of the one before. Root gets no
 * control socket on TCP. */
static void
choose_places(const char *before, const char *after)
{
	int i;

	given_count = 0;
	for (i = 0; i < PLACES; i++) {
		if (listens_at(before, i) == 'k' || listens_at(after, i) == 'k')
			endpoint_new(&places[i], ENDPOINT_UNIX);
		else if (kind == KIND_UDP)
			udp_endpoint(&places[i], ENDPOINT_TCP4);
		else
			endpoint_new(&places[i], endpoint_of(kind));
		if (kind == KIND_INHERITED && listens_at(before, i) != '\0')
			given[given_count++] = endpoint_listen(&places[i], 16);
	}
}

static void
give_no_more(void)
{
	while (given_count > 0)
		close(given[--given_count]);
}

/* ---- clients ---- */

static int visited[PLACES], visited_count;
static bool of_services_alone[PLACES];

/* No assertion: it runs in threads. Returns the letter of the server, or 0. */
static char
ask_stream(const struct endpoint *at)
{
	int fd = endpoint_try_connect(at);
	char letter = '\0';

	if (fd < 0)
		return '\0';
	if (recv(fd, &letter, 1, 0) != 1)
		letter = '\0';
	close(fd);
	return letter;
}

static char
ask_datagram(const struct endpoint *at)
{
	const struct timeval limit = { .tv_sec = 5 };
	int fd = socket(at->addr.ss_family, SOCK_DGRAM, 0);
	char answer[8] = "";

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (connect(fd, (const struct sockaddr *)&at->addr, at->len) < 0 ||
	    send(fd, "x", 1, 0) != 1 ||
	    recv(fd, answer, sizeof(answer), 0) != 2)
		answer[0] = '\0';
	close(fd);
	return answer[0];
}

static char
ask(const struct endpoint *at)
{
	return kind == KIND_UDP ? ask_datagram(at) : ask_stream(at);
}

static bool
is_service(char letter)
{
	return letter != '\0' && strchr("abc", letter) != NULL;
}

static bool
is_let_in(const struct endpoint *at)
{
	int fd = endpoint_try_connect(at);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* At places where services are before and after, or, of the page and the port
 * of peers, something else. A flow of datagrams ends when its address moves to
 * another service: the client sends once more. */
static bool
is_served(int visitor, int nth)
{
	const struct endpoint *at = &places[visited[visitor]];

	(void)nth;
	if (!of_services_alone[visitor])
		return is_let_in(at);
	return is_service(ask(at)) || (kind == KIND_UDP && is_service(ask(at)));
}

static void
visitors_come(const struct move *m)
{
	char before, after;
	int i;

	visited_count = 0;
	for (i = 0; i < PLACES; i++) {
		before = listens_at(m->before, i);
		after = listens_at(m->after, i);
		if (before == '\0' || after == '\0' || before == 'k')
			continue;
		of_services_alone[visited_count] =
		    is_service(before) && is_service(after);
		visited[visited_count++] = i;
	}
	visitors_begin(visited_count, is_served);
	visitors_await(visited_count);
}

/* ---- what is there afterwards ---- */

static bool
has_page(const struct endpoint *at)
{
	static const char get[] =
	    "GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n";
	int fd = endpoint_try_connect(at);
	const char *page;

	if (fd < 0)
		return false;
	endpoint_send(fd, get, strlen(get));
	page = endpoint_recv_all(fd);
	close(fd);
	return strstr(page, "\r\nok\n") != NULL;
}

static const char *
what_is_at(const struct endpoint *at, char letter)
{
	switch (letter) {
	case '\0': /* systemd still has it */
		return kind == KIND_INHERITED ||
			(kind == KIND_UDP ? ask_datagram(at) == '\0'
					  : !endpoint_is_listening(at))
		    ? NULL
		    : "somebody listens";
	case 'k':
		return strtol(pen_ask(at, "pid"), NULL, 10) > 0
		    ? NULL
		    : "no control socket";
	case 'w':
		return has_page(at) ? NULL : "no page";
	case 'p':
		return endpoint_is_listening(at) ? NULL : "no port for peers";
	default:
		return ask(at) == letter ? NULL : "another service";
	}
}

static void
check_places(const struct move *m, const char *how, const char *map)
{
	const char *wrong;
	int i;

	for (i = 0; i < PLACES; i++) {
		wrong = what_is_at(&places[i], listens_at(map, i));
		ck_assert_msg(wrong == NULL, "%s %s by %s: %s at %c",
		    kind_names[kind], m->what, how, wrong, "XYZ"[i]);
	}
}

/* How many descriptors a process has that starts with the file. */
static int
fds_of_start(const struct move *m)
{
	struct pen pen;
	int fds;

	up(&pen);
	fds = pen_fds_at_rest(&pen);
	check_places(m, "start", m->after);
	pen_down(&pen);
	return fds;
}

/* What has ended has closed them soon. */
static void
check_descriptors(
    const struct move *m, const char *how, const struct pen *pen, int wanted)
{
	long long end = wait_now_ms() + wait_scaled(SOON);
	int fds;

	while ((fds = pen_fds(pen)) != wanted && wait_now_ms() < end)
		wait_nap();
	ck_assert_msg(fds == wanted, "%s %s by %s: %d descriptors, not %d",
	    kind_names[kind], m->what, how, fds, wanted);
}

/* Unix sockets of workers do not move to another service by a reload: then
 * nothing has changed. */
static bool
is_refused(const struct move *m)
{
	char before, after;
	int i;

	for (i = 0; i < PLACES; i++) {
		before = listens_at(m->before, i);
		after = listens_at(m->after, i);
		if (before != after && is_service(before) && is_service(after))
			return pen_workers() > 1 &&
			    (kind == KIND_UNIX || kind == KIND_ABSTRACT);
	}
	return false;
}

static void
reload(const struct move *m)
{
	const char *said = pen_ask(&ctl, "reload");

	if (is_refused(m))
		ck_assert_msg(strstr(said, "remove it there first") != NULL,
		    "%s %s by reload: %s", kind_names[kind], m->what, said);
	else
		ck_assert_msg(*said == '\0', "%s %s by reload: %s",
		    kind_names[kind], m->what, said);
}

/* Returns the process that serves then. */
static pid_t
change(const struct move *m, enum way way, struct pen *pen)
{
	write_conf(m->after);
	if (way == WAY_UPGRADE)
		return upgrading_go(&ctl, pen->child.pid);
	reload(m);
	return pen->child.pid;
}

static void
one_move(const struct move *m, enum way way)
{
	const char *how = way == WAY_RELOAD ? "reload" : "upgrade";
	struct pen pen, now;
	int wanted;

	choose_places(m->before, m->after);
	write_conf(m->after);
	wanted = fds_of_start(m);
	write_conf(m->before);
	up(&pen);
	check_places(m, "start", m->before);
	visitors_come(m);
	now.child.pid = change(m, way, &pen);
	visitors_await(visited_count);
	(void)visitors_end();
	if (way == WAY_RELOAD && is_refused(m)) {
		check_places(m, how, m->before);
	} else {
		check_places(m, how, m->after);
		if (way == WAY_UPGRADE)
			ck_assert_int_eq(child_wait(&pen.child, SOON), 0);
		check_descriptors(m, how, &now, wanted);
	}
	if (way == WAY_UPGRADE)
		upgrading_end(now.child.pid);
	else
		pen_down(&pen);
	give_no_more();
}

static void
all_moves(enum kind k, const struct move *list, size_t n, enum way way)
{
	size_t i;

	if (!endpoint_has_kind(endpoint_of(k)))
		return;
	if (way == WAY_UPGRADE) {
		program = upgrading_install();
		NEED_UPGRADES(program);
	}
	begin(k);
	/* with light loads each move by some kinds, each kind in some moves */
	for (i = 0; i < n; i++)
		if (list[i].way & way &&
		    (!suite_is_light() || (i + (size_t)k) % 3 == 0))
			one_move(&list[i], way);
	end();
}

enum {
	OF_SERVICES = sizeof(of_services) / sizeof(of_services[0]),
	OF_PROCESS = sizeof(of_process) / sizeof(of_process[0])
};

START_TEST(reloads)
{
	all_moves((enum kind)_i, of_services, OF_SERVICES, WAY_RELOAD);
}
END_TEST

START_TEST(upgrades)
{
	all_moves((enum kind)_i, of_services, OF_SERVICES, WAY_UPGRADE);
}
END_TEST

START_TEST(reloads_of_the_process)
{
	NEEDS_ONE_WORKER("peers have one process");
	all_moves(KIND_TCP4, of_process, OF_PROCESS, WAY_RELOAD);
}
END_TEST

START_TEST(upgrades_of_the_process)
{
	NEEDS_ONE_WORKER("peers have one process");
	all_moves(KIND_TCP4, of_process, OF_PROCESS, WAY_UPGRADE);
}
END_TEST

SUITE(test_listener_moves)
{
	Suite *s = suite_create("listener_moves");

	SUITE_ADD_LOOP(s, reloads, 120, KINDS);
	SUITE_ADD_LOOP(s, upgrades, 240, KINDS);
	SUITE_ADD(s, reloads_of_the_process, 120);
	SUITE_ADD(s, upgrades_of_the_process, 240);
	return s;
}
