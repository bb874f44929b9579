#!/bin/sh
# No line of src and tests is longer than 80 columns, tabs being 8.
cd "${SRCDIR:-.}" || exit 1

# Paths that begin so have longer lines still. The list only gets shorter.
exempt="src/control/ src/proxy/session tests/unit/dsr/"

# shellcheck disable=SC2046
awk -v exempt="$(echo $exempt)" '
function is_exempt(file, i) {
	for (i = 1; i <= n; i++)
		if (index(file, list[i]) == 1)
			return 1
	return 0
}
BEGIN { n = split(exempt, list, " ") }
FNR == 1 { skip = is_exempt(FILENAME); files += !skip }
skip { next }
{
	line = $0
	gsub(/[\200-\277]/, "", line) # UTF-8: one column a character
	width = 0
	while ((at = index(line, "\t")) > 0) {
		width += at - 1
		width += 8 - width % 8
		line = substr(line, at + 1)
	}
	if (width + length(line) > 80) {
		print "columns: " FILENAME ":" FNR ": " width + length(line)
		failed++
	}
}
END {
	print "columns: " files - failed " passed, " failed + 0 " failed"
	exit failed > 0 || files == 0
}
' $(find src tests -name "*.[ch]" ! -path "tests/bench/*" | sort)
