#!/bin/sh
# Each source file is in a list of what is built or released, each list of tests is
# among what make check runs, and all that is listed is there.
cd "${SRCDIR:-.}" || exit 1
passed=0 failed=0

listed=$(cat Makefile.am src/*/*.am tests/room.am tests/*/room.am \
	tests/unit/*.am | tr ' \t\\' '\n\n\n' | sort -u)

is_listed() {
	echo "$listed" | grep -qxF "$1"
}

check() {
	if "$@"; then
		passed=$((passed + 1))
	else
		echo "lists: not so: $*"
		failed=$((failed + 1))
	fi
}

# tests/bench is run by hand.
for file in $(find src tests -name "*.[ch]" ! -path "tests/bench/*" | sort); do
	check is_listed "$file"
done
# suites.c and web_page.h are made when they are built. Cross.sh has a list of its own.
for name in $(echo "$listed $(cat tests/cross.sh)" | tr -s ' \t' '\n' |
	grep -E '^(src|tests)/.*\.(c|h|sh|t|py)$' | grep -vE '/(suites\.c|web_page\.h)$'); do
	check test -f "$name"
done
for name in $(echo "$listed" | grep -E '^[a-z_]+_tests$'); do
	check is_listed "\$($name:.c=)"
done
# Each file of the guide is installed, in its README, and started by a test.
for file in examples/guide/*.conf; do
	name=${file##*/}
	check grep -qF "$file" examples/examples.am
	check grep -qF "$name" examples/guide/README
	check grep -qsE "\"(${name%.conf}|$name)\"" tests/net/test_guide_*.c
done
echo "lists: $passed passed, $failed failed"
test "$failed" -eq 0 && test "$passed" -gt 0
