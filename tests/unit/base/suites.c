/* made by tests/suites.sh */
#include "config.h"

#include <stddef.h>

#include "support/suite.h"

Suite *test_addr(void);
Suite *test_addr_text(void);
Suite *test_array(void);
Suite *test_bitmap(void);
Suite *test_buffer(void);
Suite *test_clock(void);
Suite *test_environment(void);
Suite *test_error(void);
Suite *test_file(void);
Suite *test_hash(void);
Suite *test_heap(void);
Suite *test_histogram(void);
Suite *test_huge(void);
Suite *test_list(void);
Suite *test_log(void);
Suite *test_number(void);
Suite *test_output(void);
Suite *test_peer(void);
Suite *test_rate(void);
Suite *test_rate_limit(void);
Suite *test_hash_table(void);
Suite *test_watched_file(void);
Suite *test_user(void);
Suite *test_words(void);

int
main(int argc, char **argv)
{
	static const struct suite_of_file list[] = {
		{ "test_addr", test_addr, NULL },
		{ "test_addr_text", test_addr_text, NULL },
		{ "test_array", test_array, NULL },
		{ "test_bitmap", test_bitmap, NULL },
		{ "test_buffer", test_buffer, NULL },
		{ "test_clock", test_clock, NULL },
		{ "test_environment", test_environment, NULL },
		{ "test_error", test_error, NULL },
		{ "test_file", test_file, NULL },
		{ "test_hash", test_hash, NULL },
		{ "test_heap", test_heap, NULL },
		{ "test_histogram", test_histogram, NULL },
		{ "test_huge", test_huge, NULL },
		{ "test_list", test_list, NULL },
		{ "test_log", test_log, NULL },
		{ "test_number", test_number, NULL },
		{ "test_output", test_output, NULL },
		{ "test_peer", test_peer, NULL },
		{ "test_rate", test_rate, NULL },
		{ "test_rate_limit", test_rate_limit, NULL },
		{ "test_hash_table", test_hash_table, NULL },
		{ "test_watched_file", test_watched_file, NULL },
		{ "test_user", test_user, NULL },
		{ "test_words", test_words, NULL },
		{ NULL, NULL, NULL },
	};

	return suites_main(list, argc, argv);
}
