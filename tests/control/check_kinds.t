# health checks by programs, DNS and datagrams
pen -r -b 0 {FRONT} {S0} {S1}
> check_interval 0.05
< 0.050
> check_timeout 10
< 10
# a program: its end and its first line
> check exec
~ check: exec: expects the absolute path
> check exec program
~ check: exec: expects the absolute path
> check exec /nonexistent/program
~ error: check: check exec: "/nonexistent/program": No such file
> check exec /tmp
~ "/tmp": not a file
> check
< none
> check exec /bin/true
> checks
? 0 check exec state up result ok address {S0}
> server 1 check exec /nonexistent/program
~ check exec: "/nonexistent/program": No such file
> checks
? 1 check exec state up result ok address {S1}
> server 1 check exec /bin/false
> checks
? 1 check exec state down result failed address {S1}
> checks
~ reason exit status 1
> server 1 check exec /bin/echo {address}:{port} ok
> checks
? 1 check exec state up result ok address {S1}
> checks
~ reason {S1} ok
> write {DIR}exec.conf
has exec.conf check exec /bin/true
has exec.conf check exec /bin/echo {address}:{port} ok
> server 1 check default
# DNS: our servers take no datagrams, and do not speak it
> check dns
~ check: dns: expects NAME
> check dns www.test B
~ check: dns: "B": expected a type of records, tcp or nxdomain
> check dns www..test
~ check: dns: "www..test" is not a domain name
> check dns www.test mx tcp nxdomain
> check
< dns www.test mx tcp nxdomain
> check dns www.test
> checks
? 0 check dns state down result failed
> checks
~ reason Connection refused
# datagrams
> check udp 00
~ check: udp: expects HEX expect HEX
> check udp 0 expect 00
~ what is sent: expects two hexadecimal digits
> check udp 00ff expect 00..
> check
< udp 00ff expect 00..
> checks
? 0 check udp state down result failed
# which a Unix socket behind TCP does not take
> server 2 address {DIR}socket
~ server "{DIR}socket": check udp sends datagrams, but its socket takes connections
> server 2 address {DIR}socket check dns a.test
~ check dns sends datagrams, but its socket takes connections
> server 2 address {DIR}socket check dns a.test tcp
> server 2 remove
> no check
