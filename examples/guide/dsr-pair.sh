#!/bin/sh
# dsr-pair.sh: keepalived's check of pen; see keepalived-dsr.conf. On both hosts
# in /etc/pen, with mode 755.
ctl=/run/pen-dsr-pair/ctl
case $(/usr/bin/penctl $ctl dsr) in
'') exit 1 ;;
*'standby 1'*) is=standby ;;
*) is=takeover ;;
esac
ip addr | grep -q ' 192\.0\.2\.17/' && wanted=takeover || wanted=standby
# pen logs each command, so only where it changes something.
[ $is = $wanted ] || exec /usr/bin/penctl $ctl dsr $wanted
