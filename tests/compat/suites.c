/* made by tests/suites.sh */
#include "config.h"

#include <stddef.h>

#include "support/suite.h"

Suite *test_accept_resumes(void);
Suite *test_control_close_unused(void);
Suite *test_control_grow_connections(void);
Suite *test_control_missing_argument(void);
Suite *test_control_silent_peer(void);
Suite *test_control_slow_dns(void);
Suite *test_fd_leak_connect(void);
Suite *test_from_classic(void);
Suite *test_getaddrinfo_addrconfig(void);
Suite *test_http_beside(void);
Suite *test_http_keepalive(void);
Suite *test_http_nul_body(void);
Suite *test_idle_timeout_large(void);
Suite *test_next_client_data(void);
Suite *test_reload_keeps_sessions(void);
Suite *test_same_shape(void);
Suite *test_second_instance(void);
Suite *test_server_zero_empty(void);
Suite *test_spare_connections(void);
Suite *test_supplementary_groups(void);
Suite *test_udp_dead_server(void);
Suite *test_udp_ipv6(void);
Suite *test_udp_second_datagram(void);
Suite *test_udp_unix(void);
Suite *test_unix_listen_path(void);
Suite *test_usr1_stats(void);
Suite *test_dsr_no_address(void);
Suite *test_sni_flood(void);
Suite *test_sni_path(void);

int
main(int argc, char **argv)
{
	static const struct suite_of_file list[] = {
		{ "test_accept_resumes", test_accept_resumes, NULL },
		{ "test_control_close_unused", test_control_close_unused, NULL },
		{ "test_control_grow_connections", test_control_grow_connections, NULL },
		{ "test_control_missing_argument", test_control_missing_argument, NULL },
		{ "test_control_silent_peer", test_control_silent_peer, NULL },
		{ "test_control_slow_dns", test_control_slow_dns, NULL },
		{ "test_fd_leak_connect", test_fd_leak_connect, NULL },
		{ "test_from_classic", test_from_classic, NULL },
		{ "test_getaddrinfo_addrconfig", test_getaddrinfo_addrconfig, NULL },
		{ "test_http_beside", test_http_beside, NULL },
		{ "test_http_keepalive", test_http_keepalive, NULL },
		{ "test_http_nul_body", test_http_nul_body, NULL },
		{ "test_idle_timeout_large", test_idle_timeout_large, NULL },
		{ "test_next_client_data", test_next_client_data, NULL },
		{ "test_reload_keeps_sessions", test_reload_keeps_sessions, NULL },
		{ "test_same_shape", test_same_shape, NULL },
		{ "test_second_instance", test_second_instance, NULL },
		{ "test_server_zero_empty", test_server_zero_empty, NULL },
		{ "test_spare_connections", test_spare_connections, NULL },
		{ "test_supplementary_groups", test_supplementary_groups, NULL },
		{ "test_udp_dead_server", test_udp_dead_server, NULL },
		{ "test_udp_ipv6", test_udp_ipv6, NULL },
		{ "test_udp_second_datagram", test_udp_second_datagram, NULL },
		{ "test_udp_unix", test_udp_unix, NULL },
		{ "test_unix_listen_path", test_unix_listen_path, NULL },
		{ "test_usr1_stats", test_usr1_stats, NULL },
		{ "test_dsr_no_address", test_dsr_no_address, NULL },
		{ "test_sni_flood", test_sni_flood, NULL },
		{ "test_sni_path", test_sni_path, NULL },
		{ NULL, NULL, NULL },
	};

	return suites_main(list, argc, argv);
}
