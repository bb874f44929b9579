#!/bin/sh
# suites.sh: writes main() of a test program that is made of these files.
#
#     sh suites.sh suites.c tests/unit/pool/test_acl.c tests/unit/pool/test_hash.c...
out=$1
shift

{
	echo '/* made by tests/suites.sh */'
	echo '#include "config.h"'
	echo
	echo '#include <stddef.h>'
	echo
	echo '#include "support/suite.h"'
	echo
	for file in "$@"; do
		file=${file##*/}
		echo "Suite *${file%.c}(void);"
	done
	echo
	echo 'int'
	echo 'main(int argc, char **argv)'
	echo '{'
	echo '	static const struct suite_of_file list[] = {'
	for file in "$@"; do
		file=${file##*/}
		echo "		{ \"${file%.c}\", ${file%.c} },"
	done
	echo '		{ NULL, NULL },'
	echo '	};'
	echo
	echo '	return suites_main(list, argc, argv);'
	echo '}'
} >"$out.tmp" && mv "$out.tmp" "$out"
