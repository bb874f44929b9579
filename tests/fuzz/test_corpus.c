/* test_corpus.c: what fuzzing has found interesting goes through each target
 * again, without libFuzzer: corpus/TARGET/FILE. */
#include "config.h"

#include <check.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "support/suite.h"

enum { INPUT_MAX = 64 * 1024 };

#define EACH_TARGET(X)                                                      \
	X(acl_file)                                                         \
	X(address)                                                          \
	X(client_hello)                                                     \
	X(command) X(config) X(dns_message) X(first) X(frame) X(handover)   \
	    X(http_answer) X(http_requests) X(http_responses) X(log_format) \
		X(log_line) X(peer) X(proxy_header) X(words)

#define DECLARE(name) int fuzz_##name(const uint8_t *data, size_t size);
EACH_TARGET(DECLARE)

static const struct target {
	const char *name;
	int (*run)(const uint8_t *data, size_t size);
} targets[] = {
#define ROW(name) { #name, fuzz_##name },
	EACH_TARGET(ROW)
};

/* The log of a test that crashed ends with the file. */
static void
replay(const struct target *t, const char *path)
{
	static uint8_t bytes[INPUT_MAX];
	FILE *file = fopen(path, "r");
	size_t n;

	ck_assert_ptr_nonnull(file);
	n = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	puts(path);
	fflush(stdout);
	ck_assert_int_eq(t->run(bytes, n), 0);
}

START_TEST(corpus)
{
	const struct target *t = &targets[_i];
	const char *top = getenv("SRCDIR");
	glob_t files;
	size_t i;

	ck_assert_int_eq(glob(text("%s/tests/fuzz/corpus/%s/*",
				  top != NULL ? top : ".", t->name),
			     0, NULL, &files),
	    0);
	(void)t->run((const uint8_t *)"", 0);
	for (i = 0; i < files.gl_pathc; i++)
		replay(t, files.gl_pathv[i]);
	globfree(&files);
}
END_TEST

SUITE(test_corpus)
{
	Suite *s = suite_create("corpus");

	SUITE_ADD_LOOP(
	    s, corpus, 60, (int)(sizeof(targets) / sizeof(targets[0])));
	return s;
}
