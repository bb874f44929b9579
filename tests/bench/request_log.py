#!/usr/bin/env python3
"""request_log.py PEN [--requests N] [--rounds N] [--dir DIR]: what does the request
log cost?

pen with -H, HAProxy and nginx stand before one nginx, each as a process with one
thread: without a log, and with one in a file of DIR (pen: combined and json; HAProxy:
httplog on its standard output; nginx: access_log combined, once with a buffer of 64k).
ab -k loads them in short slices, one after the other, so that a busy machine is busy
for all. Prints the medians of processor time for a request; of its ratio to the same
program without a log in the same round; of the ratio of pen's to each log of the
others; and whether each log has as many lines as there were requests. Goals: a log
costs pen at most 1.1; pen with a log at most 0.9 of each of the others."""

import argparse
import os
import statistics
import subprocess
import tempfile
import time

from kill_storm import free_port, wait_for
from session_log import load
from shutdown_wrk import NGINX

OTHER_NGINX = """daemon off; master_process off; pid %(dir)s/pid; error_log /dev/null;
events { worker_connections 2000; }
http { access_log %(log)s; keepalive_requests 100000000; keepalive_timeout 600;
upstream o { server 127.0.0.1:%(origin)d; keepalive 64; }
server { listen 127.0.0.1:%(port)d; location / { proxy_pass http://o;
proxy_http_version 1.1; proxy_set_header Connection ""; } } }
"""
HAPROXY = """global
  nbthread 1
  maxconn 2000
%(log)s
defaults
  mode http
  timeout connect 5s
  timeout client 600s
  timeout server 600s
  option http-keep-alive
frontend f
  bind 127.0.0.1:%(port)d
  default_backend b
%(httplog)s
backend b
  http-reuse always
  server s 127.0.0.1:%(origin)d
"""


def start_pen(pen, where, port, origin, kind):
    log = [] if kind == "off" else ["-O", f"request_log {where}.log",
                                    "-O", f"request_format {kind}"]
    return [pen, "-f", "-r", "-H", "-O", "session_log off", *log,
            f"127.0.0.1:{port}", f"127.0.0.1:{origin}"]


def start_haproxy(where, port, origin, kind):
    on = kind != "off"
    with open(where + ".conf", "w") as f:
        f.write(HAPROXY % {
            "port": port, "origin": origin,
            "log": "  log stdout format raw local0" if on else "",
            "httplog": "  log global\n  option httplog" if on else ""})
    return ["haproxy", "-db", "-f", where + ".conf"]


def start_nginx(where, port, origin, kind):
    buffer = " combined buffer=64k" if kind == "buffer" else ""
    os.mkdir(where)
    with open(where + ".conf", "w") as f:
        f.write(OTHER_NGINX % {
            "dir": where, "port": port, "origin": origin,
            "log": "off" if kind == "off" else f"{where}.log{buffer}"})
    return ["nginx", "-c", where + ".conf", "-p", where]


def commands(pen, directory, origin):
    """Name, port and command of each, those without a log before the others."""
    for program, kinds in (("pen", ["off", "combined", "json"]),
                           ("haproxy", ["off", "httplog"]),
                           ("nginx", ["off", "combined", "buffer"])):
        for kind in kinds:
            where, port = os.path.join(directory, f"{program}-{kind}"), free_port()
            start = {"haproxy": start_haproxy, "nginx": start_nginx}.get(
                program, lambda *at: start_pen(pen, *at))
            yield f"{program} {kind}", port, start(where, port, origin, kind)


def median_ratio(results, one, other):
    return statistics.median(a / b for a, b in zip(results[one], results[other]))


def report(results, directory, requests):
    for name, costs in results.items():
        program, kind = name.split()
        print(f"{name:15} {statistics.median(costs):7.2f} us a request, "
              f"{median_ratio(results, name, program + ' off'):5.2f} of without")
        if kind != "off":
            path = os.path.join(directory, f"{program}-{kind}.log")
            with open(path, "rb") as f:
                lines = sum(part.count(b"\n") for part in iter(lambda: f.read(1 << 20), b""))
            print(f"{'':15} {lines} lines of {requests}")
    for mine in ("pen combined", "pen json"):
        for other in ("haproxy httplog", "nginx combined", "nginx buffer"):
            print(f"{mine}: {median_ratio(results, mine, other):.2f} of {other}")


def main():
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("pen")
    a.add_argument("--requests", type=int, default=5000)
    a.add_argument("--rounds", type=int, default=30)
    a.add_argument("--dir")
    args = a.parse_args()
    with tempfile.TemporaryDirectory(dir=args.dir) as directory:
        conf, origin = os.path.join(directory, "origin.conf"), free_port()
        with open(conf, "w") as f:
            f.write(NGINX % {"dir": directory, "port": origin})
        run = [subprocess.Popen(["nginx", "-c", conf, "-p", directory],
                                stderr=subprocess.DEVNULL)]
        loaded, results = {}, {}
        try:
            wait_for(origin)
            for name, port, command in commands(args.pen, directory, origin):
                path = os.path.join(directory, name.replace(" ", "-"))
                with open(path + ".log" if "haproxy" in name else os.devnull, "w") as out:
                    loaded[name] = subprocess.Popen(
                        command, stdout=out, stderr=subprocess.DEVNULL), port
                run.append(loaded[name][0])
                wait_for(port)
            results = {name: [] for name in loaded}
            for _ in range(args.rounds):
                for name, (process, port) in loaded.items():
                    results[name].append(
                        load(process, port, args.requests, keep=True)[1])
            time.sleep(2)  # buffers are written within a second
        finally:
            for p in reversed(run):
                p.terminate()
                p.wait()
        report(results, directory, args.rounds * args.requests)


if __name__ == "__main__":
    main()
