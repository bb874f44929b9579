# the memory of clients: asked, changed, and where clients return to
pen {FRONT} {S0} {S1} {S2}
> client 127.0.0.1
< error: client: 127.0.0.1 is not remembered
> client
< error: client: expects ADDRESS [forget|move N]
> client localhost
< error: client: "localhost" is not an IP address
ask a = server 0: a
> client 127.0.0.1
~ server 0
> client 127.0.0.1 json
~ "connects":1
> client 127.0.0.1 move 1
ask b = server 1: b
> client 127.0.0.1
~ server 1
> client 127.0.0.1 move 7
< error: client: there is no server 7
> client 127.0.0.1 move
< error: client: expects ADDRESS [forget|move N]
> client 127.0.0.1 forget
> client 127.0.0.1 forget
< error: client: 127.0.0.1 is not remembered
> client ::1 move 2
> client ::1
~ connects 0
# by default a client stays where it was moved to
> failback
< never
> client 127.0.0.1 move 0
ask c = server 0: c
> server 0 maint; server 2 maint
ask d = server 1: d
> server 0 up
ask e = server 1: e
> failback sometimes
< error: failback: expects never, idle or now, got "sometimes"
> failback now
> server 1 maint
ask f = server 0: f
> client 127.0.0.1
~ home 1
> explain 127.0.0.1
~ rule sticky
> server 1 up; explain 127.0.0.1
~ rule failback
ask g = server 1: g
> failback idle
> server 1 maint
hold h
> server 1 up
ask i = server 0: i
drop
> servers
? 0 addr 127.0.0.1 port {P0} conn 0 
ask j = server 1: j
> no sticky; client 127.0.0.1
< error: client: clients are not remembered
