#!/bin/sh
# Each source file includes its own directory and the layers below, nothing else;
# libevent stays behind net/loop, resolver_evdns and http_*; only main ends the process;
# a _private.h belongs to three files at most.
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
	dsr/frame) echo base dsr/frame ;;
	dsr/link) echo base dsr/frame dsr/link ;;
	dsr/xdp) echo base dsr/frame dsr/link dsr/xdp ;;
	dsr/segment) echo base dsr/frame dsr/link dsr/segment ;;
	dsr/flows) echo base dsr/frame dsr/flows ;;
	dsr/inspect)
		echo base dsr/frame dsr/link dsr/segment dsr/xdp dsr/inspect
		;;
	dsr/forward)
		echo base net pool dsr/frame dsr/link dsr/segment dsr/flows \
			dsr/forward
		;;
	dsr/director)
		echo base net pool dsr/frame dsr/link dsr/segment dsr/flows \
			dsr/forward dsr/director
		;;
	control)
		echo base net tls pool proxy dsr/frame dsr/link dsr/segment \
			dsr/flows dsr/forward dsr/inspect dsr/director control
		;;
	main.c | tools) echo base net tls pool proxy control tools ;;
	esac
}

# private_users HEADER: how many files may include a _private.h. Those above three
# are to become fewer, but for that of sessions: a file each state and step.
private_users() {
	case $1 in
	control/value_private.h) echo 6 ;;
	net/loop_private.h) echo 4 ;;
	proxy/flow_private.h) echo 5 ;;
	proxy/frontend_private.h) echo 3 ;;
	proxy/session_private.h) echo 20 ;;
	*) echo 3 ;;
	esac
}

# directory FILE: its own, which for what stands in src itself is the file
directory() {
	case $1 in
	*/*) echo "${1%/*}" ;;
	*) echo "$1" ;;
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
	allowed=" $(allowed "$(directory "$file")") "
	before=$failed
	for name in $(includes "$file"); do
		[ "$name" = config.h ] && continue
		case $allowed in
		*" $(directory "$name") "*) ;;
		*) complain "$file includes $name" ;;
		esac
	done
	case $file in
	net/loop*.c | net/resolver_evdns.c | net/http_*.c) ;;
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
	case $file in
	*_private.h)
		users=$(grep -rlF --include='*.[ch]' "\"$file\"" . | wc -l)
		if [ "$users" -gt "$(private_users "$file")" ]; then
			complain "$file is included by $users files"
		fi
		;;
	esac
	[ "$failed" -ne "$before" ] || passed=$((passed + 1))
done
echo "layers: $passed passed, $failed failed"
test "$failed" -eq 0 && test "$passed" -gt 0
