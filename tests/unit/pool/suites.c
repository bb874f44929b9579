/* made by tests/suites.sh */
#include "config.h"

#include <stddef.h>

#include "support/suite.h"

Suite *test_acl(void);
Suite *test_acl_file(void);
Suite *test_acl_random(void);
Suite *test_countries(void);
Suite *test_failback(void);
Suite *test_hash(void);
Suite *test_health(void);
Suite *test_pool(void);
Suite *test_history(void);
Suite *test_level(void);
Suite *test_panic(void);
Suite *test_scale(void);
Suite *test_server_set(void);
Suite *test_slow_start(void);
Suite *test_sticky(void);
Suite *test_digest(void);
Suite *test_explain(void);
Suite *test_surplus(void);
Suite *test_turns(void);
Suite *test_eligible(void);

int
main(int argc, char **argv)
{
	static const struct suite_of_file list[] = {
		{ "test_acl", test_acl, NULL },
		{ "test_acl_file", test_acl_file, NULL },
		{ "test_acl_random", test_acl_random, NULL },
		{ "test_countries", test_countries, NULL },
		{ "test_failback", test_failback, NULL },
		{ "test_hash", test_hash, NULL },
		{ "test_health", test_health, NULL },
		{ "test_pool", test_pool, NULL },
		{ "test_history", test_history, NULL },
		{ "test_level", test_level, NULL },
		{ "test_panic", test_panic, NULL },
		{ "test_scale", test_scale, NULL },
		{ "test_server_set", test_server_set, NULL },
		{ "test_slow_start", test_slow_start, NULL },
		{ "test_sticky", test_sticky, NULL },
		{ "test_digest", test_digest, NULL },
		{ "test_explain", test_explain, NULL },
		{ "test_surplus", test_surplus, NULL },
		{ "test_turns", test_turns, NULL },
		{ "test_eligible", test_eligible, NULL },
		{ NULL, NULL, NULL },
	};

	return suites_main(list, argc, argv);
}
