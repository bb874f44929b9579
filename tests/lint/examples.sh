#!/bin/sh
# Examples of the manual work as they stand: lines and displays of pen.conf(5), and
# displays behind the comment "checked" on other pages, are files that --check
# takes; lines that begin with pen are command lines that --check takes; those that
# begin with penctl are carried out by a pen. Files are in a scratch directory
# instead of /etc and /run, and names are addresses of this machine.
LC_ALL=C
export LC_ALL
top=${SRCDIR:-.}
pen=${PEN:-./pen}
case $pen in */*) ;; *) pen=./$pen ;; esac
penctl=$(cd "${pen%/*}" && pwd)/penctl
if ! "$pen" --help all | grep -q -- --cert ||
    ! "$pen" --version | grep -qw json; then
	echo "skipped: examples: a build without TLS or JSON knows less"
	exit 77
fi
if ! command -v openssl >/dev/null; then
	echo "skipped: examples: openssl is not installed"
	exit 77
fi
dir=$(mktemp -d) || exit 1
end() {
	"$penctl" "$dir/pen.ctl" exit >/dev/null 2>&1
	rm -rf "$dir"
}
trap end EXIT
trap 'exit 1' HUP INT TERM
passed=0 failed=0

# What examples name
mkdir "$dir/etc" "$dir/etc/ca" "$dir/etc/certs" "$dir/log" "$dir/www" || exit 1
openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=www.example.org \
	-keyout "$dir/etc/site.key" -out "$dir/etc/site.crt" 2>/dev/null || exit 1
cat "$dir/etc/site.crt" "$dir/etc/site.key" >"$dir/etc/site.pem"
cp "$dir/etc/site.crt" "$dir/etc/ca.pem"
cp "$dir/etc/ca.pem" "$dir/etc/ca/$(openssl x509 -hash -noout \
	-in "$dir/etc/ca.pem").0"
cp "$dir/etc/site.pem" "$dir/etc/certs/www.example.org.pem"
echo secret >"$dir/etc/passwords"
head -c 80 /dev/zero >"$dir/etc/ticket.keys"
(umask 077; openssl rand -hex 32 >"$dir/etc/peer.key")
touch "$dir/ca.index"
echo 01 >"$dir/crlnumber"
printf '[ca]\ndefault_ca=d\n[d]\ndatabase=%s\ncrlnumber=%s\ndefault_md=sha256\n' \
	"$dir/ca.index" "$dir/crlnumber" >"$dir/ca.cnf"
openssl ca -config "$dir/ca.cnf" -gencrl -crldays 30 -cert "$dir/etc/site.crt" \
	-keyfile "$dir/etc/site.key" -out "$dir/etc/crl.pem" 2>/dev/null || exit 1
echo 'server 0 max 100' >"$dir/etc/servers.conf"
echo 'permit 192.0.2.0/24' >"$dir/etc/drop"
cp "$dir/etc/drop" "$dir/etc/offices"

# text: what a page shows, of roff, with names of this machine
text() {
	sed -e 's/^"\(.*\)"$/\1/' -e 's/\\(dq/"/g' -e 's/\\(aq/'"'"'/g' \
	    -e 's/\\-/-/g' -e 's/\\&//g' -e 's/\\\[rs]/\\/g' -e 's/\\e/\\/g' \
	    -e "s,/etc/pen,$dir/etc,g" -e "s,/run/pen,$dir/pen,g" \
	    -e "s,/var/log,$dir/log,g" -e "s,/var/www,$dir/www,g" \
	    -e "s,/usr/local/bin/page,/bin/true,g" -e 's/eth[01]/pen-none/g'
}

# good FILE ERRORS: the errors that pen had with it are none of the example, but of
# this machine: it has no such interface, right, or database
good() {
	! grep -v -e 'Permission denied' -e 'no interface' -e 'geoip' \
	    -e 'CAP_NET_RAW' -e 'error: clients' -e '^warning: ' -e '^note: ' \
	    "$2" | grep -q .
}

# check NAME FILE [ARGUMENT ...]
check() {
	name=$1
	file=$2
	shift 2
	if "$pen" --check "$@" >/dev/null 2>"$dir/errors" ||
	    good "$file" "$dir/errors"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "examples: $name: $(cat "$file")"
		cat "$dir/errors"
	fi
}

# Lines of pen.conf(5), each a file
sed -n '/^\.Sh COMMANDS/,$s/^\.\(Dl\|Ss\) //p' "$top/man/pen.conf.5" | text |
    grep -v '^penctl ' >"$dir/lines"
tls=
while read -r line; do
	case $line in
	TLS) tls=1; continue ;;
	[A-Z]*) tls=; continue ;;
	esac
	{
		[ -z "$tls" ] || case $line in
		ssl_cert*) ;;
		*) echo "ssl_cert $dir/etc/site.pem" ;;
		esac
		echo "$line"
	} >"$dir/example"
	check pen.conf.5 "$dir/example" -F "$dir/example" 127.0.0.1:8765 \
		127.0.0.1:1 127.0.0.1:2
done <"$dir/lines"

# Displays, and command lines, of all pages; lines that begin with a command
"$pen" --help all | sed -n '/^commands:/,$s/^  \([a-z][a-z0-9_]*\).*/\1/p' |
	sort -u >"$dir/commands"
names='host|web|mail|ftp|sip|vpn|ns|log'
for page in "$top"/man/*.[1-9]; do
	name=${page##*/}
	rm -f "$dir"/display.*
	awk -v to="$dir/display." '
	    /^\.\\" checked/ { n++; want = 1; next }
	    /^\.Bd/ && want { inside = 1; want = 0; next }
	    /^\.Ed/ { inside = 0 }
	    inside { print > (to n) }' "$page"
	for display in "$dir"/display.*; do
		test -f "$display" || continue
		text <"$display" >"$dir/example"
		check "$name" "$dir/example" -F "$dir/example" 127.0.0.1:8765 \
			127.0.0.1:1 127.0.0.1:2 127.0.0.1:3
	done
	tls=
	[ "$name" != pen-tls.7 ] || tls="ssl_cert $dir/etc/site.pem"
	sed -n -e 's/^\.Dl //p' "$page" | text >"$dir/shown"
	[ "$name" != pen.conf.5 ] || : >"$dir/shown"
	while read -r line; do
		word=${line#no }
		grep -qxe "${word%%[ ;]*}" "$dir/commands" || continue
		printf '%s\n%s\n' "$tls" "$line" >"$dir/example"
		check "$name" "$dir/example" -F "$dir/example" 127.0.0.1:8765 \
			127.0.0.1:1 127.0.0.1:2 127.0.0.1:3
	done <"$dir/shown"
	sed -e ':a' -e '/\\$/N' -e 's/ *\\\n/ /' -e 'ta' "$dir/shown" |
	    sed -n 's/^pen //p' | sed -E \
	    -e 's/; .*//' \
	    -e "s/(^| )($names)[A1]\\b/\\1198.51.100.1/g" \
	    -e "s/(^| )($names)([A-Z]|[0-9]+)\\b/\\1198.51.100.2/g" \
	    -e 's/loghost/127.0.0.1/' \
	    -e "s,site.pem,$dir/etc/site.pem," -e 's/sorry/198.51.100.3/g' \
	    -e '/--transparent/s/198\.51\.100\.([0-9])/127.0.0.\1:81/g' \
	    >"$dir/lines"
	while read -r line; do
		echo "pen $line" >"$dir/example"
		eval "set -- $line"
		check "$name" "$dir/example" "$@"
	done <"$dir/lines"
done

# What penctl is typed for, all at one pen
cat >"$dir/pen.conf" <<END
control $dir/pen.ctl
client_conns 1000
check connect
check_interval 60
service web
listen $dir/web
server 0 address 127.0.0.1 port 3
server 1 address 127.0.0.1 port 4
service mail
listen $dir/mail
server 0 address 127.0.0.1 port 5
END
start() {
	rm -f "$dir/pen.ctl"
	"$pen" -X -F "$dir/pen.conf" "$dir/listen" 127.0.0.1:1 127.0.0.1:2 || exit 1
}
penctl() {
	"$penctl" "$@"
}
start
echo mode >"$dir/commands"
cp "$dir/pen.conf" "$dir/new.conf"
cat "$top/man/pen.conf.5" "$top"/man/pen-*.7 "$top/man/penctl.1" |
    sed -n '/^\.Dl .*penctl/s/^\.Dl //p' | text |
    sed -e '/^pen /d' -e "s,localhost:8888,$dir/pen.ctl," \
    -e "s,\[::1\]:8888,$dir/pen.ctl," >"$dir/lines"
while read -r line; do
	penctl "$dir/pen.ctl" pid >/dev/null 2>&1 || start
	# what there is no connection, flow or interface for
	if (cd "$dir" && export PENCTL="$dir/pen.ctl" && eval "$line") \
	    </dev/null >"$dir/answer" 2>&1 ||
	    grep -q -e '^Connection 0 out of range' -e 'there is no flow 0' \
	    -e 'dsr_if is not set' "$dir/answer"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "examples: $line"
		cat "$dir/answer"
	fi
done <"$dir/lines"

# A log of the balancer and two of web servers
echo '192.0.2.7 1763812800 10.0.0.1 GET / HTTP/1.0' >"$dir/pen.log"
echo '10.0.0.9 - - [22/Nov/2025:12:00:00 +0000] "GET / HTTP/1.0" 200 5' \
	>"$dir/log1"
: >"$dir/log2"
sed -n 's/^\.Dl mergelogs //p' "$top/man/mergelogs.1" | text >"$dir/lines"
while read -r line; do
	if (cd "$dir" && eval "${penctl%penctl}mergelogs $line") &&
	    grep -q '^192.0.2.7 ' "$dir/access_log"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "examples: mergelogs $line"
	fi
done <"$dir/lines"
echo "examples: $passed passed, $failed failed"
test "$failed" -eq 0 && test "$passed" -gt 200
