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
