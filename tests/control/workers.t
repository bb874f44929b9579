# workers: two processes that serve, and one that answers
pen -r --workers 2 --worker-watchdog 20 {FRONT} {S0} {S1}
> workers
< 2
> workers 3
< 3
> workers 2
< 2
> workers 1
< error: workers: the number of workers changes from one to several, or back, only at a start or an upgrade
> workers_by
< address
> workers_by connection
< error: workers_by: can be set only at startup
> worker_watchdog
< 20
> worker_watchdog 10
< 10
> spin
< off
> spin auto
> spin
< auto
ask x = server 0: x
ask y = server 1: y
> statistics
~ accepted 2
> server 0 drain
ask z = server 1: z
> server 0 address nobody.invalid
~ error
> connections
> client 127.0.0.1
< error: client: clients are not remembered
