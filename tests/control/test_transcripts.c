/* test_transcripts.c: plays the transcripts *.t of this directory: commands on
 * the control socket, their replies, and what they do to traffic, counters and
 * files. tests/control/README says what the lines mean. */
#include "config.h"

#include <check.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/language/command.h"
#include "control/registry.h"
#include "support/backend.h"
#include "support/certs.h"
#include "support/child.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SERVERS = 4, HELD = 16, LINE = 1024 };

static glob_t scripts;

/* What a transcript has at hand. */
static struct backend servers[SERVERS];
static bool serving[SERVERS];
static struct endpoint front, other, ctl;
static struct pen pen;
static bool running;
static int held[HELD], holding;
static const char *where; /* FILE:LINE */

#define EXPECT(condition, ...)                                            \
	do {                                                              \
		if (!(condition))                                         \
			ck_abort_msg("%s: %s", where, text(__VA_ARGS__)); \
	} while (0)

/* ---- servers and clients ---- */

/* Answers "server N: WHAT CAME" to each thing that comes. */
static void
serve(struct backend *b, int fd)
{
	char bytes[256], answer[320];
	ssize_t n;

	while ((n = recv(fd, bytes, sizeof(bytes), 0)) > 0) {
		int length = snprintf(answer, sizeof(answer), "server %d: %.*s",
		    (int)(b - servers), (int)n, bytes);

		if (!backend_send(fd, answer, (size_t)length))
			return;
	}
}

static void
start_server(int i)
{
	struct endpoint at = servers[i].at;

	backend_start_at(&servers[i], &at, serve, NULL);
	serving[i] = true;
}

static void
send_signal(const char *name)
{
	static const struct {
		const char *name;
		int number;
	} signals[] = {
		{ "HUP", SIGHUP },
		{ "QUIT", SIGQUIT },
		{ "TERM", SIGTERM },
		{ "USR1", SIGUSR1 },
	};
	size_t i;

	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (strcmp(name, signals[i].name) == 0) {
			kill(pen.child.pid, signals[i].number);
			return;
		}
	ck_abort_msg("%s: no signal %s", where, name);
}

static void
hold(const char *what)
{
	char answer[320];
	int fd = endpoint_connect(&front);

	ck_assert_int_lt(holding, HELD);
	endpoint_send(fd, what, strlen(what));
	EXPECT(recv(fd, answer, sizeof(answer), 0) > 0, "held, no answer");
	held[holding++] = fd;
}

/* ---- lines ---- */

static const char *
value_of(const char *name)
{
	int i = name[1] - '0';

	if (strcmp(name, "FRONT") == 0)
		return front.text;
	if (strcmp(name, "OTHER") == 0)
		return other.text;
	if (strcmp(name, "CTL") == 0)
		return ctl.text;
	if (strcmp(name, "DIR") == 0)
		return scratch("");
	if (strcmp(name, "PID") == 0)
		return text("%d", (int)pen.child.pid);
	if (strlen(name) == 2 && i >= 0 && i < SERVERS && name[0] == 'S')
		return servers[i].at.text;
	if (strlen(name) == 2 && i >= 0 && i < SERVERS && name[0] == 'P')
		return text("%d", servers[i].at.port);
	ck_abort_msg("%s: no {%s}", where, name);
	return NULL;
}

/* Puts what {NAME} stands for into its place. */
static const char *
expand(const char *from)
{
	char to[4 * LINE], name[16];
	size_t n = 0;

	for (; *from != '\0'; from++) {
		size_t end = strcspn(from, "}");

		if (*from == '{' && from[end] == '}' && end < sizeof(name) &&
		    strspn(from + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") ==
			end - 1) {
			memcpy(name, from + 1, end - 1);
			name[end - 1] = '\0';
			n += (size_t)snprintf(
			    to + n, sizeof(to) - n, "%s", value_of(name));
			from += end;
		} else if (n < sizeof(to) - 1) {
			to[n++] = *from;
		}
	}
	to[n] = '\0';
	return text("%s", to);
}

static const char *
ask_control(const char *line)
{
	return endpoint_ask(&ctl, text("%s\n", line));
}

/* ---- a transcript ---- */

struct script {
	FILE *file;
	const char *path;
	int number;
	char line[LINE]; /* the next one, without its newline */
	bool there;
};

static void
next(struct script *s)
{
	s->there = fgets(s->line, sizeof(s->line), s->file) != NULL;
	s->line[strcspn(s->line, "\n")] = '\0';
	s->number++;
	where = text("%s:%d", strrchr(s->path, '/') + 1, s->number);
}

static bool
begins(const struct script *s, const char *with)
{
	return s->there && strncmp(s->line, with, strlen(with)) == 0;
}

/* All following lines with that mark, as one text. */
static const char *
block(struct script *s, const char *mark)
{
	const char *all = "";

	for (; s->there && s->line[0] == mark[0]; next(s))
		all = text("%s%s\n", all,
		    s->line[1] != '\0' ? expand(s->line + 2) : "");
	return all;
}

/* Without its library JSON is refused, and what should follow passed over; not
 * so a word json that is an error in any case. */
static bool
is_refused_json(struct script *s, const char *command)
{
#ifdef HAVE_JANSSON
	(void)s;
	(void)command;
	return false;
#else
	const char *word = strstr(command, " json");

	/* lines of logs, jsonl, need none */
	if (word == NULL || word[strlen(" json")] == 'l' ||
	    begins(s, "< error: write:") || begins(s, "~ error: service:"))
		return false;
	EXPECT(
	    strstr(ask_control(command), "json: built without Jansson") != NULL,
	    "%s: not refused", command);
	while (begins(s, "< ") || begins(s, "~ ") || begins(s, "? "))
		next(s);
	return true;
#endif
}

/* > COMMAND, then what it answers: all of it (<), some of it (~), or some of it
 * sooner or later (?). */
static void
run_command(struct script *s)
{
	const char *command = expand(s->line + 2), *answer, *some;

	next(s);
	if (is_refused_json(s, command))
		return;
	if (begins(s, "? ")) {
		some = expand(s->line + 2);
		WAIT_FOR(strstr(ask_control(command), some) != NULL, 10000);
		next(s);
		return;
	}
	answer = ask_control(command);
	if (!begins(s, "~ ")) {
		some = block(s, "< ");
		EXPECT(strcmp(answer, some) == 0, "%s\nanswered\n%swanted\n%s",
		    command, answer, some);
		return;
	}
	for (; begins(s, "~ "); next(s)) {
		some = expand(s->line + 2);
		EXPECT(strstr(answer, some) != NULL,
		    "%s\nanswered\n%swanted in it\n%s", command, answer, some);
	}
}

static void
start_pen(const char *options)
{
	const char *argv[CHILD_ARGS] = { "-f", "-C", ctl.text };
	char *copy = strdup(options), *rest = NULL, *word;
	int n = 3;

	for (word = strtok_r(copy, " ", &rest); word != NULL;
	     word = strtok_r(NULL, " ", &rest)) {
		for (char *c = word; *c != '\0'; c++)
			if (*c == '^') /* a blank within a word */
				*c = ' ';
		argv[n++] = text("%s", word);
	}
	free(copy);
	pen_up_words(&pen, &front, argv);
	WAIT_FOR(endpoint_is_listening(&ctl), 10000);
	running = true;
}

static void
make_file(struct script *s, const char *name)
{
	const char *path = scratch(name);

	next(s);
	write_file(path, block(s, "| "));
}

/* "ask [at ADDRESS] WHAT = ANSWER" */
static void
run_client(const char *words)
{
	struct endpoint to = front;
	const char *equals = strstr(words, " = "), *what, *answer;

	EXPECT(equals != NULL, "no = ");
	if (strncmp(words, "OTHER ", 6) == 0) {
		to = other;
		words += 6;
	}
	what = text("%.*s", (int)(equals - words), words);
	answer = endpoint_ask(&to, what);
	EXPECT(strcmp(answer, equals + 3) == 0, "%s: got %s", what, answer);
}

/* NAME.pem: a certificate that signed itself, and its key. */
static void
make_certificate(const char *name)
{
	const struct cert_wish wish = { .name = name };
	struct cert *c = cert_new(&wish);

	(void)cert_write_all(c, text("%s.pem", name));
	cert_free(c);
}

static void
run_line(struct script *s, const char *verb, const char *rest)
{
	int n = atoi(rest);

	if (strcmp(verb, "pen") == 0) {
		start_pen(rest);
	} else if (strcmp(verb, "cert") == 0) {
		make_certificate(rest);
	} else if (strcmp(verb, "ask") == 0) {
		run_client(rest);
	} else if (strcmp(verb, "hold") == 0) {
		hold(rest);
	} else if (strcmp(verb, "drop") == 0) {
		close(held[--holding]);
	} else if (strcmp(verb, "broken") == 0) {
		endpoint_expect_reset(held[--holding]);
		close(held[holding]);
	} else if (strcmp(verb, "stop") == 0) {
		backend_stop(&servers[n]);
		serving[n] = false;
	} else if (strcmp(verb, "start") == 0) {
		start_server(n);
	} else if (strcmp(verb, "signal") == 0) {
		send_signal(rest);
	} else if (strcmp(verb, "has") == 0) {
		size_t name = strcspn(rest, " ");

		WAIT_FOR(file_has(scratch(text("%.*s", (int)name, rest)),
			     rest + name + 1),
		    10000);
	} else if (strcmp(verb, "there") == 0) {
		WAIT_FOR(access(scratch(rest), F_OK) == 0, 10000);
	} else if (strcmp(verb, "says") == 0) {
		WAIT_FOR(child_has_said(&pen.child, rest), 10000);
	} else if (strcmp(verb, "move") == 0) {
		EXPECT(
		    rename(scratch(rest), scratch(text("%s.old", rest))) == 0,
		    "cannot move %s", rest);
	} else if (strcmp(verb, "ended") == 0) {
		WAIT_FOR(child_has_ended(&pen.child), 10000);
		ck_assert_int_eq(pen.child.status, n);
		running = false;
	} else {
		ck_abort_msg("%s: what is %s?", s->path, verb);
	}
}

static void
play(struct script *s)
{
	char verb[16];
	const char *line;
	size_t n;

	next(s);
	while (s->there) {
		if (s->line[0] == '#' || s->line[0] == '\0') {
			next(s);
			continue;
		}
		if (begins(s, "> ")) {
			run_command(s);
			continue;
		}
		line = expand(s->line);
		n = strcspn(line, " ");
		snprintf(verb, sizeof(verb), "%.*s", (int)n, line);
		if (strcmp(verb, "file") == 0) {
			make_file(s, line + n + 1);
			continue;
		}
		run_line(s, verb, line + n + (line[n] == ' '));
		next(s);
	}
}

START_TEST(transcript)
{
	struct script s = { .path = scripts.gl_pathv[_i] };
	int i;

	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&other, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	for (i = 0; i < SERVERS; i++) {
		endpoint_new(&servers[i].at, ENDPOINT_TCP4);
		start_server(i);
	}
	s.file = fopen(s.path, "r");
	ck_assert_ptr_nonnull(s.file);
	play(&s);
	fclose(s.file);
	while (holding > 0)
		close(held[--holding]);
	if (running)
		pen_down(&pen);
	for (i = 0; i < SERVERS; i++)
		if (serving[i])
			backend_stop(&servers[i]);
}
END_TEST

/* ---- the checklist ---- */

static bool
line_uses(char *line, const char *name)
{
	char *rest = line + 2;
	struct words w;
	int no;

	while (rest != NULL && words_split(&w, rest, &rest) == 0) {
		no = w.count > 1 && strcmp(w.word[0], "no") == 0;
		if (w.count > no && strcmp(w.word[no], name) == 0)
			return true;
	}
	return false;
}

static bool
is_used(const char *name)
{
	char line[LINE];
	bool used = false;
	size_t i;

	for (i = 0; i < scripts.gl_pathc && !used; i++) {
		FILE *f = fopen(scripts.gl_pathv[i], "r");

		while (!used && fgets(line, sizeof(line), f) != NULL)
			used = strncmp(line, "> ", 2) == 0 &&
			    line_uses(line, name);
		fclose(f);
	}
	return used;
}

/* Every row of the table is in a transcript. */
START_TEST(every_command)
{
	const struct command *row;
	const char *missing = "";

	COMMAND_EACH (command_groups, row)
		if (!(row->flags & ROW_OPTION) && !is_used(row->name))
			missing = text("%s %s", missing, row->name);
	ck_assert_msg(*missing == '\0', "no transcript of%s", missing);
}
END_TEST

SUITE(test_transcripts)
{
	const char *dir = getenv("SRCDIR");
	Suite *s = suite_create("transcripts");
	TCase *all = tcase_create("transcript");
	char pattern[512];

	snprintf(pattern, sizeof(pattern), "%s/tests/control/*.t",
	    dir != NULL ? dir : ".");
	/* Without any of them every_command fails. */
	glob(pattern, 0, NULL, &scripts);
	tcase_set_timeout(all, 30);
	tcase_add_loop_test(all, transcript, 0, (int)scripts.gl_pathc);
	suite_add_tcase(s, all);
	SUITE_ADD(s, every_command, 10);
	return s;
}
