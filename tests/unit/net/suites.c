/* made by tests/suites.sh */
#include "config.h"

#include <stddef.h>

#include "support/suite.h"

Suite *test_dgram(void);
Suite *test_http_words(void);
Suite *test_inherited(void);
Suite *test_listener(void);
Suite *test_loop(void);
Suite *test_pieces(void);
Suite *test_pipe(void);
Suite *test_pipe_filter(void);
Suite *test_ports(void);
Suite *test_program(void);
Suite *test_resolve(void);
Suite *test_resolver(void);
Suite *test_sock(void);
Suite *test_sink(void);
Suite *test_stream(void);
Suite *test_stream_prefix(void);
Suite *test_timeouts(void);
Suite *test_tls_settings(void);
Suite *test_cert_changes(void);
Suite *test_cert_store(void);

int
main(int argc, char **argv)
{
	static const struct suite_of_file list[] = {
		{ "test_dgram", test_dgram, NULL },
		{ "test_http_words", test_http_words, NULL },
		{ "test_inherited", test_inherited, NULL },
		{ "test_listener", test_listener, NULL },
		{ "test_loop", test_loop, NULL },
		{ "test_pieces", test_pieces, NULL },
		{ "test_pipe", test_pipe, NULL },
		{ "test_pipe_filter", test_pipe_filter, NULL },
		{ "test_ports", test_ports, NULL },
		{ "test_program", test_program, NULL },
		{ "test_resolve", test_resolve, NULL },
		{ "test_resolver", test_resolver, NULL },
		{ "test_sock", test_sock, NULL },
		{ "test_sink", test_sink, NULL },
		{ "test_stream", test_stream, NULL },
		{ "test_stream_prefix", test_stream_prefix, NULL },
		{ "test_timeouts", test_timeouts, NULL },
		{ "test_tls_settings", test_tls_settings, NULL },
		{ "test_cert_changes", test_cert_changes, NULL },
		{ "test_cert_store", test_cert_store, NULL },
		{ NULL, NULL, NULL },
	};

	return suites_main(list, argc, argv);
}
