/* top_plain.c: without ncurses there are only plain lines. */
#include "config.h"

#include "tools/top.h"

int
top_screen(struct top *t)
{
	(void)t;
	return -1;
}
