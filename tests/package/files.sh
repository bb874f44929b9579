# files.sh: what is in a root, to be compared. Sourced.

# Each name with its type, mode and owner, and checksums of what is in /etc. What
# the package manager keeps for itself is left out, and so are the lists of users:
# a user stays when its package goes, as files may still belong to its number.
files_list() {
	find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp \
		-o -path /run/systemd -o -path /run/udev -o -path /run/lock \
		-o -path /var/cache -o -path /var/lib/apt -o -path /var/log/apt \
		-o -path /var/log/journal -o -path /run/log -o -path /try \
		-o -path /var/lib/systemd/timers -o -path /var/tmp \
		-o -path /run/user -o -path /run/openrc \) \
		-prune -o -printf '%p %y %m %u\n' |
		grep -v -e '^/var/lib/dpkg/[a-z]*-old ' \
			-e '^/etc/\(passwd\|group\|shadow\|gshadow\)-\? ' \
			-e '^/etc/\.pwd\.lock ' | sort
	find /etc -type f ! -name '*passwd*' ! -name '*group*' \
		! -name '*shadow*' ! -name ld.so.cache ! -name machine-id \
		! -name '.pwd.lock' -exec md5sum {} + | sort -k 2
}

# files_same BEFORE: what is there now beside what was there then.
files_same() {
	files_list >"$1.now"
	diff "$1" "$1.now"
}
