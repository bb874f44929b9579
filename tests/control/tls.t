# TLS: certificates come, change and go while it runs
pen -r {FRONT} {S0}
> certs
> certs json
< []
> ssl_cert {DIR}none.pem
~ error: ssl_cert: "{DIR}none.pem": No such file
> ssl_key {DIR}none.key
< error: ssl_key: ssl_key needs ssl_cert (-E)
> ssl_require
< error: ssl_require: ssl_require needs ssl_cert (-E) or ssl_sni_path (--sni-path)
ask x = server 0: x
cert a.test
cert b.test
> ssl_cert {DIR}a.test.pem
> ssl_cert
< {DIR}a.test.pem
> dummy
~ dummy does not support TLS
> ssl_cert {DIR}a.test.pem; ssl_key {DIR}b.test.pem
~ key does not match the certificate
> ssl_key
> certs
~ a.test file {DIR}a.test.pem ends
~ for default used 0
> ssl_cert {DIR}b.test.pem
> certs
~ b.test file
# both are ECDSA: clients get the last one
> certs json
~ "cert":"a.test","file":"{DIR}a.test.pem"
~ "for":"none"
> write all {DIR}conf
has conf ssl_cert {DIR}a.test.pem
has conf ssl_cert {DIR}b.test.pem
has conf ssl_min
# whose key it is, and where that was set
file pair.conf
| ssl_cert {DIR}a.test.pem {DIR}none.key
> include {DIR}pair.conf
~ {DIR}pair.conf:1: ssl_cert: "{DIR}none.key": No such file
file pair.conf
| no ssl_cert
| ssl_cert {DIR}a.test.pem
| ssl_key {DIR}a.test.pem
| no ssl_cert
| ssl_cert {DIR}b.test.pem {DIR}none.key
> include {DIR}pair.conf
~ {DIR}pair.conf:5: ssl_cert: "{DIR}none.key": No such file
> no ssl_cert
> certs
ask x = server 0: x
> ssl_sni_path {DIR}nowhere
~ error: ssl_sni_path: "{DIR}nowhere": No such file
> ssl_sni_path {DIR}
> certs
~ for name used 0
> ssl_strict_sni; no ssl_strict_sni
> no ssl_sni_path
> ssl_cert {DIR}a.test.pem; ssl_require
< error: ssl_require: ssl_require needs ssl_ca_file (-G) or ssl_ca_dir (-A)
> ssl_request
< error: ssl_request: ssl_request needs ssl_ca_file (-G) or ssl_ca_dir (-A)
> ssl_cert {DIR}a.test.pem; ssl_ca_file {DIR}a.test.pem; ssl_require
> ssl_ca_file
< {DIR}a.test.pem
> no ssl_require; no ssl_ca_file; ssl_ca_dir {DIR}; ssl_request
> no ssl_ca_dir
~ error: no ssl_ca_dir: ssl_request needs
> ssl_request_any; no ssl_ca_dir; ssl_ca_dir {DIR}; no ssl_request_any
> no ssl_request; no ssl_ca_dir
> ssl_crl {DIR}a.test.pem
~ no revocation list
> ssl_min
< tls1.2
> ssl_min tls1.3
> ssl_min
< tls1.3
> ssl_min json
< {"ssl_min":"tls1.3"}
> ssl_min tls1.1
< error: ssl_min: expects tls1.2 or tls1.3, got "tls1.1"
> ssl_protocol ssl3
< error: ssl_protocol: SSL 3 is broken and refused (RFC 7568)
> ssl_protocol tls1
< error: ssl_protocol: TLS 1.0 is obsolete and refused (RFC 8996)
> ssl_protocol ssl23
> ssl_option no_sslv2; ssl_option no_tlsv1.1; ssl_option cipher_server_preference
> no ssl_option cipher_server_preference
> ssl_option
~ error: ssl_option: expects
> ssl_compat
> ssl_ciphers NONSENSE
~ error: ssl_ciphers: ssl_ciphers "NONSENSE": 
> ssl_ciphers ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256
> no ssl_ciphers
> ssl_ciphersuites TLS_AES_128_GCM_SHA256
> no ssl_ciphersuites
> ssl_groups nonsense
~ error: ssl_groups: ssl_groups "nonsense": 
> ssl_groups P-256
> no ssl_groups
> ssl_alpn h2,,
< error: ssl_alpn: ssl_alpn "h2,,": expects comma-separated names
> ssl_alpn "h2 http/1.1"
< error: ssl_alpn: ssl_alpn "h2 http/1.1": expects comma-separated names
# which would refuse all clients
> ssl_strict_sni
< error: ssl_strict_sni: ssl_strict_sni needs ssl_sni_path (--sni-path)
> ssl_alpn h2,http/1.1
> ssl_alpn
< h2,http/1.1
> no ssl_alpn
> ssl_ticket_key {DIR}a.test.pem
~ expected 1 to 8 keys of 80 bytes
> no ssl_tickets; ssl_session_cache 100; ssl_tickets
< 100
> ssl_ocsp_response {DIR}none
~ No such file
> ssl_client_renegotiation_interval
< 0
> ssl_client_renegotiation_interval 60
< 60
> ssl_handshake_timeout
< 10
> ssl_require_close_notify; no ssl_require_close_notify
> ssl_watch 1
< 1
> ssl_warn 60
< 60
> ssl_password {DIR}nowhere
~ error: ssl_password: "{DIR}nowhere": No such file
> ssl_password {DIR}a.test.pem
> ssl_password
< {DIR}a.test.pem
> no ssl_password
> ssl_refuse_names old.test,*.old.test
> ssl_refuse_names
< old.test,*.old.test
> no ssl_refuse_names
> no ssl_upstream_resume; ssl_upstream_resume; ssl_upstream_alpn none
> no ssl_upstream_alpn
> ssl_upstream; no ssl_upstream; ssl_upstream_verify
> ssl_upstream_ca {DIR}a.test.pem; ssl_upstream_name a.test
> ssl_upstream_name
< a.test
> ssl_upstream_cert {DIR}a.test.pem
> ssl_upstream_key {DIR}b.test.pem; server 0 tls on
~ key does not match the certificate
> no ssl_upstream_key; ssl_upstream_alpn http/1.1; server 0 tls on
> servers json
~ "tls":"on"
> certs
~ for servers
> server 0 tls sideways
~ tls expects on, off or default
> server 0 tls default; no ssl_upstream_cert
> no ssl_cert
< error: no ssl_cert: ssl_option needs ssl_cert (-E) or ssl_sni_path (--sni-path)
> ssl_option cipher_server_preference
> ssl_session_cache 20000; ssl_client_renegotiation_interval 0; no ssl_cert
< 20000
< 0
ask x = server 0: x
