#!/bin/sh
# picture.sh: draws the pages of `--web` as README.md shows them, after some minutes
# of real traffic: page.png, four servers of which one dies, and services.png,
# five services of which one loses a server.
#
#     sh doc/picture.sh [PEN [DIRECTORY]]
#
# Needs Chromium, Python, and a system that gives users namespaces (Linux): names
# and ports below 1024 are those of a network of its own.
set -u

cd "$(dirname "$0")/.." || exit 1
if [ "${1:-}" != inside ]; then
	pen=$(realpath "${1:-./pen}") to=$(realpath "${2:-doc}")
	work=$(mktemp -d "${TMPDIR:-/tmp}/picture.XXXXXX") || exit 1
	unshare --map-root-user --mount --net --uts --pid --fork --kill-child \
		--mount-proc sh "doc/picture.sh" inside "$pen" "$to" "$work"
	status=$?
	rm -rf "$work"
	exit "$status"
fi
pen=$2 to=$3 work=$4

give_up() {
	echo "picture.sh: $*" >&2
	exit 1
}

# server NAME NUMBER: a web server with that name
server() {
	echo "127.0.0.$2 $1" >>"$work/hosts"
	"$pen" -f -O dummy "127.0.0.$2:80" 2>"$work/$1.err" &
}

# visitors ADDRESS PORT
visitors() {
	python3 doc/visitors.py "$1" "$2" &
}

# picture PORT PNG: taken when a server has been dead for a while. The page is
# open all the time, so that its lines do not depend on how fast it was loaded.
picture() {
	python3 doc/screenshot.py "http://127.0.0.1:$1/" "$to/$2" \
		"$((seconds + 20))" "$work/chromium.$1" && ls -l "$to/$2"
}

ip link set lo up || give_up "no network of its own"
hostname balancer1
echo '127.0.0.1 localhost' >"$work/hosts"
server web1 11
server web2 12
server web3 13
victim=$!
server web4 14
server app1 21
server app2 22
server app3 23
victim2=$!
server img1 31
server img2 32
mount --bind "$work/hosts" /etc/hosts || give_up "no /etc/hosts of its own"

"$pen" -f --web 8080 --check-servers connect --check-interval 500ms \
	--balance wleastconn 127.0.0.1:80 \
	web1:80:200:0:4 web2:80:200:0:4 web3:80:200:0:2 web4:80:200:0:1 \
	2>"$work/pen.err" &

# service NAME NUMBER SERVER...: one that listens on that address
service() {
	printf 'service %s\nlisten 127.0.0.%s:80\nhttp\ncheck connect\n' \
		"$1" "$2"
	echo check_interval 500ms
	shift 2
	i=0
	for name; do
		echo "server $i address $name port 80"
		i=$((i + 1))
	done
}
{
	echo 'web 8081'
	service www 2 web1 web2 web4
	service api 3 app1 app2 app3
	service images 4 img1 img2
	service intranet 5 app1 app2
	service old-shop 6 img2
	echo 'server 0 drain'
} >"$work/pen.conf"
"$pen" -f -F "$work/pen.conf" 2>"$work/services.err" &
sleep 1
visitors 127.0.0.1 80
visitors 127.0.0.2 80
visitors 127.0.0.3 80
visitors 127.0.0.4 80
seconds=${PICTURE_SECONDS:-180}
picture 8080 page.png &
first=$!
picture 8081 services.png &
second=$!
sleep "$seconds"
kill "$victim" "$victim2"
wait "$first" || give_up "no page.png"
wait "$second" || give_up "no services.png"
