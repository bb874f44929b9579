# a start without servers: they come later
pen -r {FRONT}
says no server: clients cannot be served until one is added
> servers
> server add {S1}
< 0
ask x = server 1: x
> server 0 remove
> explain 10.0.0.1
~ no server
