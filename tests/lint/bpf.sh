#!/bin/sh
# The program in the kernel: xdp_program_bytes.h has what clang makes of
# xdp_program.bpf.c, for each order of bytes, without and with tags apart.
#
#     sh tests/lint/bpf.sh            compares; what another version of clang makes
#                                     must have the same names, not the same bytes:
#                                     tests/unit/dsr/test_xdp_fast runs both
#     sh tests/lint/bpf.sh --write    writes the header again
cd "${SRCDIR:-.}" || exit 1
source=src/dsr/xdp/xdp_program.bpf.c
header=src/dsr/xdp/xdp_program_bytes.h
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
passed=0
# what user space asks for
names='pen pen_mac pen_flows pen_entries
	pen_totals config'

skip() {
	echo "bpf: $*"
	echo "bpf: $passed passed, 0 failed, 1 skipped"
	exit 77
}

fail() {
	echo "bpf: $*"
	echo "bpf: $passed passed, 1 failed"
	exit 1
}

# check_names OBJECT...
check_names() {
	for object; do
		for name in $names; do
			llvm-nm "$object" | grep -qw "$name" ||
				fail "$source: no $name"
			passed=$((passed + 1))
		done
	done
}

for tool in clang llvm-objcopy llvm-nm; do
	command -v $tool >/dev/null || skip "there is no $tool"
done
pkg-config --exists libbpf || skip "there is no libbpf"
sh src/dsr/xdp/xdp_program.sh "$dir" >"$dir/header" ||
	fail "$source does not compile"
if [ "${1-}" = --write ]; then
	cp "$dir/header" "$header"
	exit
fi
check_names "$dir"/bpf*.*
[ "$(sed -n 2p "$header")" = "$(sed -n 2p "$dir/header")" ] ||
	skip "$header is of another clang: its bytes are not compared"
cmp "$dir/header" "$header" ||
	fail "$header is not of $source: sh tests/lint/bpf.sh --write"
echo "bpf: $((passed + 1)) passed, 0 failed"
