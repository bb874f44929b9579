#!/bin/sh
# The manual in HTML is made, each of its links leads somewhere, each command has a
# paragraph to link to, and nothing is fetched from elsewhere.
LC_ALL=C
export LC_ALL
top=${SRCDIR:-.}
pen=${PEN:-./pen}
if ! command -v mandoc >/dev/null; then
	echo "skipped: html: mandoc is not installed"
	exit 77
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0

check() {
	if "$@"; then
		passed=$((passed + 1))
	else
		echo "html: not so: $*"
		failed=$((failed + 1))
	fi
}

check sh "$top/man/html.sh" mandoc "$top/man" "$dir/html"
pen=$(cd "${pen%/*}" && pwd)/pen
manual=$(cd "$top/man" && pwd)
cd "$dir/html" || exit 1
for page in "$manual"/*.[1-9]; do
	check grep -q '<link rel="stylesheet" href="manual.css"' "${page##*/}.html"
	check grep -q "\"${page##*/}.html\"" index.html
done
# not one link to a page of pen may be one to somebody else's
check test -s manual.css
check test -z "$(grep -ohE 'debian.org/pen(\.conf|ctl|log|logd|-[a-z]*)?\.[1-9]"' ./*)"
check test -z "$(grep -nE '(src|@import|url\()[^ ]*//' ./*)"

grep -oE '(id|href)="[^"]*"' ./*.html | sed -e 's,^\./,,' -e 's/"$//' -e 's/="/:/' \
	>"$dir/found"
grep -o ':href:.*' "$dir/found" | grep -c . >"$dir/count"
check test "$(cat "$dir/count")" -gt 500
awk -F: '
	{ file = $1; rest = substr($0, length($1 $2) + 3) }
	$2 == "id" { there[file "#" rest] = 1; there[file "#"] = 1 }
	$2 == "href" && rest !~ /^https:\/\/manpages\.debian\.org\// {
		if (rest ~ /^#/)
			rest = file rest
		if (rest !~ /#/)
			rest = rest "#"
		wanted[rest] = file
	}
	END {
		there["index.html#"] = there["manual.css#"] = 1
		there["measured.html#"] = there["measured.tsv#"] = 1
		for (link in wanted)
			if (!(link in there))
				print wanted[link] " links to " link
	}' "$dir/found" >"$dir/lost"
cat "$dir/lost"
check test ! -s "$dir/lost"

for page in pen.conf.5 pen-service.7 pen-words.7; do
	check grep -q 'TABLE OF CONTENTS' "$page.html"
done

for picture in $(grep -oh 'src="[^"]*"' ./*.html | sed 's/src="//; s/"//'); do
	check test -s "$picture"
done
check test "$(grep -o '<img src="measured' measured.html | wc -l)" -ge 3
check test "$(grep -c "&lt;!--" measured.html)" -eq 0

if "$pen" --help all | grep -q -- --cert; then
	"$pen" --help all | sed -n '/^commands:/,$s/^  \([a-z][a-z0-9_]*\).*/\1/p' |
	    sort -u >"$dir/commands"
	while read -r name; do
		check grep -q "^pen.conf.5.html:id:$name\$" "$dir/found"
	done <"$dir/commands"
fi
echo "html: $passed passed, $failed failed"
test "$failed" -eq 0
