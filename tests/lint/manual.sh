#!/bin/sh
# The manual and the program's own table say the same: every option and command
# that --help knows is in pen.1, and pen.1 describes none that it does not.
LC_ALL=C
export LC_ALL
page=${SRCDIR:-.}/man/pen.1
pen=${PEN:-./pen}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0

"$pen" --help all >"$dir/help" || exit 1
if ! grep -q -- --cert "$dir/help"; then
	echo "skipped: manual: a build without TLS knows less"
	exit 77
fi
# names: long options and letters from the option lines, command words
sed -n '/^options:/,/^commands:/p' "$dir/help" >"$dir/options"
sed -n '/^commands:/,$p' "$dir/help" | sed -n 's/^  \([a-z][a-z0-9_]*\).*/\1/p' |
	sort -u >"$dir/commands"
grep -o -- '--[a-z0-9-]*' "$dir/options" | sort -u >"$dir/long"
grep -o -- '^  -[A-Za-z]' "$dir/options" | tr -d ' -' | sort -u >"$dir/short"

# the same from the page: .It Fl x , -long and .It Ic word , word; the obsolete
# ones stand in running text
sed -n '/^\.Ss Options/,/^\.Sh BALANCING/p' "$page" |
	grep -E '^\.(It )?Fl ' >"$dir/page_options"
grep -o -- ' -[a-z0-9-]*' "$dir/page_options" | sed 's/^ -/--/' |
	sort -u >"$dir/page_long"
sed 's/Ar .*Fl/Fl/' "$dir/page_options" | grep -oE 'Fl [A-Za-z]( |$)|, [a-z] ,' |
	sed 's/^Fl //' | tr -d ' ,' | sort -u >"$dir/page_short"
sed -n '/^\.Sh COMMANDS/,/^\.Sh SIGNALS/p' "$page" |
	sed -n -e 's/^\.It Xo Ic \([a-z0-9_]*\).*/\1/p' \
	    -e '/^\.It Xo/d' -e 's/^\.It Ic //p' -e '/^\.Ic block$/s/.* //p' -e '/^\.Ic ssl_compat ,$/s/.*\(ssl_compat\).*/\1/p' -e '/^\.Ic delayed_forward$/s/.* //p' |
	sed 's/ \(Ar\|Op\|Cm\|Ns\) .*//' | tr -d ',' | tr ' ' '\n' |
	grep . | sort -u >"$dir/page_commands"

compare() {
	if diff "$dir/$1" "$dir/page_$1" >"$dir/diff"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "manual: $2 (<: only in the program, >: only in the page)"
		grep '^[<>]' "$dir/diff"
	fi
}
compare long "long options"
compare short "short options"
compare commands "commands"
if command -v mandoc >/dev/null; then
	if mandoc -Tlint -W warning "$page" 2>/dev/null; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
	fi
else
	echo "skipped: manual: mandoc is not installed"
fi
echo "manual: $passed passed, $failed failed"
test "$failed" -eq 0
