/* program_words.c: messages about a program, before and after it runs. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/program/program.h"

int
program_check(const char *path, struct error *e)
{
	struct stat st;

	if (path[0] != '/')
		return error_set(
		    e, "\"%.200s\": expects an absolute path", path);
	if (stat(path, &st) < 0)
		return error_set(e, "\"%.200s\": %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return error_set(e, "\"%.200s\": not a file", path);
	if (access(path, X_OK) < 0)
		return error_set(e, "\"%.200s\": not executable", path);
	return 0;
}

const char *
program_result_text(const struct program_result *r, char text[PROGRAM_TEXT_MAX])
{
	char how[64] = "";

	switch (r->end) {
	case PROGRAM_EXITED:
		snprintf(how, sizeof(how), "exit status %d", r->code);
		break;
	case PROGRAM_KILLED:
		snprintf(how, sizeof(how), "killed by signal %d (%s)", r->code,
		    strsignal(r->code));
		break;
	case PROGRAM_TIMED_OUT:
		snprintf(how, sizeof(how), "timeout");
		break;
	case PROGRAM_FAILED:
		snprintf(
		    how, sizeof(how), "not executed: %s", strerror(r->code));
		break;
	}
	snprintf(text, PROGRAM_TEXT_MAX, "%s%s%s", how,
	    r->line[0] != '\0' ? ": " : "", r->line);
	return text;
}
