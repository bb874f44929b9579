#!/bin/sh
# newest.sh: run.sh with the programs of Debian's newest release, whatever the host has.
#
#     sh tests/bench/newest.sh [ARGUMENTS of run.sh]
#
# Installs Debian's stable release (SUITE) in a directory of its own, PEN_BENCH_ROOT
# (default: build-newest beside the sources; kept, some 900 MB), builds pen there with
# that release's compiler and libraries, and runs run.sh in it, beside that release's
# HAProxy, nginx, dnsdist and Pen. Paths in the arguments are those within: the
# sources are at /pen. Needs root and debootstrap; all mounts end with the script.
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
root=${PEN_BENCH_ROOT:-$top/build-newest}
suite=${SUITE:-stable}
tools='build-essential autoconf automake libtool pkgconf libevent-dev libssl-dev
libc-ares-dev libbpf-dev check openssl iproute2 nftables procps pen haproxy nginx libnginx-mod-stream dnsdist'

give_up() {
	echo "newest.sh: $*" >&2
	exit 1
}

[ "$(id -u)" = 0 ] || give_up "needs root: it installs a Debian and measures there"
if [ ! -e "$root/etc/debian_version" ]; then
	command -v debootstrap >/dev/null ||
		apt-get install -qy --no-install-recommends debootstrap ||
		give_up "cannot install debootstrap"
	# renamed at the end: what was stopped in between is no release
	rm -rf "$root.part"
	debootstrap --variant=minbase --include=python3,ca-certificates "$suite" \
		"$root.part" http://deb.debian.org/debian ||
		give_up "cannot install $suite: see $root.part/debootstrap"
	mv "$root.part" "$root"
fi
mkdir -p "$root/pen"
cp /etc/resolv.conf /etc/hosts "$root/etc/"
# no service of a package is started there
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod +x "$root/usr/sbin/policy-rc.d"

# the root is a mount of its own, as run.sh makes a namespace of mounts in it
exec unshare --mount sh -euc '
	root=$1 top=$2 tools=$3
	shift 3
	mount --bind "$root" "$root"
	mount --bind "$top" "$root/pen"
	mount -t proc proc "$root/proc"
	mount --rbind /dev "$root/dev"
	mount -t sysfs sysfs "$root/sys" || true
	inside() {
		chroot "$root" env LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"
	}
	inside dpkg -s $tools >/dev/null 2>&1 || {
		inside apt-get update -q
		inside apt-get install -qy --no-install-recommends $tools
	}
	inside env BUILD=/build ${PEN:+PEN="$PEN"} sh /pen/tests/bench/run.sh "$@"
' newest.sh "$root" "$top" "$tools" "$@"
