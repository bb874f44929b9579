/* test_processors.c: processors that pen may use. */
#include "config.h"

#include <check.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>

#include "control/workers/processors.h"
#include "support/child.h"
#include "support/suite.h"

/* Makes the directories of a file below the scratch directory. */
static void
add(const char *name, const char *content)
{
	char path[500];
	char *at;

	ck_assert_uint_lt(strlen(scratch(name)), sizeof(path));
	strcpy(path, scratch(name));
	for (at = path + strlen(scratch("")); (at = strchr(at, '/')) != NULL;
	     at++) {
		*at = '\0';
		(void)mkdir(path, 0700);
		*at = '/';
	}
	write_file(path, content);
}

static const char *
root(const char *name)
{
	return scratch(name);
}

#define V2 "sys/fs/cgroup/"
#define V1 "sys/fs/cgroup/cpu,cpuacct/"

/* Rounded up, and the least of all groups above. */
START_TEST(quota_of_version_2)
{
	add("a/proc/self/cgroup", "0::/\n");
	add("a/" V2 "cpu.max", "150000 100000\n");
	ck_assert_uint_eq(processors_quota(root("a")), 2);
	add("a/" V2 "cpu.max", "max 100000\n");
	ck_assert_uint_eq(processors_quota(root("a")), 0);
	add("a/" V2 "cpu.max", "10000 100000\n");
	ck_assert_uint_eq(processors_quota(root("a")), 1);
	ck_assert_uint_eq(processors_count(root("a")), 1);
	add("b/proc/self/cgroup", "0::/system.slice/pen.service\n");
	add("b/" V2 "system.slice/pen.service/cpu.max", "max 100000\n");
	add("b/" V2 "system.slice/cpu.max", "300000 100000\n");
	ck_assert_uint_eq(processors_quota(root("b")), 3);
	add("b/" V2 "system.slice/pen.service/cpu.max", "20000 10000\n");
	ck_assert_uint_eq(processors_quota(root("b")), 2);
}
END_TEST

/* In a container only the mount is there, under the host's path. */
START_TEST(quota_of_version_1)
{
	add("c/proc/self/cgroup",
	    "5:memory:/docker/0123\n4:cpu,cpuacct:/docker/0123\n0::/x\n");
	add("c/" V1 "cpu.cfs_quota_us", "250000\n");
	add("c/" V1 "cpu.cfs_period_us", "100000\n");
	ck_assert_uint_eq(processors_quota(root("c")), 3);
	add("c/" V1 "cpu.cfs_quota_us", "-1\n");
	ck_assert_uint_eq(processors_quota(root("c")), 0);
	add("c/" V1 "docker/0123/cpu.cfs_quota_us", "90000\n");
	add("c/" V1 "docker/0123/cpu.cfs_period_us", "100000\n");
	ck_assert_uint_eq(processors_quota(root("c")), 1);
}
END_TEST

/* Files that are missing, or odd, set no limit. */
START_TEST(no_quota)
{
	static const char *const odd[] = { "", "\n", "0", "0:", "0::", ":::",
		"4:cpu:", "x\n0::/\n", "4:cpuset:/a" };
	size_t i;

	ck_assert_uint_eq(processors_quota(root("none")), 0);
	ck_assert_uint_ge(processors_count(root("none")), 1);
	add("d/" V2 "cpu.max", "max\n");
	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		add("d/proc/self/cgroup", odd[i]);
		ck_assert_uint_eq(processors_quota(root("d")), 0);
	}
	add("d/proc/self/cgroup", "0::/\n");
	add("d/" V2 "cpu.max", "-5 0\n");
	ck_assert_uint_eq(processors_quota(root("d")), 0);
}
END_TEST

START_TEST(affinity)
{
#ifdef CPU_COUNT
	cpu_set_t all, one;
	int i = 0;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(all), &all), 0);
	while (!CPU_ISSET(i, &all))
		i++;
	CPU_ZERO(&one);
	CPU_SET(i, &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	ck_assert_uint_eq(processors_count(root("none")), 1);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(all), &all), 0);
	ck_assert_uint_eq(
	    processors_count(root("none")), (unsigned)CPU_COUNT(&all));
#else
	SKIP("no affinity masks here");
#endif
}
END_TEST

SUITE(test_processors)
{
	Suite *s = suite_create("processors");

	SUITE_ADD(s, quota_of_version_2, 10);
	SUITE_ADD(s, quota_of_version_1, 10);
	SUITE_ADD(s, no_quota, 10);
	SUITE_ADD(s, affinity, 10);
	return s;
}
