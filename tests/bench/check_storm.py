#!/usr/bin/env python3
"""check_storm.py PEN: servers that are ill in every way, behind health checks.

Three nginx are checked by "http /health" every second, fall 2, rise 2; wrk asks
for 60 s, 100 connections at a time, a connection a request. Meanwhile a server is
killed and started again, one is frozen (SIGSTOP) and thawed, one runs a quarter of
the time, one answers 500 to all, its check too, and the frozen one is killed. The
same storm for pen -r, for HAProxy with the same checks, and for pen without checks.
Prints requests that were served; that failed (connects, reads, timeouts); that were
answered 500; and how long after it fell ill the last of those was. Run by hand;
nothing else should load the machine meanwhile."""

import argparse
import os
import re
import signal
import subprocess
import tempfile
import time

from kill_storm import Nginx, free_port, run, wait_for

NGINX = """daemon off; master_process off; pid %(dir)s/pid;
error_log /dev/null crit;
events { worker_connections 1024; }
http { log_format short "$msec $status $uri"; access_log %(dir)s/log short;
client_body_temp_path %(dir)s/b; proxy_temp_path %(dir)s/p;
fastcgi_temp_path %(dir)s/f; uwsgi_temp_path %(dir)s/u; scgi_temp_path %(dir)s/s;
server { listen 127.0.0.1:%(port)d backlog=1024;
location / { if (-f %(dir)s/ill) { return 500 "ill\\n"; } return 200 "served\\n"; } } }
"""
HAPROXY = """defaults
    mode tcp
    timeout connect 1s
    timeout client 30s
    timeout server 30s
    timeout check 1s
    option redispatch
    retries 3
frontend in
    bind 127.0.0.1:%d
    default_backend servers
backend servers
    balance roundrobin
    option httpchk GET /health
    default-server check inter 1s fall 2 rise 2
"""


def fall_ill(server):
    with open(os.path.join(server.dir, "ill"), "w"):
        return time.time()


def recover(server):
    os.unlink(os.path.join(server.dir, "ill"))


def run_slowly(server, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        server.child.send_signal(signal.SIGSTOP)
        time.sleep(0.15)
        server.child.send_signal(signal.SIGCONT)
        time.sleep(0.05)


def storm(servers):
    """What happens to the servers, in 60 s. Returns when one fell ill."""
    began = time.monotonic()

    def at(second):
        time.sleep(max(0, began + second - time.monotonic()))

    at(4), servers[0].kill()
    at(9), servers[0].start()
    at(15), servers[1].child.send_signal(signal.SIGSTOP)
    at(22), servers[1].child.send_signal(signal.SIGCONT)
    at(28), run_slowly(servers[2], 6)
    at(38)
    when = fall_ill(servers[0])
    at(46), recover(servers[0])
    at(50), servers[1].kill()
    at(54), servers[1].start()
    return when


def last_ill_answer(server, since):
    """Seconds from falling ill to the last client's 500."""
    last = since
    with open(os.path.join(server.dir, "log")) as f:
        for line in f:
            when, status, uri = line.split()
            if status == "500" and uri == "/" and float(when) >= since:
                last = float(when)
    return last - since


def measure(port, servers):
    words = ["wrk", "-t1", "-c100", "-d60s", "--timeout", "10s",
             "-H", "Connection: close", "http://127.0.0.1:%d/" % port]
    load = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    when = storm(servers)
    out = load.communicate()[0]
    served = int(re.search(r"(\d+) requests in", out).group(1))
    errors = re.search(r"connect (\d+), read (\d+), write (\d+), timeout (\d+)", out)
    failed = sum(map(int, errors.groups())) if errors else 0
    ill = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
    return (served, failed, int(ill.group(1)) if ill else 0,
            last_ill_answer(servers[0], when))


def balancers(o, directory, places):
    checks = ["-O", "check http /health", "-O", "check_interval 1", "-O",
              "check_timeout 1", "-O", "check_fall 2", "-O", "check_rise 2"]
    start = [o.pen, "-f", "-r", "-t", "1"]
    port = free_port()
    yield "pen", port, start + checks + ["127.0.0.1:%d" % port] + places
    port = free_port()
    file = os.path.join(directory, "haproxy.cfg")
    with open(file, "w") as f:
        f.write(HAPROXY % port)
        for i, place in enumerate(places):
            f.write("    server s%d %s\n" % (i, place))
    yield "haproxy", port, ["haproxy", "-db", "-f", file]
    port = free_port()
    yield "pen, no checks", port, start + ["127.0.0.1:%d" % port] + places


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("pen")
    p.add_argument("--only", help="balancers whose name begins so")
    o = p.parse_args()
    print("%-16s %9s %8s %9s %9s" % ("", "served", "failed", "500s", "last 500"))
    with tempfile.TemporaryDirectory() as directory:
        servers = [Nginx(directory, i, NGINX) for i in range(3)]
        places = ["127.0.0.1:%d" % s.port for s in servers]
        for name, port, words in balancers(o, directory, places):
            if o.only and not name.startswith(o.only):
                continue
            child = run(words)
            wait_for(port)
            time.sleep(3)  # the first checks
            served, failed, ill, last = measure(port, servers)
            child.kill()
            child.wait()
            print("%-16s %9d %8d %9d %8.1fs" % (name, served, failed, ill, last),
                  flush=True)
        for s in servers:
            s.kill()


if __name__ == "__main__":
    main()
