#!/bin/sh
# The manual and the program's own table say the same: every option that --help
# knows is in pen.1, every command in pen.conf.5, and the pages describe none that
# it does not. Each page is without faults for mandoc and groff, and what pages
# refer to is there.
LC_ALL=C
export LC_ALL
top=${SRCDIR:-.}
man=$top/man
pen=${PEN:-./pen}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0

"$pen" --help all >"$dir/help" || exit 1
if ! grep -q -- --cert "$dir/help"; then
	echo "skipped: manual: a build without TLS knows less"
	exit 77
fi
# names: long options and letters from the option lines, command words
sed -n '/^options:/,/^commands:/p' "$dir/help" >"$dir/options"
sed -n '/^commands:/,$p' "$dir/help" | sed -n 's/^  \([a-z][a-z0-9_]*\).*/\1/p' |
	sort -u >"$dir/commands"
grep -o -- '--[a-z0-9-]*' "$dir/options" | sort -u >"$dir/long"
grep -o -- '^  -[A-Za-z]' "$dir/options" | tr -d ' -' | sort -u >"$dir/short"

# the same from the pages: .It Fl x , -long and .It Ic word , word; the options
# without effect stand in running text
sed -n '/^\.Sh OPTIONS/,/^\.Sh SIGNALS/p' "$man/pen.1" |
	sed -n -e '/^\.It Fl /p' -e '/^\.Ss Options without effect/,$p' |
	grep -E '^\.(It )?Fl ' >"$dir/page_options"
grep -o -- ' -[a-z0-9-]*' "$dir/page_options" | sed 's/^ -/--/' |
	sort -u >"$dir/page_long"
sed 's/Ar .*Fl/Fl/' "$dir/page_options" | grep -oE 'Fl [A-Za-z]( |$)|, [a-z] ,' |
	sed 's/^Fl //' | tr -d ' ,' | sort -u >"$dir/page_short"
sed -n '/^\.Sh COMMANDS/,/^\.Sh SEE ALSO/p' "$man/pen.conf.5" |
	sed -n -e 's/^\.It Xo Ic \([a-z0-9_]*\).*/\1/p' -e 's/^\.It Ic //p' |
	sed 's/ \(Ar\|Op\|Oo\|Cm\|Ns\|Pq\)\( .*\|$\)//' | tr -d ',' | tr ' ' '\n' |
	grep . | sort -u >"$dir/page_commands"
# the options that pen.conf.5 has beside its commands
sed -n 's/^\.It Ic .*Pq\( Fl .*\)/\1/p' "$man/pen.conf.5" |
	grep -o -- 'Fl -[a-z0-9-]*' | sed 's/Fl -/--/' | sort >"$dir/page_beside"
comm -12 "$dir/page_beside" "$dir/long" | uniq >"$dir/beside"

# commands of pen.conf.5 without an example; a dialogue, or no effect, has none
sed -n '/^\.Sh COMMANDS/,/^\.Sh SEE ALSO/p' "$man/pen.conf.5" | awk '
	/^\.It (Xo )?Ic / {
		if (body && !shown)
			all = all names
		if (body)
			names = ""
		names = names " " ($2 == "Xo" ? $4 : $3)
		body = shown = 0
		next
	}
	/^\.Dl / { shown = 1 }
	{ body = 1 }
	END { print all }' | tr ' ' '\n' |
	grep -vxE 'prompt|quit|block|delayed_forward|ssl_compat|' >"$dir/bare"

# defaults that are not in the paragraph of their setting
"$pen" --print-all 80 198.51.100.1 -O 'show settings' 2>/dev/null |
	grep -vE '^(no|server|listen|ssl_option) ' | awk 'NF == 2' |
	sort -u >"$dir/defaults"
awk -v defaults="$dir/defaults" '
	/^\.It (Xo )?Ic / {
		if (body)
			text = ""
		name = $2 == "Xo" ? $4 : $3
		body = 0
		texts[name] = ""
		next
	}
	!/^\.Dl / { texts[name] = texts[name] " " $0 }
	{ body = 1 }
	END {
		while ((getline line < defaults) > 0) {
			split(line, word, " ")
			text = texts[word[1]] " "
			gsub(/,/, "", text)
			value = word[2]
			gsub(/[.]/, "[.]", value)
			if (text !~ "[^0-9a-z]" value "[^0-9a-z]")
				print line
		}
	}' "$man/pen.conf.5" >"$dir/untold"

# fields of lines of logs, and of servers in JSON, that the page does not name
sed -n '/^\.Ss Fields/,/^\.El/p' "$man/pen-monitoring.7" |
	sed -n 's/^\.It Cm //p' | tr -d ',' | tr ' ' '\n' | sort >"$dir/fields"
sed -n 's/^	{ \.name = "\([a-z_]*\)".*/\1/p' \
    "$top/src/proxy/log/session_record.c" | sort -u |
	comm -23 - "$dir/fields" >"$dir/unnamed"
sed -n '/^\.It Ic servers$/,/^\.It Ic conn/p' "$man/pen-control.7" |
	tr ' ;' '\n' | sort >"$dir/fields"
awk -F '"' '/\.name/ { name = $2 } /AT_SERVER\(set\./ { print name }' \
    "$top/src/control/plan/table_server.c" | sort |
	comm -23 - "$dir/fields" >>"$dir/unnamed"

check() {
	if [ "$1" -eq 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		shift
		echo "manual: $*"
	fi
}

compare() {
	diff "$dir/$1" "$dir/page_$1" >"$dir/diff"
	check $? "$2 (<: only in the program, >: only in the page)"
	grep '^[<>]' "$dir/diff"
}
compare long "long options"
compare short "short options"
compare commands "commands"
test ! -s "$dir/untold"
check $? "defaults that the paragraph does not name: $(tr '\n' ';' <"$dir/untold")"
test ! -s "$dir/unnamed"
check $? "fields without a name: $(tr '\n' ' ' <"$dir/unnamed")"
test "$(grep -c . "$dir/defaults")" -gt 50
check $? "few defaults found"
test ! -s "$dir/bare"
check $? "without an example: $(tr '\n' ' ' <"$dir/bare")"
compare beside "options beside commands: unknown or twice"

# pen-words(7): each word is a command, and the page of a task has it
awk '/^\.Ic / { print $2 }' "$man/pen-words.7" | sort -u |
	comm -23 - "$dir/commands" >"$dir/unknown"
test ! -s "$dir/unknown"
check $? "pen-words.7: no commands: $(tr '\n' ' ' <"$dir/unknown")"
sed -n '/^\.Sh TASKS/,/^\.Sh WORDS/p' "$man/pen-words.7" | awk '
	/^\.It / { count = 0 }
	/^\.Ic / { word[count++] = $2 }
	/^\.Xr / { for (i = 0; i < count; i++) print $2 "." $3, word[i] }
	' >"$dir/tasks"
while read -r page word; do
	grep -qE "Ic (no )?$word( |\$)|Fl -$(echo "$word" | tr _ -)( |\$)" \
		"$man/$page"
	check $? "$page does not name $word, to which pen-words.7 leads"
done <"$dir/tasks"
test "$(grep -c . "$dir/tasks")" -gt 60
check $? "few tasks found"

# what a page refers to: other pages of pen, and its own sections
for page in "$man"/*.[1-9]; do
	name=${page##*/}
	grep -oE 'Xr (pen|mergelogs)[a-z.-]* [1-9]' "$page" |
	    sed 's/Xr \([^ ]*\) /\1./' | sort -u >"$dir/others"
	while read -r other; do
		test -f "$man/$other"
		check $? "$name refers to $other, which is not there"
	done <"$dir/others"
	grep -oE '(^\.| )Sx .*' "$page" | sed -e 's/^.*Sx //' -e 's/\( [.,;:)]\)*$//' \
	    -e 's/"//g' | sort -u >"$dir/sections"
	while read -r section; do
		grep -qE "^\.S[hs] \"?$section\"?\$" "$page"
		check $? "$name refers to its section $section, which is not there"
	done <"$dir/sections"
	if command -v mandoc >/dev/null; then
		# pages that are not installed yet cannot be found
		mandoc -Tlint "$page" 2>/dev/null |
		    grep -v 'referenced manual not found' >"$dir/faults"
		cat "$dir/faults"
		test ! -s "$dir/faults"
		check $? "mandoc -Tlint $name"
	fi
	if command -v groff >/dev/null; then
		groff -mdoc -ww -z -Tascii "$page" >"$dir/faults" 2>&1
		cat "$dir/faults"
		test ! -s "$dir/faults"
		check $? "groff -ww $name"
	fi
done
for program in mandoc groff; do
	command -v "$program" >/dev/null ||
		echo "skipped: manual: $program is not installed"
done
echo "manual: $passed passed, $failed failed"
test "$failed" -eq 0
