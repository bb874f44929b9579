# routes by first bytes: which servers, how they are shown, what is refused
pen -r {FRONT} {S0} {S1} {S2} {S3}
> route
> route protocol ssh 2
> route sni WWW.Example.org 0,{S1}
> route sni *.example.org 3; route alpn h2 1; route host * 2
> route default 0
> route
< route protocol ssh 2
< route sni www.example.org 0,{S1}
< route sni *.example.org 3
< route alpn h2 1
< route host * 2
< route default 0
ask SSH-2 = server 2: SSH-2
ask hello = server 0: hello
# the first one again has other servers, and stays the first
> route protocol ssh 3
ask SSH-2 = server 3: SSH-2
> route json
~ [{"kind":"protocol","pattern":"ssh","servers":"3","clients":2},
~ {"kind":"default","pattern":null,"servers":"0","clients":1}]
> explain 10.0.0.1 sni www.example.org
~ server 0
~ rule balance
~ route "sni www.example.org"
~ 2 name 127.0.0.1 obstacle route
> explain 10.0.0.1 sni a.example.org
~ server 3
~ route "sni *.example.org"
> explain 10.0.0.1 sni example.org alpn h2
~ server 1
> explain 10.0.0.1 host a
~ server 2
> explain 10.0.0.1 protocol silent
~ server 0
~ route "default"
> explain 10.0.0.1 sni
< error: explain: sni: expects a name, for example sni www.example.org
> explain 10.0.0.1 port 5
< error: explain: "port": expected sni, alpn, host or protocol
> explain 10.0.0.1 protocol smtp
< error: explain: protocol: "smtp" is not a valid value
# servers that are not in rotation; none left is as if there were none
> server 3 maint; explain 10.0.0.1 sni a.example.org
~ server -1
~ because no server of its route may take the client
> emergency {S1}; explain 10.0.0.1 sni a.example.org
~ rule emergency
> no emergency; server 3 up
# servers that come and go
> route sni late.example.net 5; explain 10.0.0.1 sni late.example.net
~ server -1
says route sni late.example.net 5: there is no server 5
> server 5 address 127.0.0.1 port {P2}; explain 10.0.0.1 sni late.example.net
~ server 5
> server 5 remove
says route sni late.example.net 5: there is no server 5
> route sni z.example.org 1
says route sni z.example.org 1 has no effect after route sni *.example.org
> no route sni z.example.org; no route sni late.example.net
# a list is a route for each of its names
> route sni L1.example.org,l2.example.org 1; route alpn h3,http/1.1 1
> route
~ route sni l1.example.org 1
~ route sni l2.example.org 1
~ route alpn h3 1
~ route alpn http/1.1 1
> no route sni l1.example.org,nobody.example.org
< error: no route: there is no such route
> route
~ route sni l1.example.org 1
> no route sni l1.example.org,l2.example.org; no route alpn http/1.1,h3
# what is refused changes nothing
> route cname a 1
< error: route: "cname": expected sni, alpn, host, protocol or default
> route sni a..b 1
< error: route: "a..b": expected NAME, *.NAME or *
> route sni a.example,,b.example 1
< error: route: "": expected NAME, *.NAME or *
> explain 10.0.0.1 sni
< error: explain: sni: expects a name, for example sni www.example.org
> explain 10.0.0.1 x
< error: explain: "x": expected sni, alpn, host or protocol
> route protocol smtp 1
< error: route: "smtp": expected tls, ssh, http, postgres or silent
> route sni a
< error: route: expects [sni|alpn|host|protocol PATTERN[,PATTERN ..] | default SERVERS | service NAME]
> route sni a 1,
< error: route: "": expected SERVER[,SERVER ..]
> route sni a 1:2:3
~ error: route:
> route sni a 1,4096
< error: route: "4096" is not a number from 0 to 4095: a service has at most 4096 servers
> no route sni nobody.example.org
< error: no route: there is no such route
> no route alpn
< error: no route: expects [sni|alpn|host|protocol PATTERN[,PATTERN ..] | default SERVERS | service NAME]
# as a file
> write {DIR}routes.conf; no route; route
has routes.conf route sni *.example.org 3
has routes.conf route default 0
ask hello = server 0: hello
> include {DIR}routes.conf; route
~ route alpn h2 1
ask SSH-2 = server 3: SSH-2
> no route; no peek; peek_wait 1
< 1
says peek_wait has no effect without peek or route
