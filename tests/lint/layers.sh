#!/bin/sh
# Each source file includes its own directory and the layers below, nothing else;
# libevent stays behind net/loop and net/resolver; only main ends the process.
cd "${SRCDIR:-.}/src" || exit 1
passed=0 failed=0

# allowed DIRECTORY: the directories its files may include; none for one that is
# unknown here
allowed() {
	case $1 in
	base) echo base ;;
	net) echo base net ;;
	tls) echo base net tls ;;
	pool) echo base pool ;;
	proxy) echo base net tls pool proxy ;;
	dsr) echo base net pool dsr ;;
	control) echo base net tls pool proxy dsr control ;;
	main.c | tools) echo base net tls pool proxy dsr control tools ;;
	esac
}

complain() {
	echo "layers: $*"
	failed=$((failed + 1))
}

# includes FILE: what it includes of ours, however it is written; <net/if.h> is
# the system's as long as no src/net/if.h exists
includes() {
	sed -n 's/^[[:blank:]]*#[[:blank:]]*include[[:blank:]]*\([<"][^>"]*\).*/\1/p' \
		"$1" | while read -r name; do
		case $name in
		\"*) echo "${name#?}" ;;
		*) [ ! -f "${name#?}" ] || echo "${name#?}" ;;
		esac
	done
}

for file in $(find . -name '*.[ch]' | sed 's,^\./,,' | sort); do
	directory=${file%%/*}
	before=$failed
	for name in $(includes "$file"); do
		[ "$name" = config.h ] && continue
		case " $(allowed "$directory") " in
		*" ${name%%/*} "*) ;;
		*) complain "$file includes $name" ;;
		esac
	done
	case $file in
	net/loop*.c | net/resolver.c) ;;
	*)
		if grep -qE '#[[:blank:]]*include[[:blank:]]*[<"]ev(ent|util|dns|http|rpc)' \
			"$file"; then
			complain "$file knows libevent"
		fi
		;;
	esac
	if [ "$file" != main.c ] && grep -qE \
		'(^|[^_[:alnum:]])(exit|_exit|_Exit|quick_exit)[[:blank:]]*\(' "$file"; then
		complain "$file ends the process"
	fi
	[ "$failed" -ne "$before" ] || passed=$((passed + 1))
done
echo "layers: $passed passed, $failed failed"
test "$failed" -eq 0 && test "$passed" -gt 0
