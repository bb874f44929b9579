# logs and the status page
pen -r -O web_stats^{DIR}page.html {FRONT} {S0}
> log
> log {DIR}requests
> log
< {DIR}requests
> log json
< {"log":"{DIR}requests"}
ask first = server 0: first
has requests 127.0.0.1 first
move requests
signal HUP
there requests
ask second = server 0: second
has requests 127.0.0.1 second
> no log
> log
> log {DIR}no/such/directory
~ error: log: log "{DIR}no/such/directory": No such file
> log
> web_stats
< {DIR}page.html
signal USR1
has page.html </html>
# a line for each session
> session_log; log_format; log_sample
< auto
< logfmt
< auto
> session_log {DIR}sessions; log_format common; log_sample 5
< 5
> log_format {ms
< error: log_format: "{ms": "{ms" has no }
> log_format yaml
~ expects logfmt, jsonl, journal, common or a template with {fields}
> log_lines
< text
> log_lines xml
~ error: log_lines: expects text or jsonl
> log_lines jsonl; session_log {DIR}no/s
< error: session_log: "{DIR}no/s": No such file or directory
> log_lines jsonl; session_log {DIR}none
says "level":"info","message":"
> log_lines text; session_log {DIR}sessions
> syslog_facility
< daemon
> syslog_facility local3
> syslog_facility
< local3
> syslog_facility kern
~ error: syslog_facility: expects daemon, user, mail
> syslog_facility daemon
> session_log {DIR}no/sessions
< error: session_log: "{DIR}no/sessions": No such file or directory
> session_log 127.0.0.1:514
< error: session_log: "127.0.0.1:514": neither a destination nor a file, whose name has a slash, or a dot and no colon
> session_log tcp:127.0.0.1:514
~ neither a destination nor a file
> session_log udp:localhost:514
~ names are looked up only at startup: use an IP address
> session_log udp:127.0.0.1
< error: session_log: "udp:127.0.0.1": expects HOST:PORT
> session_log; log_format
< {DIR}sessions
< common
> no session_log
> session_log auto
# a line for each request of HTTP
> request_log; request_format
< combined
> request_log {DIR}http; request_format logfmt
> request_log; request_format
< {DIR}http
< logfmt
> request_format {tried}
< error: request_format: "{tried}": field "tried" is of sessions: log_format has it
> request_log off
says request_format has no effect without request_log
> no request_log; no request_format
# pages about pen
> web
> web 0
< error: web: "0": listening address "0": port out of range 1..65535
> web_acl
< -1
> web_mode
> web_mode 660
> web_mode
< 0660
> no web_mode
> web_host
> web_host status.example.com,pen.example.com
> web_host
< status.example.com,pen.example.com
> web_host http://a
~ is not a list of host names
> web_host a,,b
~ is not a list of host names
> no web_host
> web nowhere:80
~ error: web: "nowhere:80": 
> web 80,81
~ expects one address
> web {DIR}web
> web
< {DIR}web
> no web
# as classic Pen does, status writes it too
> web_stats {DIR}status.html
> status
~ </html>
has status.html </html>
> web_stats {DIR}no/page.html
< error: web_stats: "{DIR}no/page.html": No such file or directory
> web_stats
< {DIR}status.html
> no web_stats
> web_stats
signal USR1
says accepted 2
