#!/usr/bin/env python3
"""web_cost.py PEN [slow | scrape | pieces ...]: what do the pages cost traffic?

slow    wrk's rate and p99 through PEN with and without 50 slow clients of the
        pages: half send their headers slowly, half do not read long answers
scrape  the same with and without a Prometheus that scrapes each second, and the
        processor time that a request costs; whether their sums agree
pieces  how long a scrape of 100 to 4,096 servers takes, and how long the
        longest wait of a client of the traffic is meanwhile

Turns are taken, in those without the same happens to the pages of another PEN, and
the best of each counts, as others on the machine make all slower. Run by
hand."""

import argparse
import os
import re
import shutil
import socket
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from kill_storm import free_port, wait_for

ROUNDS = 8
SECONDS = 2


def cpu_seconds(pid):
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as f:
        return int(f.read().split()[0]) / 1e9


class Rig:
    """A server, PEN in front of it, and its pages."""

    def __init__(self, program, servers=1):
        self.dir = tempfile.mkdtemp()
        self.back, self.front, self.web = (free_port() for _ in range(3))
        config = os.path.join(self.dir, "conf")
        with open(config, "w", encoding="ascii") as f:
            f.write(f"server 0 address 127.0.0.1 port {self.back}\n")
            for i in range(1, servers):
                f.write(f"server {i} address 127.0.0.1 port {1 + i % 60000}"
                        " maint\n")
        self.server = subprocess.Popen(
            [program, "-f", "-O", "dummy", f"127.0.0.1:{self.back}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.pen = subprocess.Popen(
            [program, "-f", "-r", "-F", config, "-O", f"web {self.web}",
             f"127.0.0.1:{self.front}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for port in (self.back, self.front, self.web):
            wait_for(port)

    def end(self):
        for p in (self.pen, self.server):
            p.terminate()
            p.wait()
        shutil.rmtree(self.dir)

    def get(self, path):
        url = f"http://127.0.0.1:{self.web}{path}"
        with urllib.request.urlopen(url, timeout=60) as r:
            return r.read()

    def metric(self, name):
        lines = self.get("/metrics").decode().splitlines()
        return sum(float(line.split()[-1]) for line in lines
                   if re.match(name + r"[ {]", line))

    def wrk(self):
        """Requests a second, p99 in ms, us of pen's processor time each."""
        cpu, before = cpu_seconds(self.pen.pid), self.metric(
            "pen_connections_accepted_total")
        out = subprocess.run(
            ["wrk", "-t1", "-c32", f"-d{SECONDS}", "--latency", "-H",
             "Connection: close", f"http://127.0.0.1:{self.front}/"],
            check=True, capture_output=True, text=True).stdout
        cpu = cpu_seconds(self.pen.pid) - cpu
        sessions = self.metric("pen_connections_accepted_total") - before
        value, unit = re.search(r"99% +([\d.]+)(us|ms|s)", out).groups()
        bad = re.search(r"(Socket errors|Non-2xx).*", out)
        if bad:
            print(bad.group(0))
        return (float(re.search(r"Requests/sec: +([\d.]+)", out).group(1)),
                float(value) * {"us": 0.001, "ms": 1, "s": 1000}[unit],
                cpu / sessions * 1e6)


def compare(rig, name, visitor, elsewhere):
    rows, ways = {"without": [], name: []}, [("without", elsewhere),
                                             (name, visitor)]
    for _ in range(ROUNDS):
        for key, who in ways:
            who.begin()
            rows[key].append(rig.wrk())
            who.end()
        ways.reverse()
    for key, values in rows.items():
        rates, p99s, cpus = zip(*values)
        print(f"{key:>20}: {max(rates):8.0f} requests/s, p99 {min(p99s):6.2f}"
              f" ms, {min(cpus):6.2f} us of processor time each (the best of"
              f" {ROUNDS}; median {statistics.median(cpus):.2f} us)")
    ratios = sorted(b[2] / a[2] for a, b in zip(*rows.values()))
    print(f"{name}: {100 * (statistics.median(ratios) - 1):+.2f} % processor "
          f"time of a request, from {100 * (ratios[0] - 1):+.0f} to "
          f"{100 * (ratios[-1] - 1):+.0f} %")


def alone(rig, name, visitor):
    """What it costs without traffic, which disturbs the measurement."""
    visitor.begin()
    cpu = cpu_seconds(rig.pen.pid)
    time.sleep(5)
    cpu = cpu_seconds(rig.pen.pid) - cpu
    visitor.end()
    print(f"{name} alone: {100 * cpu / 5:.3f} % of a processor")


class SlowClients:
    COUNT = 50

    def __init__(self, rig):
        self.rig, self.going, self.thread = rig, False, None
        self.answered, self.took = 0, []

    def one(self, reads):
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.connect(("127.0.0.1", self.rig.web))
        s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n" +
                  (b"\r\n" if reads else b"X-Slow: "))
        s.setblocking(False)
        return s

    def drip(self, s, reads):
        """Returns it, or another one for one that was ended."""
        try:
            if reads:
                if s.recv(100) == b"":
                    raise ConnectionResetError
            else:
                s.send(b"x")
            return s
        except BlockingIOError:
            return s
        except OSError:
            s.close()
            return self.one(reads)

    def run(self):
        clients = [self.one(i % 2 == 0) for i in range(self.COUNT)]
        while self.going:
            began = time.monotonic()
            self.rig.get("/healthz")
            self.took.append(time.monotonic() - began)
            clients = [self.drip(s, i % 2 == 0) for i, s in enumerate(clients)]
            time.sleep(0.1)
        for s in clients:
            s.close()

    def begin(self):
        self.going = True
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        time.sleep(0.3)

    def end(self):
        self.going = False
        self.thread.join()


def slow(program):
    rig, other = Rig(program, 1000), Rig(program, 1000)
    clients = SlowClients(rig)
    alone(rig, "50 slow clients", clients)
    compare(rig, "50 slow clients", clients, SlowClients(other))
    print(f"other clients of the pages: {len(clients.took)} answered, the "
          f"slowest after {1000 * max(clients.took):.1f} ms")
    rig.end()
    other.end()


class Prometheus:
    def __init__(self, rig):
        self.rig, self.port, self.process = rig, free_port(), None
        self.config = os.path.join(rig.dir, "prometheus.yml")
        with open(self.config, "w", encoding="ascii") as f:
            f.write("global: { scrape_interval: 1s, scrape_timeout: 1s }\n"
                    "scrape_configs: [ { job_name: pen, static_configs: "
                    f"[ {{ targets: ['127.0.0.1:{rig.web}'] }} ] }} ]\n")

    def begin(self):
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={self.config}",
             f"--storage.tsdb.path={self.rig.dir}/tsdb",
             f"--web.listen-address=127.0.0.1:{self.port}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self.port)
        while self.value("up") != 1:
            time.sleep(0.1)

    def end(self):
        for ours in ("pen_connections_accepted_total", "pen_bytes_total",
                     "pen_sessions_closed_total"):
            end = time.monotonic() + 10
            while self.value(f"sum({ours})") != self.rig.metric(ours):
                if time.monotonic() > end:
                    raise SystemExit(f"{ours} does not agree")
                time.sleep(0.1)
        self.took = self.value("max_over_time(scrape_duration_seconds[1m])")
        self.process.terminate()
        self.process.wait()

    def value(self, query):
        url = (f"http://127.0.0.1:{self.port}/api/v1/query?query=" +
               urllib.parse.quote(query))
        try:
            with urllib.request.urlopen(url, timeout=10) as r:
                got = re.search(r'"value":\[[^"]*"([^"]*)"', r.read().decode())
        except urllib.error.HTTPError:  # it starts
            return None
        return float(got.group(1)) if got else None


def scrape(program):
    rig, other = Rig(program, 10), Rig(program, 10)
    p = Prometheus(rig)
    alone(rig, "scraped each second", p)
    compare(rig, "scraped each second", p, Prometheus(other))
    print(f"sums agree; the slowest scrape took {1000 * p.took:.1f} ms")
    rig.end()
    other.end()


def waits(rig, going, took):
    while going.is_set():
        began = time.monotonic()
        with socket.create_connection(("127.0.0.1", rig.front), 10) as s:
            s.sendall(b"GET / HTTP/1.0\r\n\r\n")
            while s.recv(4096):
                pass
        took.append(time.monotonic() - began)


def longest_wait(rig, during):
    going, took = threading.Event(), []
    going.set()
    t = threading.Thread(target=waits, args=(rig, going, took))
    t.start()
    during()
    going.clear()
    t.join()
    return 1000 * max(took), 1000 * statistics.median(took)


def fetch(path, rig, to):
    """By curl: a client in this process would wait for its own threads."""
    out = subprocess.run(
        ["curl", "-s", "-o", to, "-w", "%{time_total} %{size_download}",
         f"http://127.0.0.1:{rig.web}{path}"],
        check=True, capture_output=True, text=True).stdout.split()
    return float(out[0]), int(out[1])


def pieces(program):
    for servers in (100, 1000, 4096):
        rig = Rig(program, servers)
        quiet, median = min(
            longest_wait(rig, lambda: time.sleep(0.3)) for _ in range(5))
        print(f"{servers} servers: a client waits {quiet:.1f} ms at most, "
              f"{median:.2f} ms mostly")
        for path in ("/metrics", "/status.json"):
            runs = []
            cpu = cpu_seconds(rig.pen.pid)
            for _ in range(3):
                runs.append(fetch(path, rig, "/dev/null"))
            cpu = (cpu_seconds(rig.pen.pid) - cpu) / 3
            wait = min(longest_wait(rig, lambda: [
                fetch(path, rig, "/dev/null") for _ in range(2)])[0]
                for _ in range(5))
            print(f"    {path}: {min(runs)[0] * 1000:.1f} ms, "
                  f"{runs[0][1]} bytes, {1000 * cpu:.1f} ms of processor time;"
                  f" a client waits {wait:.1f} ms at most")
        rig.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pen")
    parser.add_argument("what", nargs="*")
    args = parser.parse_args()
    parts = {"slow": slow, "scrape": scrape, "pieces": pieces}
    for what in args.what or parts:
        parts[what](os.path.abspath(args.pen))


if __name__ == "__main__":
    main()
