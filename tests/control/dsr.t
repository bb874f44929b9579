# direct return is set up at the start; without it there is none
pen -r {FRONT} {S0}
> dsr
~ error: dsr: dsr_if is not set
> dsr give
~ error: dsr: expects [takeover|standby]
> dsr takeover
~ error: dsr: dsr_if is not set
> dsr_if
> dsr_if eth0
~ dsr_if: can be set only at startup
> dsr_ip 10.0.0.1
~ can be set only at startup
> dsr_link packet
~ can be set only at startup
> dsr_flows
< 1000000
> dsr_flows 0
~ can be set only at startup
# these may change later
> dsr_announce_refresh
< 0
> dsr_announce_refresh 60
< 60
> dsr_tcp_timeout
< 900
> dsr_fin_timeout
< 120
> dsr_udp_timeout
< 300
> dsr_tcp_timeout 7200
< 7200
> dsr_fin_timeout 600
< 600
> dsr_udp_timeout 0
< 0
> dsr_tcp_timeout -1
~ dsr_tcp_timeout
> write all {DIR}times.conf
has times.conf dsr_tcp_timeout 7200
has times.conf dsr_udp_timeout 0
> no dsr_announce
~ can be set only at startup
> dsr_standby
~ can be set only at startup
> dsr_fast_path
< auto
> dsr_fast_path on
~ can be set only at startup
> write all {DIR}start.conf
has start.conf dsr_fast_path auto
# what may change later is as good without it
> dsr_forward
~ expects mac|tunnel
> dsr_forward carrier
~ expects mac|tunnel
> dsr_forward tunnel
> write {DIR}tunnel.conf
has tunnel.conf dsr_forward tunnel
> dsr_forward mac
> dsr_gateway
> dsr_gateway 192.0.2.1
> dsr_gateway
< 192.0.2.1
> no dsr_gateway
> dsr_gateway
> server 0 forward
~ needs a value
> server 0 forward bus
~ forward expects mac, tunnel or default, got "bus"
> server 0 forward tunnel
> write {DIR}server.conf
has server.conf forward tunnel
> server 0 forward default
> tarpit_acl
< tarpit_acl = -1
> tarpit_acl json
< {"tarpit_acl":-1}
> tarpit_acl 3
< tarpit_acl = 3
> tarpit_acl
< tarpit_acl = 3
> tarpit_acl 10
~ "10" is not a number from 0 to 9
> no tarpit_acl 3
~ expects
> no tarpit_acl; tarpit_acl
< tarpit_acl = -1
> tarpit_acl 0; tarpit_acl -1
< tarpit_acl = 0
< tarpit_acl = -1
> listen 127.0.0.1:0
~ port out of range 1..65535
ask x = server 0: x
