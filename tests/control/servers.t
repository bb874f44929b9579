# servers: counters, changes, removal, the two outside the list
pen -r {FRONT} {S0} {S1}
> servers
< 0 addr 127.0.0.1 port {P0} conn 0 max 0 hard 0 weight 0 prio 0 sx 0 rx 0
< 1 addr 127.0.0.1 port {P1} conn 0 max 0 hard 0 weight 0 prio 0 sx 0 rx 0
# in a file as well, where other answers follow
file answers.conf
| mode; servers
| connections
| pid
> include {DIR}answers.conf
< no hash roundrobin no stubborn no weight no prio
< 0 addr 127.0.0.1 port {P0} conn 0 max 0 hard 0 weight 0 prio 0 sx 0 rx 0
< 1 addr 127.0.0.1 port {P1} conn 0 max 0 hard 0 weight 0 prio 0 sx 0 rx 0
< {PID}
> recent
< error: recent: no clients are remembered without "sticky"
ask x = server 0: x
ask yy = server 1: yy
> servers
? 0 addr 127.0.0.1 port {P0} conn 0 max 0 hard 0 weight 0 prio 0 sx 1 rx 11
> servers
? 1 addr 127.0.0.1 port {P1} conn 0 max 0 hard 0 weight 0 prio 0 sx 2 rx 12
# all that is known of them; JSON has that in any case
> servers long
~ 0 name 127.0.0.1 state up since 2
~ reason "configuration" changes 0 share 100 role regular addr 127.0.0.1 port {P0} conn 0 max 0 hard 0 weight 0 prio 0 sx 1 rx 11 connects 1 failures 0 rate 0.
~ connect_p50_us 
> servers json
~ "name":"127.0.0.1","state":"up","since":"2
~ "reason":"configuration","changes":0,"share":100,"role":"regular","connects":1,"failures":0,"rate":0.
~ "connect_p99_us":
> servers longer
< error: servers: expects [long]
> server 0 max 5 hard 6 weight 7 prio 8 blacklist 9 acl 3
> servers
< 0 addr 127.0.0.1 port {P0} conn 0 max 5 hard 6 weight 7 prio 8 sx 1 rx 11
< 1 addr 127.0.0.1 port {P1} conn 0 max 0 hard 0 weight 0 prio 0 sx 2 rx 12
> server 0 weight
< error: server: "weight" needs a value
> server 0 colour red
< error: server: "colour": expected acl, address, port, max, hard, blacklist, slow_start, weight, prio, tls, forward, proxy_protocol, on_down, may_be_down, check_port, check_address, check, up, drain, maint, down or remove
> server x
< error: server: there is no server "x" ("server add x" adds it)
> server 11 drain
< error: server: there is no server 11 (the last is 1; "server 11 address HOST" adds it)
> server 11
< error: server: there is no server 11 (the last is 1; "server 11 address HOST" adds it)
> server 11 remove
< error: server: there is no server 11 (the last is 1; "server 11 address HOST" adds it)
> server 11 max 0; mode
< error: server: there is no server 11 (the last is 1; "server 11 address HOST" adds it)
> server 0 blacklist 5000000; server 0 blacklist 9
> server 0 hard 3
says server 0: max 5 has no effect with hard 3
> server 0 hard 6

# by address, where that is one
> server 127.0.0.1 drain
< error: server: "127.0.0.1" matches several servers: 0 ({S0}), 1 ({S1}); use a number
> server {S1} drain
> server {S1}x drain
~ error: server: "{P1}x" is not a valid port
> server wbe1 drain
< error: server: there is no server "wbe1" ("server add wbe1" adds it)
> server {S1} up

# grown by number: the slots between are empty
> server 3 address 127.0.0.1 port {P3}
> servers
< 0 addr 127.0.0.1 port {P0} conn 0 max 5 hard 6 weight 7 prio 8 sx 1 rx 11
< 1 addr 127.0.0.1 port {P1} conn 0 max 0 hard 0 weight 0 prio 0 sx 2 rx 12
< 2 addr 0.0.0.0 port 0 conn 0 max 0 hard 0 weight 0 prio 0 sx 0 rx 0
< 3 addr 127.0.0.1 port {P3} conn 0 max 0 hard 0 weight 0 prio 0 sx 0 rx 0
> server add {S2}
< 2
> server 0 down; server 1 down; server 2 drain
ask z = server 3: z
> server 3 down; server 2 up
ask z = server 2: z
> server all up
> server 0 down; server 1 remove; server 3 remove
ask a = server 2: a
ask b = server 2: b

# removed as scripts of Pen 0.34 do it
> server 1 address 127.0.0.1 port {P1}; server 2 down
ask a = server 1: a
> server 1 address 0.0.0.0 port 0; server 2 up
> servers
? 1 addr 0.0.0.0 port 0 conn 0
ask a = server 2: a
ask b = server 2: b
> server 1 address 0.0.0.0 port 0
~ error: server: there is no server 1 (
> server 1 address 0.0.0.0
~ server 1 is pen's own listening address

# until none is left
hold i
> server 2 drain wait 0.1
~ error: server 2: 1 connection left after 100 ms
> server 2 maint wait x
< error: server: wait: "x" is not a duration
> server all drain wait 0.1
~ error: server all: 1 connection left after 100 ms
> server all up; server 0 down
drop
> server 2 drain wait 10; mode
< server 2: no connections left
< no hash roundrobin no stubborn no weight no prio
> server 2 up
file wait.conf
| server 2 drain wait
> include {DIR}wait.conf
< error: include: {DIR}wait.conf:1: server: wait: only on the control socket

# removed: nobody new, the one that is there goes on, then the number is free
> server 0 down
hold h
> server 2 remove
> servers json
~ "server":2,"addr":"127.0.0.1","port":{P2},"conn":1
~ "state":"removed"
drop
> statistics
? sessions 0
> servers
~ 0 addr 127.0.0.1 port {P0} conn 0 max 5 hard 6 weight 7 prio 8 sx 1 rx 11
> server add {S2}; server add {S2}
< 1
< 2

# a name is looked up while others are served
> server 2 address localhost
> servers json
~ "name":"localhost","state":"up"
> servers json
~ "tls":"default","forward":"default"
> server 2 address no-such-host.invalid
~ error: server "no-such-host.invalid": 
> servers json
~ "name":"localhost","state":"up"

# the two outside the list
> server all down
> emergency {S1}
> emergency
< {S1}
ask e = server 1: e
> no emergency
> emergency
> abuse {S3}
> abuse json
< {"abuse":"{S3}"}
> server 2 up
> acl 1 deny 127.0.0.0 255.0.0.0
> client_acl 1
< 1
ask c = server 3: c
> no acl 1; acl 1 permit ::/0; acl 1 deny 127.0.0.0/8
ask c = server 3: c
> no acl 1; acl 1 deny ::/0; acl 1 permit 127.0.0.0/8
ask c = server 2: c
> no acl 1
ask c = server 2: c
> no abuse

# pen itself is none: a client would come to it again and again
> server add {FRONT}
~ is pen's own listening address {FRONT}
> emergency {FRONT}
~ the emergency server is pen's own listening address {FRONT}

# the same one twice is hardly meant
> server 9 address 127.0.0.1 port {P0}
says server 9 is the same as server 0: {S0}

# a server that comes up gets its share step by step; at the start all of it
> slow_start
< 0
> slow_start 40; server 0 slow_start 80
< 40
> servers long
~ changes 
> server 2 maint; server 2 up
> servers json
~ "share":6
> write {DIR}written.conf
has written.conf slow_start 40
has written.conf prio 8 acl 3 slow_start 80
> slow_start 0; server 0 slow_start 0
< 0

# out at once for that time; in a file it is the time of failures alone
> server 9 remove; server 0 up blacklist 60
ask a = server 2: a
ask b = server 2: b
> servers json
~ "state":"blacklisted"
# nor is it tried as it is the last one: all traffic stops
> server 2 blacklist 60
> explain 10.0.0.1
~ no server
> server 2 blacklist 0
> server 0 blacklist 0
ask c = server 0: c
ask d = server 2: d
file own.conf
| server 0 blacklist 50
> include {DIR}own.conf
ask e = server 0: e
ask f = server 2: f
> write {DIR}written.conf
has written.conf hard 6 blacklist 50
> server 0 blacklist x
~ is not a valid duration

# what follows a removal is for no server
> server all remove maint
> servers
> write {DIR}none.conf
> include {DIR}none.conf
~ {FRONT}
