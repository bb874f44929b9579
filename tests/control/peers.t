# peers: the settings; tests/system/test_peers has what they do
pen -r {FRONT} {S0}
> peers
> peers json
< []
> peer
> peer 127.0.0.1:9 key {DIR}none
~ error: peer: "{DIR}none": No such file
> peer 127.0.0.1 key {DIR}none
< error: peer: "127.0.0.1" is not an IP address with a port
> peer localhost:9 key {DIR}none
< error: peer: "localhost:9" is not an IP address with a port
> peer 127.0.0.1:9 {DIR}none
< error: peer: expects [ADDRESS:PORT key FILE]
> peer 127.0.0.1:9 secret {DIR}none
< error: peer: expects [ADDRESS:PORT key FILE]
file short
| secret
> peer_listen 127.0.0.1:0 key {DIR}short
< error: peer_listen: "127.0.0.1:0" is not an IP address with a port
> peer_listen {OTHER} key {DIR}short
~ error: peer_listen: "{DIR}short": 
> peer_listen
> no peer
> no peer 127.0.0.1:9
> no peer_listen
> statistics
~ accepted 0
