/* check.h: as much of Check as pure unit tests need, for machines that have
 * only a compiler and a C library: tests/cross.sh builds test programs with it.
 * No fork, no time limits; the first thing that is wrong ends the program. */
#ifndef PEN_TEST_PLAIN_CHECK_H
#define PEN_TEST_PLAIN_CHECK_H

#include <stdint.h>
#include <string.h>

typedef struct Suite Suite;
typedef struct TCase TCase;
typedef struct {
	const char *name;
	void (*run)(int i);
} TTest;

#define START_TEST(test)                                      \
	static void test##_run(int _i);                       \
	static const TTest test##_it = { #test, test##_run }; \
	static const TTest *const test = &test##_it;          \
	static void test##_run(int _i __attribute__((unused)))
#define END_TEST

Suite *suite_create(const char *name);
TCase *tcase_create(const char *name);
void tcase_set_timeout(TCase *c, double seconds);
void tcase_add_test(TCase *c, const TTest *t);
/* Once with each _i from `from` to before `to`. */
void tcase_add_loop_test(TCase *c, const TTest *t, int from, int to);
void suite_add_tcase(Suite *s, TCase *c);

void plain_wrong(const char *file, int line, const char *fmt, ...)
    __attribute__((noreturn, format(printf, 3, 4)));

#define ck_abort_msg(...) plain_wrong(__FILE__, __LINE__, __VA_ARGS__)
#define ck_assert_msg(ok, ...)                     \
	do {                                       \
		if (!(ok))                         \
			ck_abort_msg(__VA_ARGS__); \
	} while (0)
#define ck_assert(ok) ck_assert_msg(ok, "%s", #ok)

#define PLAIN_COMPARE(type, fmt, a, op, b)                                     \
	do {                                                                   \
		type plain_a = (a), plain_b = (b);                             \
		ck_assert_msg(plain_a op plain_b, "%s == " fmt ", %s == " fmt, \
		    #a, plain_a, #b, plain_b);                                 \
	} while (0)
#define ck_assert_int_eq(a, b)	  PLAIN_COMPARE(intmax_t, "%jd", a, ==, b)
#define ck_assert_int_ne(a, b)	  PLAIN_COMPARE(intmax_t, "%jd", a, !=, b)
#define ck_assert_uint_eq(a, b)	  PLAIN_COMPARE(uintmax_t, "%ju", a, ==, b)
#define ck_assert_uint_ne(a, b)	  PLAIN_COMPARE(uintmax_t, "%ju", a, !=, b)
#define ck_assert_uint_ge(a, b)	  PLAIN_COMPARE(uintmax_t, "%ju", a, >=, b)
#define ck_assert_uint_gt(a, b)	  PLAIN_COMPARE(uintmax_t, "%ju", a, >, b)
#define ck_assert_uint_le(a, b)	  PLAIN_COMPARE(uintmax_t, "%ju", a, <=, b)
#define ck_assert_uint_lt(a, b)	  PLAIN_COMPARE(uintmax_t, "%ju", a, <, b)
#define ck_assert_ptr_eq(a, b)	  ck_assert((a) == (b))
#define ck_assert_ptr_ne(a, b)	  ck_assert((a) != (b))
#define ck_assert_ptr_null(a)	  ck_assert((a) == NULL)
#define ck_assert_ptr_nonnull(a)  ck_assert((a) != NULL)
#define ck_assert_mem_eq(a, b, n) ck_assert(memcmp(a, b, n) == 0)
#define ck_assert_str_eq(a, b)                                               \
	do {                                                                 \
		const char *plain_a = (a), *plain_b = (b);                   \
		ck_assert_msg(strcmp(plain_a, plain_b) == 0,                 \
		    "%s is \"%s\", %s is \"%s\"", #a, plain_a, #b, plain_b); \
	} while (0)

#endif
