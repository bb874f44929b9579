# which server a client would get, and why: what is said is what happens next
pen -r {FRONT} {S0} {S1} {S2}
> explain 10.1.2.3
< client 10.1.2.3
< server 0
< name 127.0.0.1
< address {S0}
< rule balance
< because roundrobin chooses it
< acl 0
< permitted yes
< entry none
< remembered none
> explain 10.1.2.3:70
~ client 10.1.2.3:70
~ server 0
ask a = server 0: a
> acl 1 deny 127.0.0.1; server 1 acl 1; server 2 drain; explain 127.0.0.1
~ server 0
~ rule passed_on
~ because roundrobin chooses server 1, whose access list denies the client
~ 1 name 127.0.0.1 obstacle acl
~ 2 name 127.0.0.1 obstacle drain
> explain ::1
~ server 1
ask b = server 0: b
> acl 0 deny 10.0.0.0/8; explain 10.9.9.9
~ server -1
~ rule none
~ because access list 0 denies the client, and there is no abuse server
~ permitted no
~ entry 1
~ matches deny 10.0.0.0 255.0.0.0
> abuse {S3}; explain 10.9.9.9
~ rule abuse
> server all drain; emergency {S3}; explain unix
~ client unix
~ rule emergency
> no emergency; explain ::1 json
~ {"client":"::1","server":-1,"rule":"none","because":"no server may take the client",
~ "passed_over":[{"server":0,"name":"127.0.0.1","obstacle":"drain"}
> explain
< error: explain: expects ADDRESS[:PORT]|unix [sni|alpn|host|protocol NAME ..]
> explain x
< error: explain: "x" is not a client: ADDRESS, ADDRESS:PORT, unix or unix:uid=N,gid=N

# the server that it used last
> no emergency; no abuse; no acl 0; server all up; server 1 acl 0
> sticky
ask c = server 1: c
> explain 127.0.0.1
~ server 1
~ rule sticky
~ because the client used this server last, 
~ remembered 1
