/* terminal.c: pseudo-terminals. */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "system/terminal.h"
#include "support/wait.h"

void
terminal_start(struct terminal *t, const char *const argv[])
{
	struct child_gifts gifts = { .terminal = NULL };

	memset(t, 0, sizeof(*t));
	t->fd = posix_openpt(O_RDWR | O_NOCTTY);
	ck_assert_int_ge(t->fd, 0);
	ck_assert_int_eq(grantpt(t->fd), 0);
	ck_assert_int_eq(unlockpt(t->fd), 0);
	gifts.terminal = ptsname(t->fd);
	ck_assert_ptr_nonnull(gifts.terminal);
	ck_assert_int_ge(fcntl(t->fd, F_SETFL, O_NONBLOCK), 0);
	child_start_given(&t->child, argv, &gifts);
}

void
terminal_type(struct terminal *t, const char *keys)
{
	ssize_t n = (ssize_t)strlen(keys);

	ck_assert_int_eq(write(t->fd, keys, (size_t)n), n);
}

/* At the end of the program the terminal answers EIO. */
static void
take_what_is_shown(struct terminal *t)
{
	ssize_t n;

	while (t->n < TERMINAL_TEXT - 1 &&
	    (n = read(t->fd, t->text + t->n, TERMINAL_TEXT - 1 - t->n)) > 0)
		t->n += (size_t)n;
	t->text[t->n] = '\0';
}

bool
terminal_shows(struct terminal *t, const char *what)
{
	take_what_is_shown(t);
	return strstr(t->text, what) != NULL;
}

void
terminal_clear(struct terminal *t)
{
	t->n = 0;
	t->text[0] = '\0';
}

/* Output nobody takes would keep the program from ending. */
static bool
has_ended(struct terminal *t)
{
	take_what_is_shown(t);
	return child_has_ended(&t->child);
}

static int
close_terminal(struct terminal *t)
{
	take_what_is_shown(t);
	close(t->fd);
	return t->child.status;
}

bool
terminal_is_edited(const struct terminal *t)
{
	struct termios now;

	return tcgetattr(t->fd, &now) == 0 && (now.c_lflag & ICANON) == 0;
}

int
terminal_wait(struct terminal *t, int ms)
{
	WAIT_FOR(has_ended(t), ms);
	return close_terminal(t);
}
