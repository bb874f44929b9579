# the memory of clients: asked, changed, and where clients return to
pen {FRONT} {S0} {S1} {S2}
> client 127.0.0.1
< error: client: 127.0.0.1 is not remembered
> client
< error: client: expects ADDRESS [forget|move SERVER]
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
~ error: client: there is no server 7
> client 127.0.0.1 move {S2}
ask b = server 2: b
> client 127.0.0.1 move 1
> client 127.0.0.1 move
< error: client: expects ADDRESS [forget|move SERVER]
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

# sessions that are old, or too many for their server
> max_age
< 0
> max_age 3600
< 3600
> max_age 0
< 0
> rebalance
< error: rebalance: expects PERCENT
> rebalance 200
< error: rebalance: "200" is not a number from 1 to 100
> quiet_end none; rebalance 20
< error: rebalance: quiet_end is none
> balance hash; quiet_end all; rebalance 20
< error: rebalance: the algorithm depends on the client's address
> balance default
> server 1 maint; server 2 maint; quiet_time 0.1
< 0.100
hold k
hold l
> server 1 up; rebalance 50
< 1
> servers
? 0 addr 127.0.0.1 port {P0} conn 1 
> rebalance 50
< 0
