#!/usr/bin/env python3
"""services_flood.py PEN: is one service slower while another one is flooded?

Two services of one process: one with TLS and a limit of 100 connections, at which 400
clients begin handshakes that they do not end, so that the limit is reached and the
backlog is full; and one that wrk asks over new connections. Prints the 99th percentile
of its latency without and with the flood, and what it is by HAProxy with two frontends
in the same run, in turns. Needs wrk, nginx, openssl, and haproxy for the second half.
On a busy machine --realtime runs all but the flood before other programs, as root.
Run by hand."""

import argparse
import multiprocessing
import os
import re
import shutil
import socket
import statistics
import subprocess
import tempfile
import time

from kill_storm import free_port, wait_for
from services_reload import NGINX

PEN = """service flooded
listen 127.0.0.1:%(flooded)d
conn_max 100
ssl_cert %(pem)s
server 0 address 127.0.0.1 port %(server)d
service other
listen 127.0.0.1:%(other)d
server 0 address 127.0.0.1 port %(server)d
"""
HAPROXY = """global
    maxconn 4000
defaults
    mode tcp
    timeout connect 3s
    timeout client 60s
    timeout server 60s
frontend flooded
    bind 127.0.0.1:%(flooded)d ssl crt %(pem)s
    maxconn 100
    default_backend servers
frontend other
    bind 127.0.0.1:%(other)d
    default_backend servers
backend servers
    server a 127.0.0.1:%(server)d
"""
LUA = 'wrk.headers["Connection"] = "close"\n'


def flood(port, clients):
    """Each says a part of a ClientHello, and goes a second later."""
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    held = []
    while True:
        s = socket.socket()
        s.setblocking(False)
        try:
            s.connect(("127.0.0.1", port))
        except BlockingIOError:
            pass
        held.append((time.monotonic(), s))
        try:
            s.send(b"\x16\x03\x01\x02\x00\x01")
        except OSError:
            pass
        while len(held) >= clients:
            since, oldest = held[0]
            if time.monotonic() - since < 1:
                time.sleep(0.002)
                continue
            oldest.close()
            del held[0]


def p99(port, lua, o):
    said = subprocess.run(
        ["wrk", "-t1", "-c%d" % o.connections, "-d%ds" % o.seconds,
         "--latency", "-s", lua, "http://127.0.0.1:%d/" % port], capture_output=True, text=True).stdout
    if "Socket errors" in said or "Non-2xx" in said:
        raise SystemExit(said)
    number, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", said).groups()
    return float(number) * {"us": 1, "ms": 1e3, "s": 1e6}[unit]


class Balancer:
    def __init__(self, name, command, text, directory, server, pem):
        self.name, self.ratio = name, []
        ports = {"flooded": free_port(), "other": free_port(),
                 "server": server, "pem": pem}
        conf = os.path.join(directory, name)
        with open(conf, "w") as f:
            f.write(text % ports)
        self.child = subprocess.Popen(command + [conf],
                                      stderr=subprocess.DEVNULL)
        self.flooded, self.other = ports["flooded"], ports["other"]
        wait_for(self.other)

    def measure(self, lua, o):
        quiet = p99(self.other, lua, o)
        child = multiprocessing.Process(
            target=flood, args=(self.flooded, o.clients))
        child.start()
        time.sleep(2)
        loud = p99(self.other, lua, o)
        child.kill()
        child.join()
        time.sleep(1)
        self.ratio.append(loud / quiet)
        print("%-8s p99 without %6.0f us, with the flood %6.0f us" % (
            self.name, quiet, loud), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("pen")
    p.add_argument("--clients", type=int, default=400)
    p.add_argument("--connections", type=int, default=1)
    p.add_argument("--realtime", action="store_true")
    p.add_argument("--seconds", type=int, default=5)
    p.add_argument("--rounds", type=int, default=5)
    o = p.parse_args()
    if o.realtime:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(5))
    with tempfile.TemporaryDirectory() as d:
        server, pem = free_port(), os.path.join(d, "pem")
        conf, lua = os.path.join(d, "nginx.conf"), os.path.join(d, "lua")
        with open(conf, "w") as f:
            f.write(NGINX % ((d,) * 6 + (server,)))
        with open(lua, "w") as f:
            f.write(LUA)
        subprocess.run(
            ["openssl", "req", "-x509", "-nodes", "-newkey", "rsa:2048",
             "-subj", "/CN=localhost", "-keyout", pem, "-out", pem + ".crt"],
            check=True, stderr=subprocess.DEVNULL)
        with open(pem, "a") as f, open(pem + ".crt") as crt:
            f.write(crt.read())
        nginx = subprocess.Popen(["nginx", "-c", conf, "-p", d],
                                 stderr=subprocess.DEVNULL)
        wait_for(server)
        all_of = [Balancer("pen", [o.pen, "-f", "-O", "session_log off", "-F"],
                           PEN, d, server, pem)]
        if shutil.which("haproxy"):
            all_of.append(Balancer("haproxy", ["haproxy", "-db", "-f"],
                                   HAPROXY, d, server, pem))
        for _ in range(o.rounds):
            for b in all_of:
                b.measure(lua, o)
        for b in all_of:
            print("%-8s times %.2f, the median of %d" % (
                b.name, statistics.median(b.ratio), o.rounds))
            b.child.terminate()
        nginx.terminate()


if __name__ == "__main__":
    main()
