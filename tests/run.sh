#!/bin/sh
# run.sh: builds pen in several ways and runs every test in each.
#
#     sh tests/run.sh [--quick] [--distcheck] [--only NAME] [--clean]
#
#     --quick      only the first of the builds below
#     --only NAME  only that one: gcc, clang, notls, valgrind, cross or distcheck
#     --distcheck  also make a release archive and try it
#     --clean      forget earlier builds
#
#     gcc       warnings are errors; everything
#     clang     with address and undefined behaviour sanitizers
#     notls     without OpenSSL, libedit and Jansson, and without what only
#               some systems have: the portable paths
#     valgrind  the unit tests, and pen itself in the system tests
#     cross     pure code on other machines, under qemu: tests/cross.sh
#
# Missing packages are installed first. Builds are kept in build-tests. The
# last line is "N passed, N failed", with ", N skipped" when a test could not
# run; the exit status is 0 when none failed.
set -u

top=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$top/tests/setup.sh"

work=$top/build-tests
steps='gcc clang notls valgrind cross'
jobs=$(processors)
passed=0 failed=0 skipped=0

usage() {
	sed -n '2,/^set -u/s/^# \{0,1\}//p' "$0"
	exit "$1"
}

while [ $# -gt 0 ]; do
	case $1 in
	--quick) steps=gcc ;;
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

show_failures() {
	find "$1" -name '*.trs' \
		-exec grep -lE '^:test-result: (FAIL|ERROR)' {} + |
		while read -r trs; do
			echo "---- ${trs%.trs}.log"
			tail -n 40 "${trs%.trs}.log"
		done
	# What a test that could not run lacked.
	find "$1" -name '*.log' -exec grep -h '^skipped: ' {} + | sort -u
}

step_failed() {
	echo "---- $1 failed; the end of $2:"
	tail -n 40 "$2"
	failed=$((failed + 1))
}

# add_results STEP DIR: counts and prints them.
add_results() {
	# shellcheck disable=SC2046 # three words
	set -- "$1" "$2" $(count_results "$2")
	echo "$1: $3 passed, $4 failed, $5 skipped, $(($(date +%s) - began)) s"
	passed=$((passed + $3)) failed=$((failed + $4)) skipped=$((skipped + $5))
	show_failures "$2"
}

# check STEP [make arguments]: builds all test programs, then runs them.
check() {
	step=$1
	shift
	find "$work/$step" -name '*.trs' -exec rm -f {} +
	if ! run_make -C "$work/$step" -j"$jobs" check TESTS= >>"$work/$step.log" 2>&1; then
		step_failed "$step" "$work/$step.log"
		return
	fi
	run_make -C "$work/$step" -k -j"$jobs" check "$@" >>"$work/$step.log" 2>&1
	if [ -z "$(find "$work/$step" -name '*.trs' | head -n 1)" ]; then
		step_failed "$step" "$work/$step.log"
		return
	fi
	add_results "$step" "$work/$step"
}

# build STEP [configure options]
build() {
	step=$1
	shift
	if ! build_pen "$top" "$work/$step" "$@" >"$work/$step.log" 2>&1; then
		step_failed "$step" "$work/$step.log"
		return 1
	fi
}

compiler() {
	if packages_find_program "$1"; then echo "$1"; else echo cc; fi
}

step_gcc() {
	build gcc --enable-werror CC="$(compiler gcc)" && check gcc
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

# Sanitizers and valgrind make all slower and bigger: lighter loads, longer
# deadlines.
step_clang() {
	build clang --enable-werror --enable-sanitize \
		CC="$(sanitizing_compiler)" || return
	PEN_TEST_LIGHT=1 CK_TIMEOUT_MULTIPLIER=4 \
	ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1} \
	UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1} check clang
}

step_notls() {
	build notls --enable-werror --without-openssl --without-libedit \
		--without-jansson --without-libxdp ac_cv_func_accept4=no \
		ac_cv_func_pipe2=no ac_cv_func_splice=no \
		ac_cv_func_epoll_create1=no ac_cv_func_recvmmsg=no \
		ac_cv_func_sendmmsg=no || return
	PEN_TEST_LIGHT=1 check notls
}

programs_in() {
	for dir in "$@"; do
		find "$top/tests/$dir" -name 'test_*.c' | sort |
			sed "s|^$top/||; s|\.c\$||"
	done | while read -r program; do
		[ ! -x "$work/valgrind/$program" ] || echo "$program"
	done | tr '\n' ' '
}

# The test programs of one file run inside valgrind; those of the whole
# program run it inside valgrind.
step_valgrind() {
	if ! packages_find_program valgrind; then
		echo 'skipped: valgrind: not installed'
		skipped=$((skipped + 1))
		return
	fi
	grind='valgrind -q --error-exitcode=99 --leak-check=full'
	grind="$grind --errors-for-leak-kinds=definite"
	grind="$grind --suppressions=$top/tests/valgrind.supp"
	build valgrind CFLAGS='-g -O1' || return
	run_make -C "$work/valgrind" -j"$jobs" check TESTS= \
		>>"$work/valgrind.log" 2>&1
	export PEN_TEST_LIGHT=1 CK_TIMEOUT_MULTIPLIER=10
	units=$(programs_in unit)
	[ -z "$units" ] ||
		CK_FORK=no check valgrind LOG_COMPILER="$grind" TESTS="$units"
	PEN_TEST_WRAPPER=$grind check valgrind \
		TESTS="$(programs_in system net compat)"
	unset PEN_TEST_LIGHT CK_TIMEOUT_MULTIPLIER
}

# Its last line has the numbers.
step_cross() {
	sh "$top/tests/cross.sh" >"$work/cross.log" 2>&1
	# shellcheck disable=SC2046 # three words
	set -- $(tail -n 1 "$work/cross.log" | tr -dc '0-9 ')
	if [ $# -ne 3 ]; then
		step_failed cross "$work/cross.log"
		return
	fi
	echo "cross: $1 passed, $2 failed, $3 skipped, $(($(date +%s) - began)) s"
	passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
	[ "$2" -eq 0 ] || cat "$work/cross.log"
	grep '^skipped: ' "$work/cross.log"
}

step_distcheck() {
	build distcheck || return
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
packages_want libedit jansson libxdp clang curl nginx ab wrk ssh sshd nc valgrind mandoc unbound nsd knotd dnsmasq dig dnsperf gtlsclient gtlsserver opensslcmd gnutls-cli nghttp h2load nghttpd sslscan testssl initdb psql zsh fish ip arm-linux-gnueabihf-gcc s390x-linux-gnu-gcc qemu-arm qemu-s390x classic
mkdir -p "$work" || exit 1
for step in $steps; do
	case $step in
	gcc | clang | notls | valgrind | cross | distcheck) ;;
	*) usage 1 >&2 ;;
	esac
	began=$(date +%s)
	"step_$step"
done

if [ "$skipped" -gt 0 ]; then
	echo "$passed passed, $failed failed, $skipped skipped"
else
	echo "$passed passed, $failed failed"
fi
[ "$failed" -eq 0 ]
