#!/usr/bin/env python3
"""peer_crowd.py PEN TOOLS: how does a fresh pen serve while a peer reports a
million clients to it?

Pen b serves 1,000 requests a second on kept connections (load and server of
tests/bench/src, in the directory TOOLS), in slices of half a second: some before,
then those in which pen a reports all of its clients to it. Prints, for each round,
how long that took, and the median and the 99th percentile of both kinds of slices;
then medians of all rounds. With --alone b is on the first processor, and the others,
which would be on other hosts, on the rest; all but a have real-time priority, so that
other programs wait."""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

from kill_storm import free_port, wait_for
from upgrade_storm import Pen


def fill(pen, clients):
    """As an operator who moves clients: those have been here."""
    for at in range(0, clients, 500):
        pen.ask(";".join("client 10.%d.%d.%d move %d" % (
            i >> 16, i >> 8 & 255, i & 255, i % 3)
            for i in range(at, min(at + 500, clients))))


def new_clients(pen):
    words = pen.ask("statistics").split()
    return int(words[words.index("peer_clients_new") + 1])


def slice_of(o, port):
    out = subprocess.run(
        [os.path.join(o.tools, "load"), "-k", "-c", "8", "-R", str(o.rate), "-d",
         "0.5", "-w", "0.05", "127.0.0.1:%d" % port],
        stdout=subprocess.PIPE, text=True, check=True).stdout
    return json.loads(out.splitlines()[-1])


def told(slices):
    return [statistics.median(s[k] for s in slices) for k in ("p50", "p99")]


def one_round(o, a, directory, servers, key):
    front, port = free_port(), free_port()
    b = Pen(o.pen, directory, "listen 127.0.0.1:%d\n%sclients_max 1000000\n"
            "peer_listen 127.0.0.1:%d key %s\n" % (front, servers, port, key))
    if o.alone:
        os.sched_setaffinity(b.first.pid, {0})
    wait_for(front)
    slice_of(o, front)
    before = [slice_of(o, front) for _ in range(o.slices)]
    a.ask("peer 127.0.0.1:%d key %s" % (port, key))
    began = time.monotonic()
    load, during, took = None, [], None
    while took is None:
        during.append(slice_of(o, front))
        if new_clients(b) >= o.clients:
            took = time.monotonic() - began
        elif time.monotonic() > began + 60:
            raise SystemExit("not in a minute")
    a.ask("no peer")
    b.end()
    return [took] + told(before) + told(during)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("pen")
    p.add_argument("tools")
    p.add_argument("--clients", type=int, default=1000000)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--slices", type=int, default=6)
    p.add_argument("--rate", type=int, default=1000)
    p.add_argument("--alone", action="store_true")
    o = p.parse_args()
    ports = [free_port() for _ in range(3)]
    servers = "".join("server add 127.0.0.1:%d\n" % port for port in ports)
    with tempfile.TemporaryDirectory() as directory:
        for name in "ab":
            os.mkdir(os.path.join(directory, name))
        key = os.path.join(directory, "key")
        with open(key, "w", opener=lambda *at: os.open(*at, mode=0o600)) as f:
            f.write("a secret of more than 32 bytes, shared\n")
        if o.alone:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
            os.sched_setaffinity(0, set(range(1, os.cpu_count())))
        server = subprocess.Popen([os.path.join(o.tools, "server")] + [
            "127.0.0.1:%d" % port for port in ports])
        a = Pen(o.pen, os.path.join(directory, "a"),
                "listen 127.0.0.1:%d\n%sclients_max 1000000\n" % (
                    free_port(), servers))
        os.sched_setscheduler(a.first.pid, os.SCHED_OTHER, os.sched_param(0))
        fill(a, o.clients)
        print("seconds  p50 before, during  p99 before, during (us)  ratio")
        rounds = []
        for _ in range(o.rounds):
            r = one_round(o, a, os.path.join(directory, "b"), servers, key)
            rounds.append(r + [r[4] / r[2]])
            show(rounds[-1])
        print("medians, load average %.1f:" % os.getloadavg()[0])
        show([statistics.median(r[i] for r in rounds) for i in range(6)])
        a.end()
        server.kill()


def show(r):
    print("%7.2f  %10.0f %7.0f  %10.0f %7.0f %12.2f" % (
        r[0], r[1], r[3], r[2], r[4], r[5]), flush=True)


if __name__ == "__main__":
    main()
