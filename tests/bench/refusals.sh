#!/bin/sh
# A measurement is only of what works: a proxy that answers wrongly, loses bytes,
# refuses or dies is named and left out, the others go on; and run.sh fails if it is
# pen. What doc/ shows is what its table has.
LC_ALL=C
export LC_ALL
top=$(cd "${SRCDIR:-.}" && pwd)
pen=${PEN:-./pen}
pen=$(cd "${pen%/*}" && pwd)/${pen##*/}
skip() {
	echo "skipped: refusals: $*"
	exit 77
}
[ "$(uname)" = Linux ] || skip "the measuring programs are for Linux"
command -v python3 >/dev/null || skip "python3 is not installed"
command -v openssl >/dev/null || skip "openssl is not installed"
unshare --map-root-user --net true 2>/dev/null || skip "no namespaces here"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
for program in load server relay; do
	${CC:-cc} -O1 -o "$dir/$program" "$top/tests/bench/src/$program.c" \
		-lssl -lcrypto 2>"$dir/$program.err" || skip "load does not compile"
done
passed=0 failed=0

# measure PEN KIND ...: a short run beside these
measure() {
	tested=$1
	shift
	for kind; do
		shift
		set -- "$@" --proxy "$kind=python3 $top/tests/bench/made_up.py \
			$kind {port} 127.0.0.1:9001"
	done
	unshare --map-root-user --net --pid --fork --kill-child --mount-proc sh -c '
		ip link set lo up && exec "$@"' sh \
		python3 "$top/tests/bench/bench.py" --pen "$tested" --tools "$dir" \
		--rounds 2 --seconds 0.2 --only close_client "$@" >"$dir/out" 2>&1
}

check() {
	if "$@"; then
		passed=$((passed + 1))
	else
		echo "refusals: not so: $*"
		cat "$dir/out"
		failed=$((failed + 1))
	fi
}

is_left_out() {
	grep -q "^  $1 .*left out: $2" "$dir/out"
}
is_measured() {
	grep -q "^  $1 .*[0-9]/2 *\$" "$dir/out"
}

check measure "$pen" sound wrong short long swapped refuses silent dies
check is_measured pen
check is_measured sound
check is_left_out wrong "answers wrongly"
check is_left_out short "loses bytes"
check is_left_out long "adds bytes\|answers wrongly"
check is_left_out swapped "answers wrongly"
check is_left_out refuses "refuses connections\|resets connections"
check is_left_out silent "does not answer\|is late"
check is_left_out dies "dies\|refuses"

# a pen that is no good fails the run
printf '#!/bin/sh\nexec python3 %s wrong "${5##*:}" 127.0.0.1:9001\n' \
	"$top/tests/bench/made_up.py" >"$dir/pen"
chmod +x "$dir/pen"
if measure "$dir/pen" sound; then
	echo "refusals: a wrong pen has passed"
	failed=$((failed + 1))
fi
check is_left_out pen "answers wrongly"
check is_measured sound

# plots and text are those of the table
mkdir "$dir/doc"
check python3 "$top/doc/plot.py" "$top/doc/measured.tsv" "$dir/doc"
for file in "$dir"/doc/*; do
	check cmp "$file" "$top/doc/${file##*/}"
done

echo "refusals: $passed checks passed, $failed failed"
[ "$failed" = 0 ]
