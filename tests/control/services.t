# services: a list of them, commands for one, one that is added and removed
pen -r {FRONT} {S0} {S1}
> services
< default state up listen {FRONT} up 2 servers 2 sessions 0 flows 0 accepted 0 rate 0.0
> service default servers
~ 1 addr 127.0.0.1 port {P1} conn 0
> service default server 1 drain
> services
~ state degraded listen {FRONT} up 1 servers 2 
> service default server 1 up
> service default drain
> services
~ default state drain listen {FRONT} up 0 servers 2 
> service default up
> services json
~ [{"service":"default","state":"up","listen":"{FRONT}","up":2,"servers":2,
> services all
< error: services: takes no argument, got "all"

# another one beside it
> service add more
> service more listen {OTHER}
< {OTHER}
> service more server add {S2}
< 0
> services
~ more state up listen {OTHER} up 1 servers 1 sessions 0 flows 0 accepted 0
ask a = server 0: a
ask OTHER b = server 2: b
ask c = server 1: c
> service more servers
? 0 addr 127.0.0.1 port {P2} conn 0 max 0 hard 0 weight 0 prio 0 sx 1 rx 11
> service more; servers; service default; recent
~ 0 addr 127.0.0.1 port {P2} conn 0
> service more no roundrobin; service more mode
< no hash no roundrobin no stubborn no weight no prio
> mode
< no hash roundrobin no stubborn no weight no prio
> service more server 0 down
> services
~ more state maint listen {OTHER} up 0 servers 1 
ask d = server 0: d
> service more server 0 up

# refused
> service
< error: service: expects NAME [COMMAND ..|remove] | add NAME
> service none
< error: service: there is no service "none"
> service none servers
< error: servers: there is no service "none"
> service more sevrers
< error: service: unknown command "sevrers" (did you mean servers?)
> service add more
< error: service: there is a service "more" already
> service add json
~ error: service: "json" is not a valid name
> service add 1more
< error: service: "1more" is not a valid name (a letter, then letters, digits, ".", "-", "_"; at most 31)
> service default remove
< error: service: the service default cannot be removed
> service none remove
< error: service: there is no service "none"
> service more service default servers
< error: service: expects NAME [COMMAND ..|remove] | add NAME
> service more debug 1
< error: debug: applies to the whole process, not to one service (give it without "service more")
> service default shutdown
< error: shutdown: applies to the whole process, not to one service (give it without "service default")
> service more; shutdown
< error: shutdown: applies to the whole process, not to one service (give it after "service default")
> service more; pid
< {PID}
> service more; service default; debug 0
< 0
> service more status
< error: status: the page is that of the whole process ("status json" has the counters of one service)
> service more status json
~ {"sessions":0,
> service more234567890123456789012345678901234 servers
< error: servers: there is no service "more234567890123456789012345678901234"
> service add empty; service empty listen {FRONT}
~ error: listen: service empty: "{FRONT}": address already in use
> services
~ empty state empty up 0 servers 0 
> service empty remove
says service ended service=empty

# removed: those that are there are served to their end
> service more remove
says service ended service=more
> services
~ default state up listen {FRONT} up 2 servers 2 sessions 0 flows 0 accepted 3 rate 
