# connections, clients, spare connections, the listener
pen {FRONT} {S0} {S1}
> connection 0
< Connection 0:
< state = 0
< downfd = -1, upfd = -1
< client = 0, server = 0
< pend = 0
> connection 0 json
~ {"connection":0,"state":"free","client":null,"server":-1,
> connections
> recent
hold h
> connection 0
~ state = 3
~ server = 0
~ pend = 0
> connection 0 json
~ {"connection":0,"state":"relaying","client":"127.0.0.1:
> connections json
~ "server":0
> servers
~ 0 addr 127.0.0.1 port {P0} conn 1
> socket 99999
< Socket 99999 belongs to connection -1
> socket 99999 json
< {"socket":99999,"connection":-1}
> close 7
< Connection 7 out of range
> connection 100000
< Connection 100000 out of range
> connection 100000 json
< Connection 100000 out of range
> close 7; mode
< Connection 7 out of range
> close 0
< Forcibly closing connection 0
broken
> connections
> servers
~ 0 addr 127.0.0.1 port {P0} conn 0
> statistics
~ closed_stopped 1
> statistics json
~ "closed_stopped":1
> close x
~ error: close: "x" is not a number
ask x = server 0: x
> recent
? 127.0.0.1 connects 2 sx 22 rx 2
> recent 300 json
~ [{"client":"127.0.0.1","connects":2,"sx":22,"rx":2,"server":0,
> recent 5000000
~ 127.0.0.1 connects 2
> recent 0 1
< error: recent: expects [SEC]

# from zero: not what is open, nor what is known of clients
hold y
> statistics
~ sessions 1
> clear counters
> statistics
~ sessions 1
~ sessions_peak 1
~ accepted 0
~ bytes_up 0
~ closed_stopped 0
> servers
~ 0 addr 127.0.0.1 port {P0} conn 1 max 0 hard 0 weight 0 prio 0 sx 0 rx 0
> servers json
~ "connects":0,"failures":0
> recent
~ 127.0.0.1 connects 3
drop
> statistics
? sessions 0
> statistics
~ accepted 0
> clear
< error: clear: expects counters
> clear clients
< error: clear: expects counters
> no clear counters
~ error: 

# two spare connections: a client uses one, another takes its place
> idlers
< Idlers: 0/0
> idlers 2
~ /2
> idlers
? Idlers: 2/2
ask x = server 0: x
> idlers json
? {"open":2,"target":2}
> idlers 0
~ /0
> idlers
? Idlers: 0/0

# the listener moves; who is connected stays
hold h
> listen
< {FRONT}
> listen {OTHER}
< {OTHER}
ask OTHER y = server 0: y
> servers
~ 0 addr 127.0.0.1 port {P0} conn 1
> listen {S3}
~ error: listen: "{S3}": address already in use
> listen {S0}
~ error: listen: server 0 is pen's own listening address {S0}
> listen
< {OTHER}
ask OTHER y = server 0: y
> listen {FRONT},{OTHER}
< {FRONT},{OTHER}
ask y = server 0: y
ask OTHER y = server 0: y
> listen nowhere.invalid:80
~ error: listen: listening address "nowhere.invalid:80"
> status
~ <!DOCTYPE html>
~ <caption>Servers</caption>
> status json
~ "accepted":
