#!/usr/bin/env python3
"""What a new client of -U costs when local ports run out.

    udp_ports.py [--ports N] [--servers N] [--sources N] PEN

In a network of its own, with a range of N local ports (2048), lets made-up
clients come one after the other, each with one datagram, three times as many as
there are ports. Prints pen's processor time per new client while there are few
flows, when all ports are taken, and the ratio; the flows there are in the end,
and how many clients were not served. Not part of make check."""

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time

LOW = 20000


def cpu_ns(pid):
    with open("/proc/%d/schedstat" % pid) as f:
        return int(f.read().split()[0])


def own_network(ports):
    if os.environ.get("UDP_PORTS_INSIDE") is None:
        os.environ["UDP_PORTS_INSIDE"] = "1"
        os.execvp("unshare", ["unshare", "-rn", sys.executable] + sys.argv)
    subprocess.check_call(["ip", "link", "set", "lo", "up"])
    with open("/proc/sys/net/ipv4/ip_local_port_range", "w") as f:
        f.write("%d %d" % (LOW, LOW + ports - 1))


def control(path, line):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        s.sendall(line.encode() + b"\n")
        s.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: s.recv(65536), b"")).decode()


def come(number, front, servers, wait):
    """One datagram of a client that was never there; whether it arrives."""
    host = "127.%d.%d.%d" % (
        1 + (number >> 16), number >> 8 & 255, number & 255)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind((host, 5000))
        s.sendto(b"x", front)
    end = time.monotonic() + wait
    while time.monotonic() < end:
        for server in servers:
            try:
                server.recv(16)
                return True
            except BlockingIOError:
                pass
    return False


def main():
    p = argparse.ArgumentParser()
    p.add_argument("pen")
    p.add_argument("--ports", type=int, default=2048)
    p.add_argument("--servers", type=int, default=3)
    p.add_argument("--sources", type=int, default=0)
    a = p.parse_args()
    own_network(a.ports)
    directory = tempfile.mkdtemp()
    ctl = os.path.join(directory, "ctl")
    servers = []
    for i in range(a.servers):
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.bind(("127.0.0.1", 7001 + i))
        s.setblocking(False)
        servers.append(s)
    front = ("127.0.0.1", 7000)
    source = ["-O", "source " + " ".join(
        "127.0.1.%d" % (i + 1) for i in range(a.sources))] if a.sources else []
    pen = subprocess.Popen(
        [a.pen, "-f", "-U", "-x", "100000", "-O", "roundrobin",
         "-O", "balance roundrobin", "-O", "udp_timeout 3600", "-C", ctl] +
        source + ["%s:%d" % front] +
        ["127.0.0.1:%d" % (7001 + i) for i in range(a.servers)])
    while not os.path.exists(ctl):
        time.sleep(0.01)
    all_ports = a.ports * max(1, a.sources)
    part = max(200, all_ports // 10)
    lost, cost = 0, []
    for first in range(0, 3 * all_ports, part):
        before = cpu_ns(pen.pid)
        for number in range(first, first + part):
            lost += not come(number, front, servers, 0.5)
        cost.append((cpu_ns(pen.pid) - before) / part / 1000)
    near = cost[-len(cost) // 3:]
    far, near = min(cost[:3]), sum(near) / len(near)
    print("far from the limit %.1f us, at it %.1f us: %.2f times; lost %d" %
          (far, near, near / far, lost))
    print("\n".join(line for line in control(ctl, "statistics").split("\n")
                    if line.startswith(("flow", "dropped"))))
    pen.terminate()
    pen.wait()


main()
