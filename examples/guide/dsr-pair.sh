#!/bin/sh
# dsr-pair.sh: keepalived's check of pen; see keepalived-dsr.conf. On both hosts
# in /etc/pen, with mode 755.
ctl=/run/pen-dsr-pair/ctl
case $(/usr/bin/penctl $ctl 'mode; dsr') in
# One that stops takes no new clients.
'' | *stopping*) exit 1 ;;
*'standby 1'*) is=standby ;;
*) is=takeover ;;
esac
ip addr | grep -q ' 192\.0\.2\.17/' && wanted=takeover || wanted=standby
case $is-$wanted in
takeover-standby) exec /usr/bin/penctl $ctl dsr standby ;;
# pen was started again, and has no flows: they are on the other host. It may
# also be a moment after keepalived has got the address: one failure is ignored.
standby-takeover) exit 1 ;;
esac
