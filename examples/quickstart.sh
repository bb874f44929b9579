#!/bin/sh
# quickstart.sh: builds pen and shows its main job: two web servers, pen in
# front of them, ten pages fetched through it; one server dies, and what pen
# says of that. Everything it starts is stopped when it ends, however it ends.
#
#     sh examples/quickstart.sh
#
# Missing packages are installed first. The build is kept in build-quickstart.
set -u

top=$(cd "$(dirname "$0")/.." && pwd) || exit 1
build=$top/build-quickstart
. "$top/tests/setup.sh"

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
	tenths=30
	while [ $((tenths = tenths - 1)) -ge 0 ]; do
		[ ! -s "$work/$2.pid" ] || return 0
		kill -0 "$1" 2>/dev/null || return 1
		nap
	done
	return 1
}

packages_need_build "$top"
command -v curl >/dev/null 2>&1 || command -v wget >/dev/null 2>&1 ||
	command -v nc >/dev/null 2>&1 || packages_need curl

say "building in $build"
build_quietly
pen=$build/pen
"$pen" --version | head -n 1

next_port=$((20000 + $$ % 10000))
say "two backends: pen's own little web server"
start one -O dummy -p "$work/one.pid" --
one=$address one_pid=$pid
echo "pen -f -O dummy $one"
start two -O dummy -p "$work/two.pid" --
two=$address
echo "pen -f -O dummy $two"

say "pen in front of them, each client to the next one in turn (-r)"
start front -r -p "$work/front.pid" -C "$work/ctl" \
	--check-servers connect --check-interval 200ms \
	--session-log "$work/log" -- "$one" "$two"
front=$address
echo "pen -f -r -C CONTROL --check-servers connect $front $one $two"

# pages COUNT ONLY: fetches pages; with ONLY, all must be from there
pages() {
	page=1
	while [ "$page" -le "$1" ]; do
		body=$(fetch "$front") || give_up "page $page did not come"
		case $body in
		*"${2:-$one}"*) echo "page $page came from ${2:-$one}" ;;
		*"${2:-$two}"*) echo "page $page came from ${2:-$two}" ;;
		*) give_up "page $page is not from ${2:-a backend}: $body" ;;
		esac
		page=$((page + 1))
	done
}

control() {
	echo "penctl CONTROL $*"
	"$build/penctl" "$work/ctl" "$@" || give_up "penctl $* failed"
}

say "ten pages from http://$front/"
pages 10

say "one backend dies: no page is lost"
kill "$one_pid"
wait "$one_pid" 2>/dev/null
pages 4 "$two"
control "servers long" | sed 's/ changes .*//'

say "what pen has logged of these sessions"
tenths=30
while [ "$(wc -l <"$work/log")" -lt 14 ] && [ $((tenths = tenths - 1)) -ge 0 ]; do
	nap
done
tail -n 3 "$work/log"

say "stopping"
