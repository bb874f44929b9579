# defaults: what the services of a file begin with; one that is added has none
file pen.conf
| listen {FRONT}
| server 0 address 127.0.0.1 port {P0}
| defaults # of the next one
| timeout 4; blacklist ${PEN_TEST_NOTHING-7}
| service more
| listen {OTHER}
| server 0 address 127.0.0.1 port {P1}
| timeout 5
pen -F {DIR}pen.conf
> timeout; service more timeout; service more blacklist
< 3
< 5
< 7
ask a = server 0: a
ask OTHER b = server 1: b
> defaults
< error: defaults: only in a file: it begins a section
> service more defaults
< error: defaults: only in a file: it begins a section
> service add third; service third timeout
< 3
> service third remove
> service more timeout 4; service more no blacklist
~ error: no blacklist: there is no "no blacklist"
> service more blacklist 30
< 30
> diff
< -service more blacklist 7
< -service more timeout 5
< +service more blacklist 30
< +service more timeout 4
> write
> diff
has pen.conf timeout 4
has pen.conf ${PEN_TEST_NOTHING-7}
has pen.conf blacklist 30
file pen.conf
| listen {FRONT}
| server 0 address 127.0.0.1 port {P0}
| defaults
| timeout 9
| server 1 address 127.0.0.1 port {P2}
| service more
| listen {OTHER}
| server 0 address 127.0.0.1 port {P1}
> reload
~ pen.conf:5: server: not in "defaults", as each service has its own: below "service NAME"
> service more timeout
< 4
