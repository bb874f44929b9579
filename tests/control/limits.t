# limits of each client, and of all (tests/system/test_client_limits has what becomes of clients)
pen -r {FRONT} {S0} {S1}
> client_conns
< 0
> top clients
> top clients json
< []
> client_conns 2; client_conns
< 2
< 2
> client_conns x
< error: client_conns: "x" is not a valid number
> client_rate
< 0
> client_rate 100; client_rate 5/0.5
< 100/1
< 5/0.500
> client_rate json
< {"client_rate":"5/0.500"}
> client_rate 5/
< error: client_rate: "5/" is not a rate (100, 100/10), from 0 to 1000000000 in up to a day
> client_rate 5/0
~ is not a rate
> client_rate -1/1
~ is not a rate
> client_rate 1 2
< error: client_rate: takes one argument, got "2"
> client_rate
< 5/0.500
> client_rate 0/7
< 0
> conn_rate
< 0
> conn_rate 1000/1; conn_rate 0
< 1000/1
< 0
> client_prefix4
< 32
> client_prefix4 24; client_prefix4 32
< 24
< 32
> client_prefix6 0
< error: client_prefix6: 0 out of range 1..128
> client_prefix6; client_prefix6 56
< 64
< 56
> client_limit_action
< refuse
> client_limit_action delay; client_limit_action tarpit; client_limit_action refuse
> client_limit_action shoot
< error: client_limit_action: expects refuse, delay, tarpit or abuse, got "shoot"
> client_limit_time; client_limit_time 2.5
< 10
< 2.500
> client_limit_max; client_limit_max 20
< 1000
< 20
> client_limit_table; client_limit_table 500
< 100000
< 500
> client_exempt_acl
< -1
> client_exempt_acl 3; no client_exempt_acl; client_exempt_acl
< 3
< -1
> client_exempt_acl 10
~ error: client_exempt_acl: 

# who has most; who would be refused
hold a
> top clients
~ 127.0.0.1 conns 1 waiting 0 rate 
~ passed 1 limited 0
> explain 127.0.0.1
~ server 1
~ rule balance
hold b
> explain 127.0.0.1
~ server -1
~ rule limit
~ because the client has the 2 connections that client_conns allows: it is refused
> explain 127.0.0.2
~ rule balance
> client_limit_action abuse; abuse {S3}; explain 127.0.0.1
~ name 127.0.0.1
~ rule limit
~ it gets the abuse server
ask c = server 3: c
> statistics
~ limit_abuse 1
> acl 5 permit 127.0.0.0/8; client_exempt_acl 5; explain 127.0.0.1
~ rule balance
> client_exempt_acl -1; no acl 5; client_exempt_acl 5; explain 127.0.0.1
~ rule limit
> top clients 5 limited
~ 127.0.0.1 conns 2 
~ passed 2 limited 1
> top clients 1 json
~ [{"client":"127.0.0.1","conns":2,"waiting":0,"rate":
> top clients rate
~ 127.0.0.1 conns 2 
> top clients 0
< error: top: "0" is not a number from 1 to 1000
> top clients best
< error: top: "best": expected conns, rate or limited
> top clients 1 rate 3
< error: top: expects clients [N] [conns|rate|limited]
> top
< error: top: expects clients [N] [conns|rate|limited]
drop
drop
> top clients
? 127.0.0.1 conns 0 
> client_conns 0; client_rate 0; client_limit_action refuse
< 0
< 0
