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
> dsr_if eth0
< error: dsr_if: not implemented yet
> dsr_ip 10.0.0.1
< error: dsr_ip: not implemented yet
> tarpit_acl 3
< error: tarpit_acl: not implemented yet
> ssl_cert x
~ error: ssl_cert: 
> ssl_key x
~ error: ssl_key: 
> ssl_ca_file x
~ error: ssl_ca_file: 
> ssl_ca_dir x
~ error: ssl_ca_dir: 
> ssl_require
~ error: ssl_require: 
> ssl_compat
~ error: ssl_compat: 
> ssl_protocol tls1
~ error: ssl_protocol: 
> ssl_ciphers ALL
~ error: ssl_ciphers: 
> ssl_option no_sslv2
~ error: ssl_option: 
> ssl_sni_path x
~ error: ssl_sni_path: 
> ssl_ocsp_response x
~ error: ssl_ocsp_response: 
> ssl_client_renegotiation_interval
~ error: ssl_client_renegotiation_interval: 
