#!/usr/bin/env python3
"""session_log.py PEN [--requests N] [--rounds N] [--dir DIR]: what does the session
log cost?

Copies of PEN stand before one nginx: one without the log, one for each format, which
writes to a file in DIR, and two that send datagrams to a port where nobody reads. ab
loads them with one connection for each request, in short slices: each slice with a log
is compared with one without just before it, so that a busy machine is busy for both.
Prints the medians: sessions a second, processor time of pen for each session, what the
log costs of that, and bytes a line. A file may cost 3 %."""

import argparse
import os
import re
import socket
import statistics
import subprocess
import tempfile
import time

from kill_storm import free_port, wait_for
from shutdown_wrk import NGINX

FORMATS = ["logfmt", "jsonl", "common", "{time} {client} {server} {up} {down} {ms}"]


def cpu_seconds(pid):
    """Of all its threads, in nanoseconds, as clock_getcpuclockid(3) has it."""
    return time.clock_gettime(~pid << 3 | 2)


def load(pen, port, requests, keep=False):
    before = cpu_seconds(pen.pid)
    said = subprocess.run(
        ["ab", "-q", *(["-k"] if keep else []), "-n", str(requests), "-c", "32",
         f"http://127.0.0.1:{port}/"],
        check=True, capture_output=True, text=True).stdout
    if not re.search(r"Failed requests:\s+0\n", said):
        print(said)
    rate = float(re.search(r"Requests per second:\s+([\d.]+)", said).group(1))
    return rate, (cpu_seconds(pen.pid) - before) / requests * 1e6


def kinds(directory, collector):
    yield "off", ["-O", "session_log off"]
    for n, text in enumerate(FORMATS):
        name = text if "{" not in text else "template"
        yield name, ["-O", f"session_log {directory}/{n}.log", "-O", f"log_format '{text}'"]
    port = collector.getsockname()[1]
    yield "udp", ["-O", f"session_log udp:127.0.0.1:{port}"]
    yield "syslog", ["-O", f"session_log syslog:127.0.0.1:{port}"]


def report(results, directory):
    for name, pairs in results.items():
        rate, cpu = (statistics.median(x) for x in zip(*(on for _, on in pairs)))
        costs = [on[1] / off[1] * 100 - 100 for off, on in pairs]
        print(f"{name:9} {rate:8.0f}/s {cpu:7.2f} us a session, "
              f"costs {statistics.median(costs):5.2f} %")
    for n, text in enumerate(FORMATS):
        path = f"{directory}/{n}.log"
        with open(path, "rb") as f:
            lines = sum(part.count(b"\n") for part in iter(lambda: f.read(1 << 20), b""))
        print(f"{os.path.getsize(path) / max(lines, 1):5.0f} bytes a line: {text}")


def main():
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("pen")
    a.add_argument("--requests", type=int, default=3000)
    a.add_argument("--rounds", type=int, default=30)
    a.add_argument("--dir")
    args = a.parse_args()
    collector = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    collector.bind(("127.0.0.1", 0))
    with tempfile.TemporaryDirectory(dir=args.dir) as directory:
        conf = os.path.join(directory, "conf")
        origin = free_port()
        with open(conf, "w") as f:
            f.write(NGINX % {"dir": directory, "port": origin})
        nginx = subprocess.Popen(["nginx", "-c", conf, "-p", directory],
                                 stderr=subprocess.DEVNULL)
        pens, results = {}, {}
        try:
            wait_for(origin)
            for name, options in kinds(directory, collector):
                port = free_port()
                pens[name] = subprocess.Popen(
                    [args.pen, "-f", "-r", *options, f"127.0.0.1:{port}",
                     f"127.0.0.1:{origin}"], stderr=subprocess.DEVNULL), port
                wait_for(port)
            results = {name: [] for name in pens}
            for _ in range(args.rounds):
                for name in results:
                    pair = [load(*pens[k], args.requests) for k in ("off", name)]
                    results[name].append(pair)
        finally:
            for p in [*(pen for pen, _ in pens.values()), nginx]:
                p.terminate()
                p.wait()
        report(results, directory)


if __name__ == "__main__":
    main()
