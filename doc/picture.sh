#!/bin/sh
# picture.sh: draws page.png, the page of `--web` as README.md shows it: some
# minutes of real traffic to four servers, of which one dies.
#
#     sh doc/picture.sh [PEN [PNG]]
#
# Needs Chromium, Python, and a system that gives users namespaces (Linux): names
# and ports below 1024 are those of a network of its own.
set -u

cd "$(dirname "$0")/.." || exit 1
if [ "${1:-}" != inside ]; then
	pen=$(realpath "${1:-./pen}") png=$(realpath "${2:-doc/page.png}")
	work=$(mktemp -d "${TMPDIR:-/tmp}/picture.XXXXXX") || exit 1
	unshare --map-root-user --mount --net --pid --fork --kill-child \
		--mount-proc sh "doc/picture.sh" inside "$pen" "$png" "$work"
	status=$?
	rm -rf "$work"
	exit "$status"
fi
pen=$2 png=$3 work=$4

give_up() {
	echo "picture.sh: $*" >&2
	exit 1
}

# server NAME NUMBER: a web server with that name
server() {
	echo "127.0.0.$2 $1" >>"$work/hosts"
	"$pen" -f -O dummy "127.0.0.$2:80" 2>"$work/$1.err" &
}

ip link set lo up || give_up "no network of its own"
echo '127.0.0.1 localhost' >"$work/hosts"
server web1 11
server web2 12
server web3 13
victim=$!
server web4 14
mount --bind "$work/hosts" /etc/hosts || give_up "no /etc/hosts of its own"

"$pen" -f --web 8080 --check-servers connect --check-interval 500ms \
	--balance wleastconn 127.0.0.1:80 \
	web1:80:200:0:4 web2:80:200:0:4 web3:80:200:0:2 web4:80:200:0:1 \
	2>"$work/pen.err" &
sleep 1
python3 doc/visitors.py 127.0.0.1 80 &
sleep "${PICTURE_SECONDS:-180}"
kill "$victim"
python3 doc/screenshot.py http://127.0.0.1:8080/ "$png" 15 "$work/chromium" ||
	give_up "no picture"
ls -l "$png"
