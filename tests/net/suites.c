/* made by tests/suites.sh */
#include "config.h"

#include <stddef.h>

#include "support/suite.h"

Suite *test_dsr_cable(void);
Suite *test_dsr_check(void);
Suite *test_dsr_change(void);
Suite *test_dsr_drops(void);
Suite *test_dsr_fast(void);
Suite *test_dsr_fast_change(void);
Suite *test_dsr_forged(void);
Suite *test_dsr_inspect(void);
Suite *test_dsr_inspect_fast(void);
Suite *test_dsr_spread(void);
Suite *test_dsr_takeover(void);
Suite *test_dsr_trouble(void);
Suite *test_dsr_tunnel(void);
Suite *test_dsr_tunnel_model(void);
Suite *test_dsr_tunnel_paths(void);
Suite *test_dsr_choice(void);
Suite *test_dsr_frames(void);
Suite *test_dsr_model(void);
Suite *test_dsr_rights(void);
Suite *test_dsr_first(void);
Suite *test_dsr_places(void);
Suite *test_dsr_stop(void);
Suite *test_dsr_tarpit(void);
Suite *test_dsr_web(void);
Suite *test_guide_data(void);
Suite *test_guide_mail(void);
Suite *test_guide_pair(void);
Suite *test_guide_services(void);
Suite *test_guide_web(void);
Suite *test_netrig(void);
Suite *test_readme(void);
Suite *test_readme_dsr(void);
Suite *test_readme_others(void);
Suite *test_readme_running(void);
Suite *test_readme_tls(void);
Suite *test_readme_web(void);
Suite *test_transparent(void);
Suite *test_transparent_check(void);
Suite *test_vanish(void);

int
main(int argc, char **argv)
{
	static const struct suite_of_file list[] = {
		{ "test_dsr_cable", test_dsr_cable, NULL },
		{ "test_dsr_check", test_dsr_check, NULL },
		{ "test_dsr_change", test_dsr_change, NULL },
		{ "test_dsr_drops", test_dsr_drops, NULL },
		{ "test_dsr_fast", test_dsr_fast, NULL },
		{ "test_dsr_fast_change", test_dsr_fast_change, NULL },
		{ "test_dsr_forged", test_dsr_forged, NULL },
		{ "test_dsr_inspect", test_dsr_inspect, NULL },
		{ "test_dsr_inspect_fast", test_dsr_inspect_fast, NULL },
		{ "test_dsr_spread", test_dsr_spread, NULL },
		{ "test_dsr_takeover", test_dsr_takeover, NULL },
		{ "test_dsr_trouble", test_dsr_trouble, NULL },
		{ "test_dsr_tunnel", test_dsr_tunnel, NULL },
		{ "test_dsr_tunnel_model", test_dsr_tunnel_model, NULL },
		{ "test_dsr_tunnel_paths", test_dsr_tunnel_paths, NULL },
		{ "test_dsr_choice", test_dsr_choice, NULL },
		{ "test_dsr_frames", test_dsr_frames, NULL },
		{ "test_dsr_model", test_dsr_model, NULL },
		{ "test_dsr_rights", test_dsr_rights, NULL },
		{ "test_dsr_first", test_dsr_first, NULL },
		{ "test_dsr_places", test_dsr_places, NULL },
		{ "test_dsr_stop", test_dsr_stop, NULL },
		{ "test_dsr_tarpit", test_dsr_tarpit, NULL },
		{ "test_dsr_web", test_dsr_web, NULL },
		{ "test_guide_data", test_guide_data, NULL },
		{ "test_guide_mail", test_guide_mail, NULL },
		{ "test_guide_pair", test_guide_pair, NULL },
		{ "test_guide_services", test_guide_services, NULL },
		{ "test_guide_web", test_guide_web, NULL },
		{ "test_netrig", test_netrig, NULL },
		{ "test_readme", test_readme, NULL },
		{ "test_readme_dsr", test_readme_dsr, NULL },
		{ "test_readme_others", test_readme_others, NULL },
		{ "test_readme_running", test_readme_running, NULL },
		{ "test_readme_tls", test_readme_tls, NULL },
		{ "test_readme_web", test_readme_web, NULL },
		{ "test_transparent", test_transparent, NULL },
		{ "test_transparent_check", test_transparent_check, NULL },
		{ "test_vanish", test_vanish, NULL },
		{ NULL, NULL, NULL },
	};

	return suites_main(list, argc, argv);
}
