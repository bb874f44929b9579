#!/bin/sh
# quickstart.sh: builds pen and shows its main job: two web servers, pen in
# front of them, pages fetched through it; one server dies and comes back, one
# is drained, and what pen says of that. At a terminal it then waits, so that you
# can see its page in a browser. Everything it starts is stopped when it ends,
# however it ends; it needs no rights but to install packages that are missing.
#
#     sh examples/quickstart.sh [DIRECTORY]
#
# The build is kept in build-quickstart; with a directory where pen was built, that
# one is shown and nothing is built. Outside of the source, as in a package's
# examples, the pen that is installed is shown.
set -u

top=$(cd "$(dirname "$0")/.." && pwd) || exit 1
build=${1:-$top/build-quickstart}
is_built=${1:+yes}
if [ -z "$is_built" ] && [ ! -f "$top/tests/setup.sh" ]; then
	build=$(command -v pen) || {
		echo "quickstart: neither pen's source nor pen is here" >&2
		exit 1
	}
	build=${build%/*} is_built=yes
fi
[ -n "$is_built" ] || . "$top/tests/setup.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/quickstart.XXXXXX") || exit 1
started=

say() {
	printf '\n== %s\n' "$*"
}

give_up() {
	echo "quickstart: $*" >&2
	exit 1
}

clean_up() {
	for pid in $started; do
		kill "$pid" 2>/dev/null
	done
	for pid in $started; do
		wait "$pid" 2>/dev/null
	done
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

build_quietly() {
	if ! { source=$(build_source "$top" "$build-source") &&
		build_pen "$source" "$build"; } >"$work/build.log" 2>&1; then
		tail -n 20 "$work/build.log" >&2
		give_up "the build failed"
	fi
}

# Prints a page; curl, wget or nc, whichever is here.
fetch() {
	if command -v curl >/dev/null 2>&1; then
		curl -fsS --noproxy '*' "http://$1/" 2>/dev/null
	elif command -v wget >/dev/null 2>&1; then
		wget -qO- --no-proxy "http://$1/" 2>/dev/null
	else
		printf 'GET / HTTP/1.0\r\n\r\n' |
			nc "${1%:*}" "${1##*:}" 2>/dev/null
	fi
}

# start NAME OPTIONS -- SERVERS: starts pen at a free port of 127.0.0.1 and
# sets `address` and `pid`. A port somebody has is no reason to fail.
start() {
	name=$1
	options=
	shift
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	shift
	tries=10
	while [ $((tries = tries - 1)) -ge 0 ]; do
		next_port=$((next_port + 1))
		address=127.0.0.1:$next_port
		# shellcheck disable=SC2086 # a list of words
		"$pen" -f $options "$address" "$@" 2>"$work/$name.err" &
		pid=$!
		if is_ready "$pid" "$name"; then
			started="$started $pid"
			return 0
		fi
		wait "$pid" 2>/dev/null
		grep -q 'in use' "$work/$name.err" || break
	done
	give_up "$name did not start: $(cat "$work/$name.err")"
}

nap() {
	sleep 0.1 2>/dev/null || sleep 1
}

# It listens when its process id is in the file.
is_ready() {
	tenths=100
	while [ $((tenths = tenths - 1)) -ge 0 ]; do
		[ ! -s "$work/$2.pid" ] || return 0
		kill -0 "$1" 2>/dev/null || return 1
		nap
	done
	return 1
}

# pages COUNT ["SERVER ..."]: fetches pages and says whose they are; they must
# come from all of these servers, and from no other.
pages() {
	count=$1 seen=
	while [ $((count = count - 1)) -ge 0 ]; do
		body=$(fetch "$front") || give_up "a page did not come"
		for server in $2; do
			case $body in *"$server"*) seen="$seen $server" ;; esac
		done
	done
	echo "pages came from ports$(echo "$seen" | sed 's/[^ ]*://g')"
	for server in $2; do
		case $seen in
		*"$server"*) ;;
		*) give_up "no page came from $server" ;;
		esac
	done
	# shellcheck disable=SC2086 # a list of words
	set -- "$1" $seen
	[ $# -eq $(($1 + 1)) ] || give_up "a page came from elsewhere"
}

control() {
	echo "\$ penctl $work/ctl '$*'"
	"$build/penctl" "$work/ctl" "$@" || give_up "penctl $* failed"
}

# The servers as `top` shows them.
table() {
	echo "\$ penctl $work/ctl top"
	"$build/penctl" "$work/ctl" top </dev/null 2>/dev/null | sed 4q
}

# wait_until TEXT: until `servers long` has that for server 0
wait_until() {
	tenths=100
	while [ $((tenths = tenths - 1)) -ge 0 ]; do
		case $("$build/penctl" "$work/ctl" 'servers long' | head -n 1) in
		*"$1"*) return ;;
		esac
		nap
	done
	give_up "the first server never was: $1"
}

has_fetcher() {
	command -v curl || command -v wget || command -v nc
}

has_fetcher >/dev/null || [ -n "$is_built" ] || packages_need curl
has_fetcher >/dev/null || give_up "curl, wget or nc is needed"
if [ -z "$is_built" ]; then
	packages_need_build "$top"
	say "building in $build, which takes a minute or two the first time"
	build_quietly
fi
pen=$build/pen
"$pen" --version | head -n 1

next_port=$((20000 + $$ % 10000))
say "two servers: pen has a small web server in it for that"
start one -O dummy -p "$work/one.pid" --
one=$address one_pid=$pid
echo "\$ pen -f -O dummy $one"
start two -O dummy -p "$work/two.pid" --
two=$address
echo "\$ pen -f -O dummy $two"

say "pen in front of them: each client to the next server in turn (-r), servers
   are asked twice a second how they are, commands at a Unix socket, a page"
start page -O dummy -p "$work/page.pid" --
page=$address # which is free a moment from now
kill "$pid"
wait "$pid" 2>/dev/null
start front -r -p "$work/front.pid" -C "$work/ctl" --web "$page" \
	--check-servers connect --check-interval 500ms \
	--session-log "$work/log" -- "$one" "$two"
front=$address
echo "\$ pen -f -r --check-servers connect --check-interval 500ms \\
      -C $work/ctl --web $page $front $one $two"

say "ten pages from http://$front/"
pages 10 "$one $two"

say "the first server dies: no page is lost"
kill "$one_pid"
wait "$one_pid" 2>/dev/null
pages 4 "$two"
wait_until 'state down'
table

say "it is started again: pen finds that out and uses it"
next_port=${one##*:}
next_port=$((next_port - 1))
start one -O dummy -p "$work/one.pid" --
wait_until 'state up'
pages 4 "$one $two"

say "the operator takes the second one out: it is drained, then it may be changed"
control 'server 1 drain'
pages 4 "$one"
table
control 'server 1 up'

say "what pen has logged of the last sessions"
tenths=100
while [ "$(wc -l <"$work/log")" -lt 22 ] && [ $((tenths = tenths - 1)) -ge 0 ]; do
	nap
done
tail -n 2 "$work/log"

if [ -t 0 ] && [ -t 1 ]; then
	say "its page is at http://$page/ now, a site to reload at http://$front/
   Enter ends all of it"
	read -r _
fi
say "all is stopped; pen(1) and README.md go on from here"
