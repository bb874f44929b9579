#!/bin/sh
# Each source file has a test file of its name in tests/unit, or is a part (X_part.c) of
# one that has, or the list below says where else its promises are held.
cd "${SRCDIR:-.}" || exit 1
passed=0 failed=0

# source            where; the first row that fits counts
elsewhere='
net/sources         tests/system/test_choice
tls/*               tests/system/test_tls tests/system/test_tls_settings
net/http_*          tests/system/test_web
proxy/sessionlog    tests/system/test_session_log
pool/balance*       tests/unit/pool/test_pool tests/unit/pool/test_turns
pool/server         tests/unit/pool/test_pool
proxy/*             tests/system/test_relay tests/system/test_ends tests/system/test_udp
dsr/director/*      tests/net/test_dsr_choice tests/net/test_dsr_model
dsr/flows/*         tests/unit/dsr/test_dsr_flows
dsr/forward/*       tests/net/test_dsr_tunnel tests/net/test_dsr_places
dsr/frame/*         tests/unit/dsr/test_frame
dsr/inspect/*       tests/net/test_dsr_inspect
dsr/link/*          tests/unit/dsr/test_link
dsr/segment/*       tests/unit/dsr/test_neighbor tests/unit/dsr/test_tarpit
dsr/xdp/*           tests/unit/dsr/test_xdp_fast tests/unit/dsr/test_link_xdp
control/*           tests/control/test_transcripts tests/system/test_control
tools/*             tests/system/test_penctl tests/system/test_prompt tests/system/test_logtools
'

tests=$(find tests/unit -name 'test_*.c' | sed 's,.*/,,')

# has_test FILE: a test of its name, or of the beginning of it
has_test() {
	stem=${1##*/}
	while ! echo "$tests" | grep -qxF "test_$stem.c"; do
		case $stem in
		*_*) stem=${stem%_*} ;;
		*) return 1 ;;
		esac
	done
}

# reason FILE: the row that fits
reason() {
	echo "$elsewhere" | while read -r pattern where; do
		# shellcheck disable=SC2254 # a pattern it is
		case $1 in
		$pattern)
			echo "$where"
			break
			;;
		esac
	done
}

for file in $(find src -mindepth 2 -name '*.c' | sort); do
	name=${file#src/}
	name=${name%.c}
	if has_test "$name" || [ -n "$(reason "$name")" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "tested: $file has no test, nor a reason"
	fi
done
for where in $(echo "$elsewhere" | tr -s ' \t' '\n' | grep '^tests/'); do
	if [ -f "$where.c" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "tested: $where is not there"
	fi
done
echo "tested: $passed passed, $failed failed"
test "$failed" -eq 0 && test "$passed" -gt 0
