/* made by tests/suites.sh */
#include "config.h"

#include <stddef.h>

#include "support/suite.h"

Suite *test_check_spec(void);
Suite *test_check_text(void);
Suite *test_checker(void);
Suite *test_check_dns(void);
Suite *test_check_exec(void);
Suite *test_check_udp(void);
Suite *test_connections(void);
Suite *test_cut(void);
Suite *test_datagrams(void);
Suite *test_drain(void);
Suite *test_dns_message(void);
Suite *test_dump(void);
Suite *test_frontend(void);
Suite *test_first(void);
Suite *test_first_http(void);
Suite *test_first_protocol(void);
Suite *test_first_tls(void);
Suite *test_http_answer(void);
Suite *test_log_format(void);
Suite *test_log_parsed(void);
Suite *test_http_first(void);
Suite *test_http_redirect(void);
Suite *test_http_relay(void);
Suite *test_http_requests(void);
Suite *test_http_responses(void);
Suite *test_http_sticky(void);
Suite *test_quiet(void);
Suite *test_reason(void);
Suite *test_relisten(void);
Suite *test_requestlog(void);
Suite *test_source_limits(void);
Suite *test_retry(void);
Suite *test_session_next(void);
Suite *test_session_time(void);
Suite *test_shortages(void);
Suite *test_route(void);
Suite *test_session_dial(void);
Suite *test_session_first(void);
Suite *test_silence(void);
Suite *test_hex_pattern(void);
Suite *test_preopened(void);
Suite *test_proxy_header(void);

int
main(int argc, char **argv)
{
	static const struct suite_of_file list[] = {
		{ "test_check_spec", test_check_spec, NULL },
		{ "test_check_text", test_check_text, NULL },
		{ "test_checker", test_checker, NULL },
		{ "test_check_dns", test_check_dns, NULL },
		{ "test_check_exec", test_check_exec, NULL },
		{ "test_check_udp", test_check_udp, NULL },
		{ "test_connections", test_connections, NULL },
		{ "test_cut", test_cut, NULL },
		{ "test_datagrams", test_datagrams, NULL },
		{ "test_drain", test_drain, NULL },
		{ "test_dns_message", test_dns_message, NULL },
		{ "test_dump", test_dump, NULL },
		{ "test_frontend", test_frontend, NULL },
		{ "test_first", test_first, NULL },
		{ "test_first_http", test_first_http, NULL },
		{ "test_first_protocol", test_first_protocol, NULL },
		{ "test_first_tls", test_first_tls, NULL },
		{ "test_http_answer", test_http_answer, NULL },
		{ "test_log_format", test_log_format, NULL },
		{ "test_log_parsed", test_log_parsed, NULL },
		{ "test_http_first", test_http_first, NULL },
		{ "test_http_redirect", test_http_redirect, NULL },
		{ "test_http_relay", test_http_relay, NULL },
		{ "test_http_requests", test_http_requests, NULL },
		{ "test_http_responses", test_http_responses, NULL },
		{ "test_http_sticky", test_http_sticky, NULL },
		{ "test_quiet", test_quiet, NULL },
		{ "test_reason", test_reason, NULL },
		{ "test_relisten", test_relisten, NULL },
		{ "test_requestlog", test_requestlog, NULL },
		{ "test_source_limits", test_source_limits, NULL },
		{ "test_retry", test_retry, NULL },
		{ "test_session_next", test_session_next, NULL },
		{ "test_session_time", test_session_time, NULL },
		{ "test_shortages", test_shortages, NULL },
		{ "test_route", test_route, NULL },
		{ "test_session_dial", test_session_dial, NULL },
		{ "test_session_first", test_session_first, NULL },
		{ "test_silence", test_silence, NULL },
		{ "test_hex_pattern", test_hex_pattern, NULL },
		{ "test_preopened", test_preopened, NULL },
		{ "test_proxy_header", test_proxy_header, NULL },
		{ NULL, NULL, NULL },
	};

	return suites_main(list, argc, argv);
}
