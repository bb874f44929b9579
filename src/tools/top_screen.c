/* top_screen.c: top on a terminal, by ncurses.
 *
 *     2 of 3 up, 12 sessions ..          sums
 *     NAME            STATE SESSIONS ..  headings
 *     web1            up          12     servers, one of them selected
 *     s sort (number) ..                 keys, a question or a message
 */
#include "config.h"

#include <ctype.h>
#include <curses.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tools/top.h"

enum { TOP_ROWS = 3, KEY_ESCAPE = 27 }; /* sums, headings, the last line */

enum mode { MODE_KEYS, MODE_FILTER, MODE_ASK };

struct screen {
	struct top *top;
	enum mode mode;
	const char *word; /* MODE_ASK: "drain" or "up" */
	struct top_server about;
	uint32_t selected, first;
	bool paused, ended;
	uint64_t due; /* ms, the next refresh */
};

/* ---- drawing ---- */

static void
draw_line(int row, const char *text, attr_t how)
{
	move(row, 0);
	clrtoeol();
	attron(how);
	addnstr(text, COLS);
	attroff(how);
}

static attr_t
look_of(const struct top_server *s)
{
	return strcmp(s->state, "up") == 0 ? A_NORMAL
	    : strcmp(s->state, "down") == 0 ? A_BOLD | A_UNDERLINE
					    : A_BOLD;
}

static void
draw_last(const struct screen *w)
{
	const struct top *t = w->top;
	char line[TOP_LINE];

	if (w->mode == MODE_ASK)
		snprintf(line, sizeof(line), "%s %s (%s)? y or n", w->word,
		    w->about.name, w->about.at);
	else if (w->mode == MODE_FILTER)
		snprintf(line, sizeof(line), "filter: %s_", t->filter);
	else if (t->message.text[0] != '\0')
		snprintf(line, sizeof(line), "%s", t->message.text);
	else
		snprintf(line, sizeof(line),
		    "q quit  s sort (%s)  / filter%s%s%s  p %s  d drain  u up",
		    top_order_name(t->order), t->filter[0] != '\0' ? " (" : "",
		    t->filter, t->filter[0] != '\0' ? ", Esc: all)" : "",
		    w->paused ? "resume" : "pause");
	draw_line(LINES - 1, line, A_REVERSE);
}

/* The selected one is seen. */
static void
scroll_to_selected(struct screen *w)
{
	uint32_t count = w->top->view.count,
		 rows = LINES > TOP_ROWS ? (uint32_t)(LINES - TOP_ROWS) : 1;

	if (w->selected >= count)
		w->selected = count > 0 ? count - 1 : 0;
	if (w->selected < w->first)
		w->first = w->selected;
	if (w->selected >= w->first + rows)
		w->first = w->selected - rows + 1;
}

static void
screen_draw(struct screen *w)
{
	const struct top *t = w->top;
	char line[TOP_LINE];
	uint32_t i;
	int row;

	scroll_to_selected(w);
	erase();
	top_headline(t, line);
	if (w->paused)
		strncat(line, ", paused", sizeof(line) - strlen(line) - 1);
	draw_line(0, line, A_BOLD);
	draw_line(1, top_table_headings(line, (unsigned)COLS), A_UNDERLINE);
	for (row = 2, i = w->first; row < LINES - 1 && i < t->view.count;
	     row++, i++) {
		const struct top_server *s = &t->view.list[i];

		draw_line(row, top_table_line(line, s, (unsigned)COLS),
		    i == w->selected ? A_REVERSE : look_of(s));
	}
	draw_last(w);
	refresh();
}

/* ---- keys ---- */

static void
ask_about(struct screen *w, const char *word)
{
	const struct top_table *view = &w->top->view;

	if (w->selected >= view->count)
		return;
	w->about = view->list[w->selected];
	w->word = word;
	w->mode = MODE_ASK;
}

static void
screen_on_answer(struct screen *w, int key)
{
	w->mode = MODE_KEYS;
	if (key != 'y' && key != 'Y')
		return;
	top_send(w->top, &w->about, w->word);
	w->due = 0;
}

static void
on_filter_key(struct screen *w, int key)
{
	char *filter = w->top->filter;
	size_t n = strlen(filter);

	if (key == '\n' || key == '\r' || key == KEY_ENTER) {
		w->mode = MODE_KEYS;
	} else if (key == KEY_ESCAPE) {
		filter[0] = '\0';
		w->mode = MODE_KEYS;
	} else if (key == KEY_BACKSPACE || key == '\b' || key == 127) {
		if (n > 0)
			filter[n - 1] = '\0';
	} else if (key >= ' ' && key < 127 && n + 1 < TOP_TEXT) {
		filter[n] = (char)key;
		filter[n + 1] = '\0';
	}
	top_arrange(w->top);
}

static void
move_selected(struct screen *w, int key)
{
	uint32_t page = LINES > TOP_ROWS ? (uint32_t)(LINES - TOP_ROWS) : 1;

	if (key == KEY_DOWN || key == 'j')
		w->selected++;
	else if (key == KEY_NPAGE)
		w->selected += page;
	else if (key == KEY_END)
		w->selected = UINT32_MAX / 2;
	else if (key == KEY_HOME)
		w->selected = 0;
	else if (key == KEY_UP || key == 'k')
		w->selected -= w->selected > 0;
	else if (key == KEY_PPAGE)
		w->selected -= w->selected > page ? page : w->selected;
}

static void
on_plain_key(struct screen *w, int key)
{
	struct top *t = w->top;

	t->message.text[0] = '\0';
	switch (key) {
	case 'q':
		w->ended = true;
		break;
	case 's':
		t->order = (t->order + 1) % TOP_ORDERS;
		top_arrange(t);
		break;
	case KEY_ESCAPE:
		t->filter[0] = '\0';
		top_arrange(t);
		break;
	case '/':
		w->mode = MODE_FILTER;
		break;
	case 'p':
	case ' ':
		w->paused = !w->paused;
		break;
	case 'd':
		ask_about(w, "drain");
		break;
	case 'u':
		ask_about(w, "up");
		break;
	default:
		move_selected(w, key);
	}
}

/* ---- the screen ---- */

/* Whether the terminal has gone, so that no key comes. */
static bool
terminal_is_gone(void)
{
	struct pollfd p = { .fd = STDIN_FILENO };

	return poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR)) != 0;
}

/* Waits for a key, until the next refresh. */
static void
wait_for_key(struct screen *w)
{
	uint64_t now = clock_monotonic_ms();
	int key;

	timeout(w->paused	 ? -1
		: w->due > now	 ? (int)(w->due - now)
				 : 0);
	key = getch();
	if (key == ERR)
		w->ended = terminal_is_gone();
	else if (w->mode == MODE_ASK)
		screen_on_answer(w, key);
	else if (w->mode == MODE_FILTER)
		on_filter_key(w, key);
	else
		on_plain_key(w, key);
}

int
top_screen(struct top *t)
{
	struct screen w = { .top = t };
	SCREEN *terminal = newterm(NULL, stdout, stdin);
	uint64_t now, done = 0;

	if (terminal == NULL)
		return -1;
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	set_escdelay(50);
	(void)curs_set(0);
	while (!w.ended) {
		now = clock_monotonic_ms();
		if (now >= w.due && (!w.paused || w.due == 0)) {
			if (t->repeat.count > 0 && done++ == t->repeat.count)
				break;
			(void)top_refresh(t);
			w.due = clock_monotonic_ms() + t->repeat.interval_ms;
		}
		screen_draw(&w);
		wait_for_key(&w);
	}
	endwin();
	delscreen(terminal);
	return 0;
}
