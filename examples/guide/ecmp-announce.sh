#!/bin/sh
# ecmp-announce.sh: BIRD announces an address while pen can serve; see ecmp.conf
#
# On each host, as /etc/systemd/system/ecmp-announce.service:
#
#     [Unit]
#     After=bird.service
#     [Service]
#     ExecStart=/bin/sh /etc/pen/ecmp-announce.sh
#     Restart=always
#     [Install]
#     WantedBy=multi-user.target

bird()
{
	birdc -s /run/bird/bird.ctl "$1" pen >/dev/null
}

trap 'bird disable; exit' INT TERM
# What is enabled already stays as it is. BIRD begins without, so that it is not
# enough to do this once.
while :; do
	if [ -e /run/pen-ecmp/fit ]; then bird enable; else bird disable; fi
	sleep 0.5
done
