#!/bin/sh
# run.sh: builds pen and runs its tests.
#
#     sh tests/run.sh [--quick | --all | --long] [--distcheck] [--only NAME] [--clean]
#
#     --quick      with light loads
#     --all        in several builds: before a change is published
#     --long       those, every test in each, heavy loads, and the steps below that
#                  are of --long: a day
#     --only NAME  only that one
#     --distcheck  also make a release archive and try it
#     --clean      forget earlier builds
#
#     gcc       warnings are errors; every test
#     clang     with --all: with address and undefined behaviour sanitizers; every
#               test that runs what was built, with light loads, but, unless --long,
#               those of other programs, documents, and defects of Pen
#     workers   with --all: gcc's build again: system tests, each pen with two
#               workers, light loads
#     minimal   with --all: without any optional library, without what only some
#               systems have, and without shortcuts: libevent's loop, the general
#               paths; unit tests, transcripts and, unless --long, a few others
#     valgrind  with --all: gcc's build again: most unit tests, and pen itself in
#               fewer system tests; with --long all
#     cross     with --long: pure code on other machines, under qemu:
#               tests/cross.sh
#     portable  with --long: all of pen in other builds: tests/portable.sh
#     package   with --long: Debian's package, installed in a Debian of its own,
#               which is booted, too: tests/package.sh
#     fuzz      with --long: ten minutes of each target: tests/fuzz/run.sh
#     soak      with --long: gcc's pen for an hour: tests/soak.py
#     coverage  with --long: lines that tests run: tests/coverage.py
#     mutants   with --long: tests that see changes of pen: tests/mutants.py
#
# Missing packages are installed first. Builds are kept in build-tests, with how long
# each test took: the longest ones begin first. The last line is "N passed, N
# failed", with ", N skipped" when a test could not run, after "N unsteady" when
# programs failed beside others, but not alone; the exit status is 0 when none failed.
set -u

top=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$top/tests/setup.sh"

work=$top/build-tests
steps=gcc
long=
jobs=$(processors)
# Tests mostly wait.
test_jobs=$((6 * jobs))
# What each thing that pen does needs most: bytes, ends, failures, datagrams,
# names, commands, TLS either way, direct return.
few='
tests/system/test_control
tests/system/test_choice
tests/system/test_dns
tests/system/test_ends
tests/system/test_failover
tests/system/test_options
tests/system/test_process
tests/system/test_relay
tests/system/test_timeouts
tests/system/test_tls
tests/system/test_tls_reload
tests/system/test_tls_upstream
tests/system/test_udp
tests/net/test_dsr_change
tests/net/test_dsr_choice
tests/net/test_dsr_web
'
# The same inside valgrind, which is slow: leaks are found by clang's sanitizers, too;
# here what is read before it was written.
fewer='
tests/system/test_relay
tests/system/test_tls_reload
tests/net/test_dsr_change
'
# Those change each setting of many, load a program into the kernel again and again, or
# wait for what is timed, which takes four times as long there.
slow_in_valgrind='
tests/unit/control/test_participants
tests/unit/dsr/test_link
tests/unit/dsr/test_link_fast
tests/unit/dsr/test_link_interface
tests/unit/dsr/test_xdp_features
tests/unit/net/test_loop
tests/unit/net/test_pipe
tests/unit/pool/test_slow_start
tests/unit/proxy/test_http_requests
tests/unit/proxy/test_shared_limit
tests/unit/proxy/test_shortages
tests/unit/proxy/test_silence
tests/unit/proxy/test_source_limits
'
passed=0 failed=0 skipped=0 unsteady=0

usage() {
	sed -n '2,/^set -u/s/^# \{0,1\}//p' "$0"
	exit "$1"
}

while [ $# -gt 0 ]; do
	case $1 in
	--quick)
		PEN_TEST_LIGHT=1
		export PEN_TEST_LIGHT
		;;
	--all) steps='gcc clang workers minimal valgrind' ;;
	--long)
		long=yes
		steps='gcc clang workers minimal valgrind cross portable package fuzz soak
coverage mutants'
		PEN_TEST_FULL=1
		export PEN_TEST_FULL
		;;
	--only) [ $# -gt 1 ] || usage 1
		steps=$2
		shift ;;
	--distcheck) steps="$steps distcheck" ;;
	--clean) rm -rf "$work" ;;
	--help) usage 0 ;;
	*) usage 1 >&2 ;;
	esac
	shift
done

# Sums what the programs' own result lines say; a test that is no Check
# program counts as one. Prints "passed failed skipped".
count_results() (
	cd "$1" || exit 1
	find . -name '*.trs' | while read -r trs; do
		awk -v result="$(sed -n 's/^:test-result: //p' "$trs")" '
			/^[0-9]+%: Checks: / {
				gsub(",", "")
				checks += $3; bad += $5 + $7; seen = 1
			}
			/^skipped: / { skipped++ }
			END {
				if (!seen) {
					good = result ~ /^X?PASS/ ||
					    result ~ /^XFAIL/
					if (result ~ /^SKIP/) print 0, 0, 1
					else print good, !good, 0
				} else {
					if (result !~ /^PASS/ && bad == 0)
						bad = 1
					good = checks - bad - skipped
					print good < 0 ? 0 : good, bad, skipped
				}
			}' "${trs%.trs}.log"
	done | awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }'
)

show_unsteady() {
	find "$1" -name '*.unsteady' | while read -r log; do
		echo "unsteady: ${log%.unsteady}: failed beside others, not alone"
		tail -n 40 "$log"
	done
}

show_failures() {
	find "$1" -name '*.trs' \
		-exec grep -lE '^:test-result: (FAIL|ERROR)' {} + |
		while read -r trs; do
			echo "---- ${trs%.trs}.log"
			tail -n 40 "${trs%.trs}.log"
		done
	# What a test that could not run lacked.
	find "$1" -name '*.trs' | while read -r trs; do
		grep -h '^skipped: ' "${trs%.trs}.log"
	done | sort -u
}

step_failed() {
	echo "---- $1 failed; the end of $2:"
	tail -n 40 "$2"
	failed=$((failed + 1))
}

# add_results STEP BUILD: counts and prints them.
add_results() {
	if [ -z "$(find "$work/$2" -name '*.trs' | head -n 1)" ]; then
		step_failed "$1" "$work/$2.log"
		return
	fi
	# shellcheck disable=SC2046 # three words
	set -- "$1" "$work/$2" $(count_results "$work/$2")
	echo "$1: $3 passed, $4 failed, $5 skipped, $(($(date +%s) - began)) s"
	passed=$((passed + $3)) failed=$((failed + $4)) skipped=$((skipped + $5))
	unsteady=$((unsteady + $(find "$2" -name '*.unsteady' | grep -c .)))
	show_unsteady "$2"
	show_failures "$2"
}

# Deadlines are ten times what a quiet, fast machine needs, and more where this one
# is slower or busy: how much, a loop on each processor tells.
measure_speed() {
	began=$(date +%s)
	i=0
	while [ $((i += 1)) -le "$jobs" ]; do
		awk 'BEGIN { while (i < 50000000) i++ }' &
	done
	wait
	patience=$((5 * ($(date +%s) - began)))
	[ "$patience" -gt 10 ] || patience=10
}

# note_times STEP BUILD: how long its tests took, by their own account, for the next
# run.
note_times() {
	touch "$work/times.$1"
	(cd "$work/$2" && find tests -name '*.log' -newer "$work/$1.built" \
		-exec grep -H '^took ' {} +) |
		sed 's/\.log:took / /; s/ ms$//' |
		awk '{ took[$1] = $2 } END { for (t in took) print t, took[t] }' \
			"$work/times.$1" - >"$work/times.new" &&
		mv "$work/times.new" "$work/times.$1"
}

# longest_first STEP: the tests on standard input, by the times of its last run;
# without one those that start programs go first.
longest_first() {
	touch "$work/times.$1"
	awk -v times="$work/times.$1" '
		BEGIN { while ((getline <times) > 0) took[$1] = $2 }
		$1 in took { print took[$1], $1; next }
		{ print /^tests\/(net|system|lint)/ ? 20000 : 0, $1 }
	' | sort -rn | sed 's/^[^ ]* //'
}

forget_results() {
	find "$work/$1" \( -name '*.trs' -o -name '*.unsteady' \) -exec rm -f {} +
}

# run_tests BUILD TESTS=TESTS [make arguments]: runs these tests of that build.
run_tests() {
	build=$1
	shift
	run_make -C "$work/$build" -k -j"$test_jobs" check "$@" \
		>>"$work/$build.log" 2>&1
	[ -n "$long" ] || try_alone "$build" "$@"
}

# has_failed BUILD TEST...: prints those that have.
has_failed() (
	cd "$work/$1" && shift || exit 1
	for test; do
		! grep -qsE '^:test-result: (FAIL|ERROR)' "$test.trs" ||
			echo "$test"
	done
)

# try_alone BUILD TESTS=TESTS [make arguments]: up to six that failed beside others
# run once more, alone. What passes then is unsteady, and shown as such; with --long
# it has failed.
try_alone() {
	# shellcheck disable=SC2046 # words
	set -- "$(has_failed "$1" $(echo "${2#TESTS=}"))" "$@"
	case $(echo "$1" | grep -c .) in
	[1-6]) ;;
	*) return ;;
	esac
	build=$2 tests=$1
	shift 2
	for test in $tests; do
		mv "$work/$build/$test.log" "$work/$build/$test.unsteady"
		rm -f "$work/$build/$test.trs"
	done
	run_make -C "$work/$build" -k check "$@" TESTS="$(echo $tests)" \
		>>"$work/$build.log" 2>&1
	for test in $(has_failed "$build" $tests); do
		rm -f "$work/$build/$test.unsteady"
	done
}

# check STEP [make arguments]: runs the tests of its build, and says how that
# went.
check() {
	step=$1
	forget_results "$step"
	run_tests "$@"
	note_times "$step" "$step"
	add_results "$step" "$step"
}

# Test programs are not worth a compiler's effort, but in one step: an optimizer sees
# more to warn of.
test_cflags='-g -O0'

# build STEP [configure options]: pen, and the test programs.
build() {
	step=$1
	shift
	{ build_pen "$source" "$work/$step" "$@" &&
		run_make -C "$work/$step" -j"$jobs" check TESTS= \
			CFLAGS="$test_cflags"
	} >"$work/$step.log" 2>&1
}

# prepare STEP: builds for it, if it needs that, and notes how that went.
prepare() {
	since=$(date +%s)
	rm -f "$work/$1.built"
	"build_$1" || return
	echo "$1: built in $(($(date +%s) - since)) s" >"$work/$1.built"
}

is_built() {
	if [ ! -f "$work/$1.built" ]; then
		step_failed "$1" "$work/$1.log"
		return 1
	fi
	cat "$work/$1.built"
}

compiler() {
	if packages_find_program "$1"; then echo "$1"; else echo cc; fi
}

build_gcc() {
	build gcc --enable-werror CC="$(compiler gcc)"
}

step_gcc() {
	check gcc TESTS="$(all_tests | longest_first gcc | tr '\n' ' ')"
}

# A clang without its runtime library cannot link sanitizers.
sanitizing_compiler() {
	program=$work/sanitize$$
	echo 'int main(void) { return 0; }' >"$program.c"
	if clang -fsanitize=address,undefined -o "$program" "$program.c" \
		>/dev/null 2>&1; then
		echo clang
	else
		compiler gcc
	fi
	rm -f "$program" "$program.c"
}

# With sanitizers -O2 takes a compiler twice as long, and finds no more.
build_clang() {
	build clang --enable-werror --enable-sanitize CFLAGS='-g -O1' \
		CC="$(sanitizing_compiler)"
}

# Sanitizers and valgrind make all slower and bigger: lighter loads, longer
# deadlines.
step_clang() {
	PEN_TEST_LIGHT=1 CK_TIMEOUT_MULTIPLIER=$((2 * patience)) \
	ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1} \
	UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1} \
	check clang TESTS="$(all_of_this_build | longest_first clang | tr '\n' ' ')"
}

# Gcc's build again.
build_again() {
	ln -sf gcc.log "$work/$1.log"
	build_gcc
}

build_workers() {
	build_again workers
}

step_workers() {
	forget_results gcc
	PEN_TEST_LIGHT=1 PEN_TEST_WORKERS=2 run_tests gcc \
		TESTS="$(all_for_workers | longest_first workers | tr '\n' ' ')"
	note_times workers gcc
	add_results workers gcc
}

# Without what a debugger would need, which takes a compiler time, too.
build_minimal() (
	test_cflags='-O2'
	build minimal --enable-werror --disable-shortcuts CFLAGS='-O2' \
		--without-libedit --without-jansson \
		--without-libbpf --without-ncurses \
		--without-maxminddb --without-seccomp ac_cv_func_memfd_create=no ac_cv_func_accept4=no \
		ac_cv_func_pipe2=no ac_cv_func_splice=no \
		ac_cv_header_sys_epoll_h=no ac_cv_func_recvmmsg=no \
		ac_cv_func_sendmmsg=no
)

# These have all methods, or count calls of epoll; or they set the time of the loop.
methods_themselves='^tests/unit/\(net/test_\(listener\|loop\)\|proxy/test_checker\)$'

step_minimal() {
	if [ -n "$long" ]; then
		PEN_TEST_LIGHT=1 check minimal \
			TESTS="$(all_tests | grep -v "$methods_themselves" |
				tr '\n' ' ')"
	else
		PEN_TEST_LIGHT=1 check minimal \
			TESTS="$({
				tests_in unit control fuzz |
					grep -v "$methods_themselves"
				echo "$few" | grep .
			} | longest_first minimal | tr '\n' ' ')"
	fi
}

# Other programs in front and behind, a terminal, heavy load: gcc's step has them;
# sanitizers and workers show nothing in them that they do not show in other tests:
# test_exhaustion has slow clients of its own.
from_outside='
tests/system/test_log_daemons
tests/system/test_nginx
tests/system/test_page
tests/system/test_prometheus
tests/system/test_prompt
tests/system/test_proxy_programs
tests/system/test_quic
tests/system/test_shipped
tests/system/test_slow_clients
tests/system/test_ssh
tests/system/test_systemd
tests/system/test_tls_clients
tests/system/test_tls_flood
tests/system/test_tls_many
tests/system/test_tls_postgres
tests/system/test_tls_programs
tests/system/test_tls_scan
tests/system/test_top
tests/system/test_upgrade_load
tests/system/test_web_slow
'

# tests_in DIR...
tests_in() (
	cd "$top/tests" && find "$@" -name 'test_*.c' |
		sed 's|^|tests/|; s|\.c$||' | sort
)

all_tests() {
	tests_in net system unit control compat fuzz model
	(cd "$top" && printf '%s\n' tests/lint/*.sh)
}

# Drops these from the tests on standard input, and those of documents, of defects of
# Pen, and of what tests are made of.
but_from_outside() {
	if [ -n "$long" ]; then
		cat
	else
		grep -vxF "$(echo "$from_outside" | grep .)" |
			grep -v '^tests/\(net/test_\(readme\|guide\|net_fixture\)\|compat/\|unit/support/\|lint/\(completion\|examples\|manual\)\)'
	fi
}

# These read the sources, which are the same in each build.
static='
tests/lint/bpf.sh
tests/lint/columns.sh
tests/lint/headers.sh
tests/lint/html.sh
tests/lint/install.sh
tests/lint/layers.sh
tests/lint/lists.sh
tests/lint/messages.sh
tests/lint/tested.sh
tests/lint/words.sh
'

all_of_this_build() {
	all_tests | but_from_outside | grep -vxF "$(echo "$static" | grep .)"
}

# Tests of workers start them anyhow; peers have one process; the others count the
# calls, or take the memory, of one. Other tests say what they need one process for.
all_for_workers() {
	tests_in system compat | but_from_outside |
		grep -vx 'tests/system/test_\(workers.*\|peers.*\|faults\|exhaustion\)'
}

build_valgrind() {
	build_again valgrind
}

# Not the tests of what tests are made of.
units_for_valgrind() {
	if [ -n "$long" ]; then
		tests_in unit fuzz
	else
		tests_in unit fuzz | grep -v '^tests/unit/support/' |
			grep -vxF "$(echo "$slow_in_valgrind" | grep .)"
	fi
}

# The unit tests run inside valgrind; the others run pen inside valgrind, and
# mostly wait meanwhile.
step_valgrind() {
	if ! packages_find_program valgrind; then
		echo 'skipped: valgrind: not installed'
		skipped=$((skipped + 1))
		return
	fi
	grind='valgrind -q --error-exitcode=99 --leak-check=full'
	grind="$grind --errors-for-leak-kinds=definite"
	grind="$grind --suppressions=$top/tests/valgrind.supp"
	export PEN_TEST_LIGHT=1 CK_TIMEOUT_MULTIPLIER=$((4 * patience))
	[ -z "$long" ] || fewer=$(tests_in system net compat | tr '\n' ' ')
	forget_results gcc
	test_jobs=$((2 * jobs))
	CK_FORK=no run_tests gcc \
		TESTS="$(units_for_valgrind | longest_first valgrind | tr '\n' ' ')" \
		LOG_COMPILER="$grind" TEST_SUITE_LOG=units.log &
	PEN_TEST_WRAPPER=$grind run_tests gcc TESTS="$(echo $fewer)"
	wait
	note_times valgrind gcc
	add_results valgrind gcc
	unset PEN_TEST_LIGHT
	CK_TIMEOUT_MULTIPLIER=$patience
}

# These build for themselves.
build_cross() { :; }
build_portable() { :; }
build_package() { :; }
build_fuzz() { :; }
build_coverage() { :; }
build_mutants() { :; }

build_soak() {
	build_again soak
}

# script NAME COMMAND...: tests of another kind; their last line has the numbers.
script() {
	name=$1
	shift
	"$@" >"$work/$name.log" 2>&1
	# shellcheck disable=SC2046 # three words
	set -- $(tail -n 1 "$work/$name.log" | tr -dc '0-9 ')
	if [ $# -lt 2 ]; then
		step_failed "$name" "$work/$name.log"
		return
	fi
	set -- "$1" "$2" "${3:-$(grep -c '^skipped: ' "$work/$name.log")}"
	echo "$name: $1 passed, $2 failed, $3 skipped, $(($(date +%s) - began)) s"
	passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
	[ "$2" -eq 0 ] || cat "$work/$name.log"
	grep '^skipped: ' "$work/$name.log"
}

step_cross() {
	script cross sh "$top/tests/cross.sh"
}

step_portable() {
	script portable sh "$top/tests/portable.sh"
}

step_package() {
	script package sh "$top/tests/package.sh"
}

step_fuzz() {
	script fuzz sh "$top/tests/fuzz/run.sh" 600
}

step_soak() {
	script soak python3 "$top/tests/soak.py" --out "$work" "$work/gcc/pen"
}

step_coverage() {
	script coverage python3 "$top/tests/coverage.py" --build "$work/coverage"
}

# Which tests have to see a change coverage reports.
step_mutants() {
	script mutants python3 "$top/tests/mutants.py" --work "$work/mutants" \
		--lines "$work/coverage/lines.json"
}

# What is tried is built from the archive.
build_distcheck() {
	build_pen "$source" "$work/distcheck" >"$work/distcheck.log" 2>&1
}

step_distcheck() {
	if run_make -C "$work/distcheck" -j"$jobs" distcheck \
		DISTCHECK_CONFIGURE_FLAGS=--enable-werror PEN_TEST_LIGHT=1 \
		>>"$work/distcheck.log" 2>&1; then
		echo 'distcheck: passed'
		passed=$((passed + 1))
	else
		step_failed distcheck "$work/distcheck.log"
	fi
}

packages_need_build "$top"
packages_need check
packages_want \
	services \
	libedit \
	ncurses \
	tmux \
	jansson \
	maxminddb \
	seccomp \
	mmdblookup \
	libbpf \
	clang \
	llvm-objcopy \
	curl \
	nginx \
	ab \
	wrk \
	ssh \
	sshd \
	slowhttptest \
	nc \
	valgrind \
	mandoc \
	groff \
	chromium \
	node \
	npm \
	prometheus \
	promtool \
	unbound \
	nsd \
	knotd \
	dnsmasq \
	dig \
	dnsperf \
	vsftpd \
	sipp \
	nft \
	systemd-analyze \
	gtlsclient \
	gtlsserver \
	opensslcmd \
	gnutls-cli \
	nghttp \
	h2load \
	nghttpd \
	sslscan \
	testssl \
	initdb \
	psql \
	pg_isready \
	redis-server \
	slapd \
	ldapsearch \
	keepalived \
	bird \
	rsyslogd \
	logrotate \
	goaccess \
	fail2ban-regex \
	postfix \
	haproxy \
	dovecot \
	dnsdist \
	zsh \
	fish \
	ip \
	classic
case $steps in
*cross*) packages_want arm-linux-gnueabihf-gcc s390x-linux-gnu-gcc qemu-arm \
	qemu-s390x musl-gcc clang ;;
esac
case $steps in
*portable*) packages_want mmdebstrap scan-build cppcheck libpcap ;;
esac
mkdir -p "$work" || exit 1
packages_node "$top" "$work/node"
PEN_NODE_MODULES=$work/node/node_modules
export PEN_NODE_MODULES
if ! source=$(build_source "$top" "$work/source" 2>"$work/source.log"); then
	tail -n 20 "$work/source.log"
	exit 1
fi
for step in $steps; do
	case $step in
	gcc | clang | workers | minimal | valgrind | cross | portable | package) ;;
	fuzz | soak | coverage | mutants | distcheck) ;;
	*) usage 1 >&2 ;;
	esac
done
measure_speed
export CK_TIMEOUT_MULTIPLIER=$patience
# Tests mostly wait: while one step has its own, the next one is built.
# shellcheck disable=SC2086 # words
set -- $steps
prepare "$1"
while [ $# -gt 0 ]; do
	wait
	began=$(date +%s)
	if is_built "$1"; then
		[ $# -eq 1 ] || prepare "$2" &
		"step_$1"
	elif [ $# -gt 1 ]; then
		prepare "$2"
	fi
	shift
done

[ "$unsteady" -eq 0 ] || echo "$unsteady unsteady"
if [ "$skipped" -gt 0 ]; then
	echo "$passed passed, $failed failed, $skipped skipped"
else
	echo "$passed passed, $failed failed"
fi
[ "$failed" -eq 0 ]
