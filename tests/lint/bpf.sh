#!/bin/sh
# The program in the kernel: xdp_program_bytes.h has what clang makes of
# xdp_program.bpf.c, for each order of bytes, without and with tags apart.
#
#     sh tests/lint/bpf.sh            compares; what another version of clang makes
#                                     must have the same names, not the same bytes
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

# compile OBJECT MACHINE [option]
compile() {
	object=$1 machine=$2
	shift 2
	clang -target "$machine" -mcpu=v3 -O2 -g -Wall -Wextra -Werror \
		-ffreestanding -fno-strict-aliasing -fno-addrsig \
		-fdebug-compilation-dir=. -Isrc \
		-idirafter "/usr/include/$(uname -m)-linux-gnu" "$@" \
		-c -o "$object" "$source" &&
		llvm-objcopy --strip-debug --discard-all \
			--remove-section=.BTF.ext "$object"
}

# compile_all DIRECTORY: what the header has, an object each
compile_all() {
	for machine in bpfel bpfeb; do
		compile "$1/$machine.plain" "$machine" &&
			compile "$1/$machine.tags" "$machine" -DXDP_TAGS_APART ||
			return 1
	done
}

# print NAME OBJECT: its bytes as C
print() {
	echo "static const unsigned char $1[] __attribute__((aligned(8))) = {"
	od -An -v -tu1 "$2" | awk '{
		for (i = 1; i <= NF; i++) {
			if (length(line $i) > 71) {
				print "\t" line
				line = ""
			}
			line = line $i ","
		}
	}
	END { print "\t" line }'
	echo "};"
}

print_all() {
	cat <<END
/* xdp_program_bytes.h: xdp_program.bpf.c as objects for libbpf, written by
 * tests/lint/bpf.sh --write with $version. */
/* clang-format off */
#ifndef PEN_DSR_XDP_PROGRAM_BYTES_H
#define PEN_DSR_XDP_PROGRAM_BYTES_H

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
END
	print xdp_program_plain "$dir/bpfeb.plain"
	print xdp_program_tags "$dir/bpfeb.tags"
	echo "#else"
	print xdp_program_plain "$dir/bpfel.plain"
	print xdp_program_tags "$dir/bpfel.tags"
	echo "#endif"
	echo
	echo "#endif"
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
version=$(clang --version | sed -n 's/.*clang version \([0-9]*\).*/clang \1/p')
compile_all "$dir" || fail "$source does not compile"
print_all >"$dir/header"
if [ "${1-}" = --write ]; then
	cp "$dir/header" "$header"
	exit
fi
check_names "$dir"/bpf*.*
grep -qF " with $version. */" "$header" ||
	skip "$header is not of $version: its bytes are not compared"
cmp "$dir/header" "$header" ||
	fail "$header is not of $source: sh tests/lint/bpf.sh --write"
echo "bpf: $((passed + 1)) passed, 0 failed"
