#!/bin/sh
# ecmp-announce.sh: BIRD announces an address while pen can serve; see ecmp.conf
#
#     ecmp-announce.sh DIRECTORY
#
# Each protocol NAME of type static in bird.conf is enabled while the file
# DIRECTORY/NAME.fit exists. On each host, as
# /etc/systemd/system/ecmp-announce.service (with /run/pen-ecmp-services where
# ecmp-services.conf is used):
#
#     [Unit]
#     After=bird.service
#     [Service]
#     ExecStart=/bin/sh /etc/pen/ecmp-announce.sh /run/pen-ecmp
#     Restart=always
#     [Install]
#     WantedBy=multi-user.target

bird()
{
	birdc -s /run/bird/bird.ctl "$@"
}

# announce DIRECTORY: disables all where there is no such directory.
announce()
{
	bird show protocols | while read -r name type _ state _; do
		[ "$type" = Static ] || continue
		if [ -e "$1/$name.fit" ]; then want=up; else want=down; fi
		case $want,$state in
		up,down) echo "enable $name" ;;
		down,up) echo "disable $name" ;;
		esac
	done | bird >/dev/null
}

trap 'announce /nonexistent; exit' INT TERM
# BIRD starts without the addresses, so once is not enough.
while :; do
	announce "${1:?DIRECTORY}"
	sleep 0.5
done
