#!/usr/bin/env python3
"""Traffic beside rude control clients: p99 with and without them.

    control_flood.py [--rounds N] [--seconds S] [--clients N] PEN

Starts nginx and pen on ports of the kernel's choice, fills pen's memory of
clients, then runs wrk -c 100 in turns: quiet, and beside 1,000 control clients
that say nothing, 100 that dribble a byte a second, one that sends 10 MB
without a newline, and one that asks for `recent` again and again and never
reads. As such clients cost the machine something whomever they talk to, a third
turn lets them talk to a second pen without traffic. Prints p99 of each turn, the median of the ratios, and pen's memory. Not
part of make check."""

import argparse
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import threading
import time


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(port):
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.01)
    raise SystemExit("nobody listens at %d" % port)


def start_nginx(directory):
    port = free_port()
    conf = os.path.join(directory, "nginx.conf")
    with open(conf, "w") as f:
        f.write(
            "daemon off; master_process off; pid %s/pid; error_log stderr;\n"
            "events { worker_connections 4096; }\n"
            "http { access_log off; server { listen 127.0.0.1:%d;\n"
            "location / { return 200 hello; } } }\n" % (directory, port))
    child = subprocess.Popen(["nginx", "-p", directory, "-c", conf],
                             stderr=subprocess.DEVNULL)
    wait_for(port)
    return child, port


def fill_memory(port, clients):
    """Comes as so many clients: each from an address of its own."""
    for i in range(clients):
        s = socket.socket()
        s.bind(("127.%d.%d.%d" % (1 + i // 62500, i // 250 % 250,
                                  1 + i % 250), 0))
        s.connect(("127.0.0.1", port))
        s.close()


def p99_ms(port, seconds):
    out = subprocess.run(
        ["wrk", "-t1", "-c100", "-d%ds" % seconds, "--latency",
         "http://127.0.0.1:%d/" % port],
        capture_output=True, text=True, check=True).stdout
    value, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", out).groups()
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1))
    if "Socket errors" in out:
        print(out)
    return float(value) * {"us": 0.001, "ms": 1, "s": 1000}[unit], rate


class Flood:
    """The rude clients, until stop()."""

    def __init__(self, path):
        self.path = path
        self.ending = threading.Event()
        self.threads = [threading.Thread(target=f) for f in
                        (self.silent, self.dribble, self.endless,
                         self.deaf)]
        for t in self.threads:
            t.start()

    def connect(self):
        s = socket.socket(socket.AF_UNIX)
        s.setblocking(False)
        try:
            s.connect(self.path)
        except OSError:
            pass
        return s

    def keep(self, count, what):
        """So many clients that each say a byte a second, or nothing."""
        clients = [self.connect() for _ in range(count)]
        while not self.ending.wait(1):
            for s in clients if what else []:
                try:
                    s.send(what)
                except OSError:
                    pass
        for s in clients:
            s.close()

    def silent(self):
        self.keep(1000, b"")

    def dribble(self):
        self.keep(100, b"s")

    def endless(self):
        block = b"x" * 65536
        while not self.ending.is_set():
            s = self.connect()
            s.setblocking(True)
            try:
                for _ in range(160):
                    s.send(block)
            except OSError:
                pass
            s.close()
            self.ending.wait(0.5)

    def deaf(self):
        clients = []
        while not self.ending.is_set():
            s = self.connect()
            try:
                s.send(b"recent\n")
            except OSError:
                pass
            clients.append(s)
            if len(clients) > 20:
                clients.pop(0).close()
            self.ending.wait(0.5)
        for s in clients:
            s.close()

    def stop(self):
        self.ending.set()
        for t in self.threads:
            t.join()


def with_flood(pen, port, path, a):
    flood = Flood(path)
    time.sleep(1)
    p99, rate = p99_ms(port, a.seconds)
    memory = resident_kb(pen.pid)
    flood.stop()
    return p99, rate, memory


def resident_kb(pid):
    with open("/proc/%d/status" % pid) as f:
        return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1))


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seconds", type=int, default=3)
    p.add_argument("--clients", type=int, default=20000)
    p.add_argument("pen")
    a = p.parse_args()
    directory = tempfile.mkdtemp()
    nginx, behind = start_nginx(directory)
    front, path = free_port(), os.path.join(directory, "ctl")
    pen = subprocess.Popen([a.pen, "-f", "-C", path, "127.0.0.1:%d" % front,
                            "127.0.0.1:%d" % behind])
    decoy_path, decoy_front = path + "2", free_port()
    decoy = subprocess.Popen([a.pen, "-f", "-C", decoy_path,
                              "127.0.0.1:%d" % decoy_front,
                              "127.0.0.1:%d" % behind])
    try:
        wait_for(front)
        wait_for(decoy_front)
        fill_memory(decoy_front, a.clients)
        fill_memory(front, a.clients)
        ratios = []
        p99_ms(front, 1)
        print("before: %d kB" % resident_kb(pen.pid))
        for i in range(a.rounds):
            quiet, rate = p99_ms(front, a.seconds)
            beside, beside_rate, _ = with_flood(pen, front, decoy_path, a)
            loud, loud_rate, memory = with_flood(pen, front, path, a)
            ratios.append((loud / quiet, loud / beside))
            print("p99 quiet %.3f ms at %.0f/s, flood of another process "
                  "%.3f ms at %.0f/s, flood of this one %.3f ms at %.0f/s, "
                  "ratios %.2f %.2f, %d kB" % (
                      quiet, rate, beside, beside_rate, loud, loud_rate,
                      loud / quiet, loud / beside, memory))
        print("median ratio of p99 to the quiet one %.2f, to the flood of "
              "another process %.2f" % tuple(
                  statistics.median(r) for r in zip(*ratios)))
    finally:
        decoy.send_signal(signal.SIGTERM)
        decoy.wait()
        pen.send_signal(signal.SIGTERM)
        nginx.send_signal(signal.SIGTERM)
        pen.wait()
        nginx.wait()
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
