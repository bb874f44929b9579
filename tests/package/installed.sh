#!/bin/sh
# installed.sh: in a small Debian without an init, which tests/package.sh made:
# the package is installed, pen runs as its unit says and as a service of OpenRC,
# is upgraded while it serves, and is removed; what is there afterwards is what
# was there before.
. /try/words.sh
. /try/files.sh

install() {
	apt-get install -qq -y --no-install-recommends "$@"
}

# What is left of a package: "installed", "config-files" or nothing.
status_of() {
	dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null
}

serve() {
	pen -f -O dummy "127.0.0.1:$1" >/dev/null 2>&1 &
}

fetch() {
	curl -sf -m 20 -o /dev/null "$@"
}

# A purge removes what the package made.
keeps_own_conf() {
	echo '# of the administrator' >/etc/pen.conf
	install /try/pen-2.deb && apt-get purge -qq -y pen-balancer &&
		grep -q administrator /etc/pen.conf && rm /etc/pen.conf
}

# ---- as the unit says ----

# What ExecStart says, as the user and with the rights that the unit gives.
start_as_unit() {
	unit=/lib/systemd/system/pen.service
	# shellcheck disable=SC2046 # a command line
	setpriv --reuid pen --regid pen --init-groups --no-new-privs \
		--bounding-set -all,+net_bind_service \
		--inh-caps +net_bind_service --ambient-caps +net_bind_service \
		$(sed -n 's/^ExecStart=//p' $unit) >/try/pen.out 2>&1 &
}

configure() {
	cat >/etc/pen.conf <<-CONF
		listen 0.0.0.0:80
		control /run/pen/control
		log /var/log/pen/requests.log
		roundrobin
		server 0 address 127.0.0.1 port 8001
		server 1 address 127.0.0.1 port 8002
	CONF
	chgrp pen /etc/pen.conf
	chmod 640 /etc/pen.conf
}

pen_pid() {
	penctl /run/pen/control pid
}

# Requests one after another until that file is there; counts the failed ones.
fetch_on() {
	served=0 lost=0
	while [ ! -e /try/enough ]; do
		if fetch -S http://127.0.0.1/; then
			served=$((served + 1))
		else
			lost=$((lost + 1))
		fi
	done
	echo "$served $lost" >/try/fetched
}

runs_new_program() {
	is "$(readlink "/proc/$(pen_pid)/exe")" /usr/bin/pen
}

runs_old_program() {
	has "$(readlink "/proc/$(pen_pid)/exe")" deleted
}

upgrade_while_it_serves() {
	rm -f /try/enough
	fetch_on &
	check "an upgrade of the package" install /try/pen-2.deb
	check "goes on with the old program" runs_old_program
	check "until told" kill -USR2 "$(pen_pid)"
	check "to let the new one take over" wait_for runs_new_program
	touch /try/enough
	wait_for test -s /try/fetched
	read -r served lost </try/fetched
	echo "    $served requests served during the upgrade, $lost lost"
	check "no request was lost" is "$lost" 0
	check "some were served" test "$served" -gt 5
}

try_as_unit() {
	serve 8001
	serve 8002
	configure
	check "--check says yes" pen --check -F /etc/pen.conf
	start_as_unit
	check "it serves at port 80" wait_for fetch http://127.0.0.1/
	check "as user pen" is "$(stat -c %U "/proc/$(pen_pid)")" pen
	check "with the one right" grep -q '^CapEff:.*0400$' \
		"/proc/$(pen_pid)/status"
	check "its log is there" wait_for test -s /var/log/pen/requests.log
	upgrade_while_it_serves
	check "a stop" kill -QUIT "$(pen_pid)"
	check "ends it" wait_for not fetch http://127.0.0.1/
}

# ---- as a service of OpenRC ----

rc() {
	rc-service "$@"
}

rotate() {
	logrotate -f /etc/logrotate.d/pen-balancer
}

new_log_is_written() {
	fetch http://127.0.0.1/ && test -s /var/log/pen/requests.log
}

try_openrc() {
	mkdir -p /run/openrc && touch /run/openrc/softlevel
	sed '1s|.*|#!/sbin/openrc-run|' \
		/usr/share/doc/pen-balancer/examples/pen.openrc >/etc/init.d/pen
	chmod 755 /etc/init.d/pen
	printf '#!/sbin/openrc-run\ndepend() { provide net; }\n' \
		>/etc/init.d/network
	chmod 755 /etc/init.d/network
	check "OpenRC: checkconfig" rc pen checkconfig
	check "OpenRC: start" rc pen start
	check "OpenRC: it serves" wait_for fetch http://127.0.0.1/
	check "OpenRC: status" rc pen status
	old=$(cat /run/pen.pid)
	check "OpenRC: as user pen" is "$(stat -c %U "/proc/$old")" pen
	check "OpenRC: the log is pen's" is \
		"$(stat -c %U:%a /var/log/pen)" pen:750
	check "OpenRC: the log is rotated" rotate
	check "OpenRC: and written anew" wait_for new_log_is_written
	echo 'server 2 address 127.0.0.1 port 8003' >>/etc/pen.conf
	check "OpenRC: reload" rc pen reload
	check "OpenRC: has an effect" wait_for penctl_says 'addr 127.0.0.1 port 8003'
	echo 'no such words' >>/etc/pen.conf
	check "OpenRC: a wrong file is refused" not rc pen reload
	check "OpenRC: and changes nothing" fetch http://127.0.0.1/
	sed -i '$d' /etc/pen.conf
	check "OpenRC: upgrade" rc pen upgrade
	check "OpenRC: another process serves" wait_for pid_is_not "$old"
	check "OpenRC: still started" rc pen status
	check "OpenRC: a second service" another_service
	check "OpenRC: stop" rc pen stop
	check "OpenRC: nobody serves" not fetch http://127.0.0.1/
	check "OpenRC: no pid file" not test -e /run/pen.pid
}

another_service() {
	ln -s pen /etc/init.d/pen.two
	printf 'listen 0.0.0.0:81\nserver 0 address 127.0.0.1 port 8001\n' \
		>/etc/pen/two.conf
	rc pen.two start && wait_for fetch http://127.0.0.1:81/ &&
		rc pen.two stop
}

penctl_says() {
	has "$(penctl /run/pen/control servers)" "$1"
}

pid_is_not() {
	test -s /run/pen.pid && not is "$(cat /run/pen.pid)" "$1"
}

# What those who try it made themselves.
forget() {
	rm -f /etc/pen.conf /etc/pen/two.conf /etc/init.d/pen \
		/etc/init.d/pen.two /etc/init.d/network \
		/var/lib/logrotate/status
	rmdir /run/pen-two
}

# ---- all ----

files_list >/try/before
install /try/classic/pen_*.deb >/dev/null 2>&1
check "classic Pen is installed" is "$(status_of pen)" installed
check "the package replaces it" install /try/pen-1.deb
check "which is gone" not is "$(status_of pen)" installed
check "the package is installed" is "$(status_of pen-balancer)" installed
check "every file is as packed" is "$(dpkg -V pen-balancer)" ""
check "both changelogs are there" test \
	-s /usr/share/doc/pen-balancer/changelog.Debian.gz -a \
	-s /usr/share/doc/pen-balancer/changelog.gz
check "its first words name no file that is elsewhere" not grep -q '\](doc/' \
	/usr/share/doc/pen-balancer/README
check "the quickstart shows the installed pen" \
	sh /usr/share/doc/pen-balancer/examples/quickstart.sh
check "the user is there" id pen
check "its directories are there" is \
	"$(stat -c %U:%a /run/pen /var/log/pen | tr '\n' ' ')" "pen:755 pen:750 "
check "nothing runs yet" not pgrep -x pen
try_as_unit
try_openrc
echo '# by the administrator' >>/etc/logrotate.d/pen-balancer
check "the package is installed again" install --reinstall \
	-o Dpkg::Options::=--force-confold /try/pen-2.deb
check "a changed file of /etc stays" grep -q administrator \
	/etc/logrotate.d/pen-balancer
forget
check "the package is removed" apt-get remove -qq -y pen-balancer
check "logs stay" test -e /var/log/pen/requests.log
check "the package is purged" apt-get purge -qq -y pen-balancer
dpkg --purge pen >/dev/null 2>&1
check "a configuration that was there first stays" keeps_own_conf
check "nothing is left" files_same /try/before
echo "    the user pen stays: $(getent passwd pen)"
result
