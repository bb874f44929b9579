#!/bin/sh
# Each source file includes its own directory and the layers below, nothing else;
# libevent stays behind net/loop and http_*; only main ends the process;
# a _private.h belongs to three files at most; a directory has 24 .c files at most.
cd "${SRCDIR:-.}/src" || exit 1

net="net/loop net/resolve net net/program"
pool="pool/acl pool/server pool/sticky pool"
proxy="proxy/wire proxy/http proxy/log proxy/core proxy/check proxy/datagram \
proxy/dns proxy/session proxy/frontend"
link="dsr/frame dsr/link"
dsr="dsr/frame dsr/link dsr/segment dsr/flows dsr/forward dsr/inspect dsr/director"

# directory: the directories that its files may include, besides its own
layers="
base:
net/loop: base
net/resolve: base net/loop
net: base net/loop net/resolve
net/program: base net/loop net
tls: base $net
pool/acl: base
pool/server: base
pool/sticky: base
pool: base pool/acl pool/server pool/sticky
proxy/wire: base $pool
proxy/http: base $net proxy/wire
proxy/log: base $net tls $pool
proxy/core: base $net tls $pool proxy/wire proxy/http proxy/log
proxy/check: base $net tls $pool proxy/wire proxy/http proxy/core
proxy/datagram: base $net $pool proxy/log proxy/core
proxy/dns: base $net $pool proxy/wire proxy/log proxy/core
proxy/session: base $net tls $pool proxy/wire proxy/http proxy/log proxy/core
proxy/frontend: base $net tls $pool proxy/log proxy/core proxy/datagram proxy/dns proxy/session
dsr/frame: base
dsr/link: base dsr/frame
dsr/xdp: base $link
dsr/open: base $link dsr/xdp
dsr/segment: base $link
dsr/flows: base dsr/frame
dsr/inspect: base $link dsr/segment dsr/xdp dsr/open
dsr/forward: base $net $pool $link dsr/segment dsr/flows
dsr/director: base $net $pool $link dsr/open dsr/segment dsr/flows dsr/forward
control/answer: base
"
below="base $net tls $pool $proxy control/answer"
for d in value plan life language apply verify report file web socket handover peers upgrade \
	commands workers; do
	[ "$d" != life ] || below="$below $dsr"
	layers="${layers}control/$d: $below
"
	below="$below control/$d"
done
layers="${layers}control: $below
tools: $below
main.c: $below control tools
"
# How many files may include a _private.h, where that is more than three. These are
# to become fewer, but for that of sessions: a file each state and step.
private='
control/value/value_private.h 7
control/workers/worker_private.h 5
control/workers/workers_private.h 11
net/loop/loop_private.h 4
pool/pool_private.h 5
proxy/datagram/flow_private.h 5
proxy/session/session_private.h 22
'

find . -name '*.[ch]' | sed 's,^\./,,' | sort >"${TMPDIR:-/tmp}/layers.$$"
trap 'rm -f "${TMPDIR:-/tmp}/layers.$$"' EXIT
LAYERS=$layers PRIVATE=$private awk '
function complain(file, what) {
	print "layers: " file " " what
	bad[file] = 1
}
# its own, which for what stands in src itself is the file
function directory(file) {
	return file ~ /\// ? substr(file, 1, match(file, /\/[^\/]*$/) - 1) : file
}
function strip(line) {
	gsub(/^[ \t]*#[ \t]*include[ \t]*/, "", line)
	return line
}
# However it is written: <net/if.h> is the system'"'"'s as long as no src/net/if.h
# exists.
function include(file, name, is_quoted) {
	if (name == "config.h" || (!is_quoted && !(name in exists)))
		return
	if (!((directory(file), directory(name)) in allowed))
		complain(file, "includes " name)
	if (name ~ /_private\.h$/ && !((name, file) in uses)) {
		uses[name, file] = 1
		users[name]++
	}
}
BEGIN {
	n = split(ENVIRON["LAYERS"], rows, "\n")
	for (i = 1; i <= n; i++) {
		k = split(rows[i], names, /:? +|:$/)
		for (j = 1; j <= k; j++)
			allowed[names[1], names[j]] = 1
	}
	n = split(ENVIRON["PRIVATE"], rows, "\n")
	for (i = 1; i <= n; i++)
		if (split(rows[i], names, " ") == 2)
			most[names[1]] = names[2]
	list = ARGV[1]
	while ((getline file <list) > 0) {
		exists[file] = 1
		sources[directory(file)] += file ~ /\.c$/
		ARGV[++files] = file
	}
	ARGC = files + 1
}
/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
	name = strip($0)
	is_quoted = substr(name, 1, 1) == "\""
	name = substr(name, 2)
	sub(/[>"].*/, "", name)
	include(FILENAME, name, is_quoted)
	if (name ~ /^ev(ent|util|dns|http|rpc)/ &&
	    FILENAME !~ /^net\/(loop\/loop.*|http_.*)\.c$/)
		complain(FILENAME, "knows libevent")
}
FILENAME != "main.c" &&
/(^|[^_A-Za-z0-9])(exit|_exit|_Exit|quick_exit)[ \t]*\(/ {
	complain(FILENAME, "ends the process")
}
END {
	for (name in users)
		if (users[name] > (name in most ? most[name] : 3))
			complain(name, "is included by " users[name] " files")
	for (name in sources)
		if (sources[name] > 24)
			complain(name, "has " sources[name] " .c files")
	for (name in bad)
		failed++
	print "layers: " files - failed " passed, " failed + 0 " failed"
	exit failed > 0 || files == 0
}
' "${TMPDIR:-/tmp}/layers.$$"
