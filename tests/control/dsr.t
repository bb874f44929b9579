# direct return is set up at the start; without it there is none
pen -r {FRONT} {S0}
> dsr
~ error: dsr: dsr_if is not set
> dsr_if
> dsr_if eth0
~ dsr_if: only at the start
> dsr_ip 10.0.0.1
~ only at the start
> dsr_link pcap
~ only at the start
> dsr_flows
< 1000000
> dsr_flows 0
~ only at the start
> no dsr_announce
~ only at the start
> tarpit_acl
< tarpit_acl = -1
> tarpit_acl json
< {"tarpit_acl":-1}
> tarpit_acl 3
< tarpit_acl = 3
> tarpit_acl
< tarpit_acl = 3
> tarpit_acl 10
~ "10" is no access list 0..9
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
