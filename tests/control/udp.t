# datagrams: settings and flows (tests/system/test_udp has the traffic)
pen -r {FRONT} {S0}
> udp
< error: udp: can be set only at startup
> dns
< error: dns: can be set only at startup
> dns_retry
< 1
> dns_retry 0.5
< 0.500
> dns_timeout
< 5
> dns_timeout 2.5
< 2.500
> dns_max
< 65536
> dns_max 1000
< 1000
> udp_timeout
< 60
> udp_timeout 1.5
< 1.500
> udp_responses
< 0
> udp_responses 1
< 1
> udp_requests
< 0
> udp_requests 5
< 5
> udp_fail
< 10
> udp_fail 3
< 3
> udp_pmtu; no udp_pmtu
> udp_proxy first; udp_proxy every; udp_proxy off
> udp_proxy often
< error: udp_proxy: expects off|first|every, got "often"
> flows
> flows json
< []
> flow 0
< error: flow: there is no flow 0
> flow
< error: flow: expects N
> statistics
~ flows 0
~ datagrams_up 0
