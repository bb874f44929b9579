# upgrade: what is refused at once; tests/system/test_upgrade has the rest
file pen.conf
| listen {FRONT}
| server 0 address 127.0.0.1 port {P0}
pen -F {DIR}pen.conf
> upgrade soon
< error: upgrade: "soon" is not a valid duration (5, 0.5, 200ms, 5m, 2h)
> upgrade 1 2
< error: upgrade: expects [SEC]
> no upgrade
< error: no upgrade: there is no "no upgrade"
> help upgrade
~ upgrade [SEC]
file pen.conf
| listen {FRONT}
| server 0 address 127.0.0.1 port {P0}
| upgrade
> reload
~ upgrade: only on the control socket
# who drains has handed nothing over, and does not any more
hold a
> shutdown 60
~ stopping, 1 session left
> upgrade
< error: upgrade: pen is stopping
