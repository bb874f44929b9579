#!/bin/sh
# Each source file is in a list of what is built or released, each list of tests is
# among what make check runs, and all that is listed is there.
cd "${SRCDIR:-.}" || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0

words() {
	tr -s ' \t\\' '\n\n\n' | grep . | sort -u
}

cat Makefile.am src/*/*.am tests/room.am tests/*/room.am tests/unit/*.am |
	words >"$dir/listed"

# complain WHAT: about each line on standard input
complain() {
	while read -r name; do
		echo "lists: $name $1"
		echo >>"$dir/failed"
	done
}

# expect_listed: each line on standard input is
expect_listed() {
	sort -u >"$dir/wanted"
	passed=$((passed + $(wc -l <"$dir/wanted")))
	comm -23 "$dir/wanted" "$dir/listed" | complain 'is in no list'
}

: >"$dir/failed"
# tests/bench is run by hand.
find src tests -name "*.[ch]" ! -path "tests/bench/*" \
	! -name suites.c ! -name web_page.h >"$dir/sources"
expect_listed <"$dir/sources"
grep -E '^[a-z_]+_tests$' "$dir/listed" | sed 's/.*/$(&:.c=)/' | expect_listed

# suites.c and web_page.h are made when they are built. Scripts have lists of their
# own, with test programs by name.
{
	words <tests/cross.sh | sed -E 's,^(base|dsr)/test_.*,tests/unit/&.c,'
	cat tests/run.sh tests/portable.sh | words |
		sed -nE 's,^tests/[a-z]+(/[a-z]+)?/test_[a-z0-9_]+$,&.c,p'
	cat "$dir/listed"
} |
	grep -E '^(src|tests)/.*\.(c|h|sh|t|py)$' |
	grep -vE '/(suites\.c|web_page\.h)$' | sort -u >"$dir/named"
passed=$((passed + $(wc -l <"$dir/named")))
find src tests -type f | sort >"$dir/there"
comm -23 "$dir/named" "$dir/there" | complain 'is not there'

# Each file of the guide is installed, in its README, and started by a test.
for file in examples/guide/*.conf; do
	name=${file##*/}
	passed=$((passed + 1))
	grep -qF "$file" examples/examples.am ||
		echo "$file" | complain 'is not installed'
	grep -qF "$name" examples/guide/README ||
		echo "$file" | complain 'is not in the README'
	grep -qsE "\"(${name%.conf}|$name)\"" tests/net/test_guide_*.c ||
		echo "$file" | complain 'is started by no test'
done
failed=$(($(wc -l <"$dir/failed")))
echo "lists: $((passed - failed)) passed, $failed failed"
test "$failed" -eq 0 && test "$passed" -gt 0
