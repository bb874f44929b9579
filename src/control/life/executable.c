/* executable.c: argv[0] as a path. */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <unistd.h>

#include "base/file.h"
#include "control/life/executable.h"

static bool
is_program(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0 || access(path, X_OK) < 0)
		return false;
	errno = EACCES;
	return S_ISREG(st.st_mode);
}

/* A path that does not depend on the working directory; NULL without one. */
static char *
absolute(const char *path)
{
	char cwd[PATH_MAX], *whole;
	size_t size;

	if (path[0] == '/')
		return strdup(path);
	if (getcwd(cwd, sizeof(cwd)) == NULL)
		return NULL;
	size = strlen(cwd) + strlen(path) + sizeof("/");
	whole = malloc(size);
	if (whole != NULL)
		snprintf(whole, size, "%s/%s", cwd, path);
	return whole;
}

/* Finds the program as execvp(3) does: an empty directory of PATH is the
 * working directory. */
static char *
executable_search(const char *name)
{
	const char *dir = getenv("PATH");
	char path[PATH_MAX];
	size_t n;

	for (; dir != NULL && *dir != '\0'; dir += n + (dir[n] == ':')) {
		n = strcspn(dir, ":");
		if (snprintf(path, sizeof(path), "%.*s/%s", n > 0 ? (int)n : 1,
			n > 0 ? dir : ".", name) < (int)sizeof(path) &&
		    is_program(path))
			return absolute(path);
	}
	return NULL;
}

static char **
copy_list(int argc, char *const *argv)
{
	char **list = calloc((size_t)argc + 1, sizeof(char *));

	if (list != NULL)
		memcpy(list, argv, (size_t)argc * sizeof(char *));
	return list;
}

/* The name of the parent process is that of its program. */
static void
note_supervisor(struct executable *x)
{
	static const char *const names[] = { "runsv", "s6-supervise",
		"supervise", "supervisord", "perpd", "dinit" };
	struct buffer name;
	struct error e;
	char path[64];
	size_t i, n;

	x->supervisor[0] = '\0';
	x->parent = getppid();
	snprintf(path, sizeof(path), "/proc/%ld/comm", (long)x->parent);
	buffer_init(&name);
	if (file_read(path, 64, false, &name, &e) == 0)
		for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			n = strlen(names[i]);
			if (buffer_length(&name) == n + 1 &&
			    memcmp(buffer_bytes(&name), names[i], n) == 0)
				memcpy(x->supervisor, names[i], n + 1);
		}
	buffer_fini(&name);
}

bool
executable_is_supervised(const struct executable *x)
{
	return x->supervisor[0] != '\0' && getppid() == x->parent;
}

void
executable_note(struct executable *x, int argc, char *const *argv)
{
	note_supervisor(x);
	x->path = NULL;
	x->argv = copy_list(argc, argv);
	if (argc > 0)
		x->path = strchr(argv[0], '/') != NULL
		    ? absolute(argv[0])
		    : executable_search(argv[0]);
}

void
executable_fini(struct executable *x)
{
	free(x->path);
	free(x->argv);
	*x = (struct executable){ .path = NULL };
}

/* The arguments follow each other in memory that ps(1) reads. */
void
executable_rename(struct executable *x, const char *name)
{
	char *end;
	size_t i;

#ifdef __linux__
	(void)prctl(PR_SET_NAME, name, 0, 0, 0);
#endif
	if (x->argv == NULL || x->argv[0] == NULL)
		return;
	end = x->argv[0];
	for (i = 0; x->argv[i] == end; i++)
		end += strlen(end) + 1;
	memset(x->argv[0], 0, (size_t)(end - x->argv[0]));
	snprintf(x->argv[0], (size_t)(end - x->argv[0]), "%s", name);
}

int
executable_check(const struct executable *x, struct error *e)
{
	if (x->path == NULL || x->argv == NULL)
		return error_set(e,
		    "cannot find the file of this program; start it by its "
		    "full path");
	if (is_program(x->path))
		return 0;
	return error_set(e, "\"%.300s\": %s", x->path, strerror(errno));
}
