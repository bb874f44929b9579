/* processors.c: see processors.h; sched_setaffinity(2), cgroups(7). */
#include "config.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "control/workers/processors.h"

enum { FILE_MOST = 64 * 1024 };

/* The text of a file, "" if there is none; to be freed with buffer_fini(). */
static const char *
read_text(struct buffer *text, const char *directory, const char *name)
{
	char path[PATH_MAX];
	struct error e;
	int n;

	buffer_init(text);
	n = snprintf(path, sizeof(path), "%s/%s", directory, name);
	if (n < 0 || (size_t)n >= sizeof(path) ||
	    file_read(path, FILE_MOST, false, text, &e) < 0 ||
	    buffer_append(text, "", 1) < 0)
		return "";
	return buffer_bytes(text);
}

/* The processors that a quota is enough for, rounded up; the smaller of that
 * and `least`, where 0 is none. */
static unsigned
take_quota(unsigned least, long long quota, long long period)
{
	long long n;

	if (quota <= 0 || period <= 0)
		return least;
	n = quota / period + (quota % period > 0);
	return n < (least > 0 ? least : UINT_MAX) ? (unsigned)n : least;
}

static long long
read_number(const char *directory, const char *name)
{
	struct buffer text;
	long long value;

	value = strtoll(read_text(&text, directory, name), NULL, 10);
	buffer_fini(&text);
	return value;
}

/* Version 2 has both numbers in a file, or "max". */
static unsigned
quota_of(const char *directory, unsigned least)
{
	long long quota = 0, period = 0;
	struct buffer text;

	if (sscanf(read_text(&text, directory, "cpu.max"), "%lld %lld", &quota,
		&period) == 2)
		least = take_quota(least, quota, period);
	buffer_fini(&text);
	quota = read_number(directory, "cpu.cfs_quota_us");
	if (quota > 0)
		least = take_quota(
		    least, quota, read_number(directory, "cpu.cfs_period_us"));
	return least;
}

/* A group has the limits of those above it, too. In a container the path may be
 * that of the host, of which only the end of the walk is there. */
static unsigned
quota_of_all(const char *top, char *group, unsigned least)
{
	char directory[PATH_MAX], *end;
	int n;

	for (;;) {
		n = snprintf(directory, sizeof(directory), "%s%s", top, group);
		if (n > 0 && (size_t)n < sizeof(directory))
			least = quota_of(directory, least);
		end = strrchr(group, '/');
		if (end == NULL)
			return least;
		*end = '\0';
	}
}

/* A line of /proc/self/cgroup: NUMBER:CONTROLLERS:/PATH, without CONTROLLERS in
 * version 2. */
static unsigned
quota_of_line(const char *root, char *line, unsigned least)
{
	char *controllers = strchr(line, ':'), top[PATH_MAX], *path, *word;
	bool has_cpu = false;
	char *rest;
	int n;

	path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
	if (path == NULL)
		return least;
	*path++ = '\0';
	controllers++;
	n = snprintf(top, sizeof(top), "%s/sys/fs/cgroup%s%s", root,
	    controllers[0] != '\0' ? "/" : "", controllers);
	if (n < 0 || (size_t)n >= sizeof(top))
		return least;
	for (word = strtok_r(controllers, ",", &rest); word != NULL;
	     word = strtok_r(NULL, ",", &rest))
		has_cpu = has_cpu || strcmp(word, "cpu") == 0;
	return has_cpu || controllers[0] == '\0'
	    ? quota_of_all(top, path, least)
	    : least;
}

unsigned
processors_quota(const char *root)
{
	char *lines, *line, *rest;
	struct buffer text;
	unsigned least = 0;

	lines = strdup(read_text(&text, root, "proc/self/cgroup"));
	buffer_fini(&text);
	if (lines == NULL)
		return 0;
	for (line = strtok_r(lines, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest))
		least = quota_of_line(root, line, least);
	free(lines);
	return least;
}

static unsigned
count_permitted(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef CPU_COUNT
	cpu_set_t set; /* fails where a host has more than fit in */

	if (sched_getaffinity(0, sizeof(set), &set) == 0 &&
	    CPU_COUNT(&set) > 0)
		return (unsigned)CPU_COUNT(&set);
#endif
	return cpus < 1 ? 1 : (unsigned)cpus;
}

unsigned
processors_count(const char *root)
{
	unsigned n = count_permitted(), quota = processors_quota(root);

	return quota > 0 && quota < n ? quota : n;
}
