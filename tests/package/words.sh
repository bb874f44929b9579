# words.sh: what the scripts of tests/package say and count. Sourced.
#
#     check "SENTENCE" COMMAND...    it is so when the command succeeds
#     wait_for COMMAND...            until it succeeds, for a minute or more
#     result                         the last line; the exit status
passed=0 failed=0

check() {
	sentence=$1
	shift
	if said=$("$@" 2>&1); then
		passed=$((passed + 1))
		echo "ok: $sentence"
	else
		failed=$((failed + 1))
		echo "NOT SO: $sentence: $*"
		echo "$said" | tail -n 30
	fi
}

wait_for() {
	turns=0
	until "$@" >/dev/null 2>&1; do
		turns=$((turns + 1))
		if [ "$turns" -gt 200 ]; then
			"$@"
			return
		fi
		sleep 0.3
	done
}

not() {
	! "$@"
}

is() {
	[ "$1" = "$2" ] || {
		echo "\"$1\" instead of \"$2\""
		return 1
	}
}

has() {
	case $1 in
	*"$2"*) ;;
	*)
		echo "no \"$2\" in \"$1\""
		return 1
		;;
	esac
}

result() {
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
