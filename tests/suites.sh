#!/bin/sh
# suites.sh: writes main() of a test program that is made of these files. Those behind
# --without are not in it: it says of each why it is skipped.
#
#     sh suites.sh suites.c tests/unit/pool/test_acl.c tests/unit/pool/test_hash.c...
#         [--without 'built without OpenSSL' tests/unit/pool/test_secret.c...]...
out=$1
shift

# Prints, of the files among the arguments, what the function `row` makes of each name
# and of what it lacks.
each() {
	lacks=
	while [ $# -gt 0 ]; do
		if [ "$1" = --without ]; then
			lacks=$2
			shift 2
			continue
		fi
		name=${1##*/}
		row "${name%.c}" "$lacks"
		shift
	done
}

{
	echo '/* made by tests/suites.sh */'
	echo '#include "config.h"'
	echo
	echo '#include <stddef.h>'
	echo
	echo '#include "support/suite.h"'
	echo
	row() { [ -n "$2" ] || echo "Suite *$1(void);"; }
	each "$@"
	echo
	echo 'int'
	echo 'main(int argc, char **argv)'
	echo '{'
	echo '	static const struct suite_of_file list[] = {'
	row() {
		if [ -n "$2" ]; then
			echo "		{ \"$1\", NULL, \"$2\" },"
		else
			echo "		{ \"$1\", $1, NULL },"
		fi
	}
	each "$@"
	echo '		{ NULL, NULL, NULL },'
	echo '	};'
	echo
	echo '	return suites_main(list, argc, argv);'
	echo '}'
} >"$out.tmp" && mv "$out.tmp" "$out"
