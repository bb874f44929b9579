#!/bin/sh
# enter.sh ROOT COMMAND...: in that root and in namespaces of its own; what
# installs packages there must not reach this machine: no process, no network, no
# setting of the kernel. Called by tests/package.sh, behind unshare.
set -e
root=$1
shift
mount --make-rprivate /
mount -t proc proc "$root/proc"
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount -t tmpfs tmp "$root/tmp"
ip link set lo up
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
	DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"
