#!/usr/bin/env python3
"""What clients cost that lag behind servers which have broken off.

    reset_poll.py [--clients N] [--seconds S] [--talk] PEN

N clients with small windows connect through PEN to a server that answers 40,000
bytes and resets; none of them reads. Prints how much of a core pen takes for the
sessions that wait until their clients have all bytes: in all, and once they are
looked at seldom; then how long after the resets the last session was over. With
--talk each client says a byte every second meanwhile. Not part of make check."""

import argparse
import fcntl
import os
import resource
import socket
import struct
import subprocess
import tempfile
import threading
import time

ANSWER = b"x" * 40000
SIOCOUTQ = 0x5411
RESET = struct.pack("ii", 1, 0)


def serve(listener):
    """Accepts, answers, and resets when all of it is out."""
    while True:
        try:
            c, _ = listener.accept()
        except OSError:
            return
        try:
            c.sendall(ANSWER)
            while struct.unpack("i", fcntl.ioctl(c, SIOCOUTQ, b"\0" * 4))[0]:
                time.sleep(0.0005)
            c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        except OSError:
            pass
        c.close()


def cpu(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def sessions(control):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(control)
        s.sendall(b"statistics\n")
        s.shutdown(socket.SHUT_WR)
        text = b""
        while data := s.recv(65536):
            text += data
    return int(text.split(b"\n", 1)[0].split()[1])


def call(port):
    time.sleep(0.002)
    c = socket.socket()
    c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    c.connect(("127.0.0.1", port))
    return c


def say(clients):
    for c in clients:
        try:
            c.send(b"y", socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
        except OSError:
            pass


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--clients", type=int, default=4000)
    p.add_argument("--seconds", type=int, default=20)
    p.add_argument("--talk", action="store_true")
    p.add_argument("pen")
    a = p.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    free = socket.create_server(("127.0.0.1", 0))
    port = free.getsockname()[1]
    free.close()
    control = os.path.join(tempfile.mkdtemp(), "ctl")
    pen = subprocess.Popen([a.pen, "-f", "-r", "-x", str(a.clients + 100),
        "-C", control, f"127.0.0.1:{port}",
        f"127.0.0.1:{listener.getsockname()[1]}"])
    time.sleep(0.5)
    clients = [call(port) for _ in range(a.clients)]
    began, before = time.monotonic(), cpu(pen.pid)
    time.sleep(2)
    settled, mid = time.monotonic(), cpu(pen.pid)
    waiting = sessions(control)
    while time.monotonic() - began < a.seconds:
        if a.talk:
            say(clients)
        time.sleep(1)
    now, after = time.monotonic(), cpu(pen.pid)
    print(f"{waiting} sessions wait: {100 * (after - before) / (now - began):.2f}"
          f" % of a core, {100 * (after - mid) / (now - settled):.2f} % once "
          "they are looked at seldom")
    while sessions(control) > 0 and time.monotonic() - began < 120:
        if a.talk:
            say(clients)
        time.sleep(1)
    print(f"{sessions(control)} left {time.monotonic() - began:.0f} s after")
    pen.terminate()
    pen.wait()


main()
