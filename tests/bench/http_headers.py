#!/usr/bin/env python3
"""http_headers.py PEN [--seconds N] [--rounds N]: what does -H cost?

Two copies of PEN stand before one nginx, one with -H, one without. wrk loads them
in turn, round by round, with connections that are kept and with one connection
for each request. Prints the requests a second of each, the processor time of pen
for each request and, where perf is there and may count, its instructions; at the
end the medians and what -H costs. --upload sends a chunked body of 1 GiB through
both. Run by hand on a quiet machine."""

import argparse
import os
import re
import shutil
import socket
import statistics
import subprocess
import tempfile
import time

from kill_storm import free_port, wait_for
from shutdown_wrk import NGINX

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def count_instructions(pid, seconds):
    if not shutil.which("perf"):
        return None
    return subprocess.Popen(
        ["perf", "stat", "-x,", "-e", "instructions", "-p", str(pid), "--",
         "sleep", str(seconds)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def load(pen, port, seconds, close):
    perf = count_instructions(pen.pid, seconds)
    before = cpu_seconds(pen.pid)
    words = ["wrk", "-t1", "-c50", f"-d{seconds}", f"http://127.0.0.1:{port}/"]
    if close:
        words += ["-H", "Connection: close"]
    said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    requests = int(re.search(r"(\d+) requests in", said).group(1))
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", said).group(1))
    if "Non-2xx" in said or "Socket errors" in said:
        print(said)
    cpu = (cpu_seconds(pen.pid) - before) / max(requests, 1) * 1e6
    instructions = None
    if perf:
        counted = re.match(r"(\d+),", perf.communicate()[1])
        instructions = int(counted.group(1)) / requests if counted else None
    return rate, cpu, instructions


class Sink:
    """Reads a request to its last chunk and answers; one connection."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def serve(self):
        n, tail = 0, b""
        while n == 0:  # who only looked whether somebody listens says nothing
            c = self.listener.accept()[0]
            part = c.recv(1 << 20)
            n, tail = len(part), part[-7:]
        while not tail.endswith(b"\r\n0\r\n\r\n"):
            part = c.recv(1 << 20)
            if not part:
                break
            n += len(part)
            tail = (tail + part)[-7:]
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        c.close()
        return n


def upload(pen, options, size):
    import threading
    sink, port, got = Sink(), free_port(), []
    p = subprocess.Popen([pen, "-f", "-r", *options, f"127.0.0.1:{port}",
                          f"127.0.0.1:{sink.port}"], stderr=subprocess.DEVNULL)
    wait_for(port)
    t = threading.Thread(target=lambda: got.append(sink.serve()))
    t.start()
    c = socket.create_connection(("127.0.0.1", port))
    chunk = b"%x\r\n" % (1 << 20) + os.urandom(1 << 20) + b"\r\n"
    start = time.monotonic()
    c.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    sent = 0
    while sent < size:
        c.sendall(chunk)
        sent += 1 << 20
    c.sendall(b"0\r\n\r\n")
    answer = c.recv(100)
    took = time.monotonic() - start
    t.join()
    cpu = cpu_seconds(p.pid)
    p.terminate()
    p.wait()
    whole = got[0] >= size and answer.startswith(b"HTTP/1.1 200 ")
    print(f"upload {' '.join(options) or 'plain':6} {size >> 20} MiB in {took:.2f} s, "
          f"{size / took / 1e6:.0f} MB/s, pen {cpu:.2f} s of processor, "
          f"{'intact' if whole else 'DAMAGED'}")


def main():
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("pen")
    a.add_argument("--seconds", type=int, default=5)
    a.add_argument("--rounds", type=int, default=5)
    a.add_argument("--upload", action="store_true")
    args = a.parse_args()
    if args.upload:
        for options in [], ["-H"]:
            upload(args.pen, options, 1 << 30)
        return
    ports = {"nginx": free_port(), "plain": free_port(), "-H": free_port()}
    kinds = [(name, close) for close in (False, True) for name in ("plain", "-H")]
    results = {k: [] for k in kinds}
    with tempfile.TemporaryDirectory() as directory:
        conf = os.path.join(directory, "conf")
        with open(conf, "w") as f:
            f.write(NGINX % {"dir": directory, "port": ports["nginx"]})
        nginx = subprocess.Popen(["nginx", "-c", conf, "-p", directory],
                                 stderr=subprocess.DEVNULL)
        pens = {name: subprocess.Popen(
            [args.pen, "-f", "-r", *options, f"127.0.0.1:{ports[name]}",
             f"127.0.0.1:{ports['nginx']}"], stderr=subprocess.DEVNULL)
            for name, options in (("plain", []), ("-H", ["-H"]))}
        try:
            for port in ports.values():
                wait_for(port)
            for i in range(args.rounds):
                for name, close in kinds if i % 2 == 0 else kinds[::-1]:
                    r = load(pens[name], ports[name], args.seconds, close)
                    results[name, close].append(r)
                    print(f"{name:6} {'closed' if close else 'kept  '} "
                          f"{r[0]:9.0f}/s {r[1]:7.2f} us" +
                          (f" {r[2]:9.0f} instructions" if r[2] else ""))
        finally:
            for p in [*pens.values(), nginx]:
                p.terminate()
                p.wait()
    for close in False, True:
        for i, what in enumerate(("requests a second", "us of processor a request",
                                  "instructions a request")):
            values = {n: [r[i] for r in results[n, close]] for n in ("plain", "-H")}
            if None in values["plain"] + values["-H"]:
                continue
            m = {n: statistics.median(v) for n, v in values.items()}
            print(f"{'closed' if close else 'kept'}: {what}: plain {m['plain']:.2f}, "
                  f"-H {m['-H']:.2f}: {100 * (m['-H'] / m['plain'] - 1):+.1f} %")


if __name__ == "__main__":
    main()
