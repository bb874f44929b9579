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
~ error: acl: expects LIST permit
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
> write {DIR}acl.conf
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
