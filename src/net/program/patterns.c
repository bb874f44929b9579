/* patterns.c: arguments of programs, compared word by word. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "net/program/patterns.h"

enum { VALUE_MAX = 128 };

/* The length of the mark that `word` begins with; 0: none. */
static size_t
mark_length(const char *word)
{
	return strncmp(word, "{address}", 9) == 0 ? 9
	    : strncmp(word, "{port}", 6) == 0	  ? 6
						  : 0;
}

static bool
is_value_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') ||
	    (c != '\0' && strchr(".:/_%@+,=-", c) != NULL);
}

/* Whether the rest of a word is what a rest of a pattern permits. There are few
 * marks in a pattern, and values are short. */
static bool
pattern_fits(const char *pattern, const char *word, bool begins)
{
	size_t mark = mark_length(pattern), n = 0;

	if (mark == 0)
		return *pattern == *word &&
		    (*pattern == '\0' ||
			pattern_fits(pattern + 1, word + 1, false));
	if (begins && *word == '-')
		return false;
	while (n < VALUE_MAX && is_value_byte(word[n]))
		n++;
	for (;; n--) {
		if (pattern_fits(pattern + mark, word + n, false))
			return true;
		if (n == 0)
			return false;
	}
}

static bool
fit_all(char *const *pattern, char *const *argv)
{
	while (*pattern != NULL && *argv != NULL &&
	    pattern_fits(*pattern, *argv, true)) {
		pattern++;
		argv++;
	}
	return *pattern == NULL && *argv == NULL;
}

bool
patterns_fit(const struct patterns *p, char *const *argv)
{
	uint32_t i;

	for (i = 0; i < p->count; i++)
		if (fit_all(p->list[i], argv))
			return true;
	return false;
}

bool
patterns_name(const struct patterns *p, const char *path)
{
	uint32_t i;

	for (i = 0; i < p->count; i++)
		if (strcmp(p->list[i][0], path) == 0)
			return true;
	return false;
}

static bool
are_equal(char *const *a, char *const *b)
{
	while (*a != NULL && *b != NULL && strcmp(*a, *b) == 0) {
		a++;
		b++;
	}
	return *a == NULL && *b == NULL;
}

static void
free_strings(char **list)
{
	char **p;

	for (p = list; p != NULL && *p != NULL; p++)
		free(*p);
	free(list);
}

static char **
copy_strings(char *const *list)
{
	size_t n = 0, i;
	char **copy;

	while (list[n] != NULL)
		n++;
	copy = calloc(n + 1, sizeof(*copy));
	for (i = 0; copy != NULL && i < n; i++) {
		copy[i] = strdup(list[i]);
		if (copy[i] == NULL) {
			free_strings(copy);
			return NULL;
		}
	}
	return copy;
}

int
patterns_add(struct patterns *p, char *const *argv)
{
	char ***list;
	uint32_t i;

	for (i = 0; i < p->count; i++)
		if (are_equal(p->list[i], argv))
			return 0;
	list = array_grow(p->list, &p->room, sizeof(*list), p->count);
	if (list == NULL)
		return -1;
	p->list = list;
	list[p->count] = copy_strings(argv);
	if (list[p->count] == NULL)
		return -1;
	p->count++;
	return 0;
}

void
patterns_fini(struct patterns *p)
{
	while (p->count > 0)
		free_strings(p->list[--p->count]);
	free(p->list);
	*p = (struct patterns){ .count = 0 };
}
