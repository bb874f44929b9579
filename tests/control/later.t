# what comes later says so
pen -r {FRONT} {S0}
> http
< error: http: not implemented yet
> no http; no peek; no transparent
> no tarpit_acl
< error: no tarpit_acl: not implemented yet
> peek
< error: peek: not implemented yet
> transparent
< error: transparent: not implemented yet
> tarpit_acl 3
< error: tarpit_acl: not implemented yet
