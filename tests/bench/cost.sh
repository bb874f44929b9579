#!/bin/sh
# cost.sh: what a connection, a request, a datagram and a DNS query cost pen in user
# space, beside what they cost in the last release.
#
#     sh tests/bench/cost.sh [--only UNIT,..] [--functions | --calls]
#     sh tests/bench/cost.sh --write [--calls]
#
# Callgrind counts instructions, so what else the machine does is without effect, and
# 1 % is seen; doc/cost.md explains the table. --functions lists the functions of each
# unit. --calls counts system calls instead, beside those of HAProxy, nginx, dnsdist
# and Debian's pen. --write puts the table into doc/cost.md, for a release. PEN names
# the program, else it is ./pen. Needs valgrind, or strace and the proxies; takes some
# two minutes.
set -u

here=$(cd "$(dirname "$0")" && pwd)
: "${PEN:=./pen}"

give_up() {
	echo "cost.sh: $*" >&2
	exit 1
}
case " $* " in
*" --calls "*) needs="strace haproxy nginx dnsdist /usr/bin/pen" ;;
*) needs=valgrind ;;
esac
for program in $needs python3 cc; do
	command -v "$program" >/dev/null || give_up "$program is not installed"
done
[ -x "$PEN" ] || give_up "$PEN: no such program; name one by PEN"

tools=$(mktemp -d) || exit 1
trap 'rm -rf "$tools"' EXIT
trap 'exit 1' HUP INT TERM
for program in load server relay; do
	cc -O2 -o "$tools/$program" "$here/src/$program.c" -lssl -lcrypto || exit 1
done
unshare --map-root-user --net --pid --fork --kill-child --mount-proc sh -c '
	ip link set lo up && exec "$@"' sh \
	python3 "$here/cost.py" --pen "$PEN" --tools "$tools" "$@"
