#!/bin/sh
# The completion scripts are right to the shells they are for, and know every
# option and command that --help knows.
LC_ALL=C
export LC_ALL
pen=${PEN:-./pen}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0

"$pen" --help all >"$dir/help" || exit 1
sed -n '/^options:/,/^commands:/s/^.* --\([a-z0-9-]*\).*/\1/p' "$dir/help" |
	sort -u >"$dir/words"
sed -n '/^commands:/,$s/^  \([a-z][a-z0-9_]*\).*/\1/p' "$dir/help" |
	sort -u >>"$dir/words"
echo 'count interval watch' >>"$dir/words" # penctl's own

check() {
	"$pen" --completion "$1" >"$dir/$1" || failed=$((failed + 1))
	for word in $(cat "$dir/words"); do
		if ! grep -qwe "$word" "$dir/$1"; then
			failed=$((failed + 1))
			echo "completion: $1 does not know $word"
		fi
	done
	shift
	if ! command -v "$1" >/dev/null; then
		echo "skipped: completion: $1 is not installed"
	elif "$@"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "completion: $* failed"
	fi
}
check bash bash -n "$dir/bash"
check zsh zsh -n "$dir/zsh"
check fish fish --no-execute "$dir/fish"
# completes WANTED FUNCTION WORD...: the last word, as bash cuts them
completes() {
	found=$(bash -c '. "$1" && shift && COMP_WORDS=("${@:2}") &&
		COMP_CWORD=$(($# - 2)) && "$1" && echo ${COMPREPLY[@]}' - \
		"$dir/bash" "$2" "$3" "$4" $5 $6)
	if [ "$found" = "$1" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "completion: $4 $5 $6: $found, not $1"
	fi
}
if command -v bash >/dev/null; then
	touch "$dir/c.ctl"
	completes 'leastconn least_time' _pen pen --balance = le
	completes 'leastconn least_time' _pen pen --balance le
	completes "$dir/c.ctl" _pen pen -C "$dir/c."
	completes watch _penctl penctl x wat
fi
# neither the colon nor what would end the quotes is lost
for shell in zsh fish; do
	if grep -q "'\\\\''" "$dir/$shell" && grep -q 'address:port' "$dir/$shell"
	then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "completion: $shell: a description is not whole"
	fi
done
if "$pen" --completion csh 2>/dev/null; then
	failed=$((failed + 1))
else
	passed=$((passed + 1))
fi
echo "completion: $passed passed, $failed failed"
test "$failed" -eq 0
