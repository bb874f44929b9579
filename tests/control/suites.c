/* made by tests/suites.sh */
#include "config.h"

#include <stddef.h>

#include "support/suite.h"

Suite *test_transcripts(void);

int
main(int argc, char **argv)
{
	static const struct suite_of_file list[] = {
		{ "test_transcripts", test_transcripts, NULL },
		{ NULL, NULL, NULL },
	};

	return suites_main(list, argc, argv);
}
