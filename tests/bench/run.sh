#!/bin/sh
# run.sh: what pen costs beside HAProxy, nginx, dnsdist and Debian's pen.
#
#     sh tests/bench/run.sh [--quick] [--only ROW|GROUP,..] [--out TSV] ..
#     sh tests/bench/run.sh --compare TSV TSV | --list
#
# Installs what is missing (Debian), builds pen with -O2 unless PEN names one, and
# the measuring programs, in BUILD (build-bench); measures in network namespaces of its
# own, and writes doc/measured.tsv, its plots and what doc/measured.md cites; with --out
# only that table. HAPROXY, NGINX and DNSDIST name other peers than the host's, by their
# paths; newest.sh runs it in Debian's newest release; all versions are printed. Needs
# root. All takes about 45 minutes. --quick, of all but curves and hosts, takes less than
# five and only prints. --compare prints how far the ratios of two tables are apart.
# `bench.py --help` lists the options.
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
: "${BUILD:=$top/build-bench}"

give_up() {
	echo "run.sh: $*" >&2
	exit 1
}

# need PROGRAM PACKAGES: installs them if there is no such program
need() {
	command -v "$1" >/dev/null || [ -e "$1" ] ||
		missing="${missing:-} $2"
}

case " $* " in
*" --compare "* | *" --list "*) exec python3 "$here/bench.py" "$@" ;;
esac
[ "$(id -u)" = 0 ] || give_up "needs root: it makes network namespaces"
need cc gcc
need /usr/include/openssl/ssl.h libssl-dev
need /usr/include/check.h check # without it make does not know acl_rate
need pen pen
for named in "${HAPROXY:-}" "${NGINX:-}" "${DNSDIST:-}"; do
	[ -z "$named" ] || command -v "$named" >/dev/null ||
		give_up "$named: no such program"
done
need "${HAPROXY:-haproxy}" haproxy
need "${NGINX:-nginx}" nginx
[ -n "${NGINX:-}" ] ||
	need /usr/lib/nginx/modules/ngx_stream_module.so libnginx-mod-stream
need "${DNSDIST:-dnsdist}" dnsdist
need openssl openssl
need ip iproute2
need nft nftables
need pgrep procps
if [ -n "${missing:-}" ]; then
	# their services stay down
	printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
	chmod +x /usr/sbin/policy-rc.d
	apt-get update -q && apt-get install -qy --no-install-recommends $missing
	status=$?
	rm -f /usr/sbin/policy-rc.d
	[ $status = 0 ] || give_up "cannot install$missing"
fi

mkdir -p "$BUILD" || exit 1
for program in load server relay; do
	cc -O2 -o "$BUILD/$program" "$here/src/$program.c" -lssl -lcrypto || exit 1
done
case " $* " in
*" --quick "*) programs= ;;
*) programs="tests/bench/acl_rate tests/bench/timeouts_rate" ;;
esac
if [ -z "${PEN:-}" ]; then
	PEN=$BUILD/pen
	[ ! -e "$top/config.status" ] ||
		give_up "a build in the sources is in the way: name a pen by PEN"
	(
		cd "$top" && { [ -e configure ] || autoreconf -fi; } &&
			cd "$BUILD" && { [ -e Makefile ] ||
				"$top/configure" CFLAGS=-O2 >configure.out; } &&
			make -j2 pen $programs >make.out
	) || give_up "cannot build pen: see $BUILD"
fi

plots=
case " $* " in
*" --quick "* | *" --out "*) ;;
*)
	set -- --out "$top/doc/measured.tsv" "$@"
	plots=yes
	;;
esac
date
# what else the machine does has to wait; each session is a group for the scheduler
if [ -e /proc/$$/autogroup ]; then
	trap 'echo 0 >/proc/$$/autogroup' EXIT
	trap 'exit 1' HUP INT TERM
	echo -20 >/proc/$$/autogroup
fi
unshare --net --pid --fork --kill-child --mount-proc sh -c '
	ip link set lo up
	(
	cd /proc/sys/net || exit 1
	echo 1024 65535 >ipv4/ip_local_port_range
	echo 8001-8100,9001-9002 >ipv4/ip_local_reserved_ports
	# without pacing, which has timers of its own
	echo reno >ipv4/tcp_congestion_control
	echo 65535 >core/somaxconn
	echo 65535 >ipv4/tcp_max_syn_backlog
	echo 8192 >ipv4/tcp_max_tw_buckets
	)
	ulimit -n "$(ulimit -Hn)"
	# before what else the machine does
	exec nice -n -20 "$@"
' sh python3 "$here/bench.py" --pen "$PEN" --tools "$BUILD" "$@"
status=$?
[ -z "$plots" ] || python3 "$top/doc/plot.py"
date
exit $status
