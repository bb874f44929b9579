# what a reload leaves as it was, and what it keeps
file pen.conf
| listen {FRONT}
| server 0 address 127.0.0.1 port {P0}
| server 1 address 127.0.0.1 port {P1}
pen -F {DIR}pen.conf
says services=1 servers=2 listen={FRONT}
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
< error: recent: no clients are remembered without "sticky"

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

# all wrong lines are answered at once, and nothing has changed
file more.conf
| frobnicate
| timeout x
file pen.conf
| listen {FRONT}
| server 0 address 127.0.0.1 port {P0}
| timeout 9
| blance prio
| include {DIR}more.conf
| service 1x
| frobnicate
| service web
| server 0 port x
> reload
< error: reload: {DIR}pen.conf:4: unknown command "blance" (did you mean balance?)
< error: reload: {DIR}pen.conf:5: include: {DIR}more.conf:1: unknown command "frobnicate"
< error: reload: {DIR}pen.conf:5: include: {DIR}more.conf:2: timeout: "x" is not a valid duration (5, 0.5, 200ms, 5m, 2h)
< error: reload: {DIR}pen.conf:6: service: "1x" is not a valid name (a letter, then letters, digits, ".", "-", "_"; at most 31) (its section is not checked)
< error: reload: {DIR}pen.conf:9: server: "x" is not a valid port or service name
> include {DIR}more.conf
< error: include: {DIR}more.conf:1: unknown command "frobnicate"
< error: include: {DIR}more.conf:2: timeout: "x" is not a valid duration (5, 0.5, 200ms, 5m, 2h)
> timeout
< 3
> services
~ default
file pen.conf
| listen {FRONT}
| server 0 address 127.0.0.1 port {P0}
| client_acl office
| tarpit_acl guests
> reload
< error: reload: {DIR}pen.conf:3: client_acl: there is no access list "office", which client_acl names
< error: reload: {DIR}pen.conf:4: tarpit_acl: there is no access list "guests", which tarpit_acl names
ask y = server 1: y
