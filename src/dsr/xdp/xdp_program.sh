#!/bin/sh
# Compiles the program in the kernel, xdp_program.bpf.c, for each order of bytes,
# without and with tags apart, and prints the objects for libbpf as C.
#
#     sh xdp_program.sh [DIRECTORY]       keeps the objects there
#
# BPF_CLANG, LLVM_OBJCOPY, BPF_CFLAGS: as of configure.
cd "$(dirname "$0")/../../.." || exit 1
: "${BPF_CLANG:=clang}" "${LLVM_OBJCOPY:=llvm-objcopy}"
dir=${1-}
if [ -z "$dir" ]; then
	dir=$(mktemp -d) || exit 1
	trap 'rm -rf "$dir"' EXIT
fi

# compile OBJECT MACHINE [option]
compile() {
	object=$1 machine=$2
	shift 2
	# shellcheck disable=SC2086 # several flags
	"$BPF_CLANG" -target "$machine" -mcpu=v3 -O2 -g -Wall -Wextra -Werror \
		-ffreestanding -fno-strict-aliasing -fno-addrsig \
		-fdebug-compilation-dir=. -Isrc ${BPF_CFLAGS-} \
		-idirafter "/usr/include/$(uname -m)-linux-gnu" "$@" \
		-c -o "$object" src/dsr/xdp/xdp_program.bpf.c &&
		"$LLVM_OBJCOPY" --strip-debug --discard-all \
			--remove-section=.BTF.ext "$object"
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

for machine in bpfel bpfeb; do
	compile "$dir/$machine.plain" "$machine" &&
		compile "$dir/$machine.tags" "$machine" -DXDP_TAGS_APART || exit 1
done
version=$("$BPF_CLANG" --version | sed -n 's/.*clang version \([0-9]*\).*/clang \1/p')
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
