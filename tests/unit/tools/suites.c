/* made by tests/suites.sh */
#include "config.h"

#include <stddef.h>

#include "support/suite.h"

Suite *test_ask(void);
Suite *test_log_line(void);
Suite *test_top_table(void);
Suite *test_visits(void);

int
main(int argc, char **argv)
{
	static const struct suite_of_file list[] = {
		{ "test_ask", test_ask, NULL },
		{ "test_log_line", test_log_line, NULL },
		{ "test_top_table", test_top_table, NULL },
		{ "test_visits", test_visits, NULL },
		{ NULL, NULL, NULL },
	};

	return suites_main(list, argc, argv);
}
