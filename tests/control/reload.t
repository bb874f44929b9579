# what a reload leaves as it was, and what it keeps
file pen.conf
| listen {FRONT}
| server 0 address 127.0.0.1 port {P0}
| server 1 address 127.0.0.1 port {P1}
pen -F {DIR}pen.conf
ask a = server 0: a
> recent
~ 127.0.0.1 

# one that is refused forgets no client, whatever it would have forgotten
file pen.conf
| listen {S2}
| server 0 address 127.0.0.1 port {P0}
| no sticky
| balance prio
> reload
~ address already in use
> recent
~ 127.0.0.1 
> mode json
~ "balance":"roundrobin"
file pen.conf
| listen {FRONT}
| server 0 address 127.0.0.1 port {P0}
| server 1 address 127.0.0.1 port {P1}
| no sticky
> reload
> recent

# what only a start can change is refused, whatever kind of row it is
file pen.conf
| listen {FRONT}
| server 0 address 127.0.0.1 port {P0}
| dsr_ip 10.0.0.3
> reload
< error: reload: {DIR}pen.conf:3: dsr_ip: can be set only at startup
signal HUP
says not reloaded error="reload: {DIR}pen.conf:3: dsr_ip: can be set only at startup"
> show settings json
~ "dsr_ip":[]
ask x = server 0: x
