#!/usr/bin/env python3
"""workers_storm.py PEN: do several workers lose more than one process?

wrk asks three nginx through pen, first each request over a connection of its own,
then over kept ones; dnsperf asks unbound. Meanwhile there are 50 upgrades, 50
reloads, 50 commands, and 50 changes of the number of workers, or upgrades more with
one process; then the same while servers are killed, 18 times, and started again.
For workers 1, and for workers 2 by connection, as wrk has one address. Prints what was served, what
failed, how many changes were refused with --forks, and what is left in the end: processes beside the leader and its workers,
descriptors of the leader more than in the beginning (the socket of a third worker
stays open). Needs wrk and nginx, dnsperf and unbound. Run by hand; nothing else
should load the machine meanwhile."""

import argparse
import os
import random
import re
import shutil
import struct
import subprocess
import tempfile
import threading
import time

from kill_storm import Nginx, free_port, wait_for
from upgrade_storm import UNBOUND, Pen, run


def children(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
        return len(f.read().split())


class Forks:
    """Processes that pen may still start: tests/support/forks_preload.c."""

    def __init__(self, o):
        self.file, self.order, self.left = o.forks_file, random.Random(2), -1

    def set(self, left):
        self.left = left
        with open(self.file, "r+b") as f:
            f.write(struct.pack("i", left))

    def all(self):
        self.set(-1)

    def draw(self, wanted):
        """One time in three there is room for fewer than are wanted."""
        few = self.order.randrange(3) == 0
        self.set(self.order.randrange(wanted) if few else -1)

    def fail(self):
        return self.left >= 0


class Storm:
    """Steps in turn, and kills beside them, for as long as the load lasts."""

    def __init__(self, pen, workers, servers, o):
        self.pen, self.workers, self.servers, self.o = pen, workers, servers, o
        self.over = threading.Event()

        self.forks = Forks(o) if o.forks else None
        self.refused = 0

    def tell(self, line):
        """Returns whether it was done, and not refused for want of processes."""
        said = self.pen.ask(line)
        if "not started" in said and self.forks:
            self.refused += 1
            return False
        if "error" in said:
            raise SystemExit("%s: %s" % (line, said))
        return True

    def upgrade(self):
        if not self.forks:
            self.pen.upgrade()
        elif self.forks.fail():  # where all forks fail it is refused
            if " serves\n" in self.pen.ask("upgrade"):
                raise SystemExit("upgraded without workers")
            self.refused += 1
        else:
            self.pen.upgrade()

    def step(self, i):
        web = "service web " if self.o.services else ""
        if self.forks:
            self.forks.draw(self.workers)
        self.upgrade()
        if self.forks:
            self.forks.all()
        self.tell("reload")
        self.tell("%sserver 0 weight %d" % (web, i % 5 + 1))
        if self.workers > 1:
            if self.forks:
                self.forks.draw(2 * (self.workers + 1))
            self.tell("workers %d" % (self.workers + 1 - i % 2))
            if self.forks:
                self.forks.all()
        else:  # sessions are left to an older process as often
            self.pen.upgrade()

    def kill(self):
        step, order = self.o.seconds / self.o.kills, random.Random(1)
        while not self.over.wait(step / 2):
            victim = order.choice(self.servers)
            victim.kill()
            time.sleep(step / 2)
            victim.start()

    def run(self, load, kills):
        killer = threading.Thread(target=self.kill)
        if kills:
            killer.start()
        pause = 0.8 * self.o.seconds / self.o.steps
        for i in range(self.o.steps):
            time.sleep(pause / 2)
            self.step(i)
            if load.poll() is not None:
                raise SystemExit("the load ended early: --seconds")
        out = load.communicate()[0]
        self.over.set()
        if kills:
            killer.join()
        return out


def descriptors(pid):
    return len(os.listdir("/proc/%d/fd" % pid))


def settle(pen, workers):
    """Waits for the end of those that drain; returns what is left."""
    end = time.monotonic() + 10
    pid = pen.pids[-1]
    wanted = workers if workers > 1 else 0
    while time.monotonic() < end and (
            pen.draining() or children(pid) > wanted):
        time.sleep(0.05)
    return pen.draining() + children(pid) - wanted


def one(o, directory, workers, what, kills, servers):
    front = free_port()
    lines = ("workers %d\nworkers_by connection\nsession_log off\n" % workers)
    if o.services:
        lines += "service web\n"
    lines += "listen 127.0.0.1:%d\nroundrobin\nudp_timeout 1\n" % front
    if what == "dns":
        lines += "dns\n"
    for s in servers:
        lines += "server add 127.0.0.1:%d\n" % s.port
    for i in range(o.services):
        lines += ("service other%d\nlisten 127.0.0.1:%d\n"
                  "server add 127.0.0.1:%d\n" % (i, free_port(),
                                                 servers[0].port))
    if o.forks:
        o.forks_file = os.path.join(directory, "forks")
        with open(o.forks_file, "wb") as f:
            f.write(struct.pack("i", -1))
        os.environ["PEN_TEST_FORKS"] = o.forks_file
        os.environ["LD_PRELOAD"] = os.path.abspath(o.forks)
    pen = Pen(os.path.join(directory, "pen"), directory, lines)
    os.environ.pop("LD_PRELOAD", None)
    wait_for(front)
    before = descriptors(pen.pids[-1])
    if what == "dns":
        words = ["dnsperf", "-s", "127.0.0.1", "-p", str(front), "-d",
                 os.path.join(directory, "questions"), "-c20", "-l",
                 str(o.seconds), "-Q", str(o.rate)]
    else:
        words = ["wrk", "-t1", "-c%d" % o.connections, "-d%ds" % o.seconds,
                 "--timeout", "10s", "http://127.0.0.1:%d/" % front]
        if what == "wrk":
            words += ["-H", "Connection: close"]
    load = subprocess.Popen(words, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True)
    time.sleep(0.3)
    storm = Storm(pen, workers, servers, o)
    out = storm.run(load, kills)
    if what == "dns":
        served, failed = (int(re.search(r"Queries %s:\s+(\d+)" % w, out).group(1))
                          for w in ("completed", "lost"))
    else:
        served = int(re.search(r"(\d+) requests in", out).group(1))
        errors = re.search(
            r"connect (\d+), read (\d+), write (\d+), timeout (\d+)", out)
        failed = sum(map(int, errors.groups())) if errors else 0
    pen.ask("workers %d" % workers)
    left = settle(pen, workers)
    more = descriptors(pen.pids[-1]) - before
    print("%-9s %-7d %-6s %9d %7d %9.4f%% %5d %6d %7d" % (
        what, workers, "yes" if kills else "no", served, failed,
        100 * failed / max(1, served + failed), left, more, storm.refused),
        flush=True)
    pen.end()
    if os.path.exists(pen.ctl):
        os.remove(pen.ctl)


class Unbound:
    def __init__(self, directory):
        self.port = free_port()
        self.conf = os.path.join(directory, "unbound.conf")
        with open(self.conf, "w") as f:
            f.write(UNBOUND % {"dir": directory, "port": self.port})
        with open(os.path.join(directory, "questions"), "w") as f:
            f.write("a.test A\n")
        self.child = run(["unbound", "-c", self.conf],
                         stderr=subprocess.DEVNULL)
        wait_for(self.port)

    def kill(self):
        self.child.kill()
        self.child.wait()


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("pen")
    p.add_argument("--steps", type=int, default=50,
                   help="upgrades, reloads, commands, changes of the number")
    p.add_argument("--kills", type=int, default=18)
    p.add_argument("--seconds", type=int, default=20, help="each load lasts")
    p.add_argument("--connections", type=int, default=16)
    p.add_argument("--rate", type=int, default=5000, help="DNS queries a second")
    p.add_argument("--only", help="wrk, wrk-kept or dns")
    p.add_argument("--services", type=int, default=0,
                   help="sections beside the one that is loaded")
    p.add_argument("--forks", help="forks.so of tests/system: now and then "
                   "processes do not begin, and changes are refused")
    p.add_argument("--workers", type=int, help="so many alone")
    o = p.parse_args()
    print("%-9s %-7s %-6s %9s %7s %10s %5s %6s %7s" % (
        "", "workers", "kills", "served", "failed", "share", "left", "more",
        "refused"))
    with tempfile.TemporaryDirectory() as directory:
        shutil.copy(o.pen, os.path.join(directory, "pen"))
        servers = [Nginx(directory, i) for i in range(3)]
        unbound = Unbound(directory)
        for what, kills in (("wrk", False), ("wrk-kept", False),
                            ("dns", False), ("wrk", True), ("wrk-kept", True)):
            if o.only and o.only != what:
                continue
            for workers in (o.workers,) if o.workers else (1, 2):
                one(o, directory, workers, what, kills,
                    [unbound] if what == "dns" else servers)
        unbound.kill()
        for s in servers:
            s.kill()


if __name__ == "__main__":
    main()
