#!/usr/bin/env python3
"""upgrade_storm.py PEN: is any client lost when the program is replaced?

pen is upgraded 50 times and its configuration is read again 50 times while wrk
asks nginx through it with 100 connections: first each request over a connection
of its own, then over kept ones. Three downloads begin before and must be
complete. Then 20 upgrades while dnsperf asks unbound: no query may be lost.
Prints what was served, what failed, how long an upgrade took (until another
process answers on the control socket), and how many processes drain at most. Run
by hand; nothing else should load the machine meanwhile."""

import argparse
import os
import re
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

from kill_storm import ask_control, free_port, is_alive, wait_for

NGINX = """daemon off; master_process off; pid %(dir)s/pid;
error_log /dev/null crit;
events { worker_connections 4096; }
http { access_log off; client_body_temp_path %(dir)s/b; proxy_temp_path %(dir)s/p;
fastcgi_temp_path %(dir)s/f; uwsgi_temp_path %(dir)s/u; scgi_temp_path %(dir)s/s;
keepalive_requests 100000000;
server { listen 127.0.0.1:%(port)d backlog=4096; root %(dir)s;
location = / { return 200 "served\\n"; } } }
"""
UNBOUND = """server:
    interface: 127.0.0.1@%(port)d
    do-daemonize: no
    username: ""
    chroot: ""
    directory: "%(dir)s"
    pidfile: ""
    use-syslog: no
    local-zone: "test." static
    local-data: "a.test. A 10.0.0.1"
remote-control:
    control-enable: no
"""
SIZE = 64 << 20


def run(words, **more):
    return subprocess.Popen(words, stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, **more)


class Pen:
    """One pen after another; the first one is our child."""

    def __init__(self, path, directory, lines):
        self.path = path
        self.ctl = os.path.join(directory, "ctl")
        self.conf = os.path.join(directory, "pen.conf")
        self.log = open(os.path.join(directory, "log"), "a")
        with open(self.conf, "w") as f:
            f.write(lines)
        self.first = run([path, "-f", "-C", self.ctl, "-F", self.conf],
                         stderr=self.log)
        self.pids = [self.first.pid]
        self.took = []
        while not os.path.exists(self.ctl):
            time.sleep(0.01)

    def ask(self, line):
        return ask_control(self.ctl, line, seconds=30)

    def upgrade(self):
        began = time.monotonic()
        answer = self.ask("upgrade")
        if " serves\n" not in answer:
            raise SystemExit(answer)
        while True:
            pid = int(self.ask("pid"))
            if pid != self.pids[-1]:
                break
            if time.monotonic() > began + 40:
                raise SystemExit("no upgrade in 40 s")
            time.sleep(0.002)
        self.took.append(1000 * (time.monotonic() - began))
        self.pids.append(pid)

    def draining(self):
        return sum(is_alive(pid) for pid in self.pids[:-1])

    def end(self):
        for pid in self.pids:
            if is_alive(pid):
                os.kill(pid, signal.SIGTERM)
        self.first.wait()
        while any(map(is_alive, self.pids)):
            time.sleep(0.01)


def storm(pen, upgrades, reloads, load):
    """In turn, for as long as the load lasts; returns the most that drained."""
    most, done = 0, [0, 0]
    pen.took = []
    while done[0] < upgrades or done[1] < reloads:
        if done[0] < upgrades:
            pen.upgrade()
            done[0] += 1
        if done[1] < reloads:
            answer = pen.ask("reload")
            if answer:
                raise SystemExit(answer)
            done[1] += 1
        most = max(most, pen.draining())
        if load.poll() is not None:
            raise SystemExit("the load ended early: --seconds")
    return most


def told(pen, most):
    return "upgrade median %d ms, longest %d ms; draining at most %d" % (
        statistics.median(pen.took), max(pen.took), most)


def web(pen, port, o, directory, keep):
    words = ["wrk", "-t1", "-c%d" % o.connections, "-d%ds" % o.seconds,
             "--timeout", "10s", "http://127.0.0.1:%d/" % port]
    if not keep:
        words += ["-H", "Connection: close"]
    files = [os.path.join(directory, "got%d" % i) for i in range(3)]
    loads = [subprocess.Popen(
        ["curl", "-sS", "--noproxy", "*", "--limit-rate", str(SIZE // o.seconds),
         "-o", name, "http://127.0.0.1:%d/large" % port]) for name in files]
    while not all(os.path.exists(f) and os.path.getsize(f) for f in files):
        time.sleep(0.01)
    load = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    time.sleep(0.5)
    most = storm(pen, o.upgrades, o.reloads, load)
    out = load.communicate()[0]
    served = int(re.search(r"(\d+) requests in", out).group(1))
    errors = re.search(r"connect (\d+), read (\d+), write (\d+), timeout (\d+)", out)
    failed = sum(map(int, errors.groups())) if errors else 0
    odd = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
    complete = sum(child.wait() == 0 and os.path.getsize(name) == SIZE
                   for child, name in zip(loads, files))
    print("%-12s served %d, failed %d, other answers %s, downloads %d of 3; %s" % (
        "wrk kept" if keep else "wrk", served, failed,
        odd.group(1) if odd else 0, complete, told(pen, most)), flush=True)
    return failed or odd or complete < 3


def dns(pen, port, o, directory):
    questions = os.path.join(directory, "questions")
    with open(questions, "w") as f:
        f.write("a.test A\n")
    load = subprocess.Popen(
        ["dnsperf", "-s", "127.0.0.1", "-p", str(port), "-d", questions, "-c20",
         "-l", str(o.seconds), "-Q", str(o.rate)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    time.sleep(0.5)
    most = storm(pen, o.dns_upgrades, 0, load)
    out = load.communicate()[0]
    sent, lost = (int(re.search(r"Queries %s:\s+(\d+)" % w, out).group(1))
                  for w in ("sent", "lost"))
    print("%-12s sent %d, lost %d; %s" % ("dnsperf", sent, lost, told(pen, most)),
          flush=True)
    return lost


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("pen")
    p.add_argument("--upgrades", type=int, default=50)
    p.add_argument("--reloads", type=int, default=50)
    p.add_argument("--dns-upgrades", type=int, default=20)
    p.add_argument("--seconds", type=int, default=20, help="each load lasts")
    p.add_argument("--connections", type=int, default=100)
    p.add_argument("--rate", type=int, default=5000, help="DNS queries a second")
    o = p.parse_args()
    bad = False
    with tempfile.TemporaryDirectory() as directory:
        path = shutil.copy(o.pen, directory)
        if shutil.which("wrk") and shutil.which("nginx") and shutil.which("curl"):
            port, front = free_port(), free_port()
            with open(os.path.join(directory, "large"), "wb") as f:
                f.truncate(SIZE)
            conf = os.path.join(directory, "nginx.conf")
            with open(conf, "w") as f:
                f.write(NGINX % {"dir": directory, "port": port})
            nginx = run(["nginx", "-c", conf, "-p", directory],
                        stderr=subprocess.DEVNULL)
            wait_for(port)
            for keep in (False, True):
                pen = Pen(path, directory, "listen 127.0.0.1:%d\n"
                          "server add 127.0.0.1:%d\n" % (front, port))
                bad |= bool(web(pen, front, o, directory, keep))
                pen.end()
            nginx.terminate()
            nginx.wait()
        else:
            print("wrk, nginx or curl is not here")
        if shutil.which("dnsperf") and shutil.which("unbound"):
            port, front = free_port(), free_port()
            conf = os.path.join(directory, "unbound.conf")
            with open(conf, "w") as f:
                f.write(UNBOUND % {"dir": directory, "port": port})
            unbound = run(["unbound", "-c", conf], stderr=subprocess.DEVNULL)
            wait_for(port)
            pen = Pen(path, directory, "dns\nlisten 127.0.0.1:%d\n"
                      "server add 127.0.0.1:%d\n" % (front, port))
            bad |= bool(dns(pen, front, o, directory))
            pen.end()
            unbound.terminate()
            unbound.wait()
        else:
            print("dnsperf or unbound is not here")
    raise SystemExit(1 if bad else 0)


if __name__ == "__main__":
    main()
