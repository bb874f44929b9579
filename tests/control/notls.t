# a build without TLS says so
only notls
pen -r {FRONT} {S0}
> ssl_cert x
~ error: ssl_cert: 
> ssl_require
~ error: ssl_require: 
> certs
~ error: certs: 
> ssl_client_renegotiation_interval
~ error: ssl_client_renegotiation_interval: 
> check tls
~ error: check: tls: built without TLS
> server 0 check https /
~ error: server: check https: built without TLS
ask x = server 0: x
