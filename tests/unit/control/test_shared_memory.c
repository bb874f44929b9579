/* test_shared_memory.c: parts of several processes. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/workers/shared_memory.h"
#include "support/suite.h"

static struct shared_memory m;

static char *
at(unsigned part, uint32_t place)
{
	return shared_memory_at(&m, part, place);
}

/* What one process writes another reads, each at the same place. */
START_TEST(each_has_a_part)
{
	uint32_t first, second;
	pid_t pid;

	ck_assert_int_eq(shared_memory_open(&m, 3, 0), 0);
	first = shared_memory_take(&m, 65);
	second = shared_memory_take(&m, 1);
	ck_assert_uint_gt(first, 0);
	ck_assert_uint_eq(second, first + 2);
	strcpy(at(0, second), "zero");
	pid = fork();
	if (pid == 0) {
		strcpy(at(1, second), "one");
		_exit(shared_memory_take(&m, 1) != second + 1);
	}
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_uint_eq(shared_memory_take(&m, 1), second + 1);
	ck_assert_str_eq(at(0, second), "zero");
	ck_assert_str_eq(at(1, second), "one");
	ck_assert_str_eq(at(2, second), "");
	ck_assert_str_eq(at(1, first), "");
	shared_memory_close(&m);
	shared_memory_close(&m);
}
END_TEST

/* Other memory has the same places, and room for more. */
START_TEST(it_is_used_up)
{
	size_t quarter;
	uint32_t used;
	int i;

	ck_assert_int_eq(shared_memory_open(&m, 1, 0), 0);
	quarter = m.size / 4;
	for (i = 0; i < 3; i++) {
		ck_assert(!shared_memory_is_used_up(&m));
		ck_assert_uint_gt(shared_memory_take(&m, quarter), 0);
	}
	ck_assert(shared_memory_is_used_up(&m));
	ck_assert_uint_eq(shared_memory_take(&m, quarter), 0);
	ck_assert_uint_gt(shared_memory_take(&m, quarter / 2), 0);
	used = m.used;
	shared_memory_close(&m);
	ck_assert_int_eq(shared_memory_open(&m, 1, used), 0);
	ck_assert_uint_eq(shared_memory_take(&m, 1), used);
	ck_assert(!shared_memory_is_used_up(&m));
	shared_memory_close(&m);
}
END_TEST

/* There is less where addresses are scarce, but not less than is needed. */
START_TEST(addresses_are_scarce)
{
	const unsigned many = 1 << 20;

	if (suite_is_in_valgrind())
		SKIP("valgrind has too few addresses");
	ck_assert_int_eq(shared_memory_open(&m, 2, 0), 0);
	ck_assert_uint_eq(m.size, 256 << 20);
	shared_memory_close(&m);
	ck_assert_int_eq(shared_memory_open(&m, many, 0), 0);
	ck_assert_uint_lt(m.size, 256 << 20);
	ck_assert_uint_ge(m.size, 1 << 20);
	at(many - 1, 1)[0] = 'x';
	shared_memory_close(&m);
	ck_assert_int_eq(shared_memory_open(&m, many, 1 << 26), -1);
	ck_assert_ptr_null(m.parts);
}
END_TEST

SUITE(test_shared_memory)
{
	Suite *s = suite_create("shared_memory");

	SUITE_ADD(s, each_has_a_part, 10);
	SUITE_ADD(s, it_is_used_up, 10);
	SUITE_ADD(s, addresses_are_scarce, 10);
	return s;
}
