/* watch.c: see watch.h. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/buffer.h"
#include "tools/watch.h"

/* What a terminal does (ECMA-48): to the upper left corner, erase to the end of
 * the line, erase to the end of the screen. */
static const char home[] = "\033[H", end_of_line[] = "\033[K\n",
		  end_of_screen[] = "\033[J";

/* The terminal of standard output; false: it is none. */
static bool
watch_terminal_size(unsigned *columns, unsigned *lines)
{
	struct winsize size = { .ws_col = 0 };

	if (!isatty(STDOUT_FILENO) ||
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		return false;
	*columns = size.ws_col > 0 ? size.ws_col : 80;
	*lines = size.ws_row > 0 ? size.ws_row : 24;
	return true;
}

void
watch_wait(const struct repeat *r)
{
	(void)poll(NULL, 0, (int)r->interval_ms);
}

bool
watch_flush(int *status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return true;
	*status = errno == EPIPE ? 0 : ASK_NO_ANSWER;
	if (*status != 0)
		fprintf(stderr, "penctl: %s\n", strerror(errno));
	return false;
}

static void
show(struct buffer *text, bool first)
{
	size_t left = buffer_length(text), length;
	const char *at = left > 0 ? buffer_bytes(text) : "", *end;
	unsigned columns, lines;

	if (!watch_terminal_size(&columns, &lines)) {
		if (!first)
			putchar('\n');
		fwrite(at, 1, left, stdout);
		return;
	}
	fputs(home, stdout);
	/* the lines that fit above the last one, each cut to the width */
	for (; left > 0 && lines > 1; lines--) {
		end = memchr(at, '\n', left);
		length = end != NULL ? (size_t)(end - at) : left;
		printf("%.*s%s", (int)(length < columns ? length : columns), at,
		    end_of_line);
		length += end != NULL;
		at += length;
		left -= length;
	}
	fputs(end_of_screen, stdout);
}

static enum ask_status
ask_once(const struct target *t, const char *line, bool first)
{
	enum ask_status status;
	struct buffer text;
	struct error e;

	buffer_init(&text);
	status = ask(t, line, strlen(line), ask_append, &text, &e);
	if (status == ASK_NO_ANSWER || status == ASK_STOPPED) {
		if (status == ASK_STOPPED)
			error_set(&e, "out of memory");
		buffer_cut(&text, 0);
		(void)(buffer_append(&text, e.text, strlen(e.text)) < 0 ||
		    buffer_append(&text, "\n", 1) < 0);
	}
	show(&text, first);
	buffer_fini(&text);
	return status;
}

int
watch(const struct target *t, const char *line, const struct repeat *r)
{
	enum ask_status status = ASK_ANSWERED;
	unsigned columns, lines;
	uint64_t i;
	int end;

	for (i = 0; r->count == 0 || i < r->count; i++) {
		if (i > 0)
			watch_wait(r);
		status = ask_once(t, line, i == 0);
		if (!watch_flush(&end))
			return end;
		if (status == ASK_REFUSED ||
		    (status != ASK_ANSWERED &&
			!watch_terminal_size(&columns, &lines)))
			break;
	}
	return status == ASK_STOPPED ? ASK_NO_ANSWER : (int)status;
}
