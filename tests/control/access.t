# access lists and the control socket itself
pen -X -r {FRONT} {S0}
> control
< {CTL}
> control json
< [{"control":"{CTL}","level":"admin","others":"read"}]
> control /tmp/x
< error: control: control sockets can be set only at startup
> control_level read; control_level operate read
# read was called look
> control_level look; control_level operate look
> control_level king
< error: control_level: "king": expected read, operate or admin
> control_mode 0660
> control_mode 99
< error: control_mode: "99" is not an octal mode such as 0660
> control_acl
< 0
> control_acl 2
< 2
> client_acl
< 0
> acl 3 permit 192.0.2.0 255.255.255.0
> acl 3 permit 10.0.0.0/8
> acl 3 permit 2001:db8::/32
> acl 3 deny 127.0.0.1
> acl 3 permit unix
> acl 3 permit ::1 255.0.0.0
< error: acl: "::1" is not an address with an optional /LEN or mask, nor unix, uid, gid or country
> acl 3 permit unix 255.0.0.0
< error: acl: "unix" is not an address with an optional /LEN or mask, nor unix, uid, gid or country
> acl 3 permit 10.0.0.0/8 255.0.0.0
< error: acl: "10.0.0.0/8" is not an address with an optional /LEN or mask, nor unix, uid, gid or country
> acl 4 permit 10.0.0.1/8
< warning: 10.0.0.1/8 has host bits set, using permit 10.0.0.0 255.0.0.0
says taken="permit 10.0.0.0 255.0.0.0"
> acl 4 permit 10.0.0.1 255.255.0.0
< warning: 10.0.0.1 has host bits set, using permit 10.0.0.0 255.255.0.0
> acl 4 permit 2001:db8::1/32
< warning: 2001:db8::1/32 has host bits set, using permit 2001:db8::/32
> acl 3 permit country SWE
~ country: 
> acl 10 permit 1.2.3.4
< error: acl: "10" is not a number from 0 to 9
> acl 3 allow 1.2.3.4
< error: acl: "allow": expected permit or deny
> no acl
< error: no acl: expects N
ask x = server 0: x
> client_acl 3
< 3
> statistics
~ closed_no_server 0
> no acl 3
ask x = server 0: x
> prompt; mode; quit; mode
< no hash roundrobin no stubborn no weight no prio
> exit
ended 0
