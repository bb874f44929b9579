/* made by tests/suites.sh */
#include "config.h"

#include <stddef.h>

#include "support/suite.h"

Suite *test_certs(void);
Suite *test_tlspeer(void);

int
main(int argc, char **argv)
{
	static const struct suite_of_file list[] = {
		{ "test_certs", test_certs, NULL },
		{ "test_tlspeer", test_tlspeer, NULL },
		{ NULL, NULL, NULL },
	};

	return suites_main(list, argc, argv);
}
