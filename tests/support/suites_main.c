/* suites_main.c: main() of a directory's test program: which suites run. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "support/suite.h"

enum { SKIPPED = 77 };

/* The last part of a path. */
static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static const struct suite_of_file *
find(const struct suite_of_file *list, const char *file)
{
	for (; list->file != NULL; list++)
		if (strcmp(list->file, file) == 0)
			return list;
	return NULL;
}

/* Of two results: a failure, if there is one; else what did run. */
static int
both(int a, int b)
{
	if (a == SKIPPED)
		return b;
	return b == SKIPPED ? a : a | b;
}

static int
run(const struct suite_of_file *one)
{
	if (one->lacks == NULL)
		return suite_run(one->make());
	printf("skipped: %s: %s\n", one->file, one->lacks);
	return SKIPPED;
}

int
suites_main(const struct suite_of_file *list, int argc, char **argv)
{
	const struct suite_of_file *one = find(list, base_name(argv[0]));
	int i, status = SKIPPED;

	if (one != NULL)
		return run(one);
	for (i = 1; i < argc; i++) {
		one = find(list, argv[i]);
		if (one == NULL) {
			fprintf(stderr, "%s: no test file here\n", argv[i]);
			return 1;
		}
		status = both(status, run(one));
	}
	for (; argc == 1 && list->file != NULL; list++)
		status = both(status, run(list));
	return status;
}
