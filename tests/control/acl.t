# access lists with names, and where they are taken
pen -r {FRONT} {S0} {S1}
> client_acl office
< error: client_acl: there is no access list "office", which client_acl names
> acl office permit 127.0.0.1
> client_acl office
< office
> client_acl json
< {"client_acl":"office"}
ask x = server 0: x
> acl office
< permit 127.0.0.1 255.255.255.255
> acl office json
< [{"verb":"permit","match":"127.0.0.1 255.255.255.255"}]
> acls
< office entries 1 files 0 others denied
> acls json
< [{"acl":"office","entries":1,"files":0,"others":"denied"}]
> acl 7
> acl nowhere
< error: acl: there is no access list "nowhere"
> no acl office; acl office deny 127.0.0.1
> explain 127.0.0.1
~ because access list office denies the client, and there is no abuse server
~ acl office
~ matches deny 127.0.0.1 255.255.255.255
> acl 12 permit 10.0.0.1
< error: acl: "12" is not a number from 0 to 9
> acl -x permit 10.0.0.1
< error: acl: "-x" is not an access list: a number from 0 to 9, or a name of at most 31 letters, digits and .-_
> client_acl 0; acl local permit 127.0.0.1; server 1 acl local; server 0 acl office
< 0
ask x = server 1: x
> servers json
~ "acl":"office"
~ "acl":"local"
> write all {DIR}acl.conf
has acl.conf no acl office
has acl.conf acl office deny 127.0.0.1 255.255.255.255
has acl.conf server 1 address 127.0.0.1 port {P1} max 0 hard 0 blacklist
> no acl local; no acl local
ask x = server 1: x
> control_acl guard
< error: control_acl: there is no access list "guard", which control_acl names
> server 1 acl guard
< error: server: there is no access list "guard", which server 1 names
> server 1 acl 1; show settings
~ client_acl 0
> tarpit_acl office
< tarpit_acl = office
> no tarpit_acl

# files of entries
file list
| # who may come in
| 127.0.0.2
| deny 127.0.0.1     ; not this one
|
| permit 10.0.0.9/8
| ::1
| permit 192.0.2.0 255.255.255.0
> acl long file {DIR}list
< warning: 1 addresses have host bits set, the first at {DIR}list:5
says acl: addresses have host bits set acl=long entries=1 first={DIR}list:5
> client_acl long; explain 127.0.0.1
~ acl long
~ entry 2
~ matches deny 127.0.0.1 255.255.255.255
~ file {DIR}list
~ line 3
> write {DIR}acl.conf
has acl.conf acl long file {DIR}list
> acl long
< file {DIR}list
> acl long json
< [{"verb":null,"file":"{DIR}list","entries":5}]
file list
| 127.0.0.1
| 10.0.0.0/33
> acl long file {DIR}list
< error: acl: {DIR}list:2: "10.0.0.0/33": the prefix is longer than 32 bits
> explain 127.0.0.1
~ matches deny 127.0.0.1 255.255.255.255
file none
| # nobody
> no acl long; acl long file {DIR}none
> explain 127.0.0.1
~ permitted no
~ entry none
> no acl long; acl long deny file {DIR}none; explain 127.0.0.1
~ permitted yes
file none
| 127.0.0.1 255.255.255.255 more
> acl long file {DIR}none
< error: acl: {DIR}none:1: more than one entry in a line
> acl long file {DIR}nowhere
< error: acl: "{DIR}nowhere": No such file or directory

# Unix clients
> no acl long; acl long permit uid 4294967296
< error: acl: "4294967296" is not a number, nor a name of /etc/passwd
> acl long permit uid root; acl long deny gid 7
< warning: clients that match no entry of list long are permitted while its last entry denies
> acl long permit gid
< error: acl: gid: missing group
> explain unix:uid=0,gid=7
~ client unix:uid=0
~ matches permit uid 0
> explain unix:uid=9,gid=7
~ matches deny gid 7
> explain unix:pid=7,uid=9,gid=7
~ matches deny gid 7
> explain unix
~ entry none
> explain unix:uid=1,gid=
< error: explain: "unix:uid=1,gid=" is not a client: ADDRESS, ADDRESS:PORT, unix or unix:uid=N,gid=N
> explain unix:uid=x
< error: explain: "unix:uid=x" is not a client: ADDRESS, ADDRESS:PORT, unix or unix:uid=N,gid=N

# countries
> geoip {DIR}nowhere
~ error: geoip: geoip "{DIR}nowhere": 
> no geoip; geoip
> show settings
~ no geoip
# proxies that may name clients: never everybody
> accept_proxy edge
< error: accept_proxy: there is no access list "edge", which accept_proxy names
> accept_proxy 7
< error: accept_proxy: access list 7 is empty: it must permit the proxies to trust
> acl edge permit 10.0.0.0/8; accept_proxy edge
< edge
> accept_proxy
< edge
> show settings
~ accept_proxy edge
> no acl edge
< error: no acl: access list edge is empty: it must permit the proxies to trust
> explain 127.0.0.1
~ accept_proxy edge
> no accept_proxy; no acl edge

# an address is to be banned at once: what the last entry denies, and what it
# does to clients that no entry matches
> acl ban permit 10.0.0.0/8; acl ban permit 2001:db8::/32
> acl ban deny 10.1.2.3
< warning: deny 10.1.2.3 255.255.255.255 matches no client after permit 10.0.0.0 255.0.0.0
< warning: clients that match no entry of list ban are permitted while its last entry denies
says acl: entry matches no client acl=ban entry="deny 10.1.2.3
says acl: clients that match no entry are permitted, as the last one denies acl=ban
> acl ban deny 192.0.2.1
> acl ban permit 192.0.2.1
< warning: permit 192.0.2.1 255.255.255.255 matches no client after deny 192.0.2.1 255.255.255.255
> no acl ban; acl ban deny 10.1.2.3; acl ban permit 10.0.0.0/8
file drop
| # to be dropped
| 192.0.2.7
| 10.1.0.0/16
> no acl ban; acl ban deny file {DIR}drop; acl ban permit 10.0.0.0/8
> no acl ban; acl ban permit 10.0.0.0/8; acl ban deny file {DIR}drop
< warning: {DIR}drop:3: deny 10.1.0.0 255.255.0.0 matches no client after permit 10.0.0.0 255.0.0.0
< warning: clients that match no entry of list ban are permitted while its last entry denies
says acl: entry matches no client acl=ban entry="deny 10.1.0.0
> no acl ban; acl ban permit 10.0.0.0/8
> no acl ban; acl ban permit unix; acl ban deny uid 33
< warning: deny uid 33 matches no client after permit unix
< warning: clients that match no entry of list ban are permitted while its last entry denies
