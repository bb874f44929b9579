#!/bin/sh
# Each source file includes its own room and the rooms below it, nothing else;
# libevent stays behind net/loop.c; only main ends the process.
cd "${SRCDIR:-.}/src" || exit 1
passed=0 failed=0

# allowed ROOM: the rooms its files may include
allowed() {
	case $1 in
	base) echo base ;;
	net) echo base net ;;
	pool) echo base pool ;;
	proxy) echo base net pool proxy ;;
	dsr) echo base net pool dsr ;;
	control) echo base net pool proxy dsr control ;;
	*) echo base net pool proxy dsr control tools ;;
	esac
}

complain() {
	echo "layers: $*"
	failed=$((failed + 1))
}

for file in *.c */*.[ch]; do
	[ -f "$file" ] || continue
	room=${file%%/*}
	before=$failed
	for name in $(sed -n 's/^#include "\(.*\)"$/\1/p' "$file"); do
		[ "$name" = config.h ] && continue
		case " $(allowed "$room") " in
		*" ${name%%/*} "*) ;;
		*) complain "$file includes $name" ;;
		esac
	done
	if [ "$file" != net/loop.c ] && grep -q '#include <event' "$file"; then
		complain "$file knows libevent"
	fi
	if [ "$file" != main.c ] && grep -qE '(^|[^_a-z])_?exit\(' "$file"; then
		complain "$file ends the process"
	fi
	[ "$failed" -ne "$before" ] || passed=$((passed + 1))
done
echo "layers: $passed passed, $failed failed"
test "$failed" -eq 0 && test "$passed" -gt 0
