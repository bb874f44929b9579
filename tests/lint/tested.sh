#!/bin/sh
# Each source file has a test file of its name in tests/unit, or is a part (X_part.c) of
# one that has, or the list below names a test that holds its promises.
cd "${SRCDIR:-.}" || exit 1

# test: sources
elsewhere='
tests/control/test_transcripts: control/commands/access_command
	control/registry control/value/row control/plan/table_hooks
	control/report/check_report control/commands/client_command control/commands/config_command
	control/commands/connection_command control/commands/limit_command
	control/commands/mode_command control/pen control/answer/reply control/report/report
	control/socket/request control/report/server_report control/plan/server_setting
	control/plan/table control/plan/table_checks
	control/plan/table_choosing control/plan/table_connections control/plan/table_dsr
	control/plan/table_ends control/plan/table_http control/plan/table_limits
	control/plan/table_log control/plan/table_process control/plan/table_server
	control/plan/table_tls control/value/value control/value/value_acl control/value/value_address
	control/value/value_certificate control/value/value_number control/value/value_word
	control/commands/write_command
tests/lint/bpf: dsr/xdp/xdp_program.bpf
tests/lint/completion: control/language/help
tests/lint/install: tools/edit_plain tools/top_plain
tests/net/test_dsr_check: dsr/director/checks proxy/check/check_dsr
tests/net/test_dsr_choice: control/apply/direct control/report/dsr_report dsr/director/director
	dsr/director/director_control dsr/director/dispatch dsr/forward/forward
	dsr/forward/vips dsr/forward/wire
tests/net/test_dsr_fast: dsr/director/fast_path dsr/xdp/xdp_program
tests/net/test_dsr_inspect: base/finding control/verify/direct_inspect dsr/link/netlink
tests/net/test_dsr_places: dsr/forward/nexthop
tests/net/test_dsr_tunnel: dsr/forward/tunnels
tests/net/test_transparent: control/verify/transparent
tests/net/test_transparent_check: control/verify/transparent_routes control/verify/transparent_ways
tests/system/test_check: control/apply/derive control/plan/origin control/verify/preflight
tests/system/test_check_services: proxy/check/check_connect proxy/check/check_http
	proxy/check/check_send
tests/system/test_check_udp: proxy/check/check_datagram
tests/system/test_checks: control/apply/checks control/apply/checks_apply
	control/life/rooted control/plan/check_plan
tests/system/test_choice: net/sources
tests/system/test_client_limits: proxy/core/limits
tests/system/test_options: control/value/own_address
tests/system/test_own_servers: control/apply/circles control/apply/own_servers
tests/system/test_control: control/socket/client control/file/config_file control/socket/socket
tests/system/test_diff: tools/text_word
tests/system/test_dns: control/report/dns_report proxy/dns/dns proxy/dns/dns_ask proxy/dns/dns_socket
tests/system/test_dummy: proxy/frontend/dummy
tests/system/test_failover: control/life/states proxy/session/session_connect
tests/system/test_families: control/life/v6_only
tests/system/test_fit: control/report/fit control/report/fit_guard
tests/system/test_geoip: control/apply/geoip
tests/system/test_http: proxy/session/session_http
tests/system/test_http_pages: proxy/http/http_page
tests/system/test_http_sticky: proxy/session/session_sticky
tests/system/test_logtools: tools/mergelogs tools/penlog tools/penlogd
tests/system/test_lost_requests: proxy/session/session_retry
tests/system/test_names: control/apply/expand control/apply/refresh
tests/system/test_penctl: tools/penctl tools/watch
tests/system/test_prometheus: control/report/metrics
	control/report/metrics_process control/report/trend
tests/system/test_prompt: tools/edit_libedit tools/prompt
tests/system/test_proxy_datagrams: proxy/core/proxy_datagram
tests/system/test_proxy_down: proxy/session/session_proxy
tests/system/test_workers: control/workers/remote control/workers/replicate
	control/workers/cover control/workers/states_sync
	control/workers/worker control/workers/workers
tests/system/test_workers_forks: control/workers/fork control/workers/reserve
tests/system/test_workers_upgrade: control/workers/own_clients control/workers/renew
tests/unit/net/test_starter: net/program/patterns
tests/system/test_sandbox: control/life/sandbox control/life/sandbox_bounds control/life/sandbox_plan
tests/system/test_peers: control/peers/peers control/value/value_peers tls/tls_psk
tests/system/test_proxy_up: proxy/session/session_proxy_up proxy/session/session_facts
tests/system/test_queue: proxy/session/session_queue
tests/system/test_relay: proxy/session/session proxy/session/session_relay
tests/system/test_resets: proxy/session/session_end
tests/system/test_routes: control/apply/routes proxy/session/session_hello
tests/system/test_services_metrics: control/report/service_report control/web/web_status
tests/system/test_session_log: proxy/session/session_log
	proxy/log/session_record proxy/log/sessionlog
tests/system/test_request_log: control/life/logs proxy/session/session_requests
tests/unit/proxy/test_log_format: proxy/log/record_tried
tests/system/test_services: control/apply/services control/apply/shares
	control/commands/service_command
tests/system/test_service_names: control/socket/naming
tests/system/test_shutdown: control/life/stopping
tests/system/test_tls: proxy/session/session_tls tls/cert tls/tls tls/tls_facts tls/tls_server
tests/system/test_tls_reload: control/apply/tls_config tls/cert_files
tests/system/test_tls_settings: control/verify/tls_config_check control/commands/tls_command
	tls/tls_context tls/tls_server_setup
tests/system/test_tls_upstream: tls/tls_client tls/tls_trust
tests/system/test_top: tools/top tools/top_screen
tests/system/test_udp: proxy/datagram/flow proxy/datagram/flow_arrival proxy/datagram/flow_health proxy/datagram/flow_question proxy/datagram/flow_socket proxy/datagram/flow_table
tests/system/test_upgrade: control/upgrade/takeover control/upgrade/upgrade control/upgrade/upgrade_end control/life/predecessor
	control/upgrade/upgrade_start
tests/system/test_web: control/web/web control/web/web_plain net/http_clients
tests/system/test_client_limits: proxy/session/session_admit
tests/system/test_http_counts: control/life/http_watch
tests/system/test_process: control/life/rights
tests/unit/control/test_config_merge: control/file/config_items
	control/file/config_lines control/file/config_print
tests/unit/dsr/test_frame: dsr/frame/mac
tests/unit/pool/test_pool: pool/server/server
tests/unit/pool/test_turns: pool/balance pool/balance_hash pool/balance_heap
	pool/balance_least_time pool/balance_leastconn pool/balance_p2c
	pool/balance_prio pool/balance_roundrobin pool/balance_wleastconn
	pool/balance_wrr
tests/unit/proxy/test_connections: proxy/core/id_table
tests/unit/proxy/test_http_requests: proxy/http/http_chunk proxy/http/http_request
tests/unit/proxy/test_http_responses: proxy/http/http_response
tests/unit/proxy/test_quiet: proxy/session/session_quiet
'

{
	find src -mindepth 2 -name '*.c' | sed 's,^src/,,; s,\.c$,,' | sort
	find tests -name 'test_*.c' | sed 's,\.c$,,'
	find tests/lint -name '*.sh' | sed 's,\.sh$,,'
} | ELSEWHERE=$elsewhere awk '
function complain(what) {
	print "tested: " what
	failed++
}
# A test of its name, or of the beginning of it.
function has_test(source,  stem) {
	stem = source
	sub(/.*\//, "", stem)
	while (!(stem in unit))
		if (!sub(/_[^_]*$/, "", stem))
			return 0
	return 1
}
/^tests\// {
	tests[$0] = 1
	if (sub(/^tests\/unit\/.*\/test_/, ""))
		unit[$0] = 1
	next
}
{ sources[$0] = 1; n++ }
END {
	words = split(ENVIRON["ELSEWHERE"], word, /[ \t\n]+/)
	for (i = 1; i <= words; i++)
		if (sub(/:$/, "", word[i])) {
			where = word[i]
			if (!(where in tests))
				complain(where " is not there")
		} else if (word[i] != "") {
			excused[word[i]] = where
			if (!(word[i] in sources))
				complain("src/" word[i] ".c is not there")
			else if (has_test(word[i]))
				complain("src/" word[i] ".c has a unit test, and a row")
		}
	for (source in sources)
		if (!has_test(source) && !(source in excused))
			complain("src/" source ".c has no test, nor a row")
	print "tested: " n - failed " passed, " failed + 0 " failed"
	exit failed > 0 || n == 0
}'
