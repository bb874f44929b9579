"""What is measured: the table of rows, and how the balancers are started.

A row has targets, which take turns in each round: a balancer, a place on the
horizontal axis (x) if the row is a curve, and options of load. `per` is what its
figure is for: CPU time of a request, connection, handshake, gigabyte; or it is
"us" (latency), "bytes" (memory for a connection) or "%" (of a processor)."""

import collections
import re

Row = collections.namedtuple("Row", "name group title per targets")
# several: runs on both processors; fill: load that comes before all rounds
Target = collections.namedtuple("Target", "proxy x setup load several fill hold",
                                defaults=(False, "", ""))

TWO = "127.0.0.1:9001 127.0.0.1:9002"
PEN = "{pen} -f --session-log off "
CLASSIC = ("{classic} -f -r -x 9900 -c 2048 -m 100 -q 4096"
           " -O 'pending_max 10000' ")

HAPROXY = """global
    nbthread {workers}
    maxconn 9900
    ssl-default-bind-ciphersuites TLS_AES_128_GCM_SHA256
    ssl-default-bind-curves X25519:P-256
defaults
    mode tcp
    timeout connect 5s
    timeout client 2m
    timeout server 2m
frontend f
    bind 0.0.0.0:{port} backlog 4096 {tls}
    default_backend b
backend b
    balance roundrobin
    server s1 127.0.0.1:9001
    server s2 127.0.0.1:9002
"""
NGINX = """{nginx_stream}
user root; daemon off; pid {dir}/nginx{port}.pid; error_log /dev/null crit;
worker_processes {workers}; worker_rlimit_nofile 20000;
events {{ worker_connections 19900; multi_accept on; }}
stream {{
    access_log off;
    upstream b {{ server 127.0.0.1:9001; server 127.0.0.1:9002; }}
    server {{
        listen {port} {listen}; proxy_pass b; proxy_timeout 2m;
        {more}
    }}
}}
"""
NGINX_TLS = """ssl_certificate {dir}/{key}.pem; ssl_certificate_key {dir}/{key}.pem;
        ssl_protocols TLSv1.3; ssl_ecdh_curve X25519:prime256v1;
        ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;
        ssl_session_cache shared:S{port}:10m; proxy_half_close on;"""
NGINX_HTTP = """user root; daemon off; pid {dir}/nginx{port}.pid;
error_log /dev/null crit; worker_rlimit_nofile 20000;
events {{ worker_connections 19900; multi_accept on; }}
http {{
    access_log LOG;
    keepalive_requests 1000000000;
    upstream b {{
        server 127.0.0.1:9001; server 127.0.0.1:9002;
        keepalive 64; keepalive_requests 1000000000;
    }}
    server {{
        listen {port} backlog=4096;
        location / {{
            proxy_pass http://b; proxy_http_version 1.1;
            proxy_set_header Connection ""; proxy_set_header Host $http_host;
            proxy_set_header X-Forwarded-For $remote_addr;
            proxy_set_header X-Forwarded-Proto $scheme;
        }}
    }}
}}
"""
DNSDIST = """setLocal("0.0.0.0:{port}")
setACL("127.0.0.0/8")
newServer({{address="127.0.0.1:9001", healthCheckMode="up"}})
newServer({{address="127.0.0.1:9002", healthCheckMode="up"}})
setServerPolicy(roundrobin)
setMaxUDPOutstanding(65535)
"""


def haproxy(workers=1, tls=""):
    return ("{haproxy} -db -q -f {conf}",
            HAPROXY.replace("{workers}", str(workers)).replace("{tls}", tls))


def nginx(workers=1, listen="backlog=4096", more="proxy_half_close on;"):
    return ("{nginx} -c {conf}",
            NGINX.replace("{workers}", str(workers)).replace("{listen}", listen)
            .replace("{more}", more))


def pen(more="-r", servers=TWO):
    return (f"{PEN}{more} 0.0.0.0:{{port}} {servers}", "")


def by_file(lines):
    return (PEN + "-F {conf}", lines)


def relay(more=""):
    return (f"{{relay}} {more} 0.0.0.0:{{port}} {TWO}", "")


def classic(more=""):
    return (f"{CLASSIC}{more} {{port}} {TWO}", "")


def by_tls(key, workers=1):
    cert = f"{{dir}}/{key}.pem"
    return {"pen": pen(f"-r --workers {workers} -E {cert}"),
            "haproxy": haproxy(workers, f"ssl crt {cert}"),
            "nginx": nginx(workers, "ssl backlog=4096",
                           NGINX_TLS.replace("{key}", key))}


TCP = {"pen": pen(), "classic": classic(), "haproxy": haproxy(),
       "nginx": nginx(), "relay": relay()}
TLS = {**by_tls("ec"), "classic": classic("-E {dir}/ec.pem")}
UDP = {"pen": pen("-U -r"), "pen by client": pen("-U"), "classic": classic("-U"),
       "nginx": nginx(1, "udp rcvbuf=4m", ""), "relay": relay("-u")}
UDP_NEW = {"pen": pen("-U -r"), "classic": classic("-U"),
           "nginx": nginx(1, "udp rcvbuf=4m", "proxy_responses 1;")}
DNS = {"pen": pen("--dns"), "dnsdist": ("{dnsdist} --supervised --disable-syslog"
                                        " -C {conf}", DNSDIST),
       "nginx": UDP_NEW["nginx"]}
BOTH = {"pen": pen("-r --workers 2"), "pen, 1 worker": pen(),
        "haproxy": haproxy(2), "nginx": nginx(2)}
BOTH_TLS = {**by_tls("rsa", 2), "pen, 1 worker": by_tls("rsa")["pen"]}


def http(log):
    """Each balances requests or connections as it does by default; servers get the
    client address."""
    words, conf = haproxy()
    conf = (conf.replace("mode tcp", "mode http\n    option forwardfor")
            .replace("    default_backend", "    http-request set-header"
                     " X-Forwarded-Proto http\n    default_backend"))
    if log:
        words = f"sh -c 'exec {words} >{{dir}}/haproxy{{port}}.log'"
        conf = (conf.replace("global", "global\n    log stdout format raw local0")
                .replace("mode http", "mode http\n    log global\n    option httplog"))
    return {"pen": pen("-H -r" + (" --request-log {dir}/pen{port}.log" if log else "")),
            "haproxy": (words, conf),
            "nginx": ("{nginx} -c {conf}", NGINX_HTTP.replace(
                "LOG", "{dir}/nginx{port}.log combined" if log else "off"))}


def by_name(names):
    """A server by the name in a TLS ClientHello, one of several."""
    words, conf = haproxy()
    conf = conf.replace("    default_backend b\n", "".join(
        ["    tcp-request inspect-delay 5s\n",
         "    tcp-request content accept if { req.ssl_hello_type 1 }\n"
         .replace("{ ", "{{ ").replace(" }", " }}"),
         *(f"    use_backend b{i} if {{{{ req.ssl_sni name{i}.example.com }}}}\n"
           for i in range(names))]))
    backend = conf[conf.index("backend b\n"):]
    conf = conf[:conf.index("backend b\n")] + "".join(
        backend.replace("backend b", f"backend b{i}") for i in range(names))
    return {
        "pen": by_file("listen 0.0.0.0:{port}\n" + "".join(
            f"route sni name{i}.example.com service s{i}\n" for i in range(names))
            + "".join(f"service s{i}\nroundrobin\n"
                      "server 0 address 127.0.0.1 port 9001\n"
                      "server 1 address 127.0.0.1 port 9002\n"
                      for i in range(names))),
        "haproxy": (words, conf),
        "nginx": ("{nginx} -c {conf}", NGINX.replace("{workers}", "1")
                  .replace("{listen}", "backlog=4096")
                  .replace("{more}", "ssl_preread on;")
                  .replace("    upstream b {{", "    map $ssl_preread_server_name $to {{ "
                           + " ".join(f"name{i}.example.com b{i};" for i in range(names))
                           + " }}\n    upstream b {{")
                  .replace("proxy_pass b;", "proxy_pass $to;")
                  .replace("    upstream b {{ server 127.0.0.1:9001; "
                           "server 127.0.0.1:9002; }}", "\n".join(
                               f"    upstream b{i} {{{{ server 127.0.0.1:9001; "
                               "server 127.0.0.1:9002; }}" for i in range(names))))}


def with_proxy_header():
    words, conf = haproxy()
    return {"pen": pen("-r --proxy-protocol 2"),
            "haproxy": (words, re.sub("(?m)^(    server .*)$", r"\1 send-proxy-v2",
                                      conf)),
            "nginx, version 1": nginx(more="proxy_protocol on;")}


def idle_services(n):
    """A service at {port}, and n - 1 others that nobody uses, at other addresses."""
    at, of_haproxy, of_nginx = (
        [f"127.{net}.{i // 250}.{1 + i % 250}:7000" for i in range(1, n)]
        for net in (30, 31, 32))
    words, conf = haproxy()
    # each listening socket is a descriptor
    conf = conf.replace("maxconn 9900", "maxconn 7900")
    front = conf[conf.index("frontend f"):]
    lines = ("service s{}\nlisten {}\nserver 0 address 127.0.0.1 port 9001\n"
             "server 1 address 127.0.0.1 port 9002\n")
    upstream, server = NGINX.split("    upstream b", 1)[1].split("\n", 1)
    server = server[:server.rindex("}}")].replace("{more}", "")
    return {
        "pen": by_file("defaults\nroundrobin\n"
                       + lines.format(0, "0.0.0.0:{port}")
                       + "".join(lines.format(i + 1, a) for i, a in enumerate(at))),
        "haproxy": (words, conf + "".join(
            front.replace("frontend f", f"frontend f{i}")
            .replace("backend b", f"backend b{i}")
            .replace("default_backend b\n", f"default_backend b{i}\n")
            .replace("0.0.0.0:{port}", a) for i, a in enumerate(of_haproxy))),
        "nginx": ("{nginx} -c {conf}", NGINX.replace("{workers}", "1")
                  .replace("{listen}", "backlog=4096").replace("{more}", "")[:-3]
                  + "".join(f"    upstream b{i}{upstream}\n" + server
                            .replace("listen {port} {listen}", f"listen {a}")
                            .replace("proxy_pass b;", f"proxy_pass b{i};")
                            for i, a in enumerate(of_nginx)) + "}}\n")}


def row(name, group, title, per, proxies, load, several=False):
    return Row(name, group, title, per, [
        Target(proxy, "", setup, load, several)
        for proxy, setup in proxies.items()])


def curve(name, group, title, per, targets):
    """targets: proxy, x, setup, load, and perhaps what comes first"""
    return Row(name, group, title, per, [Target(*t) for t in targets])


NAMES, SERVICES = 10, 2000
MANY = idle_services(SERVICES)
MIB = 1 << 20
SLOW_CLIENTS = "-w 0.4 -d 0.8 -k -c 1000 -z 6250"
ROWS = [
    row("close_client", "short", "a connection per request, the client closes",
        "connection", TCP, "-c 64"),
    row("close_server", "short", "a connection per request, the server closes",
        "connection", TCP, "-c 64 -e"),
    row("close_half", "short", "the client half-closes; 16 KiB", "connection",
        TCP, "-c 64 -H -s 16384"),
    row("one_by_one", "short", "a connection per request, one at a time",
        "connection", TCP, "-c 1"),
    row("short_proxy", "short", "the same, with a PROXY header, version 2, to the"
        " server", "connection", with_proxy_header(), "-c 64 -e"),
    row("short_name", "short", f"the same, by one of {NAMES} names in TLS",
        "connection", by_name(NAMES), "-c 64 -e -N name7.example.com"),
    row("kept_1", "kept", "keep-alive, 1 connection", "request", TCP, "-k -c 1"),
    row("kept_16", "kept", "keep-alive, 16 connections", "request", TCP,
        "-k -c 16"),
    row("kept_64", "kept", "keep-alive, 64 connections", "request", TCP,
        "-k -c 64"),
    row("kept_16k", "kept", "keep-alive, 64 connections, 16 KiB", "request", TCP,
        "-k -c 64 -s 16384"),
    row("http_kept", "HTTP", "HTTP, keep-alive, 16 connections", "request",
        http(False), "-h -k -c 16"),
    row("http_log", "HTTP", "HTTP, keep-alive, 16 connections, a line in a log for"
        " each", "request", http(True), "-h -k -c 16"),
    row("bulk_down", "bulk", "bulk to the client", "GB", TCP,
        f"-w 0.4 -k -c 8 -s {16 * MIB}"),
    row("bulk_up", "bulk", "bulk to the server", "GB", TCP,
        f"-w 0.4 -k -c 8 -q {16 * MIB}"),
    row("bulk_both", "bulk", "bulk both ways", "GB", TCP,
        f"-w 0.4 -k -c 8 -b -q {16 * MIB} -s {16 * MIB}"),
    row("slow_down", "bulk", "1,000 clients that read 1 Mbit/s each", "GB", TCP,
        f"{SLOW_CLIENTS} -s 1000000000"),
    row("slow_up", "bulk", "1,000 clients that send 1 Mbit/s each", "GB", TCP,
        f"{SLOW_CLIENTS} -q 1000000000"),
    row("tls_full", "TLS", "TLS, full handshake", "handshake", TLS, "-T -c 32"),
    row("tls_resumed", "TLS", "TLS, resumed session", "handshake", TLS,
        "-T -r -c 32"),
    row("tls_kept", "TLS", "TLS, keep-alive", "request", TLS, "-T -k -c 32"),
    row("tls_bulk", "TLS", "TLS, bulk to the client", "GB", TLS,
        f"-w 0.2 -T -k -c 4 -s {MIB}"),
    row("udp_kept", "UDP", "datagrams, 256 client ports", "query", UDP,
        "-u -c 256"),
    row("udp_new", "UDP", "datagrams, a new port for each", "query", UDP_NEW,
        "-u -p -c 64"),
    row("dns_kept", "UDP", "DNS, 256 client ports", "query", DNS, "-u -c 256"),
    row("dns_new", "UDP", "DNS, a new port for each", "query", DNS,
        "-u -p -c 64"),
    row("rate_2k", "latency", "2,000 connections a second", "us", TCP,
        "-R 2000 -c 500"),
    row("rate_kept", "latency", "10,000 requests a second, keep-alive", "us", TCP,
        "-R 10000 -k -c 64"),
    row("rate_dns", "latency", "10,000 DNS queries a second", "us", DNS,
        "-u -R 10000 -c 1000"),
    # Pen 0.34 has its tables from the start
    row("memory_idle", "memory", "an idle connection", "bytes",
        {name: how for name, how in TCP.items() if name != "classic"},
        "-i -c 4000"),
    row("memory_stalled", "memory", "a client that does not read", "bytes", TCP,
        "-x -c 1000 -s 1000000000"),
    row("memory_slow", "memory", "a client that reads 1 Mbit/s", "bytes", TCP,
        f"{SLOW_CLIENTS} -i -s 1000000000"),
    row("memory_tls", "memory", "an idle connection, TLS", "bytes", TLS,
        "-T -i -c 1000"),
    row("many_close", "services", f"a connection per request, {SERVICES:,} services",
        "connection", MANY, "-c 64 -e"),
    row("many_idle", "services", f"{SERVICES:,} services, 10 connections a second",
        "%", MANY, "-e -c 10 -R 10 -d 2"),
    row("many_memory", "services", f"memory of each of {SERVICES:,} idle services",
        "bytes", MANY, f"-c {SERVICES}"),
    row("both_close", "workers", "2 workers: a connection per request",
        "connection", BOTH, "-c 64 -S 1000", True),
    row("both_kept", "workers", "2 workers: keep-alive", "request", BOTH,
        "-k -c 64 -S 1000", True),
    row("both_tls", "workers", "2 workers: TLS, full, RSA-2048", "handshake",
        BOTH_TLS, "-T -c 64 -S 1000", True),
]
QUICK = ",".join(dict.fromkeys(x.group for x in ROWS))

# The seeds: what others published, measured again.
SIZES = [100, 1000, 4096, 16384, 65536, 262144, MIB]
RATES = [500, 1000, 2000, 4000, 8000]
DIRECT = ("", "")
ROWS += [
    curve("by_size", "seeds", "a connection per request, by size of the answer",
          "connection", [
              (proxy, size, setup, f"-c 16 -e -s {size}")
              for proxy, setup in (("direct", DIRECT), ("pen", pen()),
                                   ("haproxy", haproxy()))
              for size in SIZES]),
    curve("by_rate_open", "seeds", "CPU by rate: open and close", "%", [
        (proxy, rate, TCP[proxy], f"-q 0 -s 0 -c 500 -R {rate}")
        for proxy in ("pen", "haproxy") for rate in RATES]),
    curve("by_rate_get", "seeds", "CPU by rate: answers of several sizes", "%", [
        (f"{size >> 10} KiB", rate, pen(), f"-c 500 -s {size} -R {rate}")
        for size in (1024, 16384, 65536, MIB) for rate in RATES
        if size * rate <= 2e9]),
]

# Among hosts, see paths.py: the setup only tells processes apart.
MESSAGES = [16, 64, 256, 1024, 4096, 16384, 65536, 262144, MIB, 4 * MIB, 16 * MIB,
            64 * MIB]
ROWS += [
    curve("netpipe", "paths", "a message there and back, by its size", "message", [
        (way, size, (way, ""), f"-w 0.02 -k -c 1 -q {size} -s {size}")
        for size in MESSAGES
        for way in ("direct", "forwarding", "NAT", "proxy", "DSR")]),
    curve("dsr_session", "paths", "answers of 1,024,000 bytes, 20 at a time", "MB", [
        (way, "", (way, ""), "-e -c 20 -n 300 -s 1024000")
        for way in ("forwarding", "NAT", "proxy", "DSR",
                    "DSR, fast path")]),
    curve("dsr_frames", "dsr", "frames of 10,000 flows, all CPU time", "frame", []),
    curve("dsr_storm", "dsr", "frames of new flows, all CPU time", "frame", []),
]

ALGORITHMS = {"roundrobin": "-r", "leastconn": "--balance leastconn",
              "wrr": "--balance wrr", "p2c": "--balance p2c",
              "least_time": "--balance least_time", "hash": "--balance hash"}


def servers(n):
    return " ".join(f"127.20.{i // 250}.{1 + i % 250}:9001" for i in range(n))


def fill(n):
    return f"-q 0 -s 0 -c 64 -S {n} -n {n}" if n > 1 else ""


ROWS += [
    curve("by_servers", "growth", "CPU by number of servers", "connection", [
        (name, n, pen(how, servers(n)), "-c 16 -S 1000")
        for name, how in ALGORITHMS.items() for n in (2, 10, 100, 1000)]),
    curve("by_clients", "growth", "CPU by number of clients remembered",
          "connection", [
              ("pen", n, pen("-c 1000000"), f"-c 16 -S {n}", False, fill(n))
              for n in (1, 1000, 100000, 1000000)]),
    curve("by_connections", "growth", "CPU by number of idle connections",
          "request", [
              (proxy, n, TCP[proxy], "-k -c 16", False, "", f"-i -c {n}")
              for proxy in ("pen", "haproxy", "nginx")
              for n in ((100, 1000, 4500, 9500) if proxy == "pen"
                        else (100, 1000))]),  # all are at one server
]

# Measured by a program on its own: row, words, and where a line has x and figures.
ROWS += [
    curve("by_timers", "growth", "a timer that is set again, by their number",
          "timer", []),
    curve("by_list", "growth", "a match against an access list, by its length",
          "match", []),
]
PROGRAMS = {
    "by_timers": ("timeouts_rate 1 100 1000 10000 100000",
                  r"(?P<x>\d+) sessions: .*, (?P<pen>[\d.]+) ns"),
    "by_list": ("acl_rate 1 100 1000 10000 100000",
                r"hosts +(?P<x>\d+) entries:.* (?P<in_the_list>\d+) ns in.*"
                r" (?P<outside>\d+) ns"),
}
