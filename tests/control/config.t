# the configuration file: included, reloaded, written, compared
file pen.conf
| # two servers
| server 0 address 127.0.0.1 port {P0} max 50
| server 1 address "127.0.0.1" \
|   port {P1}
| roundrobin; timeout 4
file more.conf
| blacklist 11
| timeout
file bad.conf
| blacklist 12
|
| server 0 \
| weigth 5
| blacklist 13
pen -F {DIR}pen.conf {FRONT}
> timeout
< 4
> timeout 5
< error: unknown command "timeout<U+00A0>5"
> diff
> include {DIR}more.conf
< 11
< 4
> blacklist
< 11
> include {DIR}bad.conf
~ error: include: {DIR}bad.conf:3: server: "weigth": expected acl, address, port
> blacklist
< 11
> include {DIR}nowhere.conf
< error: include: "{DIR}nowhere.conf": No such file or directory
> diff
< -blacklist 30
< +blacklist 11
> diff json
< [{"file":"blacklist 30"},
< {"running":"blacklist 11"}]
hold h
> reload
> blacklist
< 30
> diff
says settings=1 servers_added=0 servers_removed=0 servers_changed=0 services_added=0 services_removed=0
> diff {DIR}bad.conf
~ error: diff: {DIR}bad.conf:3: server: "weigth": expected acl, address, port
> diff a b
< error: diff: expects [FILE]
file next.conf
| server 0 address 127.0.0.1 port {P0} max 50
| server 1 address 127.0.0.1 port {P1}
| roundrobin; timeout 4; blacklist 12
> diff {DIR}next.conf
< -blacklist 12
< +blacklist 30
> servers
~ 0 addr 127.0.0.1 port {P0} conn 1 max 50

# what is written gives the same again
> server add {S2}; server 1 drain; acl 1 permit 10.0.0.0/8; acl 1 deny ::/0
< 2
> web_stats "{DIR}a b;'c"
> write {DIR}written.conf
> write
> diff
> timeout 5
< 5
> reload
> timeout
< 4
> web_stats
< {DIR}a b;'c
> servers
~ 0 addr 127.0.0.1 port {P0} conn 1 max 50
~ 2 addr 127.0.0.1 port {P2} conn 0

# comments and order stay; the old file is kept
file shop.conf
| # the shop
| blacklist 8; timeout 4  # short
| server 0 address 127.0.0.1 port {P0} # left
> write {DIR}shop.conf
has shop.conf # the shop
has shop.conf timeout 4  # short
has shop.conf~ blacklist 8; timeout 4  # short
> write all {DIR}full.conf
has full.conf no stubborn
> write all {DIR}full.conf {DIR}other.conf
< error: write: expects [all] [FILE]
> write json
< error: write: has no JSON; ./json is a file
> write all json
< error: write: has no JSON; ./json is a file
file letter
| Dear Sir,
> write {DIR}letter
~ not written: {DIR}letter:1: unknown command "Dear"

# a server that is gone from the file keeps its connection until it ends
file pen.conf
| server 1 address 127.0.0.1 port {P1}
signal HUP
> servers json
? "state":"removed"
> servers json
~ "state":"drain"
> server 1 up
ask x = server 1: x
drop
> servers
? 0 addr 0.0.0.0 port 0 conn 0

# a file may say later where a server is, but must say it
file late.conf
| server 5 drain max 3
| server 5 address 127.0.0.1 port {P3}
file absent.conf
| server 6 drain max 3
| server 7 address 127.0.0.1 port {P3}
> include {DIR}late.conf; server 5 remove
> include {DIR}absent.conf
< error: include: {DIR}absent.conf:1: there is no server 6: "server 6 address HOST" is missing

# the answers of a file's commands come once, whatever they wait for
file answers.conf
| timeout 4; settings
file more-answers.conf
| mode; timeout; blacklist
| include {DIR}more-recent.conf
| pid
file more-recent.conf
| server 3 address localhost port {P3}
| timeout
> server all remove; server 1 address 127.0.0.1 port {P1}
> include {DIR}answers.conf
~ error: include: {DIR}answers.conf:1: unknown command "settings"
> include {DIR}more-answers.conf
< no hash no roundrobin no stubborn no weight no prio
< 3
< 30
< 3
< {PID}
> server 3 remove

# what is done at once is for the control socket: a file may be refused yet
file acts.conf
| timeout 6
| write {DIR}half.conf
| frobnicate
> include {DIR}acts.conf
< error: include: {DIR}acts.conf:2: write: only on the control socket
< error: include: {DIR}acts.conf:3: unknown command "frobnicate"
> timeout
< 3
file acts.conf
| close 0
> include {DIR}acts.conf
~ :1: close: only on the control socket
file acts.conf
| exit
> include {DIR}acts.conf
~ :1: exit: only on the control socket

# what a file cannot have is an error of the line that names the file
file asks.conf
| connection 99999999
> include {DIR}asks.conf
< error: include: {DIR}asks.conf:1: connection: Connection 99999999 out of range

# a file that is wrong changes nothing
file pen.conf
| server 1 address 127.0.0.1 port {P1} max 3
| frobnicate
signal HUP
says pen.conf:2: unknown command 'frobnicate'
> servers
~ 1 addr 127.0.0.1 port {P1} conn 0 max 0
ask x = server 1: x
> reload
~ error: reload: {DIR}pen.conf:2: unknown command "frobnicate"
> no web_stats

# what Pen 0.34 writes of a table with a gap
file gap.conf
| server 0 acl 0 address 127.0.0.1 port {P0} max 0 hard 0
| server 7 acl 0 address (unknown address family 0 port 0 max 0 hard 0
| server 8 acl 0 address 127.0.0.1 port {P3} max 0 hard 0
> include {DIR}gap.conf
> servers
~ 8 addr 127.0.0.1 port {P3} 
