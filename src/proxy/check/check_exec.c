/* check_exec.c: "exec PROGRAM [ARGUMENTS]": a program checks the server; its
 * exit status 0 is success. See net/program/program.h for how it is run.
 *
 * It gets the address and port as its last two arguments, or where {address}
 * and {port} stand among them; the path of a Unix socket is an address, with an
 * empty port. In its environment are PEN_SERVER, the number, PEN_NAME,
 * PEN_ADDRESS, PEN_PORT and PEN_STATE. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "net/program/program.h"
#include "net/sock.h"
#include "proxy/check/check.h"

/* The checker's limit ends a program; its own is there for the worst case. */
enum { LATE_MS = 1000 };

/* The settings are struct words, owned: the program and its arguments, among
 * which are {address} and {port}. */

struct exec_state {
	struct check *check;
	struct program_turn turn;
	struct program_run *run; /* NULL: it has ended, or never began */
};

struct exec_target {
	char host[ADDR_TEXT_MAX], port[8];
};

/* ---- settings ---- */

static int
keep_word(struct words *own, const char *word, struct error *e)
{
	own->word[own->count] = strdup(word);
	if (own->word[own->count] == NULL)
		return error_set(e, "out of memory");
	own->count++;
	return 0;
}

static int
check_exec_parse(void *settings, const struct words *w, struct error *e)
{
	bool marked = false;
	int i, rc = 0;

	if (w->count < 1 || w->word[0][0] != '/')
		return error_set(
		    e, "expects the absolute path of a program, and arguments");
	if (w->count + 2 > WORDS_MAX)
		return error_set(e, "too many arguments");
	for (i = 0; i < w->count && rc == 0; i++) {
		rc = keep_word(settings, w->word[i], e);
		marked = marked || strstr(w->word[i], "{address}") != NULL ||
		    strstr(w->word[i], "{port}") != NULL;
	}
	if (rc == 0 && !marked)
		rc = keep_word(settings, "{address}", e) < 0
		    ? -1
		    : keep_word(settings, "{port}", e);
	return rc;
}

static void
free_words(struct words *w)
{
	while (w->count > 0)
		free(w->word[--w->count]);
}

static void
check_exec_fini(void *settings)
{
	free_words(settings);
}

static char *const *
program_of(const void *settings)
{
	const struct words *own = settings;

	return own->word;
}

/* ---- arguments ---- */

/* A copy of the word with marks replaced, or NULL. */
static char *
fill_in(const char *word, const struct exec_target *a)
{
	struct buffer out;
	char *copy = NULL;

	buffer_init(&out);
	while (*word != '\0') {
		const char *value = strncmp(word, "{address}", 9) == 0 ? a->host
		    : strncmp(word, "{port}", 6) == 0		       ? a->port
								       : NULL;

		if (buffer_append(&out, value != NULL ? value : word,
			value != NULL ? strlen(value) : 1) < 0)
			break;
		word += value == a->host ? 9 : value == a->port ? 6 : 1;
	}
	if (*word == '\0' && buffer_append(&out, "", 1) == 0)
		copy = strdup(buffer_bytes(&out));
	buffer_fini(&out);
	return copy;
}

static int
check_exec_add(struct words *w, const char *word, const struct exec_target *a)
{
	char *copy = fill_in(word, a);

	if (copy == NULL)
		return -1;
	w->word[w->count++] = copy;
	w->word[w->count] = NULL;
	return 0;
}

/* Returns 0, or -1 without memory. */
static int
make_arguments(
    struct words *w, const struct words *own, const struct exec_target *a)
{
	int i, rc = 0;

	w->count = 0;
	for (i = 0; i < own->count && rc == 0; i++)
		rc = check_exec_add(w, own->word[i], a);
	if (rc < 0)
		free_words(w);
	return rc;
}

static void
make_environment(
    struct environment *env, const struct check *c, const struct exec_target *a)
{
	const struct server *s = c->server;

	environment_init(env);
	environment_add(env, "PEN_SERVER", "%u", s->number);
	environment_add(env, "PEN_NAME", "%s", s->name);
	environment_add(env, "PEN_ADDRESS", "%s", a->host);
	environment_add(env, "PEN_PORT", "%s", a->port);
	environment_add(
	    env, "PEN_STATE", "%s", server_state_name(server_state(s)));
}

/* ---- a check ---- */

static void
check_exec_on_end(void *arg, const struct program_result *r)
{
	struct check *c = arg;
	struct exec_state *state = c->state;
	char text[PROGRAM_TEXT_MAX];
	bool exited = r->end == PROGRAM_EXITED;

	state->run = NULL;
	if (r->end == PROGRAM_FAILED && sock_error_is_ours(r->code))
		check_end_errno(c, r->code);
	else
		check_end(c, exited && r->code == 0 ? CHECK_GOOD : CHECK_BAD,
		    "%s",
		    exited && r->line[0] != '\0'
			? r->line
			: program_result_text(r, text));
}

static void
run_program(struct check *c, struct words *w, struct environment *env)
{
	struct exec_state *state = c->state;
	struct program_options o = { .argv = w->word,
		.env = env->list,
		.limit_ms = c->timeout_ms + LATE_MS,
		.on_end = check_exec_on_end,
		.arg = c };

	if (programs_count(c->programs) >= CHECK_PROGRAMS_MAX) {
		check_end(c, CHECK_NONE, "too many programs run");
		return;
	}
	c->waiting = "the end of the program";
	state->run = program_start(c->programs, &o);
	if (state->run == NULL && errno == EPIPE)
		check_end(c, CHECK_BAD,
		    "programs cannot run, the process that starts them has "
		    "ended");
	else if (state->run == NULL)
		check_end(c, CHECK_NONE, "%s", strerror(errno));
}

static void
check_exec_on_turn(struct program_turn *t)
{
	struct check *c = container_of(t, struct exec_state, turn)->check;
	struct environment env;
	struct exec_target a;
	struct words w;

	check_begins(c);
	addr_format_host(&c->at, a.host);
	a.port[0] = '\0';
	if (c->at.u.sa.sa_family != AF_UNIX)
		snprintf(a.port, sizeof(a.port), "%u", addr_port(&c->at));
	make_environment(&env, c, &a);
	if (env.failed || make_arguments(&w, c->settings, &a) < 0) {
		check_end(c, CHECK_NONE, "out of memory");
	} else {
		run_program(c, &w, &env);
		free_words(&w);
	}
	environment_fini(&env);
}

/* As long as it has not begun, it is not the server that takes so long. */
static void
check_exec_start(struct check *c)
{
	struct exec_state *state = c->state;

	state->check = c;
	state->turn.start = check_exec_on_turn;
	list_init(&state->turn.link);
	c->waiting = NULL;
	program_queue(c->programs, &state->turn);
}

static void
check_exec_stop(struct check *c)
{
	struct exec_state *state = c->state;

	program_unqueue(&state->turn);
	if (state->run != NULL)
		program_cancel(state->run);
}

const struct check_kind check_exec = {
	.name = "exec",
	.args = "PROGRAM [ARGUMENTS]",
	.settings_size = sizeof(struct words),
	.parse = check_exec_parse,
	.fini = check_exec_fini,
	.program = program_of,
	.state_size = sizeof(struct exec_state),
	.start = check_exec_start,
	.stop = check_exec_stop,
};
