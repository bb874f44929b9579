/* made by tests/suites.sh */
#include "config.h"

#include <stddef.h>

#include "support/suite.h"

Suite *test_check_dns(void);
Suite *test_check_exec(void);
Suite *test_check_udp(void);
Suite *test_check(void);
Suite *test_checks(void);
Suite *test_choice(void);
Suite *test_client_limits(void);
Suite *test_comeback(void);
Suite *test_control(void);
Suite *test_debug(void);
Suite *test_dns(void);
Suite *test_dns_late(void);
Suite *test_dummy(void);
Suite *test_ends(void);
Suite *test_failover(void);
Suite *test_geoip(void);
Suite *test_http(void);
Suite *test_http_pages(void);
Suite *test_http_sticky(void);
Suite *test_leaving(void);
Suite *test_limits(void);
Suite *test_logtools(void);
Suite *test_long_lists(void);
Suite *test_lost_requests(void);
Suite *test_name_answers(void);
Suite *test_names(void);
Suite *test_nginx(void);
Suite *test_on_state(void);
Suite *test_options(void);
Suite *test_owners(void);
Suite *test_page(void);
Suite *test_panic(void);
Suite *test_penctl(void);
Suite *test_process(void);
Suite *test_top(void);
Suite *test_prompt(void);
Suite *test_prometheus(void);
Suite *test_proxy_down(void);
Suite *test_proxy_datagrams(void);
Suite *test_proxy_programs(void);
Suite *test_proxy_up(void);
Suite *test_quic(void);
Suite *test_queue(void);
Suite *test_relay(void);
Suite *test_reply_crowds(void);
Suite *test_resets(void);
Suite *test_log_daemons(void);
Suite *test_log_losses(void);
Suite *test_session_log(void);
Suite *test_session_reasons(void);
Suite *test_several_ports(void);
Suite *test_shutdown(void);
Suite *test_slow_clients(void);
Suite *test_ssh(void);
Suite *test_states(void);
Suite *test_streams(void);
Suite *test_systemd(void);
Suite *test_timeouts(void);
Suite *test_udp(void);
Suite *test_udp_forged(void);
Suite *test_unresolved(void);
Suite *test_upgrade(void);
Suite *test_web(void);
Suite *test_web_slow(void);
Suite *test_upgrade_state(void);
Suite *test_upgrade_old(void);
Suite *test_upgrade_load(void);
Suite *test_check_services(void);
Suite *test_checks_tls(void);
Suite *test_pauses(void);
Suite *test_routes(void);
Suite *test_proxy_tls(void);
Suite *test_tls(void);
Suite *test_tls_attack(void);
Suite *test_tls_bad_server(void);
Suite *test_tls_bytes(void);
Suite *test_tls_clients(void);
Suite *test_tls_fin(void);
Suite *test_tls_flood(void);
Suite *test_tls_hello(void);
Suite *test_tls_limits(void);
Suite *test_tls_many(void);
Suite *test_tls_postgres(void);
Suite *test_tls_programs(void);
Suite *test_tls_redirect(void);
Suite *test_tls_reload(void);
Suite *test_tls_replace(void);
Suite *test_tls_resume(void);
Suite *test_tls_scan(void);
Suite *test_tls_settings(void);
Suite *test_tls_slow(void);
Suite *test_tls_sni(void);
Suite *test_tls_stop(void);
Suite *test_tls_upstream(void);

int
main(int argc, char **argv)
{
	static const struct suite_of_file list[] = {
		{ "test_check_dns", test_check_dns, NULL },
		{ "test_check_exec", test_check_exec, NULL },
		{ "test_check_udp", test_check_udp, NULL },
		{ "test_check", test_check, NULL },
		{ "test_checks", test_checks, NULL },
		{ "test_choice", test_choice, NULL },
		{ "test_client_limits", test_client_limits, NULL },
		{ "test_comeback", test_comeback, NULL },
		{ "test_control", test_control, NULL },
		{ "test_debug", test_debug, NULL },
		{ "test_dns", test_dns, NULL },
		{ "test_dns_late", test_dns_late, NULL },
		{ "test_dummy", test_dummy, NULL },
		{ "test_ends", test_ends, NULL },
		{ "test_failover", test_failover, NULL },
		{ "test_geoip", test_geoip, NULL },
		{ "test_http", test_http, NULL },
		{ "test_http_pages", test_http_pages, NULL },
		{ "test_http_sticky", test_http_sticky, NULL },
		{ "test_leaving", test_leaving, NULL },
		{ "test_limits", test_limits, NULL },
		{ "test_logtools", test_logtools, NULL },
		{ "test_long_lists", test_long_lists, NULL },
		{ "test_lost_requests", test_lost_requests, NULL },
		{ "test_name_answers", test_name_answers, NULL },
		{ "test_names", test_names, NULL },
		{ "test_nginx", test_nginx, NULL },
		{ "test_on_state", test_on_state, NULL },
		{ "test_options", test_options, NULL },
		{ "test_owners", test_owners, NULL },
		{ "test_page", test_page, NULL },
		{ "test_panic", test_panic, NULL },
		{ "test_penctl", test_penctl, NULL },
		{ "test_process", test_process, NULL },
		{ "test_top", test_top, NULL },
		{ "test_prompt", test_prompt, NULL },
		{ "test_prometheus", test_prometheus, NULL },
		{ "test_proxy_down", test_proxy_down, NULL },
		{ "test_proxy_datagrams", test_proxy_datagrams, NULL },
		{ "test_proxy_programs", test_proxy_programs, NULL },
		{ "test_proxy_up", test_proxy_up, NULL },
		{ "test_quic", test_quic, NULL },
		{ "test_queue", test_queue, NULL },
		{ "test_relay", test_relay, NULL },
		{ "test_reply_crowds", test_reply_crowds, NULL },
		{ "test_resets", test_resets, NULL },
		{ "test_log_daemons", test_log_daemons, NULL },
		{ "test_log_losses", test_log_losses, NULL },
		{ "test_session_log", test_session_log, NULL },
		{ "test_session_reasons", test_session_reasons, NULL },
		{ "test_several_ports", test_several_ports, NULL },
		{ "test_shutdown", test_shutdown, NULL },
		{ "test_slow_clients", test_slow_clients, NULL },
		{ "test_ssh", test_ssh, NULL },
		{ "test_states", test_states, NULL },
		{ "test_streams", test_streams, NULL },
		{ "test_systemd", test_systemd, NULL },
		{ "test_timeouts", test_timeouts, NULL },
		{ "test_udp", test_udp, NULL },
		{ "test_udp_forged", test_udp_forged, NULL },
		{ "test_unresolved", test_unresolved, NULL },
		{ "test_upgrade", test_upgrade, NULL },
		{ "test_web", test_web, NULL },
		{ "test_web_slow", test_web_slow, NULL },
		{ "test_upgrade_state", test_upgrade_state, NULL },
		{ "test_upgrade_old", test_upgrade_old, NULL },
		{ "test_upgrade_load", test_upgrade_load, NULL },
		{ "test_check_services", test_check_services, NULL },
		{ "test_checks_tls", test_checks_tls, NULL },
		{ "test_pauses", test_pauses, NULL },
		{ "test_routes", test_routes, NULL },
		{ "test_proxy_tls", test_proxy_tls, NULL },
		{ "test_tls", test_tls, NULL },
		{ "test_tls_attack", test_tls_attack, NULL },
		{ "test_tls_bad_server", test_tls_bad_server, NULL },
		{ "test_tls_bytes", test_tls_bytes, NULL },
		{ "test_tls_clients", test_tls_clients, NULL },
		{ "test_tls_fin", test_tls_fin, NULL },
		{ "test_tls_flood", test_tls_flood, NULL },
		{ "test_tls_hello", test_tls_hello, NULL },
		{ "test_tls_limits", test_tls_limits, NULL },
		{ "test_tls_many", test_tls_many, NULL },
		{ "test_tls_postgres", test_tls_postgres, NULL },
		{ "test_tls_programs", test_tls_programs, NULL },
		{ "test_tls_redirect", test_tls_redirect, NULL },
		{ "test_tls_reload", test_tls_reload, NULL },
		{ "test_tls_replace", test_tls_replace, NULL },
		{ "test_tls_resume", test_tls_resume, NULL },
		{ "test_tls_scan", test_tls_scan, NULL },
		{ "test_tls_settings", test_tls_settings, NULL },
		{ "test_tls_slow", test_tls_slow, NULL },
		{ "test_tls_sni", test_tls_sni, NULL },
		{ "test_tls_stop", test_tls_stop, NULL },
		{ "test_tls_upstream", test_tls_upstream, NULL },
		{ NULL, NULL, NULL },
	};

	return suites_main(list, argc, argv);
}
