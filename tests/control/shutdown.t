# shutdown: no new clients, those that are there go on
pen -r {FRONT} {S0} {S1}
> drain_timeout
< 30
> drain_timeout 60
< 60
> quiet_time 0.5
< 0.500
> quiet_time 0
~ error: quiet_time: 
> quiet_end
< http
> quiet_end sometimes
< error: quiet_end: expects http, all or none, got "sometimes"
> quiet_end all; quiet_end none
> quiet_end
< none
> on_down
< keep
> on_down cut
> on_down
< cut
> on_down maybe
< error: on_down: expects keep or cut, got "maybe"
> on_up
< keep
> on_up cut
> on_up
< cut
> on_up maybe
< error: on_up: expects keep or cut, got "maybe"
> server 0 on_down keep; server 1 on_down cut; server 1 on_down default
> servers json
~ "on_down":"keep"
> server 0 on_down maybe
< error: server: on_down expects keep, cut or default, got "maybe"
> shutdown soon
< error: shutdown: "soon" is not a valid duration (5, 0.5, 200ms, 5m, 2h)
> shutdown 1 2
< error: shutdown: expects [SEC]
ask a = server 0: a
hold b
> shutdown
< stopping, 1 session left
says stopping reason="by uid=
says sessions=1 timeout_ms=60000
> mode
< no hash roundrobin no stubborn no weight no prio
< stopping, 1 session left
> mode json
~ "stopping":1
> status
~ warn">stopping, 1 session left
# settings may change, but not where clients come in
> quiet_time 2; timeout 5
< 2
< 5
> listen {OTHER}
< error: listen: pen is stopping and opens no new listening sockets
# another time for it
> shutdown 50
< stopping, 1 session left
says sessions=1 timeout_ms=50000
> drain_timeout 0.2
< 0.200
broken
says stopped sessions=1
ended 0

# those that are left when the time is over are cut
pen -r {FRONT} {S0}
hold a
> shutdown 0.2
~ stopping, 1 session left
broken
says stopped sessions=1
ended 0

# signals: the second one ends at once
pen -r {FRONT} {S0}
hold a
signal QUIT
says stopping reason="SIGQUIT" sessions=1 timeout_ms=30000
signal QUIT
broken
ended 0

pen -r {FRONT} {S0}
hold a
signal QUIT
says stopping reason="SIGQUIT" sessions=1
signal TERM
broken
ended 0

# with nobody there it is over at once; in a file it has no meaning
file stop.conf
| shutdown
pen -r {FRONT} {S0}
> include {DIR}stop.conf
~ shutdown
signal QUIT
says stopped sessions=0
ended 0
