#!/bin/sh
# Words that src/README, Glossary, does not want: none of them is in a directory
# that is listed here as clean. The lists get longer until they have all of src.
# Manual, README, examples, help and messages have none of the idioms below.
cd "${SRCDIR:-.}" || exit 1
passed=0 failed=0
text=$(mktemp) || exit 1
trap 'rm -f "$text"' EXIT

idioms='\b(is|are|be|was) (asked|told)\b
(^|[^-"])\bnobody\b
\b(every|some)body\b
what becomes of
breaks? off
\bbehind (it|them|that)\b
\bso (long|many)\b
any (time|number)\b
listen(s|ing)? at\b
, as (in|of|those|that)\b
goes? on\b
\bat the start only\b'

# find_idioms NAME: in $text
find_idioms() {
	while read -r idiom; do
		if grep -noiE ".{0,30}($idiom).{0,30}" "$text"; then
			echo "words: in $1: $idiom"
			failed=$((failed + 1))
		else
			passed=$((passed + 1))
		fi
	done <<EOF
$idioms
EOF
}

# prose FILE...: each is one line, without macros and the marks of comments, so that
# an idiom is found across the end of a line
prose() {
	for file; do
		sed -e 's/^\.[A-Z][a-z] //' -e 's/^ *# *//' "$file" |
			tr '\n' ' ' >"$text"
		find_idioms "$file"
	done
}

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

# comments: the comments of src, a line each
comments() {
	find src -name '*.[ch]' -exec awk '
		FNR == 1 { inside = 0 }
		{
			text = ""
			while ((at = index($0, inside ? "*/" : "/*")) || inside) {
				if (inside)
					text = text substr($0, 1, at ? at - 1 : length)
				if (!at)
					break
				$0 = substr($0, at + 2)
				inside = !inside
			}
			if (text != "")
				print FILENAME ":" text
		}' {} +
}

# Programs do not speak, and hosts are things.
comments >"$text"
for word in nobody somebody whoever says said asks asked tells told hears heard \
	sentence phrase; do
	capital=$(echo "$word" | cut -c 1 | tr '[:lower:]' '[:upper:]')${word#?}
	if grep -wE "$word|$capital" "$text"; then
		echo "words: in comments: $word"
		failed=$((failed + 1))
	else
		passed=$((passed + 1))
	fi
done

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

prose man/*.[1-9] README.md SECURITY CHANGELOG examples/guide/* examples/pen* \
	examples/quickstart.sh examples/prometheus/*.yml
sh tests/lint/messages.sh |
	sed 's/^[^:]*: //' >"$text"
find_idioms "help and messages"

echo "words: $passed passed, $failed failed"
test "$failed" -eq 0 && test "$passed" -gt 0
