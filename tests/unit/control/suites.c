/* made by tests/suites.sh */
#include "config.h"

#include <stddef.h>

#include "support/suite.h"

Suite *test_recent(void);
Suite *test_choices(void);
Suite *test_apply(void);
Suite *test_command(void);
Suite *test_config_merge(void);
Suite *test_counters(void);
Suite *test_descriptors(void);
Suite *test_warnings(void);
Suite *test_executable(void);
Suite *test_fields(void);
Suite *test_handover(void);
Suite *test_inherit(void);
Suite *test_handover_state(void);
Suite *test_names(void);
Suite *test_notify(void);
Suite *test_on_state(void);
Suite *test_options(void);
Suite *test_plan(void);
Suite *test_plan_acls(void);
Suite *test_process(void);
Suite *test_server_command(void);
Suite *test_server_find(void);
Suite *test_server_index(void);
Suite *test_setting(void);
Suite *test_spec(void);

int
main(int argc, char **argv)
{
	static const struct suite_of_file list[] = {
		{ "test_recent", test_recent, NULL },
		{ "test_choices", test_choices, NULL },
		{ "test_apply", test_apply, NULL },
		{ "test_command", test_command, NULL },
		{ "test_config_merge", test_config_merge, NULL },
		{ "test_counters", test_counters, NULL },
		{ "test_descriptors", test_descriptors, NULL },
		{ "test_warnings", test_warnings, NULL },
		{ "test_executable", test_executable, NULL },
		{ "test_fields", test_fields, NULL },
		{ "test_handover", test_handover, NULL },
		{ "test_inherit", test_inherit, NULL },
		{ "test_handover_state", test_handover_state, NULL },
		{ "test_names", test_names, NULL },
		{ "test_notify", test_notify, NULL },
		{ "test_on_state", test_on_state, NULL },
		{ "test_options", test_options, NULL },
		{ "test_plan", test_plan, NULL },
		{ "test_plan_acls", test_plan_acls, NULL },
		{ "test_process", test_process, NULL },
		{ "test_server_command", test_server_command, NULL },
		{ "test_server_find", test_server_find, NULL },
		{ "test_server_index", test_server_index, NULL },
		{ "test_setting", test_setting, NULL },
		{ "test_spec", test_spec, NULL },
		{ NULL, NULL, NULL },
	};

	return suites_main(list, argc, argv);
}
