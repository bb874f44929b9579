#!/bin/sh
# run.sh: fuzzes each target, or those that are named, for some seconds.
#
#     sh tests/fuzz/run.sh SECONDS [TARGET...]
#     sh tests/fuzz/run.sh --merge [TARGET...]
#
# SECONDS are of the processor. A target ends sooner when it is dry: it has reached
# no new edge of the program for 1200 of them.
#
# Pen is built by clang with libFuzzer and sanitizers in build-fuzz. There is what
# is found, too: new inputs in found/TARGET, and what fails as TARGET-crash-*,
# -leak-*, -timeout-*. With --merge the corpus in the tree becomes the fewest inputs
# that reach all that it and found/TARGET reach; those with a name, which showed a
# defect, stay.
#
# Prints a line for each target, with the seconds it took and how many of them were
# since its last new edge, and how many found nothing and something; the exit status
# is 0 when nothing has failed.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
. "$top/tests/setup.sh"
work=$top/build-fuzz
corpus=$top/tests/fuzz/corpus
failed=0
dry=1200

if [ $# -eq 0 ]; then
	sed -n '2,/^set -u/s/^# \{0,1\}//p' "$0"
	exit 1
fi
seconds=$1
shift
[ $# -gt 0 ] || set -- $(cd "$top/tests/fuzz" && grep -l '^FUZZ(' ./*.c |
	sed 's,^\./,,; s,\.c$,,')

# build TARGET...
build() {
	source=$(build_source "$top" "$work/source") || return
	build_configure_script "$source" && mkdir -p "$work" && cd "$work" ||
		return
	[ -f config.status ] || "$source/configure" CC=clang --enable-sanitize \
		CFLAGS='-g -O1 -fsanitize=fuzzer-no-link,address' || return
	run_make -j"$(processors)" libpen.a && run_make fuzz-programs \
		fuzz_targets="$(printf 'tests/fuzz/%s.c ' "$@")"
}

# watch PID TARGET: ends it in time, by the signal that libFuzzer ends well by.
watch() {
	edges='' grown=0
	while used=$(ps -o time= -p "$1" | awk -F: '
		{ for (i = 1; i <= NF; i++) t = t * 60 + $i; print int(t) }')
		[ -n "$used" ]; do
		now=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$2.log" | tail -n 1)
		[ "$now" = "$edges" ] || grown=$used
		edges=$now
		echo "$used seconds ($((used - grown)) without a new edge)" >"$2.time"
		[ "$used" -lt "$seconds" ] && [ $((used - grown)) -lt "$dry" ] ||
			kill -USR1 "$1"
		sleep 1
	done
}

# fuzz TARGET
fuzz() {
	: >"$1.time"
	"./fuzz_$1" -max_len=4096 -timeout=10 -rss_limit_mb=2048 \
		-print_final_stats=1 -artifact_prefix="$1-" "found/$1" \
		"$corpus/$1" </dev/null >"$1.log" 2>&1 &
	pid=$!
	watch "$pid" "$1" &
	wait "$pid"
	status=$?
	awk -v target="$1" -v took="$(cat "$1.time")" -v status="$status" '
		/ cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") c = $(i + 1) }
		/number_of_executed_units/ { n = $2 }
		END {
			printf "%s: %s, %s executions, %s edges, %s\n", target,
			    took, n, c,
			    status == 0 ? "nothing found" : "FAILED"
		}' "$1.log"
	[ "$status" -eq 0 ] || failed=$((failed + 1))
}

# merge TARGET: libFuzzer names what it adds by a hash.
merge() {
	rm -rf new && mkdir new || return
	find "$corpus/$1" -type f -name '*-*' -exec cp {} new/ \;
	"./fuzz_$1" -set_cover_merge=1 -use_counters=0 -max_len=4096 \
		new "$corpus/$1" "found/$1" </dev/null >"$1.log" 2>&1 || return
	rm -rf "${corpus:?}/$1"
	mv new "$corpus/$1"
	echo "$1: $(find "$corpus/$1" -type f | wc -l) files"
}

packages_need_build "$top"
packages_need clang
if ! build "$@" >"$top/build-fuzz.log" 2>&1; then
	tail -n 20 "$top/build-fuzz.log"
	exit 1
fi
for target; do
	mkdir -p "found/$target" "$corpus/$target"
	if [ "$seconds" = --merge ]; then
		merge "$target"
	else
		fuzz "$target"
	fi
done
[ "$seconds" = --merge ] || echo "fuzz: $(($# - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
