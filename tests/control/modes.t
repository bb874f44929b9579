# modes and algorithms: what they print and whom they choose
pen {FRONT} {S0} {S1}
> mode
< no hash no roundrobin no stubborn no weight no prio
ask a = server 0: a
ask b = server 0: b
> roundrobin
ask a = server 1: a
ask b = server 0: b
> mode
< no hash roundrobin no stubborn no weight no prio
> hash; weight; prio; stubborn
> mode
< hash roundrobin stubborn weight prio
> mode json
< {"hash":true,"roundrobin":true,"stubborn":true,"weight":true,"prio":true,"balance":"prio"}
> server 0 prio 2; server 1 prio 1
ask p = server 1: p
> no prio; no weight; no hash; no stubborn
> balance leastconn
> mode json
~ "balance":"leastconn"
hold h
ask c = server 1: c
drop
> mode
< no hash no roundrobin no stubborn no weight no prio
> balance roundrobin; mode
< no hash roundrobin no stubborn no weight no prio
> balance wleastconn; mode
< no hash no roundrobin no stubborn weight no prio
> balance hash; mode json
~ {"hash":true,"roundrobin":false,"stubborn":false,"weight":false,"prio":false,"balance":"hash"}
> balance prio; mode
< no hash no roundrobin no stubborn no weight prio
> balance rr; mode json
~ "balance":"roundrobin"
> balance lc; mode json
~ "balance":"leastconn"
> balance wlc; mode json
~ "balance":"wleastconn"
> balance sh; mode json
~ "balance":"hash"
> balance pigeon
~ error: balance: unknown algorithm "pigeon"
> balance default
> sticky
ask a = server 0: a
ask a = server 0: a
> no sticky
> pid
< {PID}
> pid json
< {"pid":{PID}}
