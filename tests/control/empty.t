# a start without servers: they come later
pen -r {FRONT}
> servers
> server add {S1}
< 0
ask x = server 1: x
> server 0 remove
> explain 10.0.0.1
~ no server
