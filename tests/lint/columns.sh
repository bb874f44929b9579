#!/bin/sh
# No line of src and tests is longer than 80 columns, tabs being 8; files that are
# made when they are built do not count.
cd "${SRCDIR:-.}" || exit 1

# shellcheck disable=SC2046
LC_ALL=C awk '
FNR == 1 { files++ }
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
' $(find src tests -name '*.[ch]' ! -path 'tests/bench/*' \
	! -name suites.c ! -name web_page.h | sort)
