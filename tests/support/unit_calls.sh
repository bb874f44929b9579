#!/bin/sh
# unit_calls.sh UNIT: the system calls that the lines SystemCallFilter= of a unit of
# systemd permit, one a line, with the sets of the systemd that is here.
{
	systemd-analyze syscall-filter 2>/dev/null
	echo "@@"
	sed -n 's/^SystemCallFilter=//p' "$1"
} | awk '
function put(word, on, i, n, list) {
	if (word !~ /^@/) {
		ok[word] = on
		return
	}
	n = split(members[word], list, " ")
	for (i = 1; i <= n; i++)
		put(list[i], on)
}
$1 == "@@" { filter = 1; next }
filter {
	on = sub(/^~/, "") == 0
	for (i = 1; i <= NF; i++)
		put($i, on)
	next
}
/^@/ { set = $1; next }
NF > 0 && $1 !~ /^#/ { members[set] = members[set] " " $1 }
END {
	for (call in ok)
		if (ok[call])
			print call
}'
