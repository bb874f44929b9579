#!/bin/sh
# The programs are what the flags of configure promise: position independent, with
# relocations that are read-only before main(), no memory that can be written and
# executed, guards of the stack, checked functions of the C library. make check
# runs it in the build directory.
passed=0 failed=0

skip() {
	echo "skipped: hardened: $1"
	exit 77
}

[ -f Makefile ] || skip "this is no build directory"
command -v readelf >/dev/null 2>&1 || skip "no readelf"
grep -q '^enable_hardening = yes' Makefile || skip "--disable-hardening"
flags=$(sed -n 's/^PEN_C*L*D*FLAGS = //p' Makefile | tr '\n' ' ')

temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT
trap 'exit 1' HUP INT TERM

# expect FLAG WHAT PATTERN: with the flag the program has that
expect() {
	case " $flags " in *" $1 "*) ;; *) return ;; esac
	if grep -Eq "$3" "$temp/elf"; then
		passed=$((passed + 1))
	else
		echo "hardened: $program: $1, but no $2"
		failed=$((failed + 1))
	fi
}

refuse() {
	if grep -Eq "$2" "$temp/elf"; then
		echo "hardened: $program: $1"
		failed=$((failed + 1))
	else
		passed=$((passed + 1))
	fi
}

for program in pen penctl penlog penlogd mergelogs; do
	readelf -W -h -l -d -s "$program" >"$temp/elf" 2>/dev/null ||
		skip "the programs are not ELF"
	expect -pie "PIE" '^ *Type: +DYN'
	expect -pie "PIE" 'FLAGS_1.*PIE'
	expect -Wl,-z,relro "RELRO" 'GNU_RELRO'
	expect -Wl,-z,now "BIND_NOW" 'FLAGS.*(BIND_NOW|NOW)'
	refuse "has memory that can be written and executed" \
		'^ *(LOAD|GNU_STACK).* RWE '
	refuse "looks for libraries in places of its own" 'R(UN)?PATH'
	[ "$program" = penlog ] ||
		expect -fstack-protector-strong "guards" '__stack_chk_fail'
	[ "$program" = penlog ] ||
		expect -D_FORTIFY_SOURCE=2 "checked functions" '__[a-z]+_chk'
done

# Frames above a page are touched page by page.
program=pen
if [ "$(uname -m)" = x86_64 ] && command -v objdump >/dev/null 2>&1; then
	objdump -d --no-show-raw-insn pen |
		grep -A 1 'sub  *\$0x1000,%rsp' >"$temp/elf"
	expect -fstack-clash-protection "probes" '(or|mov)q? .*\$0x0,.*%rsp'
fi

# Those that each compiler of today takes have not been lost on the way.
for flag in -Wl,-z,relro -Wl,-z,now -fstack-protector-strong; do
	case " $flags " in
	*" $flag "*) passed=$((passed + 1)) ;;
	*)
		echo "hardened: built without $flag"
		failed=$((failed + 1))
		;;
	esac
done
echo "hardened: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
