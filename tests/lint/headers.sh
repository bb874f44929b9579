#!/bin/sh
# Each header can be included alone, and twice.
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "${SRCDIR:-.}/src" || exit 1
passed=0 failed=0

for header in */*.h; do
	printf '#include "%s"\n' "$header" "$header" >"$dir/alone.c"
	if ${CC:-cc} -D_GNU_SOURCE -I. -c -o "$dir/alone.o" "$dir/alone.c"; then
		passed=$((passed + 1))
	else
		echo "headers: $header does not stand alone"
		failed=$((failed + 1))
	fi
done
echo "headers: $passed passed, $failed failed"
test "$failed" -eq 0 && test "$passed" -gt 0
