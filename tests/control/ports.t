# servers on the port that the client came to are checked at the first one
stop 3
pen -r -O check^connect {S3},{FRONT} 127.0.0.2:0
> checks
? 0 check connect state down
> checks
~ address 127.0.0.2:{P3} 
> check_port {P0}
< {P0}
> checks
? address 127.0.0.2:{P0} 
> check_port 0
< 0
> checks
? address 127.0.0.2:{P3} 
> server 0 check_port {P1}
> checks
? address 127.0.0.2:{P1} 
> server 0 check_port 0
> listen {FRONT}
< {FRONT}
> checks
? address 127.0.0.2:
> listen {S3},{FRONT}
< {S3},{FRONT}
> checks
? address 127.0.0.2:{P3} 
