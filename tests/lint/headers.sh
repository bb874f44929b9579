#!/bin/sh
# Each header can be included alone, and twice.
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "${SRCDIR:-.}/src" || exit 1
passed=0 failed=0

echo '#include <openssl/ssl.h>' >"$dir/alone.c"
${CC:-cc} -c -o "$dir/alone.o" "$dir/alone.c" 2>/dev/null || tls=no

for header in $(find . -name '*.h' ! -name web_page.h | sed 's,^\./,,' | sort); do
	if [ "${tls-yes}" = no ] && grep -q '<openssl/' "$header"; then
		continue
	fi
	printf '#include "%s"\n' "$header" "$header" >"$dir/alone.c"
	if ${CC:-cc} -D_GNU_SOURCE -I. -fsyntax-only "$dir/alone.c"; then
		passed=$((passed + 1))
	else
		echo "headers: $header does not stand alone"
		failed=$((failed + 1))
	fi
done
echo "headers: $passed passed, $failed failed"
test "$failed" -eq 0 && test "$passed" -gt 0
