# what comes later says so
pen -r {FRONT} {S0}
> http
< error: http: not implemented yet
> no http
