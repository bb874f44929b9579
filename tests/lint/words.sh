#!/bin/sh
# Words that src/README, Glossary, does not want: none of them is in a directory
# that is listed here as clean. The lists get longer until they have all of src.
cd "${SRCDIR:-.}" || exit 1
passed=0 failed=0

# clean "WORD ..." DIRECTORY...: the directories have none of these whole words,
# each an extended regular expression
clean() {
	words=$1
	shift
	for directory; do
		for word in $words; do
			if find "$directory" -name '*.[ch]' \
				-exec grep -nwE "$word" /dev/null {} + | grep .
			then
				echo "words: in $directory: $word"
				failed=$((failed + 1))
			else
				passed=$((passed + 1))
			fi
		done
	done
}

clean "goodbyes? shaking asides rooms houses? authorit(y|ies)" \
	src/base src/net src/tls src/pool src/proxy src/control src/tools
clean "mend wish thief siege spoil" src/base src/net src/tls src/pool src/tools
clean "held places looks anew" src/net src/tls
dsr="src/dsr/frame src/dsr/link src/dsr/xdp src/dsr/segment src/dsr/flows
	src/dsr/inspect src/dsr/forward src/dsr/director"
# shellcheck disable=SC2086 # a list of directories
clean "goodbyes? shaking asides rooms houses? mend(s|ed)? wish thief siege spoil
	held places? looks? anew pieces? told heard news" $dsr
clean "cables?" src/dsr/link src/dsr/xdp

echo "words: $passed passed, $failed failed"
test "$failed" -eq 0 && test "$passed" -gt 0
