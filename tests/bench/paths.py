"""Rows among hosts, each a network namespace: client, router, director and server at
one switch, whose cables carry frames of 1,500 bytes, without offloads. The ways from
client to server are

    direct       server and client are neighbours
    forwarding   the kernel of a router passes on both directions
    NAT          the same, and it translates addresses
    proxy        pen on that router relays
    DSR          pen forwards frames of the client; the server answers it directly

and, with plain frames instead of TCP, what dsr_rate.py measures."""

import json
import os
import shlex
import subprocess

import bench
import dsr_rate

CLIENT, VIP = "192.168.101.1", "192.168.101.10"
# address of the client's side, which processes there are
WAYS = {"direct": "192.168.101.3:9001", "forwarding": "192.168.100.3:9001",
        "NAT": "192.168.101.254:9001", "proxy": "192.168.101.254:8001",
        "DSR": VIP + ":9001"}
DIRECTORS = {"DSR": "off", "DSR, fast path": "on"}
NAT_RULES = """table ip nat {
    chain before { type nat hook prerouting priority -100;
                   tcp dport 9001 ip daddr 192.168.101.254 dnat to 192.168.100.3
    }
}
"""


class Paths(bench.Bench):
    """A bench whose load and proxies are in namespaces."""

    def __init__(self, args, directory):
        self.net = dsr_rate.Net()
        self.tool = directory + "/dsr_load"
        subprocess.run(["cc", "-O2", "-o", self.tool,
                        os.path.join(bench.HERE, "dsr_load.c")], check=True)
        self.at = {}
        try:
            self.connect()
        except BaseException:
            self.net.close()
            raise
        super().__init__(args, directory)

    def connect(self):
        net = self.net
        switch = net.add("switch")
        net.ip(switch, "link add br0 type bridge forward_delay 0",
               "link set br0 up")
        for number, name in enumerate(("client", "server", "router", "director")):
            self.at[name] = net.add(name)
            net.set(self.at[name], "ipv4/tcp_congestion_control", "reno")
            net.cable(self.at[name], "eth0", f"02:00:00:64:00:0{number}", switch,
                      f"p{number}")
            net.ip(switch, f"link set p{number} master br0")
            for feature in ("tx", "gro"):
                subprocess.run(["ip", "netns", "exec", self.at[name], self.tool,
                                "feature", "eth0", feature, "off"],
                               stdout=subprocess.DEVNULL)
        net.program(switch, "p3", self.tool, "pass")  # as the fast path wants it
        net.ip(self.at["client"], f"addr add {CLIENT}/24 dev eth0",
               "route add 192.168.100.0/24 via 192.168.101.254")
        net.ip(self.at["router"], "addr add 192.168.101.254/24 dev eth0",
               "addr add 192.168.100.254/24 dev eth0")
        net.set(self.at["router"], "ipv4/ip_forward", "1")
        net.set(self.at["router"], "ipv4/conf/all/send_redirects", "0")
        net.set(self.at["router"], "ipv4/conf/eth0/send_redirects", "0")
        subprocess.run(["ip", "netns", "exec", self.at["router"], "nft", "-f", "-"],
                       input=NAT_RULES, text=True, check=True)
        server = self.at["server"]
        net.set(server, "ipv4/conf/all/arp_ignore", "1")
        net.set(server, "ipv4/conf/all/arp_announce", "2")
        net.ip(server, "addr add 192.168.100.3/24 dev eth0",
               "addr add 192.168.101.3/24 dev eth0", f"addr add {VIP}/32 dev lo",
               "route add default via 192.168.100.254 table 100",
               "rule add from 192.168.100.3 table 100")

    def where(self, name):
        return ["ip", "netns", "exec", self.at[name], "taskset", "-c",
                "0" if name in ("router", "director") else "1"]

    def start_server(self):
        server = self.start(None, self.where("server") + [
            f"{self.args.tools}/server", "0.0.0.0:9001"])
        self.net.children.append(server)
        return server

    def proxy(self, target):
        key = bench.key_of(target)
        fast = DIRECTORS.get(target.proxy)
        if key in self.running or not (fast or target.proxy == "proxy"):
            return
        words = [self.args.pen, "-f", "-r", "--session-log", "off"]
        if fast:
            words += ["-O", "dsr_if eth0", "-O", f"dsr_fast_path {fast}"]
            words += [f"{VIP}:0", "192.168.101.3"]
        else:
            words += ["0.0.0.0:8001", "192.168.100.3:9001"]
        # one director at a time: there is one address
        if fast:
            for other, child in list(self.running.items()):
                if other != key and other[0][0].startswith("DSR"):
                    self.stop(child)
                    del self.running[other]
        child = self.start(None, self.where("director" if fast else "router")
                           + words, "proxy")
        self.running[key] = child
        self.settle(target)

    def settle(self, target):
        """Until an answer comes through."""
        self.net.ip(self.at["client"], "neigh flush dev eth0")
        for _ in range(50):
            child = self.load(target, "-n 1 -d 1")
            answer = child.communicate()[0].splitlines()
            if answer and json.loads(answer[-1])["answered"]:
                return
        raise bench.Refused("does not start")

    def load(self, target, options, **how):
        way = "DSR" if target.proxy in DIRECTORS else target.proxy
        return self.start(None, self.where("client") + shlex.split(
            f"{self.args.tools}/load {options} {WAYS[way]}"),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, **how)

    def slice(self, target, seconds):
        self.proxy(target)
        before = self.traffic(target)
        result = super().slice(target, seconds)
        result["frames_in"], result["frames_out"] = (
            (after - was) / max(result["bytes"], 1)
            for after, was in zip(self.traffic(target), before))
        return result

    def traffic(self, target):
        """Bytes in and out of the host between client and server."""
        host = self.at["director" if target.proxy in DIRECTORS else "router"]
        out = dsr_rate.run("ip", "-n", host, "-s", "-j", "link", "show", "eth0")
        counts = json.loads(out)[0]["stats64"]
        return counts["rx"]["bytes"], counts["tx"]["bytes"]

    def close(self):
        self.stop_proxies()
        self.net.close()


def frames(args, row):
    """Lines of a row of plain frames: pen's links, and the kernel as a router."""
    net, got = dsr_rate.Net(), {}
    work = {"dsr_frames": ("udp", 10000),
            "dsr_storm": ("storm", 1000000)}[row.name]
    try:
        tool = args.tools + "/dsr_load"
        dsr_rate.run("cc", "-O2", "-o", tool,
                     os.path.join(bench.HERE, "dsr_load.c"))
        far = [dsr_rate.Rate(net, tool, name) for name in ("drop", "stack")]
        programs = {"pen, packet ring": dsr_rate.Program(args.pen, "off"),
                    "pen, fast path": dsr_rate.Program(args.pen, "on"),
                    "pen, generic": dsr_rate.Program(args.pen, "generic"),
                    "kernel": dsr_rate.KERNEL}
        if os.access(args.classic, os.X_OK):
            programs["classic"] = dsr_rate.Program(args.classic, None)
        for _ in range(min(args.rounds, 5)):
            idle = far[0].idle_sender(work, args.seconds)
            for name, program in programs.items():
                for rate in far:
                    result = rate.measure(program, work, args.seconds)
                    left, _, own, both = result.figures(idle)
                    got.setdefault((name, rate.far), []).append(
                        (both, left, own))
    finally:
        net.close()
    for name in programs:
        # a program is judged by the better one of its two far ends
        values = min((got[name, rate.far] for rate in far),
                     key=lambda v: bench.spread(x[0] for x in v)[1])
        low, middle, high = bench.spread(x[0] for x in values)
        line = bench.line_of(row, name, low=low, median=middle, high=high,
                             rate=bench.spread(x[1] for x in values)[1],
                             slices=len(values))
        own = bench.spread(x[2] for x in values)[1]
        if name != "kernel":
            line["note"] = f"{bench.text(own)} ns of the process itself"
        yield line
