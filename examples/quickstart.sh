#!/bin/sh
# quickstart.sh: builds pen and shows what it does: two web servers, pen in front
# of them, pages fetched through it; one server fails and comes back, one is
# drained, and the log of that. On a terminal it then waits, so that you can see
# the status page in a browser. It stops everything it started when it ends, in
# whatever way; it needs no rights except to install missing packages.
#
#     sh examples/quickstart.sh [DIRECTORY]
#
# The build is kept in build-quickstart; with a DIRECTORY where pen was built, it
# uses that build. Outside of the source, for example in the examples of a package,
# it uses the installed pen.
set -u

top=$(cd "$(dirname "$0")/.." && pwd) || exit 1
build=${1:-$top/build-quickstart}
is_built=${1:+yes}
if [ -z "$is_built" ] && [ ! -f "$top/tests/setup.sh" ]; then
	build=$(command -v pen) || {
		echo "quickstart: found neither the source of pen nor an installed pen" >&2
		exit 1
	}
	build=${build%/*} is_built=yes
fi
[ -n "$is_built" ] || . "$top/tests/setup.sh"

# The path of a Unix socket is short, and in lists of words here.
temp=${TMPDIR:-/tmp}
case $temp in
*[[:space:]]*) temp=/tmp ;;
esac
[ ${#temp} -le 80 ] || temp=/tmp
work=$(mktemp -d "$temp/quickstart.XXXXXX") || exit 1
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

# Prints a page, by curl, wget or nc, whichever is installed.
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

# start NAME OPTIONS -- SERVERS: starts pen on a free port of 127.0.0.1 and
# sets `address` and `pid`. If the port is in use, it tries the next one.
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

# pages COUNT ["SERVER ..."]: fetches pages and prints their servers; they must
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
[ -x "$pen" ] || give_up "there is no pen in $build"
version=$("$pen" --version 2>/dev/null | head -n 1)
case $version in
'pen '[1-9]*) echo "$version" ;;
*) give_up "$pen is an older program of that name" ;;
esac

next_port=$((20000 + $$ % 10000))
say "two servers: the small web server that is built into pen"
start one -O dummy -p "$work/one.pid" --
one=$address one_pid=$pid
echo "\$ pen -f -O dummy $one"
start two -O dummy -p "$work/two.pid" --
two=$address
echo "\$ pen -f -O dummy $two"

say "pen in front of them: each client to the next server in turn (-r), two health
   checks per second, commands on a Unix socket, a status page"
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

say "it is restarted: pen notices and uses it again"
next_port=${one##*:}
next_port=$((next_port - 1))
start one -O dummy -p "$work/one.pid" --
wait_until 'state up'
pages 4 "$one $two"

say "the operator drains the second server before maintenance"
control 'server 1 drain'
pages 4 "$one"
table
control 'server 1 up'

say "the last lines of the session log"
tenths=100
while [ "$(wc -l <"$work/log")" -lt 22 ] && [ $((tenths = tenths - 1)) -ge 0 ]; do
	nap
done
tail -n 2 "$work/log"

if [ -t 0 ] && [ -t 1 ]; then
	say "status page: http://$page/   web site: http://$front/
   Press Enter to stop everything"
	read -r _
fi
say "all is stopped; pen(1) and examples/guide/README go on from here"
