#!/usr/bin/env python3
"""kill_storm.py PEN: how many requests fail while servers are killed?

Three nginx, one process each, are killed 18 times in 20 s, one at a time in an
order that is drawn once, and started again half a second later; wrk asks all the
time, a connection a request. The same storm for pen as it is by default (a client
stays with its server), for pen -r, for HAProxy (redispatch, retries 3, no checks),
and for classic Pen where /usr/bin/pen is there. --servers 1 is the storm of an only
server. With --http connections are kept and one request of ten is a POST, for pen
-r -H and for HAProxy in mode http, as it is and where it may send requests again
that were not answered (POSTs excepted). Prints requests, failures, their share, the
longest time a request took, and POSTs that servers have got twice. Run by hand;
nothing else should load the machine meanwhile."""

import argparse
import collections
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

NGINX = """daemon off; master_process off; pid %(dir)s/pid;
error_log /dev/null crit;
events { worker_connections 1024; }
http { log_format post "$request_method $uri"; access_log %(dir)s/log post;
keepalive_requests 1000000; client_body_temp_path %(dir)s/b; proxy_temp_path %(dir)s/p;
fastcgi_temp_path %(dir)s/f; uwsgi_temp_path %(dir)s/u; scgi_temp_path %(dir)s/s;
server { listen 127.0.0.1:%(port)d backlog=1024; location / { return 200 "served\\n"; } } }
"""
POSTS = """local n = 0
request = function()
    n = n + 1
    if n % 10 == 0 then
        return wrk.format("POST", "/" .. n, nil, "ok")
    end
    return wrk.format("GET", "/get")
end
"""
HAPROXY = """defaults
    mode %s
    timeout connect 3s
    timeout client 30s
    timeout server 30s
    option redispatch
    retries 3
frontend in
    bind 127.0.0.1:%d
    default_backend servers
backend servers
    balance roundrobin
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(port):
    end = time.monotonic() + 10
    while time.monotonic() < end:
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.005)
    raise SystemExit("nobody listens at port %d" % port)


def ask_control(path, line, then=lambda: None, seconds=60):
    """The answer to a line on a control socket; then() is called after its
    first bytes."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(seconds)
        s.connect(path)
        s.sendall(line.encode() + b"\n")
        s.shutdown(socket.SHUT_WR)
        answer = s.recv(65536)
        then()
        return (answer + b"".join(iter(lambda: s.recv(65536), b""))).decode()


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def run(words):
    return subprocess.Popen(words, stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Nginx:
    def __init__(self, directory, number, text=NGINX):
        self.dir = os.path.join(directory, "nginx%d" % number)
        os.mkdir(self.dir)
        self.port = free_port()
        self.file = os.path.join(self.dir, "conf")
        with open(self.file, "w") as f:
            f.write(text % {"dir": self.dir, "port": self.port})
        self.start()

    def start(self):
        self.child = run(["nginx", "-c", self.file, "-p", self.dir])
        wait_for(self.port)

    def posts(self):
        with open(os.path.join(self.dir, "log"), "r+") as f:
            got = [line for line in f if line.startswith("POST")]
            f.truncate(0)
        return got

    def kill(self):
        self.child.send_signal(signal.SIGKILL)
        self.child.wait()


def wrk(port, seconds, o, script):
    words = ["wrk", "-t1", "-c%d" % o.connections, "-d%ds" % seconds,
             "--timeout", "10s", "http://127.0.0.1:%d/" % port]
    if o.http:
        words += ["-s", script]
    elif not o.keep:
        words += ["-H", "Connection: close"]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def storm(servers, load, o):
    step = o.seconds / o.kills
    order = random.Random(o.seed)
    began = time.monotonic()
    for i in range(o.kills):
        time.sleep(max(0, began + (i + 0.3) * step - time.monotonic()))
        victim = order.choice(servers)
        victim.kill()
        time.sleep(o.down)
        victim.start()
    out = load.communicate()[0]
    served = int(re.search(r"(\d+) requests in", out).group(1))
    errors = re.search(r"connect (\d+), read (\d+), write (\d+), timeout (\d+)", out)
    failed = sum(map(int, errors.groups())) if errors else 0
    longest = re.search(r"Latency\s+\S+\s+\S+\s+(\S+)", out).group(1)
    return served, failed, longest


def haproxy(o, directory, places, mode, more=""):
    port = free_port()
    file = os.path.join(directory, "haproxy%d.cfg" % port)
    with open(file, "w") as f:
        f.write(HAPROXY % (mode, port) + more)
        for i, place in enumerate(places):
            f.write("    server s%d %s\n" % (i, place))
    return port, ["haproxy", "-db", "-f", file]


def balancers_http(o, directory, places):
    port = free_port()
    yield ("pen -r -H", port,
           [o.pen, "-f", "-r", "-H", "127.0.0.1:%d" % port] + places)
    if shutil.which("haproxy"):
        yield ("haproxy",) + haproxy(o, directory, places, "http")
        yield ("haproxy retry-on",) + haproxy(
            o, directory, places, "http",
            "    retry-on all-retryable-errors\n"
            "    http-request disable-l7-retry if METH_POST\n")


def balancers(o, directory, places):
    port = free_port()
    yield "pen", port, [o.pen, "-f", "127.0.0.1:%d" % port] + places
    port = free_port()
    yield "pen -r", port, [o.pen, "-f", "-r", "127.0.0.1:%d" % port] + places
    if shutil.which("haproxy"):
        yield ("haproxy",) + haproxy(o, directory, places, "tcp")
    if os.path.exists("/usr/bin/pen"):
        port = free_port()
        yield ("classic pen", port,
               ["/usr/bin/pen", "-f", "127.0.0.1:%d" % port] + places)
        port = free_port()
        yield ("classic pen -r", port,
               ["/usr/bin/pen", "-f", "-r", "127.0.0.1:%d" % port] + places)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("pen")
    p.add_argument("--servers", type=int, default=3)
    p.add_argument("--kills", type=int, default=18)
    p.add_argument("--seconds", type=float, default=20)
    p.add_argument("--down", type=float, default=0.5)
    p.add_argument("--connections", type=int, default=16)
    p.add_argument("--seed", type=int, default=1, help="of the order of kills")
    p.add_argument("--keep", action="store_true", help="keep connections alive")
    p.add_argument("--http", action="store_true",
                   help="mode http, connections are kept, with POSTs")
    p.add_argument("--only", help="balancers whose name begins so")
    o = p.parse_args()
    print("%-16s %9s %8s %9s %9s %9s" % (
        "", "served", "failed", "share", "longest", "twice"))
    with tempfile.TemporaryDirectory() as directory:
        script = os.path.join(directory, "posts.lua")
        with open(script, "w") as f:
            f.write(POSTS)
        servers = [Nginx(directory, i) for i in range(o.servers)]
        places = ["127.0.0.1:%d" % s.port for s in servers]
        for name, port, words in (balancers_http if o.http else balancers)(
                o, directory, places):
            if o.only and not name.startswith(o.only):
                continue
            child = run(words)
            wait_for(port)
            load = wrk(port, int(o.seconds) + 1, o, script)
            served, failed, longest = storm(servers, load, o)
            child.kill()
            child.wait()
            posts = collections.Counter(
                line for s in servers for line in s.posts())
            print("%-16s %9d %8d %8.3f%% %9s %9d" % (
                name, served, failed, 100 * failed / max(1, served + failed),
                longest, sum(n > 1 for n in posts.values())), flush=True)
        for s in servers:
            s.kill()


if __name__ == "__main__":
    main()
