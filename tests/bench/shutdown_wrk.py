#!/usr/bin/env python3
"""shutdown_wrk.py PEN: how many requests fail when a balancer is told to stop?

wrk keeps 100 connections busy through PEN to an nginx; 50 more are kept open by
clients that asked once and are silent. In the middle PEN gets SIGQUIT. Prints
the requests, those that failed, how the silent connections ended, and how long
after the last client the program did. The same with SIGTERM, which resets, and
with HAProxy (SIGUSR1, its soft stop) where that is installed. Run by hand."""

import argparse
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from kill_storm import free_port, run, wait_for

NGINX = """daemon off; master_process off; pid %(dir)s/pid;
error_log /dev/null crit;
events { worker_connections 1024; }
http { access_log off; keepalive_requests 100000000; keepalive_timeout 600;
client_body_temp_path %(dir)s/b; proxy_temp_path %(dir)s/p;
fastcgi_temp_path %(dir)s/f; uwsgi_temp_path %(dir)s/u; scgi_temp_path %(dir)s/s;
server { listen 127.0.0.1:%(port)d; location / { return 200 "served\\n"; } } }
"""
HAPROXY = """defaults
    mode tcp
    timeout connect 3s
    timeout client 60s
    timeout server 60s
frontend in
    bind 127.0.0.1:%d
    default_backend servers
backend servers
    server a 127.0.0.1:%d
"""
REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


def silent_client(port):
    s = socket.create_connection(("127.0.0.1", port), 10)
    s.sendall(REQUEST)
    s.recv(1000)
    return s


def how_ended(s):
    s.settimeout(20)
    try:
        return "end" if s.recv(1000) == b"" else "bytes"
    except ConnectionResetError:
        return "reset"
    except TimeoutError:
        return "open"


def count(pattern, text):
    found = re.search(pattern, text)
    return [int(n) for n in found.groups()] if found else [0]


def storm(name, words, port, number, o):
    child = run(words)
    wait_for(port)
    silent = [silent_client(port) for _ in range(o.silent)]
    wrk = subprocess.Popen(
        ["wrk", "-t1", "-c%d" % o.connections, "-d%ds" % o.seconds,
         "--timeout", "10s", "http://127.0.0.1:%d/" % port],
        stdout=subprocess.PIPE, text=True)
    time.sleep(o.seconds / 2)
    child.send_signal(number)
    said = wrk.communicate()[0]
    over = time.monotonic()
    ends = [how_ended(s) for s in silent]
    status = child.wait()
    after = time.monotonic() - over
    requests = count(r"(\d+) requests in", said)[0]
    failed = sum(count(r"connect (\d+), read (\d+), write (\d+), "
                       r"timeout (\d+)", said))
    failed += count(r"Non-2xx or 3xx responses: (\d+)", said)[0]
    print("%-24s %8d requests %6d failed; silent ones: %s; "
          "ended %.2f s after wrk, status %d" % (
              name, requests, failed,
              ", ".join("%d %s" % (ends.count(e), e)
                        for e in sorted(set(ends))), after, status),
          flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("pen")
    p.add_argument("--connections", type=int, default=100)
    p.add_argument("--silent", type=int, default=50)
    p.add_argument("--seconds", type=int, default=6)
    o = p.parse_args()
    for program in "wrk", "nginx":
        if shutil.which(program) is None:
            raise SystemExit("%s is not installed" % program)
    directory = tempfile.mkdtemp()
    server = free_port()
    conf = os.path.join(directory, "nginx")
    with open(conf, "w") as f:
        f.write(NGINX % {"dir": directory, "port": server})
    nginx = run(["nginx", "-c", conf, "-p", directory])
    try:
        wait_for(server)
        port = free_port()
        pen = [o.pen, "-f", "-r", "--quiet-time", "1", "127.0.0.1:%d" % port,
               "127.0.0.1:%d" % server]
        storm("pen SIGQUIT", pen, port, signal.SIGQUIT, o)
        storm("pen SIGTERM", pen, port, signal.SIGTERM, o)
        if shutil.which("haproxy"):
            conf = os.path.join(directory, "haproxy")
            with open(conf, "w") as f:
                f.write(HAPROXY % (port, server))
            storm("haproxy SIGUSR1", ["haproxy", "-db", "-f", conf], port,
                  signal.SIGUSR1, o)
    finally:
        nginx.terminate()
        nginx.wait()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
