#!/bin/sh
# booted.sh: in a small Debian that tests/package.sh booted in an emulator: the
# units of the package in the hands of a real systemd, hardened as they are.
. /try/words.sh
. /try/files.sh

fetch() {
	curl -sf -m 60 -o /dev/null "$@"
}

property() {
	systemctl show --value -p "$1" "${2:-pen.service}"
}

pid_of() {
	property MainPID "$1"
}

status_line() {
	sed -n "s/^$2:[[:space:]]*//p" "/proc/$(pid_of "$1")/status"
}

says() {
	penctl -t 120 /run/pen/control "$@" # an emulated machine is slow
}

is_now() {
	is "$(property ActiveState "$2")" "$1"
}

journal_has() {
	has "$(journalctl --no-pager -o cat -u "$1")" "$2"
}

# ---- what is served ----

# pen@.service, twice: they are the web servers behind pen.service.
start_servers() {
	for n in 1 2; do
		printf 'dummy\nlisten 127.0.0.1:800%d\n' "$n" >"/etc/pen/web$n.conf"
		printf 'control /run/pen-web%d/control\n' "$n" >>"/etc/pen/web$n.conf"
	done
	systemctl start pen@web1 pen@web2
}

# All that the rights of the unit could stand in the way of: a low port, names,
# TLS, programs, logs, a page.
configure() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
		-subj /CN=localhost -keyout /etc/pen/key.pem \
		-out /etc/pen/cert.pem >/dev/null 2>&1
	cat >/etc/pen.conf <<-CONF
		listen 0.0.0.0:80
		control /run/pen/control
		log /var/log/pen/requests.log
		session_log /var/log/pen/sessions.log
		web 127.0.0.1:8080
		roundrobin
		check exec /bin/true
		check_interval 3
		check_timeout 60
		on_state /usr/local/bin/noted
		server 0 address localhost port 8001
		server 1 address 127.0.0.1 port 8002
	CONF
	cat >/etc/pen/tls.conf <<-CONF
		listen 0.0.0.0:443
		ssl_cert /etc/pen/cert.pem
		ssl_key /etc/pen/key.pem
		server 0 address 127.0.0.1 port 80
	CONF
	printf '#!/bin/sh\necho "$*" >>/var/log/pen/states\n' \
		>/usr/local/bin/noted
	chmod 755 /usr/local/bin/noted
	chgrp pen /etc/pen.conf /etc/pen/*
	chmod 640 /etc/pen.conf /etc/pen/*
}

# ---- pen.service, pen@.service ----

try_start() {
	check "two pen@.service start" start_servers
	check "they serve" fetch http://127.0.0.1:8001/
	check "--check says yes" pen --check -F /etc/pen.conf
	check "pen.service starts, which it says itself" systemctl start pen
	check "it serves at once" fetch http://127.0.0.1/
	check "systemd knows its status" has "$(property StatusText)" serving
	check "it has no new rights" is "$(status_line pen NoNewPrivs)" 1
	check "its system calls are filtered" is "$(status_line pen Seccomp)" 2
	check "it has one right" is "$(status_line pen CapEff)" \
		0000000000000400
	check "and can get no other" is "$(status_line pen CapBnd)" \
		0000000000000400
	check "it is user pen" is "$(stat -c %U "/proc/$(pid_of pen)")" pen
	check "it has the descriptors" has \
		"$(grep 'open files' "/proc/$(pid_of pen)/limits")" 1048576
	check "its page is there" fetch http://127.0.0.1:8080/
	check "its metrics are there" fetch http://127.0.0.1:8080/metrics
	check "check programs run" wait_for servers_are_up
	check "logs are written" wait_for test -s /var/log/pen/sessions.log
	check "requests as well" wait_for test -s /var/log/pen/requests.log
	check "pen@tls starts" systemctl start pen@tls
	check "and serves TLS" fetch -k https://127.0.0.1/
	echo "    exposure: $(systemd-analyze security pen.service --no-pager |
		tail -n 1)"
}

servers_are_up() {
	is "$(curl -s http://127.0.0.1:8080/metrics |
		grep -c '^pen_server_up.* 1$')" 2
}

# In the file systems as pen sees them.
in_unit() {
	nsenter -t "$(pid_of pen)" -m "$@"
}

try_rights() {
	touch /home/new
	check "it cannot write in /etc" not in_unit touch /etc/pen/new
	check "nor in /usr" not in_unit touch /usr/new
	check "nor see what is in /home" not in_unit test -e /home/new
	rm /home/new
	check "nor devices" not in_unit test -e /dev/ttyS0
	check "but write logs" in_unit touch /var/log/pen/new
	rm -f /var/log/pen/new
}

# ---- changes ----

try_reload() {
	echo 'server 2 address 127.0.0.1 port 8002' >>/etc/pen.conf
	check "reload" systemctl reload pen
	check "has an effect" wait_for has_third_server
	echo 'no such words' >>/etc/pen.conf
	systemctl reload pen
	check "a wrong file is named in the journal" wait_for journal_has pen \
		/etc/pen.conf:
	check "and changes nothing" fetch http://127.0.0.1/
	check "nor is the service gone" is_now active pen
	sed -i '$d' /etc/pen.conf
	check "logs are rotated" logrotate -f /etc/logrotate.d/pen-balancer
	check "and written anew" wait_for new_log_is_written
}

has_third_server() {
	has "$(says servers)" '2 addr'
}

new_log_is_written() {
	fetch http://127.0.0.1/ && test -s /var/log/pen/requests.log &&
		test -s /var/log/pen/requests.log.1
}

try_upgrade() {
	old=$(pid_of pen) old1=$(pid_of pen@web1)
	check "USR2" systemctl kill --kill-who=main -s USR2 pen
	check "brings another process" wait_for is_not_main "$old" pen
	check "which serves" fetch http://127.0.0.1/
	check "the service is still active" is_now active pen
	check "and was not restarted" is "$(property NRestarts)" 0
	fetch_on &
	old=$(pid_of pen)
	check "an upgrade of the package" apt-get install -qq -y /try/pen-2.deb
	check "brings another process" wait_for is_not_main "$old" pen
	check "for instances as well" wait_for is_not_main "$old1" pen@web1
	touch /try/enough
	wait_for test -s /try/fetched
	read -r served lost </try/fetched
	echo "    $served requests served during the upgrade, $lost lost"
	grep -v reason=done /var/log/pen/sessions.log >>/try/errors
	check "no request was lost" is "$lost" 0
	check "the program is the new one" is \
		"$(readlink "/proc/$(pid_of pen)/exe")" /usr/bin/pen
	check "the service was not restarted" is "$(property NRestarts)" 0
}

is_not_main() {
	now=$(pid_of "$2")
	[ "$now" != "$1" ] && [ "$now" != 0 ]
}

fetch_on() {
	served=0 lost=0
	while [ ! -e /try/enough ]; do
		if fetch -S http://127.0.0.1/ 2>>/try/errors; then
			served=$((served + 1))
		else
			lost=$((lost + 1))
			date +%T.%N >>/try/errors
		fi
	done
	echo "$served $lost" >/try/fetched
}

# ---- failures ----

try_watchdog() {
	mkdir -p /run/systemd/system/pen.service.d
	printf '[Service]\nWatchdogSec=3\n' \
		>/run/systemd/system/pen.service.d/try.conf
	systemctl daemon-reload
	check "with a short watchdog it starts" systemctl restart pen
	sleep 7
	check "it feeds the watchdog" is "$(property NRestarts)" 0
	kill -STOP "$(pid_of pen)"
	check "one that hangs is started again" wait_for restarted 1
	check "it serves" wait_for fetch http://127.0.0.1/
	check "the watchdog did it" journal_has pen watchdog
	kill -KILL "$(pid_of pen)"
	check "one that is killed, too" wait_for restarted 2
	rm -r /run/systemd/system/pen.service.d
	systemctl daemon-reload
	check "a wrong file fails the start" wrong_start
}

restarted() {
	is "$(property NRestarts)" "$1" && is_now active pen
}

wrong_start() {
	printf 'listen 127.0.0.1:82\nno such words\n' >/etc/pen/wrong.conf
	not systemctl start pen@wrong && journal_has pen@wrong \
		/etc/pen/wrong.conf:2
	said=$?
	systemctl stop pen@wrong
	systemctl reset-failed pen@wrong
	rm /etc/pen/wrong.conf
	return "$said"
}

# ---- pen.socket ----

try_sockets() {
	systemctl stop pen
	check "a stop ends it well" is "$(property Result)" success
	check "pen.socket starts" systemctl start pen.socket
	check "pen does not run yet" is_now inactive pen
	check "the first client starts it" fetch http://127.0.0.1/
	check "it runs" is_now active pen
	check "a start by the control socket" start_by_control
	stop_under_load
	systemctl stop pen.socket pen
	check "without sockets nobody serves" not fetch http://127.0.0.1/
}

start_by_control() {
	systemctl stop pen && is_now inactive pen &&
		has "$(says servers)" '0 addr' && is_now active pen
}

# Clients wait while pen is restarted.
stop_under_load() {
	rm -f /try/enough /try/fetched
	fetch_on &
	check "restart" systemctl restart pen
	check "again" systemctl restart pen
	touch /try/enough
	wait_for test -s /try/fetched
	read -r served lost </try/fetched
	echo "    $served requests served during restarts, $lost lost"
	check "no client was refused" is "$lost" 0
}

# ---- all ----

ip link set lo up
echo "127.0.0.1 localhost" >/etc/hosts
rm -rf /try/before
files_list >/try/before
check "the package is installed" apt-get install -qq -y /try/pen-1.deb
check "nothing is started" is_now inactive pen
check "the units are right" systemd-analyze verify --man=no pen.service pen@x.service \
	pen.socket
configure
try_start
try_rights
try_reload
try_upgrade
try_watchdog
try_sockets
check "pen.service can be enabled" systemctl enable --now pen pen@web1
check "the package is removed" apt-get remove -qq -y pen-balancer
check "nothing of it runs" not pgrep -x pen
check "logs stay" test -e /var/log/pen/requests.log
check "the package is purged" apt-get purge -qq -y pen-balancer
rm -rf /etc/pen.conf /etc/pen /usr/local/bin/noted /var/lib/logrotate/status
check "nothing is left" files_same /try/before
if [ "$failed" -gt 0 ]; then
	cat /try/errors
	journalctl --no-pager -o short-precise -u 'pen*'
fi
result
