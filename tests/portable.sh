#!/bin/sh
# portable.sh: builds pen in other ways, for other machines, and has it looked at by
# programs that find mistakes. Takes long; README has what it found.
#
#     sh tests/portable.sh [PART...]
#
#     pedantic     -std=c11 -pedantic, without a warning
#     switches     each --without-X and --disable-X of configure alone
#     shortcuts    unit and system tests without what src/base/shortcuts.h lists, where
#                  epoll and the like are there
#     bsd          as if for BSD and macOS, with what only these have in tests/bsd;
#                  some system tests
#     poll select  unit and system tests with these instead of epoll, but the few that
#                  name a method
#     cppcheck     of cppcheck; analyzer: gcc -fanalyzer; scan: clang's scan-build
#     musl         with musl and static, with libevent alone; some system tests
#     amd64        with Debian 13's compiler and libraries, unit tests
#     arm64 armhf i386 riscv64 s390x
#                  cross builds against Debian's packages, unit tests in qemu-user,
#                  those of i386 without
#
# The machines need root and mmdebstrap: compilers and libraries are installed in a
# directory of their own, PEN_TEST_ROOT, which is kept if it is given. Without parts
# all are done. The last line is "portable: N passed, N failed, N skipped".
set -u

top=$(cd "$(dirname "$0")/.." && pwd) || exit 1
work=$(mktemp -d) || exit 1
root=${PEN_TEST_ROOT:-$work/root}
passed=0 failed=0 skipped=0
jobs=$(getconf _NPROCESSORS_ONLN)

finish() {
	for at in proc dev/pts; do
		if mountpoint -q "$root/$at" 2>/dev/null; then
			umount "$root/$at"
		fi
	done
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

# done_with PART STATUS [LOG]
done_with() {
	case $2 in
	0) passed=$((passed + 1)) && echo "$1: passed" ;;
	*)
		failed=$((failed + 1))
		echo "$1: failed"
		[ -z "${3:-}" ] || grep -a ':[FE]:' "$3" || tail -n 40 "$3"
		;;
	esac
}

skip() {
	skipped=$((skipped + 1))
	echo "skipped: $1: $2"
}

has() {
	command -v "$1" >/dev/null 2>&1
}

# build NAME TARGET ARGUMENTS...: configures and makes, in a directory of its own
build() {
	name=$1 target=$2
	shift 2
	mkdir -p "$work/$name" && cd "$work/$name" || return
	"$top/configure" "$@" >log 2>&1 &&
		make -k -j"$jobs" $target >>log 2>&1
}
programs='pen penctl penlog penlogd mergelogs'

try_pedantic() {
	build pedantic "$programs" --enable-werror \
		CFLAGS='-g -O1 -std=c11 -pedantic'
	done_with pedantic $? "$work/pedantic/log"
}

switches='without-libedit without-jansson without-maxminddb without-seccomp
without-ncurses without-libbpf
disable-hardening enable-coverage'

try_switches() {
	for switch in $switches; do
		build "$switch" "$programs" --enable-werror "--$switch" \
			CFLAGS='-g -O0'
		done_with "--$switch" $? "$work/$switch/log"
		rm -rf "${work:?}/$switch"
	done
}

# Headers are those of this system, which has less and more than theirs: libpcap
# stands for links. Tests are compiled as always; those of abstract names, process
# numbers of clients and /dev/log need Linux.
try_bsd() {
	pkg-config --exists libpcap || { skip bsd "no libpcap"; return; }
	build bsd "$programs" --enable-werror --without-libbpf \
		--without-seccomp --with-libpcap CFLAGS='-g -O0' \
		CPPFLAGS="-U__linux__ -I$top/tests/bsd" \
		ac_cv_header_linux_if_packet_h=no ac_cv_func_getpeereid=yes \
		ac_cv_func_accept4=no ac_cv_header_sys_epoll_h=no \
		ac_cv_func_memfd_create=no ac_cv_func_prlimit=no \
		ac_cv_func_recvmmsg=no ac_cv_func_sendmmsg=no \
		ac_cv_func_splice=no &&
		make -j"$jobs" CPPFLAGS= tests/system/suites >>log 2>&1 &&
		SRCDIR=$top PEN=$PWD/pen CK_TIMEOUT_MULTIPLIER=10 \
			tests/system/suites test_control test_dns \
			test_failover test_http test_timeouts \
			test_tls >>log 2>&1
	done_with bsd $? "$work/bsd/log"
}

# They have all methods, or count calls of epoll.
methods_themselves='test_\(faults\|listener\|loop\|program\)$'

# Both are methods of libevent, which leaves out what these variables name.
try_method() {
	try_tests "$1" "$methods_themselves" "" EVENT_NOEPOLL=1 $2
}

# try_tests PART BUT OPTION VARIABLE...: unit and system tests but those, in a build
# with that option, run with these variables
try_tests() {
	part=$1 but=$2 option=$3
	shift 3
	# shellcheck disable=SC2086 # maybe none
	build "$part" "check TESTS=" --enable-werror $option CFLAGS='-g -O1' || {
		done_with "$part" 1 "$work/$part/log"
		return
	}
	# tests mostly wait
	env "$@" make -k -j$((6 * jobs)) check \
		TESTS="$(cd "$top" && ls tests/unit/*/test_*.c \
			tests/system/test_*.c | sed 's/\.c$//' |
			grep -v "$but" | tr '\n' ' ')" \
		>>log 2>&1
	done_with "$part" $? "$work/$part/log"
}

try_shortcuts() {
	try_tests shortcuts '^$' --disable-shortcuts
}

try_cppcheck() {
	has cppcheck || { skip cppcheck "is not installed"; return; }
	# Macros of libbpf and attributes of arrays are beyond it.
	cppcheck --quiet --error-exitcode=1 --inline-suppr -j"$jobs" \
		--enable=portability --suppress=unknownMacro \
		--suppress=internalAstError --suppress=syntaxError \
		--suppress=autoVariables --suppress=ctuuninitvar \
		--suppress=uninitvar --suppress=nullPointer \
		--suppress=missingInclude -I "$top/src" "$top/src" \
		>"$work/cppcheck" 2>&1
	done_with cppcheck $? "$work/cppcheck"
}

# These two follow neither counted references nor memory that a structure keeps by
# another pointer: what they find is printed, to be judged, and is no failure.
try_analyzer() {
	build analyzer "$programs" --disable-hardening \
		CFLAGS='-g -O1 -fanalyzer'
	done_with analyzer $? "$work/analyzer/log"
	grep -h 'warning: .*-Wanalyzer' "$work/analyzer/log" |
		sed "s,$top/,," | sort -u
}

try_scan() {
	has scan-build || { skip scan "no scan-build"; return; }
	mkdir -p "$work/scan" && cd "$work/scan" || return
	scan-build "$top/configure" --disable-hardening CFLAGS='-g -O1' \
		>log 2>&1 &&
		scan-build -o found make -j"$jobs" $programs >>log 2>&1
	done_with scan $? "$work/scan/log"
	grep -h 'warning: .*\]$' log | sed "s,$top/,," | sort -u
}

# ---- other machines ----

libraries='check libevent-dev libssl-dev libc-ares-dev libjansson-dev libseccomp-dev'
rooms='base pool net proxy dsr control'

# Makes the root once: a small Debian that takes packages of all these machines.
make_root() {
	[ ! -x "$root/usr/bin/apt-get" ] || return 0
	mmdebstrap --variant=minbase --skip=cleanup/apt/lists \
		--architectures=amd64,arm64,armhf,i386,riscv64,s390x \
		--include=autoconf,automake,make,pkgconf,qemu-user \
		trixie "$root" http://deb.debian.org/debian >"$work/root.log" 2>&1
}

inside() {
	chroot "$root" env LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"
}

# enter_root PART PACKAGE...: has the source in /pen there, too
enter_root() {
	part=$1
	shift
	if ! has mmdebstrap || [ "$(id -u)" != 0 ]; then
		skip "$part" "needs root and mmdebstrap"
		return 1
	fi
	if ! make_root; then
		skip "$part" "no Debian: $(tail -n 1 "$work/root.log")"
		return 1
	fi
	mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
	mountpoint -q "$root/dev/pts" || # for openpty()
		mount --bind /dev/pts "$root/dev/pts"
	cp /etc/resolv.conf /etc/hosts "$root/etc/"
	if ! inside apt-get update >"$work/$part.log" 2>&1 ||
		! inside apt-get install -y --no-install-recommends "$@" \
		>>"$work/$part.log" 2>&1; then
		skip "$part" \
			"no packages: $(grep '^E:' "$work/$part.log" | tail -n 1)"
		return 1
	fi
	rm -rf "$root/pen" && mkdir "$root/pen" &&
		(cd "$top" && tar -cf - --exclude=.git --exclude=./b .) |
		tar -xf - -C "$root/pen"
}

# What is static runs outside, too, with test programs of this system.
try_musl() {
	enter_root musl musl-tools gcc libc6-dev || return
	inside sh -c "sed 's/^deb /deb-src /' /etc/apt/sources.list \
			>/etc/apt/sources.list.d/sources.list &&
		mkdir /pen/musl /pen/kernel && cd /pen/musl && apt-get update &&
		apt-get source --tar-only libevent openssl c-ares &&
		for tar in *.tar.?z; do tar -xf \$tar; done &&
		ln -s /usr/include/linux /usr/include/asm-generic \
			/usr/include/\$(gcc -print-multiarch)/asm /pen/kernel &&
		export CC='musl-gcc -idirafter /pen/kernel' &&
		prefix=--prefix=/pen/musl/lib &&
		(cd libevent-* && ./configure --disable-openssl \
			--disable-shared --disable-samples \
			--disable-libevent-regress \$prefix &&
			make -j$jobs install) &&
		(cd c-ares-* && ./configure --disable-shared --disable-tests \
			\$prefix && make -j$jobs install) &&
		(cd openssl-* && ./Configure linux-x86_64 no-shared no-tests \
			no-apps no-docs --libdir=lib \$prefix &&
			make -j$jobs install_dev) &&
		cd /pen && autoreconf -fi && cd musl &&
		PKG_CONFIG_LIBDIR=/pen/musl/lib/lib/pkgconfig \
			PKG_CONFIG='pkg-config --static' ../configure \
			--without-libedit --without-jansson \
			--without-maxminddb --without-seccomp \
			--without-ncurses --without-libbpf \
			LDFLAGS=-static CFLAGS='-g -O1' &&
		make -j$jobs $programs" >>"$work/musl.log" 2>&1 &&
		build musl tests/system/suites CFLAGS='-g -O1' &&
		SRCDIR=$top PEN=$root/pen/musl/pen CK_TIMEOUT_MULTIPLIER=10 \
			tests/system/suites $musl_tests >>"$work/musl.log" 2>&1
	done_with musl $? "$work/musl.log"
}
musl_tests='test_control test_dns test_ends test_failover test_http test_limits
test_udp test_upgrade test_workers'

# try_machine ARCHITECTURE TRIPLE EMULATOR
try_machine() {
	packages="iproute2 netbase gcc-$(echo "$2" | tr _ -) libc6-dev:$1"
	for library in $libraries; do
		packages="$packages $library:$1"
	done
	# shellcheck disable=SC2086 # words
	enter_root "$1" $packages || return
	inside sh -c "cd /pen && autoreconf -fi && mkdir build && cd build &&
		at=/usr/lib/\$($2-gcc -print-multiarch)/pkgconfig &&
		PKG_CONFIG_LIBDIR=\$at:/usr/share/pkgconfig ../configure \
			--host=$2 --without-libbpf --without-libedit \
			--without-ncurses --without-maxminddb \
			CFLAGS='-g -O1 -Wno-psabi' &&
		make -j$jobs pen $(printf 'tests/unit/%s/suites ' $rooms)" \
		>>"$work/$1.log" 2>&1
	done_with "$1: build" $? "$work/$1.log"
	for room in $rooms; do
		inside sh -c "cd /pen/build && CK_TIMEOUT_MULTIPLIER=20 \
			PEN_TEST_LIGHT=1 PEN=./pen SRCDIR=/pen timeout 900 $3 \
			tests/unit/$room/suites" >"$work/$1.$room" 2>&1
		done_with "$1: $room" $? "$work/$1.$room"
	done
}

try_part() {
	case $1 in
	pedantic | switches | shortcuts | bsd | musl | cppcheck | analyzer | scan)
		"try_$1"
		;;
	poll) try_method poll "" ;;
	select) try_method select EVENT_NOPOLL=1 ;;
	amd64) try_machine amd64 x86_64-linux-gnu "" ;;
	arm64) try_machine arm64 aarch64-linux-gnu qemu-aarch64 ;;
	armhf) try_machine armhf arm-linux-gnueabihf qemu-arm ;;
	i386) try_machine i386 i686-linux-gnu "" ;;
	riscv64) try_machine riscv64 riscv64-linux-gnu qemu-riscv64 ;;
	s390x) try_machine s390x s390x-linux-gnu qemu-s390x ;;
	*)
		echo "portable: no part $1"
		failed=$((failed + 1))
		;;
	esac
}

[ -x "$top/configure" ] || (cd "$top" && autoreconf -fi >/dev/null 2>&1)
for part in ${*:-pedantic switches shortcuts bsd musl cppcheck analyzer scan poll select \
	amd64 arm64 armhf i386 riscv64 s390x}; do
	try_part "$part"
done
echo "portable: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
