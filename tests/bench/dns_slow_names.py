#!/usr/bin/env python3
"""Do slow names take name servers away from those who ask for others?

    dns_slow_names.py [--seconds S] [--burst N] [--rate R] PEN

Starts three name servers that take 2 ms for any name but the slow ones, which
they never answer, and pen --dns before them. One client sends a burst of
queries for slow names each second, another asks for other names at a steady
rate. Prints what that one got in each second, the sum, and how often a server
counted as failed. Not part of make check."""

import argparse
import collections
import os
import random
import select
import socket
import struct
import subprocess
import tempfile
import threading
import time


def query(number, name):
    labels = b"".join(bytes([len(x)]) + x for x in name.encode().split(b"."))
    return (struct.pack(">HHHHHH", number, 0x100, 1, 0, 0, 0) + labels +
            b"\0\0\1\0\1")


def serve(sock):
    while True:
        try:
            message, who = sock.recvfrom(4096)
        except OSError:
            return
        if message[13:17] == b"slow":
            continue
        answer = message[:2] + b"\x81\x80" + message[4:]
        timer = threading.Timer(0.002, sock.sendto, (answer, who))
        timer.daemon = True
        timer.start()


def udp():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    return s


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def ask(front, rate, seconds, result):
    """Asks `rate` times a second; counts answers by second and code."""
    s = udp()
    s.connect(front)
    begin = time.monotonic()
    sent, pending = 0, {}
    while pending or sent < rate * seconds:
        now = time.monotonic() - begin
        if now > seconds + 5:
            break
        while sent < rate * seconds and sent / rate <= now:
            number = sent & 0xffff
            pending[number] = int(now)
            s.send(query(number, "n%d.good.test" % sent))
            sent += 1
        if select.select([s], [], [], 0.01)[0]:
            answer = s.recv(4096)
            second = pending.pop(struct.unpack(">H", answer[:2])[0], None)
            if second is not None:
                result[second][answer[3] & 15] += 1
    for second in pending.values():
        result[second]["none"] += 1


def main():
    p = argparse.ArgumentParser()
    p.add_argument("pen")
    p.add_argument("--seconds", type=int, default=60)
    p.add_argument("--burst", type=int, default=60)
    p.add_argument("--rate", type=float, default=50)
    a = p.parse_args()
    servers = [udp() for _ in range(3)]
    for s in servers:
        threading.Thread(target=serve, args=(s,), daemon=True).start()
    directory = tempfile.mkdtemp()
    front = ("127.0.0.1", free_port())
    log = open(os.path.join(directory, "log"), "w+")
    pen = subprocess.Popen(
        [a.pen, "-f", "-r", "--dns", "%s:%d" % front] +
        ["%s:%d" % s.getsockname() for s in servers],
        stderr=log)
    time.sleep(0.5)
    result = collections.defaultdict(collections.Counter)
    other = threading.Thread(
        target=ask, args=(front, a.rate, a.seconds, result))
    other.start()
    attacker = udp()
    for _ in range(a.seconds):
        for _ in range(a.burst):
            name = "slow%d.test" % random.randrange(1 << 30)
            attacker.sendto(query(random.randrange(65536), name), front)
        time.sleep(1)
    other.join()
    pen.terminate()
    pen.wait()
    log.seek(0)
    failed = sum("server blacklisted" in line for line in log)
    print(" ".join("%d/%d" % (c[0], sum(c.values()) - c[0])
                   for _, c in sorted(result.items())))
    total = sum(result.values(), collections.Counter())
    print("NOERROR %d of %d; servers failed %d times" %
          (total[0], sum(total.values()), failed))


main()
