#!/usr/bin/env python3
"""Frames a director forwards: pen, a classic pen, and the kernel as a router.

    dsr_rate.py [--rounds N] [--seconds S] [--pings N] [--classic PROGRAM]
                [--fast off,auto,on,generic] [--far drop,stack] [--only WORK]
                [--beside NAME=COMMAND]... PEN...

PEN runs with each value of --fast; "generic" is "on" above a macvlan interface,
whose driver runs no programs. COMMAND is another director with options of its
own: all "all ns" are also divided by its, round by round, and the median of
these ratios is printed, which holds on a machine with other work, too.

    rate:     sender eth0 --- eth0 director          director: pen, answers to
                                                     the same cable
              sender eth0 --- eth0 router eth1 --- eth0 sink
    latency:  client, director, server at a bridge

Needs root and iproute2. The sender has the first core, the director the
second; the frames have 60 bytes and come as fast as they go. What softirqs do
is charged to who sends in these cables: what receives (the packet socket's
ring, XDP programs, or all of the kernel's routing) is done on the sender's
core, and the far end's part by the director. So there are these figures:

    frames/s      that left, as seen
    lost          of those sent
    director ns   CPU time of the director's process for each that left
    all ns        all CPU time for each that left, the sender's included, less
                  what sending alone costs: what one core would need that does
                  all the work of the director's kernel and process

Sending alone is measured with an interface (ifb) whose driver throws frames
away where a cable would hand them over: system calls and buffers are the
sender's own, all behind the driver is not.

What a far end does is not the director's either, but with two cores it cannot
be told apart. So it does little, in one of two ways, the same for all:

    drop    an XDP program drops IPv4 (ARP goes on, to a packet socket that
            answers). For what XDP programs send there is no earlier place;
            what the kernel's stack or a socket sends is first copied by veth,
            to have room in front.
    stack   no program: frames are for a MAC that is not there, so the kernel
            drops them where IP begins. That is the cheaper one for all but
            the fast path, whose frames a cable loses when its other end has
            neither a program nor GRO: then pen must do without.

So a program is judged by the better one of its two lines.

"storm" is one frame each of a million flows: all that a flow costs before the
fast path may have it. Other flows are known before they count.

All take turns in each round; the figures are medians of rounds. Then system
calls (strace -c) of a short run, then round trips of a UDP echo directly and
through the director. Not part of make check."""

import argparse
import collections
import json
import math
import os
import re
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
VIP = "192.168.100.10"
MAC = "02:00:00:64:00:02"
OPTIONS = {
    "tcp": ["-f", "-O", "dsr_if eth0", "-r"],
    # a classic pen forwards one of the two
    "udp": ["-f", "-O", "dsr_if eth0", "-rU"],
}
OPTIONS["storm"] = OPTIONS["udp"]
# frames of each flow before it counts: the fast path wants to see some
WARM = 48
# seconds until all that a director knows of servers is in use
SETTLE = 1.2
WORKLOADS = [("udp", 1), ("udp", 10000), ("tcp", 1), ("tcp", 10000),
             ("storm", 1000000)]


def run(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE,
                          universal_newlines=True).stdout


class Net:
    """Namespaces with names of this process, gone at the end."""

    def __init__(self):
        self.names = []
        self.children = []

    def add(self, name):
        name = "dsr%d-%s" % (os.getpid(), name)
        run("ip", "netns", "add", name)
        self.names.append(name)
        for family in "conf/all", "conf/default":
            self.set(name, "ipv6/%s/disable_ipv6" % family, "1")
            self.set(name, "ipv4/%s/rp_filter" % family, "0")
        self.ip(name, "link set lo up")
        return name

    def ip(self, where, *lines):
        for line in lines:
            run("ip", "-n", where, *line.split())

    def set(self, where, name, value):
        run("ip", "netns", "exec", where, "sh", "-c",
            "echo %s > /proc/sys/net/%s" % (value, name))

    def cable(self, a, a_if, a_mac, b, b_if, b_mac=None):
        self.ip(a, "link add %s address %s type veth peer name %s %s netns %s"
                % (a_if, a_mac, b_if,
                   "address " + b_mac if b_mac else "", b),
                "link set %s up" % a_if)
        self.ip(b, "link set %s up" % b_if)

    def start(self, where, core, *words, **how):
        child = subprocess.Popen(
            ["ip", "netns", "exec", where, "taskset", "-c", str(core)]
            + list(words), **how)
        self.children.append(child)
        return child

    def program(self, where, interface, load, what):
        """An XDP program for what comes in there: drop or pass."""
        child = self.start(where, 0, load, what, interface,
                           stdout=subprocess.PIPE)
        if not child.stdout.readline():
            raise SystemExit("no XDP program for %s" % where)

    def stop(self, child, sig=signal.SIGTERM):
        child.send_signal(sig)
        child.wait()
        self.children.remove(child)

    def close(self):
        for child in self.children:
            child.kill()
            child.wait()
        for name in self.names:
            subprocess.call(["ip", "netns", "del", name])


class Program(collections.namedtuple("Program", "path fast name own",
                                     defaults=(None, ()))):
    """A pen, the value of dsr_fast_path (None: it is not set), and options of
    its own."""

    @property
    def above(self):
        return self.fast == "generic"

    def words(self, kind):
        words = [self.path] + OPTIONS[kind]
        words[2:2] = self.own
        if self.fast:
            words[2:2] = ["-O", "dsr_fast_path " +
                          ("on" if self.above else self.fast)]
        if self.above:
            words[words.index("dsr_if eth0")] = "dsr_if above"
        return words

    def __str__(self):
        if self.name:
            return self.name
        name = self.path[-24:]
        return name if not self.fast else "%s %s" % (name[-16:], self.fast)


KERNEL = Program("kernel", None)


def cpu_of(pid):
    with open("/proc/%d/schedstat" % pid) as f:
        return int(f.read().split()[0]) / 1e9


def softirqd():
    """CPU time of the kernel's threads that help when there is much to do."""
    pids = subprocess.run(["pgrep", "^ksoftirqd/"], stdout=subprocess.PIPE)
    return sum(cpu_of(int(pid)) for pid in pids.stdout.split())


def sent_by(where, interface):
    out = run("ip", "-n", where, "-s", "-j", "link", "show", interface)
    return json.loads(out)[0]["stats64"]["tx"]["packets"]


class Result(collections.namedtuple("Result", "seconds sent left own others")):
    """Frames that were sent and that left, CPU time of the director's process
    and of all others."""

    def figures(self, idle):
        """What is printed, when to send a frame takes `idle`."""
        if self.left == 0:
            return 0, 100, math.inf, math.inf
        lost = max(0, 100 * (1 - self.left / self.sent))
        both = self.own + self.others - idle * self.sent
        return (self.left / self.seconds, lost, self.own / self.left * 1e9,
                both / self.left * 1e9)


class Rate:
    def __init__(self, net, load, far):
        self.net, self.load, self.far = net, load, far
        self.sender = net.add(far + "-sender")
        self.director = net.add(far + "-director")
        net.cable(self.sender, "eth0", "02:00:00:64:00:01",
                  self.director, "eth0", MAC)
        net.start(self.sender, 0, load, "arp", "eth0")
        net.ip(self.sender, "link add nowhere type ifb",
               "link set nowhere up")
        self.sender2 = net.add(far + "-sender2")
        self.router = net.add(far + "-router")
        self.sink = net.add(far + "-sink")
        net.cable(self.sender2, "eth0", "02:00:00:64:00:01",
                  self.router, "eth0", MAC)
        net.cable(self.router, "eth1", "02:00:00:65:00:01",
                  self.sink, "eth0", "02:00:00:65:00:02")
        net.ip(self.router, "addr add 10.255.255.1/8 dev eth0",
               "addr add 192.168.100.1/24 dev eth1",
               "neigh replace %s dev eth1 lladdr 02:00:00:65:00:03" % VIP)
        net.set(self.router, "ipv4/ip_forward", "1")
        if far == "drop":
            net.program(self.sender, "eth0", load, "drop")
            net.program(self.sink, "eth0", load, "drop")

    def start_pen(self, program, work):
        if program.above:
            self.net.ip(self.director, "link add above link eth0 type macvlan "
                        "mode passthru", "link set above up")
        return self.net.start(
            self.director, 1, *program.words(work[0]), VIP + ":0",
            "192.168.100.3", "192.168.100.4", stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)

    def stop_pen(self, program, child):
        self.net.stop(child)
        if program.above:
            self.net.ip(self.director, "link del above")

    def send(self, where, work, seconds, interface="eth0"):
        """How many went, and the CPU time of that, without the director."""
        helped = softirqd()
        out = run("ip", "netns", "exec", where, "taskset", "-c", "0",
                  self.load, "send", interface, work[0],
                  str(work[1]), str(seconds), MAC).split()
        return int(out[0]), float(out[2]) + softirqd() - helped

    def wait_ready(self, work):
        """Until frames come out again, and all flows are known."""
        end = time.monotonic() + 10
        while time.monotonic() < end:
            before = sent_by(self.director, "eth0")
            self.send(self.sender, work, 0.01)
            time.sleep(0.05)
            if sent_by(self.director, "eth0") - before > 50:
                break
        else:
            raise SystemExit("the director forwards nothing")
        sent = 0
        while work[0] != "storm" and sent < WARM * work[1]:
            sent += self.send(self.sender, work, 0.1)[0]

    def measure(self, program, work, seconds):
        if program == KERNEL:
            before = sent_by(self.router, "eth1")
            sent, cpu = self.send(self.sender2, work, seconds)
            left = sent_by(self.router, "eth1") - before
            return Result(seconds, sent, left, 0, cpu)
        child = self.start_pen(program, work)
        try:
            self.wait_ready(work)
            before, used = sent_by(self.director, "eth0"), cpu_of(child.pid)
            sent, cpu = self.send(self.sender, work, seconds)
            time.sleep(0.02)
            left = sent_by(self.director, "eth0") - before
            used = cpu_of(child.pid) - used
        finally:
            self.stop_pen(program, child)
        return Result(seconds, sent, left, used, cpu)

    def idle_sender(self, work, seconds):
        """CPU time of sending a frame, alone."""
        sent, cpu = self.send(self.sender, work, seconds, "nowhere")
        return cpu / sent

    def calls(self, program, work):
        child = self.start_pen(program, work)
        self.wait_ready(work)
        with tempfile.NamedTemporaryFile("r") as out:
            trace = subprocess.Popen(
                ["strace", "-c", "-U", "name,calls", "-o", out.name, "-p",
                 str(child.pid)], stderr=subprocess.DEVNULL)
            time.sleep(0.3)
            before = sent_by(self.director, "eth0")
            self.send(self.sender, work, 1)
            time.sleep(0.1)
            n = sent_by(self.director, "eth0") - before
            trace.send_signal(signal.SIGINT)
            trace.wait()
            counts = re.findall(r"^ *(\w+) +(\d+)$", out.read(), re.M)
        self.stop_pen(program, child)
        counts = {k: int(v) for k, v in counts if k != "total"}
        top = sorted(counts.items(), key=lambda c: -c[1])[:3]
        return sum(counts.values()) / max(n, 1), ", ".join(
            "%s %d" % c for c in top), n


class Latency:
    def __init__(self, net, load):
        self.net, self.load = net, load
        switch = net.add("switch")
        net.ip(switch, "link add br0 type bridge forward_delay 0",
               "link set br0 up")
        self.at = {}
        for number, name in (1, "client"), (2, "director2"), (3, "server"):
            self.at[name] = net.add(name)
            net.cable(self.at[name], "eth0", "02:00:00:64:00:0%d" % number,
                      switch, "p%d" % number)
            net.ip(switch, "link set p%d master br0" % number)
            if name != "director2":
                net.ip(self.at[name],
                       "addr add 192.168.100.%d/24 dev eth0" % number)
        # what the fast path wants: a port that takes its frames, and a
        # client whose frames are as those that came by a card, with checksums
        net.program(switch, "p2", load, "pass")
        run("ip", "netns", "exec", self.at["client"], load, "feature", "eth0",
            "tx", "off")
        server = self.at["server"]
        net.set(server, "ipv4/conf/all/arp_ignore", "1")
        net.set(server, "ipv4/conf/all/arp_announce", "2")
        net.ip(server, "addr add %s/32 dev lo" % VIP)
        for ip in VIP, "192.168.100.3":
            net.start(server, 1, load, "echo", ip)

    def start(self, program):
        return self.net.start(
            self.at["director2"], 1, *program.words("udp"), VIP + ":0",
            "192.168.100.3", stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)

    def ping(self, ip, count):
        out = run("ip", "netns", "exec", self.at["client"], "taskset", "-c",
                  "0", self.load, "ping", ip, str(count))
        return sorted(int(n) / 1e3 for n in out.split())

    def measure(self, program, count):
        self.net.ip(self.at["client"], "neigh flush dev eth0")
        child, got = self.start(program), []
        end = time.monotonic() + 10
        while not self.ping(VIP, 1):
            if time.monotonic() > end:
                break
        else:
            time.sleep(SETTLE)
            got = self.ping(VIP, count)
        self.net.stop(child)
        return got


def percentiles(list_of_rounds):
    def at(p):
        return statistics.median(r[int(len(r) * p)] for r in list_of_rounds)
    return at(0.5), at(0.99)


def beside(word):
    name, _, command = word.partition("=")
    path, *own = shlex.split(command)
    return Program(os.path.abspath(path), None, name, tuple(own))


def rates(list_of_rates, programs, args):
    print("%-5s %7s %-24s %-6s %10s %6s %12s %12s%s" % (
        "kind", "flows", "program", "far", "frames/s", "lost", "director ns",
        "all ns", "".join("  / " + p.name for p in args.beside)))
    turns = [(p, r) for p in programs for r in list_of_rates]
    for work in WORKLOADS:
        if args.only not in "%s %d" % work:
            continue
        got = collections.defaultdict(list)
        for _ in range(args.rounds):
            idle = list_of_rates[0].idle_sender(work, args.seconds / 2)
            for program, rate in turns:
                result = rate.measure(program, work, args.seconds)
                got[program, rate].append(result.figures(idle))
        for program, rate in turns:
            median = map(statistics.median, zip(*got[program, rate]))
            ratios = [statistics.median(mine[3] / its[3] for mine, its in zip(
                got[program, rate], got[other, rate]))
                for other in args.beside]
            print("%-5s %7d %-24s %-6s %10.0f %5.0f%% %12.0f %12.0f%s" % (
                *work, program, rate.far, *median,
                "".join("%*.3f" % (4 + len(p.name), ratio)
                        for p, ratio in zip(args.beside, ratios))),
                flush=True)


def latencies(latency, programs, args):
    got = collections.defaultdict(list)
    for _ in range(args.rounds):
        got["direct"].append(latency.ping("192.168.100.3", args.pings))
        for program in programs:
            if program.above:
                continue
            rounds = latency.measure(program, args.pings)
            if rounds:
                got[program].append(rounds)
    for name, rounds in got.items():
        print("round trip %-24s p50 %7.1f us  p99 %7.1f us"
              % ((str(name),) + percentiles(rounds)), flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seconds", type=float, default=1)
    p.add_argument("--pings", type=int, default=5000)
    p.add_argument("--classic", default="/usr/bin/pen")
    p.add_argument("--fast", default="", help="values of dsr_fast_path")
    p.add_argument("--far", default="drop,stack", help="kinds of far ends")
    p.add_argument("--only", default="", help="kind of frames and flows")
    p.add_argument("--beside", action="append", default=[], type=beside)
    p.add_argument("pen", nargs="+")
    args = p.parse_args()
    programs = [Program(os.path.abspath(x), fast) for x in args.pen
                for fast in args.fast.split(",")] + args.beside
    if os.access(args.classic, os.X_OK):
        programs.append(Program(args.classic, None))
    # so that namespaces and children go in any case
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    net = Net()
    try:
        with tempfile.TemporaryDirectory() as d:
            load = os.path.join(d, "load")
            run("cc", "-O2", "-o", load, os.path.join(HERE, "dsr_load.c"))
            list_of_rates = [Rate(net, load, f) for f in args.far.split(",")]
            rates(list_of_rates, programs + [KERNEL], args)
            for program in programs:
                print("system calls a frame %-24s %.3f (%s; %d frames)" % (
                    (str(program),) + list_of_rates[0].calls(
                        program, ("udp", 10000))),
                    flush=True)
            latencies(Latency(net, load), programs, args)
    finally:
        net.close()


if __name__ == "__main__":
    main()
