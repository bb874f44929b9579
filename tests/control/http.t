# HTTP: settings, and what servers get (tests/system/test_http has the rest)
pen -r {FRONT} {S0}
> http
> no http
> forwarded
< append
> forwarded json
< {"forwarded":"append"}
> forwarded replace; forwarded
< replace
> forwarded trust 3; forwarded
< trust 3
> forwarded trust
< error: forwarded: expects append, replace or trust LIST
> forwarded trust 10
~ error: forwarded: 
> forwarded trust proxies
~ there is no access list "proxies"
> acl proxies permit 10.0.0.1; forwarded trust proxies; forwarded
< trust proxies
> forwarded sometimes
< error: forwarded: expects append, replace or trust LIST
> http_forwarded
> no http_forwarded
> http_status
> no http_status
> http_connect
> no http_connect
> redirect_https
< 0
> redirect_https 443
< 443
> redirect_https json
< {"redirect_https":443}
> redirect_https 65536
~ error: redirect_https: 
> redirect_https www
~ error: redirect_https: 
> redirect_https 0
< 0
> http_errors
< 10
> http_errors 0
< 0
> http_errors json
< {"http_errors":0}
> http_errors 101
~ error: http_errors: 
> http_errors 10
< 10
> http; servers long
~ http_5xx 0 http_errors 0
> services
~ http_errors ""
> no http
> observe
< off
> observe 5xx 20/10; observe
< 5xx 20/10
> observe json
< {"observe":"5xx 20/10"}
> observe 4xx 20/10
< error: observe: expects off or 5xx N/SEC
> observe 5xx
< error: observe: expects off or 5xx N/SEC
> observe 5xx many
~ error: observe: "many" is not a rate
> observe 5xx 0; observe
< off
> no observe; observe
< off
> http_request_id
> http_request_id on; http_request_id
< X-Request-ID
> http_request_id X-Trace X-Other
~ error: http_request_id: 
> http_request_id X-Trace
> http_request_id json
< {"http_request_id":"X-Trace"}
> http_request_id Content-Length
~ error: http_request_id: expects on, off or the name of a header field
> no http_request_id; http_request_id
> http_request_id off
> http_sticky
> http_sticky SRV; http_sticky
< SRV
> http_sticky json
< {"http_sticky":"SRV"}
> no http_sticky; http_sticky
> http_sticky a=b
~ error: http_sticky: expects the name of a cookie
> http_sticky a b
~ error: http_sticky: 
> no http_sticky SRV
< error: no http_sticky: takes no argument
> no http; http_request_id on
says http_request_id has no effect without http (-H)
> http_request_id off
> observe 5xx 9
says observe has no effect without http (-H)
> observe off
> http_errors 5
< 5
says http_errors has no effect without http (-H)
> http; http_errors 10
< 10
> no http; redirect_https 443
< 443
says redirect_https has no effect without http (-H)
> redirect_https 0
< 0
> http_sticky SRV
says http_sticky has no effect without http
