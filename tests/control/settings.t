# settings: asked for, set, refused, as JSON
pen -x 500 {FRONT} {S0} {S1}
> blacklist
< 30
> blacklist 5
< 5
> blacklist json
< {"blacklist":5}
> blacklist x
< error: blacklist: "x" is not a valid duration (5, 0.5, 200ms, 5m, 2h)
> blacklist 0
< 0
> timeout
< 3
> timeout 7
< 7
> retry
< 3
> retry 0; retry 1.5
< 0
< 1.500
> resolve_interval
< 60
> resolve_interval 0.5; resolve_interval 0
< 0.500
< 0
> spin auto; spin
< auto
> spin on
< error: spin: expects off or auto, got "on"
> spin off
> sandbox
< off
> sandbox on
< error: sandbox: can be set only at startup
> fit_file
> fit_file /run/fit
< error: fit_file: can be set only at startup
> start_unresolved
> no start_unresolved
> resolve_interval x
< error: resolve_interval: "x" is not a valid duration (5, 0.5, 200ms, 5m, 2h)
> resolver
> resolver 127.0.0.1
< error: resolver: can be set only at startup
> retry_requests
< 1
> retry_requests 0; retry_requests 3
< 0
< 3
> retry_requests json
< {"retry_requests":3}
> retry_requests 101
~ error: retry_requests: 
> statistics
~ requests_retried 0
> tries
< 0
> tries 2
< 2
> tries -1
~ error: tries: 
> tries 0
< 0
> queue
< 0
> queue 2.5; queue
< 2.500
< 2.500
> queue x
< error: queue: "x" is not a valid duration (5, 0.5, 200ms, 5m, 2h)
> queue 0
< 0
> tracking
< 0
> tracking 60
< 60
> clients_max 70000
< 70000
> clients_max 3000
< 70000
> conn_max
< 500
> conn_max 1000
< 1000
> conn_max 5
< 1000
> conn_max_all
< 0
> conn_max_all 300
< 300
> conn_max_all 0
< 0
> pending_max 20
> pending_max
< 20
> accept_max 5
< 5
> sticky_prefix6
< 64
> sticky_prefix6 128
< 128
> hash_prefix6 64
< 64
> idle_timeout
< Idle timeout: 0 seconds
> idle_timeout 600
< Idle timeout: 600 seconds
> hello_timeout
< 10
> hello_timeout 5
< 5
> peek_wait 2
< 2
> peek_wait
< 2
> peek; no peek
> proxy_protocol 1; proxy_protocol 2
> show settings json
~ "proxy_protocol":"2"
> proxy_protocol 3
< error: proxy_protocol: expects 1|2|off, got "3"
> proxy_protocol off
> server 0 proxy_protocol 1; server 0 proxy_protocol off; server 0 proxy_protocol 2
> servers json
~ "proxy_protocol":"2"
> server 0 proxy_protocol 3
< error: server: proxy_protocol expects off, 1, 2 or default, got "3"
> server 0 proxy_protocol default
> half_timeout 100
< 100
> linger 5
< 5
> buffer 64k
< 65536
> buffer 0
< 0
> rate_down 100k
< 102400
> rate_up 1m; rate_down 0; rate_up 0
< 1048576
< 0
< 0
> sndbuf 64k
< 65536
> rcvbuf 64k; sndbuf 0; rcvbuf 0
< 65536
< 0
< 0
> keepalive_time
< 60
> keepalive_time 90
< 90
> keepalive_interval 5
< 5
> keepalive_count
< 6
> keepalive_count 128
< error: keepalive_count: 128 out of range 0..127
> user_timeout
< 0
> user_timeout 2.5
< 2.500
> keepalive; no keepalive
> splice; no splice; splice
> no transparent
> freebind; no freebind
> listen_mode
> listen_mode 660
> listen_mode
< 0660
> listen_mode rw-rw----
< error: listen_mode: "rw-rw----" is not an octal mode such as 0660
> no listen_mode
> tcp_nodelay; no tcp_nodelay
> tcp_fastclose both; tcp_fastclose off
> tcp_fastclose sideways
< error: tcp_fastclose: expects up|down|both|off, got "sideways"
> source 127.0.0.1
ask x = server 0: x
> source 127.0.0.1 192.0.2.1
< error: source: "192.0.2.1": not an address of this host
> source 127.0.0.1 ::1 127.0.0.2
ask x = server 0: x
ask x = server 0: x
> no source
> source
< error: source: expects IP [IP ...]
> ascii; no ascii
> abort_on_error; no abort_on_error
> debug
< 0
> debug 1
< 1
> debug json
< {"debug":1}
> debug 0
< 0
> block; no block; delayed_forward; no delayed_forward

# a web server instead of the servers, as long as it is wanted
> dummy; no dummy
ask x = server 0: x

# what only a start can change
> backlog
< 4096
> backlog 10
< error: backlog: can be set only at startup
> poll
< error: poll: can be set only at startup
> select
< error: select: can be set only at startup
> epoll
< error: epoll: can be set only at startup
> kqueue
< error: kqueue: can be set only at startup

> show settings
~ timeout 7
~ no keepalive
~ tcp_nodelay
> show stat
< error: show: no "stat" (did you mean servers long?)
> show sess
< error: show: no "sess" (did you mean connections?)
> show colours
< error: show: expects settings
> show settings json
~ "timeout":7
~ "idle_timeout":600
~ "tcp_fastclose":"off"
~ "udp_proxy":"off"
~ "source":null
~ "dsr_ip":[]
~ "dsr_forward":"mac"
~ "tarpit_acl":-1
~ "check":"none"
~ "method":null
~ "pid-file":null
> timeout 0.2; timeout json
< 0.200
< {"timeout":0.2}
> show settings json
~ "timeout":0.2,
> timeout 7
< 7
> show
< error: show: expects settings
> help timeout
< timeout [SEC]                 connect timeout
> help json
~ {"command":"timeout","arguments":"[SEC]"
> help json
~ "group":"choosing"
> help timout
< error: help: unknown command "timout" (did you mean timeout?)
> blaklist
< error: unknown command "blaklist" (did you mean blacklist?)
> no blacklist
< error: no blacklist: there is no "no blacklist"; "blacklist 30" is the default
> "mode
< error: missing closing quote
> # nothing

# several on a line: until one is refused
> timeout 1; timeout x; timeout 2
< 1
< error: timeout: "x" is not a valid duration (5, 0.5, 200ms, 5m, 2h)
> timeout
< 1
> 'mode'; "pid" # and a comment; timeout 9
< no hash no roundrobin no stubborn no weight no prio
< {PID}
# a program that is run when the state of a server changes
> on_state
> on_state program
< error: on_state: "program": expects an absolute path
> on_state /nonexistent/program
~ "/nonexistent/program": No such file
> on_state /bin/true
> on_state
< /bin/true
> show settings
~ on_state /bin/true
> no on_state
> on_state
