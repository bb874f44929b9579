#!/bin/sh
# cross.sh: builds the tests of pure code for other machines and runs them under
# qemu: one with 32 bits, one with the bytes the other way round; for this one with
# musl, and with MemorySanitizer.
#
#     sh tests/cross.sh [MACHINE...]
#
# Check is not there for them: support/plain stands in for it, and a test program
# that includes no more than that and pure code can be listed below. The last line
# is "cross: N passed, N failed, N skipped".
set -u

top=$(cd "$(dirname "$0")/.." && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

# machine  compiler                 emulator
machines='
arm        arm-linux-gnueabihf-gcc  qemu-arm
arm64      aarch64-linux-gnu-gcc    qemu-aarch64
riscv64    riscv64-linux-gnu-gcc    qemu-riscv64
s390x      s390x-linux-gnu-gcc      qemu-s390x
i386       i686-linux-gnu-gcc       qemu-i386
musl       musl-gcc                 env
msan       clang                    env
'
programs='
base/test_array
base/test_bitmap
dsr/test_dsr_carried
dsr/test_dsr_flows
dsr/test_dsr_fragments
dsr/test_dsr_full
dsr/test_frame
dsr/test_frame_fragment
dsr/test_frame_make
dsr/test_frame_random
dsr/test_frame_tunnel
dsr/test_pending
dsr/test_neighbor
dsr/test_neighbor_claims
dsr/test_neighbor_vip
dsr/test_path_mtu
dsr/test_probe
dsr/test_tarpit
dsr/test_tarpit_flows
dsr/test_who_has
'
# The code under test, and what these programs share.
sources='
src/base/addr.c src/base/addr_text.c src/base/array.c src/base/bitmap.c src/base/hash.c
src/base/hash_table.c src/base/heap.c src/base/huge.c src/base/number.c
src/base/peer.c src/base/rate_limit.c
src/dsr/flows/dsr_flows.c src/dsr/flows/dsr_flows_memory.c
src/dsr/flows/dsr_fragments.c src/dsr/frame/frame.c src/dsr/frame/frame_arp.c
src/dsr/frame/frame_fragment.c src/dsr/frame/frame_ip.c src/dsr/frame/frame_make.c
src/dsr/frame/frame_ndp.c src/dsr/frame/frame_sum.c src/dsr/frame/frame_tcp.c
src/dsr/frame/frame_tunnel.c src/dsr/segment/pending.c src/dsr/frame/mac.c
src/dsr/segment/neighbor.c src/dsr/segment/neighbor_server.c
src/dsr/segment/neighbor_vip.c src/dsr/forward/path_mtu.c
src/dsr/segment/probe.c src/dsr/segment/tarpit.c
src/dsr/segment/who_has.c
tests/unit/dsr/forge.c tests/unit/dsr/mold.c tests/unit/dsr/samples.c
tests/support/framegen.c tests/support/framegen_kinds.c
tests/support/framegen_corrupt.c tests/support/framegen_wrong.c
tests/support/framemodel.c tests/support/suites_main.c
tests/support/plain/plain.c
'
flags="-std=gnu11 -O2 -g -Wall -Wextra -Werror
	-I$top/tests/support/plain -I$work -I$top/src -I$top/tests"

# compile MACHINE COMPILER DIR: one program of all
compile() {
	case $1 in
	msan) more=-fsanitize=memory ;;
	*) more='-static -Wcast-align=strict' ;;
	esac
	shift
	mkdir -p "$2" || return
	# shellcheck disable=SC2086 # words
	sh "$top/tests/suites.sh" "$2/suites.c" $programs || return
	for source in $sources $(echo "$programs" | sed -n 's,^..*,tests/unit/&.c,p'); do
		object=$2/$(echo "${source%.c}" | tr / _).o
		# shellcheck disable=SC2086 # words
		"$1" $flags $more -c -o "$object" "$top/$source" || return
	done
	# shellcheck disable=SC2086 # words
	"$1" $flags $more -o "$2/suites" "$2/suites.c" "$2"/*.o
}

# try MACHINE COMPILER EMULATOR
try() {
	for tool in "$2" "$3"; do
		if ! command -v "$tool" >/dev/null 2>&1; then
			echo "skipped: $1: no $tool"
			skipped=$((skipped + 1))
			return
		fi
	done
	if ! compile "$1" "$2" "$work/$1" >"$work/log" 2>&1; then
		echo "$1: does not compile"
		tail -n 40 "$work/log"
		failed=$((failed + 1))
		return
	fi
	for program in $programs; do
		if timeout 300 "$3" "$work/$1/suites" "${program##*/}" \
			>"$work/log" 2>&1; then
			echo "$1: $program: $(tail -n 1 "$work/log")"
			passed=$((passed + 1))
		else
			echo "$1: $program: failed"
			tail -n 40 "$work/log"
			failed=$((failed + 1))
		fi
	done
}

wanted() {
	[ -z "$only" ] || case " $only " in *" $1 "*) ;; *) return 1 ;; esac
}

only=$*
echo '#define _GNU_SOURCE 1' >"$work/config.h"
while read -r machine compiler emulator; do
	[ -z "$machine" ] || ! wanted "$machine" ||
		try "$machine" "$compiler" "$emulator" </dev/null
done <<LIST
$machines
LIST
echo "cross: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
