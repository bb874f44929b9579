/* penctl.c: sends commands to a control socket and prints the answers. This
 * file: the command line, lines from a script, and where answers go. */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/number.h"
#include "base/output.h"
#include "base/words.h"
#include "tools/ask.h"
#include "tools/command_text.h"
#include "tools/edit.h"
#include "tools/prompt.h"
#include "tools/text_word.h"
#include "tools/top.h"
#include "tools/watch.h"

enum { GO_ON = -1, REFUSED = 1, UNREACHABLE = 2 };
enum { TIMEOUT_MS = 10000, INTERVAL_MS = 2000, LONG_MS = 86400000 };

struct penctl {
	struct target target;
	struct repeat repeat; /* of watch and top */
	bool json;
	int cannot_write; /* errno of the output, which ends everything; or 0 */
	char end[32];	  /* the last bytes of the answer */
	size_t end_n;
};

static int
penctl_complain(int status, const char *what)
{
	fprintf(stderr, "penctl: %s\n", what);
	return status;
}

/* ---- answers ---- */

static int
penctl_write_all(int fd, const char *bytes, size_t n)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	ssize_t done;

	while (n > 0) {
		done = write(fd, bytes, n);
		if (done < 0 && errno == EAGAIN)
			done = poll(&p, 1, -1) < 0 ? -1 : 0;
		if (done < 0 && errno != EINTR)
			return -1;
		if (done > 0) {
			bytes += done;
			n -= (size_t)done;
		}
	}
	return 0;
}

static bool
ends_with(const struct penctl *p, const char *text)
{
	size_t n = strlen(text);

	return p->end_n >= n && memcmp(p->end + p->end_n - n, text, n) == 0;
}

/* Errors go to standard error, everything else to standard output. */
static int
penctl_print(void *arg, bool error, const char *bytes, size_t n)
{
	struct penctl *p = arg;
	size_t end = n < sizeof(p->end) ? n : sizeof(p->end);
	size_t room = sizeof(p->end) - end;
	size_t keep = p->end_n < room ? p->end_n : room;

	memmove(p->end, p->end + p->end_n - keep, keep);
	memcpy(p->end + keep, bytes + n - end, end);
	p->end_n = keep + end;
	if (penctl_write_all(error ? STDERR_FILENO : STDOUT_FILENO, bytes, n) ==
	    0)
		return 0;
	p->cannot_write = errno;
	return -1;
}

/* Whether the last command of a line waits until a server has drained. */
static bool
waits(const char *line, size_t n)
{
	char *copy = strndup(line, n), *rest = copy;
	bool drains = false, found = false;
	struct words w;
	int i;

	while (rest != NULL && words_split(&w, rest, &rest) == 0) {
		drains = found = false;
		for (i = 0; i < w.count; i++) {
			found = found || (drains &&
				strcmp(w.word[i], "wait") == 0);
			drains = drains || strcmp(w.word[i], "drain") == 0 ||
			    strcmp(w.word[i], "maint") == 0 ||
			    strcmp(w.word[i], "remove") == 0;
		}
	}
	free(copy);
	return found;
}

/* An answer that just ends may be that of a killed process. */
static const char drained[] = "no connections left\n";

/* Sends one line and prints the reply. Returns an exit status; a reader that
 * stops, as head(1), is no error. */
static int
ask_line(struct penctl *p, const char *line, size_t n)
{
	struct error e;
	enum ask_status status;

	p->end_n = 0;
	status = ask(&p->target, line, n, penctl_print, p, &e);
	if (p->end_n > 0 && !ends_with(p, "\n") && isatty(STDOUT_FILENO) &&
	    penctl_write_all(STDOUT_FILENO, "\n", 1) < 0)
		p->cannot_write = errno;
	if (p->cannot_write != 0 && p->cannot_write != EPIPE)
		return penctl_complain(UNREACHABLE, strerror(p->cannot_write));
	if (status == ASK_NO_ANSWER)
		return penctl_complain(UNREACHABLE, e.text);
	if (status == ASK_REFUSED)
		return REFUSED;
	if (status == ASK_ANSWERED && waits(line, n) && !ends_with(p, drained))
		return penctl_complain(UNREACHABLE,
		    "incomplete reply: pen exited before the server had "
		    "drained");
	return 0;
}

/* ---- lines ---- */

static int
ask_for_json(struct penctl *p, const char *text)
{
	struct buffer line;
	int status;

	buffer_init(&line);
	status = command_text_json(&line, text) == 0
	    ? ask_line(p, buffer_bytes(&line), buffer_length(&line))
	    : penctl_complain(UNREACHABLE, "out of memory");
	buffer_fini(&line);
	return status;
}

static int
ask_words(struct penctl *p, char **words)
{
	struct buffer line;
	int status, i;

	for (i = 0; words[i] != NULL; i++)
		if (strchr(words[i], '\n') != NULL)
			return penctl_complain(
			    REFUSED, "a command is one line");
	buffer_init(&line);
	if (command_text_join(&line, words) < 0)
		status = penctl_complain(UNREACHABLE, "out of memory");
	else if (p->json)
		status = ask_for_json(p, buffer_bytes(&line));
	else
		status =
		    ask_line(p, buffer_bytes(&line), buffer_length(&line) - 1);
	buffer_fini(&line);
	return status;
}

/* pen compares its configuration with the text on standard input. */
static int
diff_input(struct penctl *p)
{
	static const char command[] = "diff -";
	struct buffer line;
	struct error e;
	int status;

	buffer_init(&line);
	if (buffer_append(&line, command, sizeof(command) - 1) < 0)
		status = penctl_complain(UNREACHABLE, "out of memory");
	else if (text_word_read(&line, STDIN_FILENO, &e) < 0)
		status = penctl_complain(UNREACHABLE, e.text);
	else if (p->json && command_text_add(&line, "json") < 0)
		status = penctl_complain(UNREACHABLE, "out of memory");
	else
		status =
		    ask_line(p, buffer_bytes(&line), buffer_length(&line));
	buffer_fini(&line);
	return status;
}

/* ---- again and again ---- */

static int
watch_words(struct penctl *p, char **words)
{
	struct buffer line, json;
	int status;

	buffer_init(&line);
	buffer_init(&json);
	if (words[0] == NULL)
		status =
		    penctl_complain(UNREACHABLE, "watch: expects a command");
	else if (command_text_join(&line, words) < 0 ||
	    (p->json &&
		(command_text_json(&json, buffer_bytes(&line)) < 0 ||
		    buffer_append(&json, "", 1) < 0)))
		status = penctl_complain(UNREACHABLE, "out of memory");
	else
		status = watch(&p->target,
		    buffer_bytes(p->json ? &json : &line), &p->repeat);
	buffer_fini(&json);
	buffer_fini(&line);
	return status;
}

/* The words are more pens; `service` NULL: all services. */
static int
run_top(struct penctl *p, const char *service, char **words)
{
	struct top *t = calloc(1, sizeof(*t));
	struct error e;
	int status = GO_ON;

	if (t == NULL)
		return penctl_complain(UNREACHABLE, "out of memory");
	t->pen[t->pens++] = p->target;
	t->repeat = p->repeat;
	t->service = service;
	for (; *words != NULL && status == GO_ON; words++) {
		if (t->pens == TOP_PENS)
			status = penctl_complain(
			    UNREACHABLE, "top: too many addresses");
		else if (target_parse(&t->pen[t->pens], *words, &e) < 0)
			status = penctl_complain(UNREACHABLE, e.text);
		else
			t->pen[t->pens++].timeout_ms = p->target.timeout_ms;
	}
	if (status == GO_ON)
		status = top(t);
	free(t);
	return status;
}

/* pen has no command of that name but `top clients` */
static bool
is_top(char **words)
{
	return words[0] != NULL && strcmp(words[0], "top") == 0 &&
	    (words[1] == NULL || strcmp(words[1], "clients") != 0);
}

static int
penctl_run_words(struct penctl *p, char **words)
{
	if (strcmp(words[0], "watch") == 0)
		return watch_words(p, words + 1);
	if (is_top(words))
		return run_top(p, NULL, words + 1);
	if (strcmp(words[0], "diff") == 0 && words[1] != NULL &&
	    strcmp(words[1], "-") == 0 && words[2] == NULL)
		return diff_input(p);
	if (strcmp(words[0], "service") == 0 && words[1] != NULL &&
	    is_top(words + 2))
		return run_top(p, words[1], words + 3);
	return ask_words(p, words);
}

/* A line of a script or of the prompt, without its newline. */
static int
penctl_run_line(void *arg, const char *line)
{
	struct penctl *p = arg;

	line += strspn(line, " \t\r");
	if (*line == '\0' || *line == '#')
		return 0;
	return p->json ? ask_for_json(p, line)
		       : ask_line(p, line, strlen(line));
}

/* A command a line; goes on after a refusal, and remembers it. */
static int
run_script(struct penctl *p)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	int status = 0, one;

	while (status != UNREACHABLE && p->cannot_write == 0 &&
	    (n = getline(&line, &room, stdin)) > 0) {
		if (line[n - 1] == '\n')
			line[--n] = '\0';
		one = strlen(line) == (size_t)n
		    ? penctl_run_line(p, line)
		    : penctl_complain(
			  REFUSED, "a line with a NUL byte is not sent");
		if (one > status)
			status = one;
	}
	if (ferror(stdin))
		status = penctl_complain(UNREACHABLE, strerror(errno));
	free(line);
	return status;
}

/* ---- the command line ---- */

static int
penctl_usage(FILE *to, int status)
{
	fputs("usage: penctl [options] [address] [command ...]\n\n"
	      "Sends commands to a control socket of pen and prints the "
	      "replies.\n"
	      "Without a command, lines are read from standard input.\n\n"
	      "  help                   list the commands of pen, such as\n"
	      "                         servers, reload, shutdown\n"
	      "  top [address ...]      live view of servers; several\n"
	      "                         addresses are added up\n"
	      "  service NAME top ...   the servers of one service\n"
	      "  watch command ...      repeat a command\n\n"
	      "address = host:port, [v6]:port, v6:port, port, /path or @name;\n"
	      "without it, PENCTL in the environment.\n\n"
	      "  -a, --address ADDRESS  the address; all arguments are the "
	      "command\n"
	      "  -i, --interval SEC     interval of top and watch; default 2\n"
	      "  -j, --json             request replies in JSON\n"
	      "  -n, --count N          repetitions of top and watch\n"
	      "  -t, --timeout SEC      timeout of the connection, and of each "
	      "piece\n"
	      "                         of the reply; default 10\n"
	      "      --help             this text\n"
	      "      --version          version, features\n",
	    to);
	return status;
}

/* The argument of -i, -n or -t. Returns 0, or -1 and has complained. */
static int
penctl_parse_number(struct penctl *p, int option, const char *text)
{
	if (option == 'n' && number_parse(text, 1, UINT32_MAX,
				 &p->repeat.count) == 0)
		return 0;
	if (option == 'i' &&
	    number_parse_ms(text, 100, LONG_MS, &p->repeat.interval_ms) == 0)
		return 0;
	if (option == 't' &&
	    number_parse_ms(text, 1, LONG_MS, &p->target.timeout_ms) == 0)
		return 0;
	(void)penctl_complain(0,
	    option == 'n'	? "--count: expects a number from 1 on"
		: option == 'i' ? "--interval: expects seconds, 0.1 to 86400"
				: "--timeout: expects seconds, 0.001 to 86400");
	return -1;
}

/* Options stand before the address and after it. Returns GO_ON, or the exit
 * status. */
static int
penctl_parse_options(struct penctl *p, const char **at, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "address", required_argument, NULL, 'a' },
		{ "count", required_argument, NULL, 'n' },
		{ "interval", required_argument, NULL, 'i' },
		{ "json", no_argument, NULL, 'j' },
		{ "timeout", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ NULL, 0, NULL, 0 },
	};
	int found;

	while ((found = getopt_long(
		    argc, argv, "+a:i:jn:t:", longs, NULL)) != -1) {
		if (found == 'h')
			return penctl_usage(stdout, 0);
		if (found == 'v') {
			printf("penctl %s\nlibedit: %s\n", PACKAGE_VERSION,
			    edit_is_rich() ? "yes" : "no");
			return 0;
		}
		if (found == 'a')
			*at = optarg;
		else if (found == 'j')
			p->json = true;
		else if (strchr("int", found) == NULL)
			return penctl_usage(stderr, UNREACHABLE);
		else if (penctl_parse_number(p, found, optarg) < 0)
			return UNREACHABLE;
	}
	return GO_ON;
}

/* The address is that of the option, or the first word when there is no PENCTL
 * or the word cannot be a command, or PENCTL. NULL: none. */
static const char *
take_address(const char *option, char **argv)
{
	const char *env = getenv("PENCTL"), *first = argv[optind];

	if (option != NULL)
		return option;
	if (env != NULL && env[0] == '\0')
		env = NULL;
	if (first != NULL && (env == NULL || target_is_clearly(first))) {
		optind++;
		return first;
	}
	return env;
}

int
main(int argc, char **argv)
{
	struct penctl p = { .target = { .timeout_ms = TIMEOUT_MS },
		.repeat = { .interval_ms = INTERVAL_MS } };
	const char *option = NULL, *at;
	struct error e;
	int status, before;

	output_fill_standard_files();
	signal(SIGPIPE, SIG_IGN);
	status = penctl_parse_options(&p, &option, argc, argv);
	if (status != GO_ON)
		return status;
	before = optind;
	at = take_address(option, argv);
	if (optind > before) {
		status = penctl_parse_options(&p, &at, argc, argv);
		if (status != GO_ON)
			return status;
	}
	if (at == NULL)
		return penctl_usage(stderr, UNREACHABLE);
	if (target_parse(&p.target, at, &e) < 0)
		return penctl_complain(UNREACHABLE, e.text);
	if (argv[optind] != NULL)
		return penctl_run_words(&p, argv + optind);
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)
	    ? prompt(&p.target, penctl_run_line, &p)
	    : run_script(&p);
}
