#!/bin/sh
# package.sh: builds the package of Debian and tries it.
#
#     sh tests/package.sh [--clean] [STEP...]
#
#     deb        builds it from what git has, or from a release; lintian
#     installed  in a small Debian of its own, without an init: installed in the
#                place of classic Pen, started as the unit says, upgraded while
#                it serves, removed; with OpenRC, too
#     booted     that Debian, booted in an emulator of a machine: the units in
#                systemd's hands
#
# Without a name all of them. As root, on Debian; what is needed is installed
# first, the small Debian comes from where this machine has its packages from.
# All is kept in build-tests/package; --clean forgets it. Nothing reaches this
# machine: all runs in namespaces or in the emulator. The last line is "N passed,
# N failed".
set -u

top=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$top/tests/setup.sh"
. "$top/tests/package/words.sh"

work=$top/build-tests/package
root=$work/root
steps=

usage() {
	sed -n '2,/^set -u/s/^# \{0,1\}//p' "$0"
	exit "$1"
}

while [ $# -gt 0 ]; do
	case $1 in
	deb | installed | booted) steps="$steps $1" ;;
	--clean) rm -rf "$work" ;;
	--help) usage 0 ;;
	*) usage 1 >&2 ;;
	esac
	shift
done
steps=${steps:-deb installed booted}

skip() {
	echo "skipped: package: $1"
	result
	exit 77
}

# logged NAME COMMAND...: its output goes to NAME.log, whose end is shown when it
# fails.
logged() {
	log=$work/$1.log
	shift
	if ! "$@" >"$log" 2>&1 </dev/null; then
		tail -n 30 "$log"
		return 1
	fi
}

# ---- the package ----

# Only what would be released, changes that are not committed with it.
export_source() {
	rm -rf "$work/source"
	mkdir -p "$work/source"
	(cd "$top" && if [ -e .git ]; then
		git ls-files -z --cached --others --exclude-standard
	else
		find . -path ./build-tests -prune -o -type f -print0
	fi | tar cf - --null --files-from -) | tar xf - -C "$work/source"
}

build_deb() {
	export_source && rm -f "$work"/*.deb && cd "$work/source" &&
		PATH=/usr/lib/ccache:$PATH \
		DEB_BUILD_OPTIONS="parallel=$(processors)" \
		nice dpkg-buildpackage -us -uc -b
}

# The same with a higher version: an upgrade.
build_next_deb() {
	deb=$(echo "$work"/pen-balancer_*.deb)
	rm -rf "$work/next"
	cp "$deb" "$work/pen-1.deb"
	dpkg-deb -R "$deb" "$work/next" &&
		sed -i '/^Version:/s/$/+next/' "$work/next/DEBIAN/control" &&
		dpkg-deb --root-owner-group -b "$work/next" "$work/pen-2.deb"
}

step_deb() {
	check "the package is built" logged deb build_deb
	check "lintian finds no error" logged lintian lintian \
		--allow-root --fail-on error "$work"/pen-balancer_*.changes
	check "there is one to upgrade to" logged next build_next_deb
}

# ---- a small Debian ----

# "SITE CODENAME", as this machine's own packages have it.
debian_site() {
	# shellcheck disable=SC2016 # apt's words
	apt-get indextargets --format '$(SITE) $(CODENAME)' \
		'Created-By: Packages' 'Component: main' 'Origin: Debian' |
		head -n 1
}

# enter COMMAND...: in the small Debian, see package/enter.sh.
enter() {
	unshare --mount --pid --net --ipc --uts --fork --kill-child \
		sh "$top/tests/package/enter.sh" "$root" "$@"
}

# fetch_debs DIR PACKAGE...: those, and what they need that is not there yet, to
# that directory of the small Debian, by this machine's own apt. None of their
# scripts is run.
fetch_debs() {
	dir=$root/try/$1
	shift
	mkdir -p "$dir/partial" &&
		apt-get install -qq -y --no-install-recommends --download-only \
			-o Dir::State::status="$root/var/lib/dpkg/status" \
			-o Dir::State::extended_states=/dev/null \
			-o Dir::Cache::archives="$dir" \
			-o APT::Sandbox::User=root "$@"
}

debootstrap_root() {
	# shellcheck disable=SC2046 # two words
	set -- $(debian_site)
	debootstrap --foreign --variant=minbase "$2" "$root" "$1" &&
		printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" &&
		chmod 755 "$root/usr/sbin/policy-rc.d" &&
		enter /debootstrap/debootstrap --second-stage
}

# With what the package needs, what tries it, and classic Pen.
make_root() {
	debootstrap_root &&
		fetch_debs debs curl iproute2 openssl logrotate openrc \
			libgeoip1 "$work/pen-1.deb" &&
		enter sh -c 'apt-get install -qq -y --no-install-recommends \
			/try/debs/*.deb && rm -rf /try/debs' &&
		fetch_debs classic pen &&
		rm -rf "$root/var/cache/apt" "$root/var/lib/apt/lists" &&
		mkdir -p "$root/var/cache/apt" &&
		tar cf "$saved.new" -C "$root" . && mv "$saved.new" "$saved"
}

# What other builds of the package need may be something else.
need_root() {
	saved=$work/root-$(dpkg-deb -f "$work/pen-1.deb" Depends | cksum |
		tr ' ' -).tar
	rm -rf "$root"
	mkdir -p "$root"
	if [ -f "$saved" ]; then
		logged root tar xf "$saved" -C "$root"
	else
		rm -f "$work"/root-*.tar
		logged root make_root
	fi && cp "$work/pen-1.deb" "$work/pen-2.deb" \
		"$top"/tests/package/*.sh "$root/try"
}

# said_in FILE: adds what a script counted.
said_in() {
	sed '/^[0-9]* passed, [0-9]* failed$/,$d' "$1"
	# shellcheck disable=SC2046 # two numbers
	set -- $(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' \
		"$1")
	passed=$((passed + ${1:-0})) failed=$((failed + ${2:-1}))
}

step_installed() {
	check "a small Debian is there" need_root
	enter sh /try/installed.sh >"$work/installed.log" 2>&1 </dev/null
	said_in "$work/installed.log"
}

# ---- that Debian, booted ----

fetch_kernel() {
	mkdir -p "$work/kernel" && cd "$work/kernel" && rm -f ./*.deb &&
		apt-get download -qq "$(apt-cache depends linux-image-cloud-amd64 |
			sed -n 's/^ *Depends: \(linux-image-.*\)/\1/p')" &&
		dpkg-deb -x ./*.deb . && rm -rf usr lib/modules &&
		mv boot/vmlinuz-* vmlinuz
}

# It is its own first file system: no disk, no driver is needed.
make_image() {
	rm -rf "$root/usr/share/locale" "$root/usr/share/zoneinfo" &&
		cp "$root/try/booted.service" \
			"$root/etc/systemd/system/booted.service" &&
		(cd "$root" && find . | cpio -o -H newc >"$work/image")
}

boot() {
	timeout 900 nice qemu-system-x86_64 -accel tcg -cpu max -m 2048 \
		-smp 2 -display none -serial stdio -monitor none -no-reboot -nic none \
		-kernel "$work/kernel/vmlinuz" -initrd "$work/image" \
		-append 'rdinit=/lib/systemd/systemd systemd.unit=booted.service
			console=ttyS0 panic=-1 loglevel=3 systemd.show_status=no' </dev/null
}

step_booted() {
	if [ "$(uname -m)" != x86_64 ]; then
		echo 'skipped: package: booted: another kind of machine'
		return
	fi
	check "a small Debian is there" need_root
	[ -f "$work/kernel/vmlinuz" ] ||
		check "a kernel is there" logged kernel fetch_kernel
	cp "$top/tests/package/booted.service" "$root/try"
	check "an image is made" logged image make_image
	boot >"$work/booted.log"
	tr -d '\r' <"$work/booted.log" >"$work/booted.said"
	said_in "$work/booted.said"
}

# ---- all ----

[ "$(id -u)" = 0 ] || skip 'not root'
packages_find_program apt-get || skip 'not on Debian'
packages_want dpkg-buildpackage dh lintian debootstrap ip cpio \
	qemu-system-x86_64
for tool in dpkg-buildpackage dh lintian debootstrap ip cpio; do
	packages_find_program $tool || skip "no $tool"
done
mkdir -p "$work" || exit 1
for step in $steps; do
	began=$(date +%s)
	echo "$step:"
	"step_$step"
	echo "    $(($(date +%s) - began)) s"
done
result
