#!/bin/sh
# The completion scripts are right to the shells they are for, have every option and
# command that --help has, and offer what may come where the cursor is.
LC_ALL=C
export LC_ALL
unset PENCTL
pen=${PEN:-./pen}
penctl=$(dirname "$pen")/penctl
scripts=$(dirname "$pen")/completion
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0

if ! [ -f "$scripts/pen" ]; then
	echo "skipped: completion: it is not built where pen cannot run"
	exit 77
fi
"$pen" --help all >"$dir/help" || exit 1
"$penctl" --help >"$dir/penctl" || exit 1
sed -n '/^options:/,/^commands:/s/^.* --\([a-z0-9-]*\).*/\1/p' "$dir/help" |
	sort -u >"$dir/words"
sed -n '/^commands:/,$s/^  \([a-z][a-z0-9_]*\).*/\1/p' "$dir/help" |
	sort -u >>"$dir/words"
sed -n 's/^  .* --\([a-z]*\).*/\1/p' "$dir/penctl" >>"$dir/words"
echo watch >>"$dir/words"

count() {
	if [ "$1" -eq 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		shift
		echo "completion: $*"
	fi
}
# check SCRIPT COMMAND...: the shell accepts it
check() {
	script=$1
	for word in $(cat "$dir/words"); do
		grep -qwe "$word" "$scripts/$script" ||
			count 1 "$script has no $word"
	done
	shift
	if command -v "$1" >/dev/null; then
		"$@" "$scripts/$script"
		count $? "$*"
	else
		echo "skipped: completion: $1 is not installed"
	fi
}
check pen bash -n
check _pen zsh -n
check pen.fish fish --no-execute

# what each shell offers for a line: words, in order
in_bash() {
	bash --norc -c '. "$1"; COMP_LINE=$2 COMP_POINT=${#2}
		"_${2%% *}" && printf "%s\n" "${COMPREPLY[@]}"' - \
		"$scripts/pen" "$1"
}
in_zsh() {
	zsh -f -c 'compadd() { shift; print -l -- ${(M)@:#$PREFIX*} }
		_describe() { compadd -- ${${(P)2}%%:*} }
		_files() { compadd -- $PREFIX*(N) }
		_hosts() { }
		_arguments() { local option; for option in $@; do
			[[ $option != "*$words[CURRENT-1]["* ]] || ${=option##*:}
		done }
		words=(${=2}) && [[ $2 != *\  ]] || words+=("")
		CURRENT=$#words PREFIX=$words[-1] service=$words[1]
		. "$1"' - "$scripts/_pen" "$1"
}
in_fish() {
	fish --no-config -c 'source $argv[1]; complete -C $argv[2]' \
		"$scripts/pen.fish" "$1" | cut -f 1
}
# offers WANTED LINE: the shells offer that for the last word
offers() {
	for shell in bash zsh fish; do
		command -v $shell >/dev/null || continue
		found=$(in_$shell "$2" | grep . | sort | tr '\n' ' ')
		[ "${found% }" = "$1" ]
		count $? "$shell: $2: $found, not $1"
	done
}
if command -v bash >/dev/null; then
	found=$(in_bash 'pen --balance=le' | tr '\n' ' ')
	[ "$found" = 'leastconn least_time ' ]
	count $? "bash: pen --balance=le: $found"
fi
head -n 1 "$scripts/_pen" | grep -qx '#compdef pen penctl'
count $? '_pen is not of pen and penctl'
settings=$(sed -n 's/^  server SERVER|all \(.*\) \[up|.*/\1/p' "$dir/help" |
	grep -o '\[[a-z_]*' | tr -d '[')
offers "$(echo "$settings" up drain maint remove | tr ' ' '\n' | sort |
	tr '\n' ' ' | sed 's/ $//')" 'penctl /x server 0 '
offers 'drain' 'penctl /x server 0 dr'
offers 'off on' 'penctl /x server 0 weight 5 tls o'
offers 'drain' 'penctl /x server 0 tls on dr'
offers 'wait' 'penctl /x server all drain wai'
offers 'add all' 'penctl /x server a'
offers 'default hash least_time leastconn p2c prio roundrobin wleastconn wrr' \
	'penctl /x balance '
offers 'least_time leastconn' 'penctl -i 3 /x balance le'
offers 'least_time leastconn' 'penctl --address /x service web balance le'
offers 'least_time leastconn' 'penctl /x watch balance le'
offers 'least_time leastconn' 'pen --balance le'
offers 'local0 local1 local2 local3 local4 local5 local6 local7' \
	'pen --syslog-facility local'
offers 'http https' 'pen --check-servers http'
offers 'http https' 'penctl /x service web check http'
offers 'admin operate read' 'penctl /x control_level '
offers 'no_tlsv1 no_tlsv1.1 no_tlsv1.2 no_tlsv1.3' \
	'penctl /x ssl_option no_tlsv1'
offers 'country file gid uid unix' 'penctl /x acl 3 permit '
offers 'alpn default host protocol service sni' 'penctl /x route '
offers 'server servers' 'penctl /x no server'
offers 'udp udp_fail udp_pmtu udp_proxy udp_requests udp_responses udp_timeout' \
	'penctl /x no udp'
offers 'tls' 'pen --help tl'
offers '' 'penctl /x balance hash '
offers '' 'penctl /x idle_timeout '
touch "$dir/c.ctl"
offers "$dir/c.ctl" "penctl $dir/c."
offers "$dir/c.ctl" "pen -C $dir/c."
# neither the colon nor what would end the quotes is lost
for script in _pen pen.fish; do
	grep -q "'\\\\''" "$scripts/$script" &&
		grep -q 'address:\]*port' "$scripts/$script"
	count $? "$script: a description is not whole"
done
echo "completion: $passed passed, $failed failed"
test "$failed" -eq 0
