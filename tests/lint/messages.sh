#!/bin/sh
# Lists what the program can print: each text of src/ with more than one word, once,
# by file. With arguments, those of these files. Read it as an operator does who has
# never seen the source. Fails on words that an operator cannot know.
#
#     sh tests/lint/messages.sh [src/net/sock.c ...]

private='^is no |([^e]|[^r]e) is no |lacks |goodbye|anew|authorit|go back'

cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
list=$(mktemp) || exit 1
trap 'rm -f "$list"' EXIT
[ $# -gt 0 ] || set -- $(find src -name '*.[ch]' | sort)

# Tokens that matter: comments, characters, texts, the PRI macros between two texts,
# what else is not blank (it ends a text).
awk '
function flush() {
	if (text ~ /[[:alpha:]%][^ ]* +[^ ]*[[:alpha:]%]/ && !((file, text) in seen)) {
		seen[file, text] = 1
		print file ": " text
	}
	text = ""
	open = 0
}
function scan(s, t) {
	while (s != "") {
		if (comment) {
			if (!match(s, /\*\//))
				return
			comment = 0
			s = substr(s, RSTART + 2)
		} else if (match(s, /^[ \t]+/)) {
			s = substr(s, RLENGTH + 1)
		} else if (match(s, /^\/\*/)) {
			comment = 1
			s = substr(s, 3)
		} else if (match(s, /^"([^"\\]|\\.)*"/)) {
			text = text substr(s, 2, RLENGTH - 2)
			open = 1
			s = substr(s, RLENGTH + 1)
		} else if (open && match(s, /^PRI[A-Za-z0-9]+/)) {
			text = text substr(s, 4, RLENGTH - 3)
			s = substr(s, RLENGTH + 1)
		} else if (match(s, /^\047([^\047\\]|\\.)+\047/)) {
			flush()
			s = substr(s, RLENGTH + 1)
		} else {
			flush()
			if (!match(s, /^[A-Za-z0-9_]+/))
				RLENGTH = 1
			s = substr(s, RLENGTH + 1)
		}
	}
}
FNR == 1 { flush(); file = FILENAME; comment = 0 }
/^[ \t]*#[ \t]*(include|error)/ { next }
/_Static_assert/ { skip = 1 }
skip { if (/;/) skip = 0; next }
{ scan($0) }
END { flush() }
' "$@" >"$list"
cat "$list"
if grep -E "$private" "$list" >&2; then
	echo "messages: the lines above have words that operators do not know" >&2
	exit 1
fi
echo "messages: $(wc -l <"$list") passed, 0 failed"
