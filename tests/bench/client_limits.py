#!/usr/bin/env python3
"""client_limits.py PEN: does one client that opens 10,000 connections slow others?

PEN is in front of an nginx, with client_conns 50. Clients at other addresses of
127/8 ask for a page --rate times a second, a connection each, whatever the answer
takes. First they are alone; then 127.0.0.66 opens 10,000 connections in --seconds
and keeps each one until it is reset. Prints the median, p99 and worst time from the
connect to the answer, and what became of the 10,000; for each client_limit_action,
without a limit, and with HAProxy (a stick table of conn_cur) where it is installed.
Run by hand; nothing else should load the machine meanwhile, or "chrt -r 1 python3"
keeps that away."""

import argparse
import multiprocessing
import os
import select
import shutil
import socket
import tempfile
import time

from kill_storm import Nginx, free_port, run, wait_for

NGINX = """daemon off; master_process off; pid %(dir)s/pid;
error_log /dev/null crit; worker_rlimit_nofile 20000;
events { worker_connections 16000; }
http { access_log off;
client_body_temp_path %(dir)s/b; proxy_temp_path %(dir)s/p;
fastcgi_temp_path %(dir)s/f; uwsgi_temp_path %(dir)s/u; scgi_temp_path %(dir)s/s;
server { listen 127.0.0.1:%(port)d backlog=4096;
location / { return 200 "served\\n"; } } }
"""
HAPROXY = """global
    maxconn 9000
defaults
    mode tcp
    timeout connect 3s
    timeout client 60s
    timeout server 60s
frontend in
    bind 127.0.0.1:%d
    stick-table type ip size 100k expire 1m store conn_cur
    tcp-request connection track-sc0 src
    tcp-request connection reject if { sc0_conn_cur gt 50 }
    default_backend servers
backend servers
    server a %s
"""
REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
MANY, ATTACKER = 10000, "127.0.0.66"


def ask(port, source):
    """Seconds from the connect to the whole answer; None: there was none."""
    began = time.perf_counter()
    try:
        with socket.create_connection(("127.0.0.1", port), 10, (source, 0)) as s:
            s.sendall(REQUEST)
            answer = b""
            while more := s.recv(65536):
                answer += more
    except OSError:
        return None
    return time.perf_counter() - began if b"served" in answer else None


def ask_often(port, rate, seconds, out):
    times, began = [], time.perf_counter()
    for i in range(int(rate * seconds)):
        time.sleep(max(0, began + i / rate - time.perf_counter()))
        times.append(ask(port, "127.0.1.%d" % (1 + i % 200)))
    out.put(times)


def attack(port, seconds, stop, out):
    """Opens MANY connections, evenly, and keeps them until they are reset."""
    poll, there, reset, failed = select.epoll(), {}, 0, 0
    began = time.perf_counter()
    opened, end = 0, 0
    while opened < MANY or not stop.is_set() or time.perf_counter() < end:
        if not stop.is_set():
            end = time.perf_counter() + 0.5  # for the last resets
        due = min(MANY, int((time.perf_counter() - began) / seconds * MANY))
        for _ in range(due - opened):
            s = socket.socket()
            s.setblocking(False)
            s.bind((ATTACKER, 0))
            try:
                s.connect(("127.0.0.1", port))
            except BlockingIOError:
                pass
            except OSError:
                failed += 1
                continue
            there[s.fileno()] = s
            poll.register(s, select.EPOLLRDHUP)
        opened = due
        for fd, ready in poll.poll(0.005):
            if ready & (select.EPOLLRDHUP | select.EPOLLERR | select.EPOLLHUP):
                reset += 1
                there.pop(fd).close()
    out.put((len(there), reset, failed))


def percentile(times, p):
    return sorted(times)[min(len(times) - 1, int(len(times) * p))] * 1000


def measure(port, o, attacked):
    clients, fate = multiprocessing.Queue(), multiprocessing.Queue()
    stop = multiprocessing.Event()
    attacker = multiprocessing.Process(
        target=attack, args=(port, o.seconds, stop, fate))
    if attacked:
        attacker.start()
    ask_often(port, o.rate, o.seconds, clients)
    stop.set()
    all_times = clients.get()
    times = [t for t in all_times if t is not None]
    line = "%8.2f %8.2f %8.2f %7d" % (
        percentile(times, 0.5), percentile(times, 0.99), max(times) * 1000,
        len(all_times) - len(times))
    if attacked:
        line += "   open %d, reset %d, failed %d" % fate.get()
        attacker.join()
    return line


def balancers(o, directory, place):
    for action in ("refuse", "delay", "tarpit", "no limit"):
        port = free_port()
        words = [o.pen, "-f", "-r", "-x", "11000", "127.0.0.1:%d" % port, place]
        if action != "no limit":
            words[2:2] = ["--client-conns", "50", "--client-limit-action", action]
        yield "pen, " + action, port, words
    if shutil.which("haproxy"):
        port = free_port()
        file = os.path.join(directory, "haproxy.cfg")
        with open(file, "w") as f:
            f.write(HAPROXY % (port, place))
        yield "haproxy", port, ["haproxy", "-db", "-f", file]


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("pen")
    p.add_argument("--rate", type=float, default=200)
    p.add_argument("--seconds", type=float, default=5)
    p.add_argument("--rounds", type=int, default=1)
    p.add_argument("--only", help="balancers whose name begins so")
    o = p.parse_args()
    print("%-24s %8s %8s %8s %7s" % ("ms", "median", "p99", "worst", "failed"))
    with tempfile.TemporaryDirectory() as directory:
        server = Nginx(directory, 0, NGINX)
        for name, port, words in balancers(o, directory, "127.0.0.1:%d" % server.port):
            if o.only and not name.startswith(o.only):
                continue
            child = run(words)
            wait_for(port)
            for _ in range(o.rounds):
                for state in ("quiet", "attacked"):
                    line = measure(port, o, state == "attacked")
                    print("%-24s %s" % (name + ", " + state, line), flush=True)
                    time.sleep(0.5)
            child.kill()
            child.wait()
        server.kill()


if __name__ == "__main__":
    main()
