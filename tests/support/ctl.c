/* ctl.c: a control server that does what its lines say. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/ctl.h"
#include "support/suite.h"
#include "support/wait.h"

static void
say(int fd, const char *what)
{
	backend_send(fd, what, strlen(what));
}

/* Long enough apart to arrive apart, as a rule. */
static void
say_in_pieces(int fd, const char *what)
{
	int i;

	for (; *what != '\0'; what++) {
		backend_send(fd, what, 1);
		for (i = 0; i < 3; i++)
			wait_nap();
	}
}

static void
say_much(int fd, const char *beginning)
{
	char block[4096];
	long left = CTL_BIG;

	say(fd, beginning);
	memset(block, 'b', sizeof(block));
	for (; left > 0; left -= (long)sizeof(block))
		if (!backend_send(fd, block, sizeof(block)))
			return;
}

static void
wait_for_end(int fd)
{
	char c;

	while (recv(fd, &c, 1, 0) > 0)
		;
}

/* Returns its length, -1 for none. */
static long
read_line(int fd, char *line)
{
	long n = 0, k;

	while (n < CTL_LINE_SIZE - 1 &&
	    (k = recv(fd, line + n, (size_t)(CTL_LINE_SIZE - 1 - n), 0)) > 0) {
		n += k;
		if (line[n - 1] == '\n') {
			line[n - 1] = '\0';
			return n - 1;
		}
	}
	return -1;
}

static void
answer(struct backend *b, int fd, const char *line, long n)
{
	char length[32];

	if (strcmp(line, "refuse") == 0)
		say(fd, "error: not today\n");
	else if (strcmp(line, "pieces") == 0)
		say_in_pieces(fd, "error: piece by piece\n");
	else if (strcmp(line, "almost") == 0)
		say_in_pieces(fd, "error:none\n");
	else if (strcmp(line, "beginning") == 0)
		say(fd, "err");
	else if (strcmp(line, "big") == 0)
		say_much(fd, "");
	else if (strcmp(line, "refuse late") == 0)
		say(fd, "5\nerror: not any more\n");
	else if (strcmp(line, "refuse late in pieces") == 0)
		say_in_pieces(fd, "err\nConnection\nerror: \n");
	else if (strcmp(line, "no refusal") == 0)
		say(fd, "Connection 5 out of rangers\nend\n");
	else if (strcmp(line, "classic close") == 0)
		say(fd, "Connection 5 out of range\n");
	else if (strcmp(line, "classic exit") == 0)
		say(fd, "Exit is not enabled; restart with -X flag\n");
	else if (strcmp(line, "refuse much") == 0)
		say_much(fd, "error: ");
	else if (strcmp(line, "hang") == 0)
		wait_for_end(fd);
	else if (strcmp(line, "half") == 0)
		say(fd, "half an answer\n"), wait_for_end(fd);
	else if (strcmp(line, "reset") == 0)
		backend_reset(b, fd);
	else if (strcmp(line, "help") == 0)
		say(fd,
		    "acl N permit|deny  adds\n  mode  no name here\n"
		    "server N  sets up\nservers  prints\nstubborn\n");
	else if (n > 1000 && snprintf(length, sizeof(length), "%ld\n", n) > 0)
		say(fd, length);
	else if (strcmp(line, "nothing") != 0)
		say(fd, "<"), say(fd, line), say(fd, b->arg);
}

void
ctl_serve(struct backend *b, int fd)
{
	char *line = malloc(CTL_LINE_SIZE);
	long n = line != NULL ? read_line(fd, line) : -1;

	if (n >= 0)
		answer(b, fd, line, n);
	free(line);
}

const char *
ctl_client(void)
{
	return text("%sctl", getenv("PEN"));
}
