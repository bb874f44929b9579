# health checks: settings, and what they need
pen -r -b 0 {FRONT} {S0} {S1}
> check
< none
> checks
~ error: checks: no check is set
> no check
> check_interval
< 2
> check_interval 0.05
< 0.050
> check_interval_down
< 0
> check_interval_down 0.5
< 0.500
> check_interval_down 0
< 0
> check_timeout 250ms
< 0.250
> check_timeout 10
< 10
> check_rise 1
< 1
> check_fall 2
< 2
> check_fall 0
~ out of range
> check_port
< 0
> check_port 65536
~ out of range 0..65535
> check_initial
< up
> check_initial later
~ expects up, down or checked, got "later"
> check_lazy
> no check_lazy
> panic
< 0
> panic 101
~ out of range 0..100
> panic 50
< 50
> panic 0
< 0
> checks_max
< 256
> checks_max 0
~ out of range
> statistics
~ checks 0
~ checks_skipped 0
~ checks_running 0
~ panic 0
~ panics 0
> check dsr
~ check dsr: dsr_if is not set
> check ping
~ check: unknown kind "ping" (expected connect
> check dsr 80 81
~ dsr: expects [PORT]
> check dsr 0
~ error
> check connect now
~ connect takes no argument, got "now"
> check http
~ http: expects a PATH, which begins with /
> check http / status 99
~ http: status "99": expects a list as 200-399,401, from 200 to 599
> check http / body '\q'
~ http: "\q": expects \r
> check send PING
~ send: expects TEXT expect TEXT
> check expect ''
~ expect: the text is empty
> show settings
~ no check
> show settings
~ check_interval 0.050
> check json
~ "check":"none"
# a server that does not accept gets no client
> check connect
> check
< connect
> checks
? 0 check connect state up result ok address {S0} fall 0 of 2 since
ask x = server 0: x
ask x = server 1: x
stop 1
> checks
? 1 check connect state down result failed address {S1} rise 0 of 1 since
> checks
~ reason Connection refused
ask x = server 0: x
ask x = server 0: x
# the state has the words of other reports
> server 0 drain
> checks
? 0 check connect state drain result ok address {S0} fall 0 of 2 since
> server 0 up
> server 0 blacklist 600
> checks
? 0 check connect state blacklisted result ok
> server 0 blacklist 0
# kinds that talk
> check send x expect 'r 0: x'
> check
< send x expect "r 0: x"
> checks
? 0 check send state up result ok
> write {DIR}send.conf
has send.conf check send x expect "r 0: x"
> check http /health host a.test status 200,404 body ok
> checks
? 0 check http state down result failed
> checks
~ reason not an HTTP/1 response
> check connect
> checks
? 0 check connect state up result ok
> servers long
~ check_kind connect check_result ok check_us 
~ fall 0 of 2
> servers long json
~ "check_kind":"connect","check_result":"ok","check_us":
# one server in a way of its own
> server 1 check off
> checks json
~ "check":"connect","state":"up","result":"ok"
> write {DIR}off.conf
has off.conf server 1 address
has off.conf check off
> server 1 check
~ "check" needs a value
> server 1 check ping
~ check unknown kind "ping"
> server 1 check_port {P0} weight 0 check connect
> checks
? 1 check connect state up result ok address {S0}
> write {DIR}port.conf
has port.conf check_port {P0} check connect
> server 1 check_port 65536
~ out of range 0..65535
> server 1 check_address 127.0.0.1 check_port 0
> checks
? 1 check connect state down
> server 1 check_address name
~ check_address "name" is not an IP address
> write {DIR}address.conf
has address.conf check_address 127.0.0.1
> server 1 check_address default
> server 1 check default
start 1
> checks
? 1 check connect state up result ok address {S1} fall 0 of 2
# the backup server is checked, too
> emergency {S2}
> checks
? 2147483646 check connect state up result ok address {S2}
> no emergency
# a server that is new is not used before its first check
> check_initial checked
> check_interval 10
< 10
> server 3 address 127.0.0.1 port {P3}
> checks
? 3 check connect state up result ok
> no check
> checks
~ no check is set
