# what comes later says so
pen -r {FRONT} {S0}
> http
< error: http: not implemented yet
> no http; no peek; no transparent
> peek
< error: peek: not implemented yet
> transparent
< error: transparent: not implemented yet
