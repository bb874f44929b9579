#!/usr/bin/env python3
"""bench.py: measures the rows of rows.py; run.sh prepares it and starts it.

    bench.py --pen PEN [--quick] [--only ROW|GROUP,..] [--out TSV]
             [--rounds N] [--seconds S] [--proxy NAME=COMMAND] [--list]
    bench.py --compare TSV TSV

All balancers of a row are up at once, on the first processor; load and servers have
the second one; all have real-time priority, so that other programs wait. Short slices
of load go round over all, so that what else the machine does hits all alike. A slice
that was disturbed (a fixed piece of work took half as long again as at best, or the
balancer waited for its processor a third of the time) is repeated; figures are those of
the others, if they are enough. After a third of the rounds processes are started anew;
there are more rounds while the ratios of the thirds differ.

A balancer that answers wrongly, loses bytes, does not answer or dies is named and
left out of that row; if it is pen, the exit status is 1."""

import argparse
import collections
import fnmatch
import json
import math
import os
import platform
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import rows

HEAD = ("group row x proxy per low median high ratio_low ratio ratio_high rate"
        " p50 p99 p999 slices disturbed date note").split()
FIRST_PORT = 8001
START = 0.2  # seconds in which what a process does is not counted
# error of a ratio's mean, above which a row goes on, up to so many times its rounds
STEADY, LONGEST = 0.015, 3
HERE = os.path.dirname(os.path.abspath(__file__))
# what load counts, and how much of all answers it may be
FAULTS = {"wrong": ("answers wrongly", 0), "long": ("adds bytes", 0),
          "short": ("loses bytes", 0), "refused": ("refuses connections", 0.005),
          "reset": ("resets connections", 0.005),
          "late": ("is late by seconds", 0.005),
          "lost": ("loses datagrams", 0.005)}


class Refused(Exception):
    """What a balancer did wrong; soft: a machine that is too busy does it, too."""

    def __init__(self, words, soft=False):
        super().__init__(words)
        self.soft = soft


def processes(pid):
    """The process and all below it."""
    found = [pid]
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            for child in f.read().split():
                found += processes(int(child))
    except OSError:
        pass
    return found


def scheduled(pids):
    """Seconds on a processor, and waiting for one, as the scheduler counts."""
    ran = waited = 0
    for pid in pids:
        try:
            # its CPU clock: /proc is late for those that run
            ran += time.clock_gettime(~pid << 3 | 2)
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/schedstat") as f:
                    waited += int(f.read().split()[1]) / 1e9
        except OSError:
            pass
    return ran, waited


def memory(pids):
    """Bytes of memory, what is shared divided among those that share it."""
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/smaps_rollup") as f:
            total += int(re.search(r"^Pss: +(\d+)", f.read(), re.M)[1]) * 1024
    return total


def key_of(target):
    """Targets with the same one share a process."""
    return target.setup, target.x if target.fill or target.hold else None


def is_bound(port, udp):
    for kind in ("udp", "udp6") if udp else ("tcp", "tcp6"):
        with open(f"/proc/net/{kind}") as f:
            for line in f.readlines()[1:]:
                words = line.split()
                if words[1].endswith(f":{port:04X}") and (udp or words[3] == "0A"):
                    return True
    return False


# Those of the host, or others that the environment names by their paths.
PEERS = {name: os.environ.get(name.upper()) or name
         for name in ("haproxy", "nginx", "dnsdist")}


def stream_module(nginx):
    """The line that loads it; none if nginx was built with it, or is not there."""
    try:
        said = subprocess.run([nginx, "-V"], capture_output=True, text=True).stderr
    except OSError:
        return ""
    if re.search(r"--with-stream(\s|$)", said):
        return ""
    path = re.search(r"--modules-path=(\S+)", said)
    return (f"load_module {path[1] if path else '/usr/lib/nginx/modules'}"
            "/ngx_stream_module.so;")


class Bench:
    """What runs: the servers, and the balancers of the row at hand."""

    def __init__(self, args, directory):
        self.args, self.dir = args, directory
        self.values = {"dir": directory, "pen": args.pen, "classic": args.classic,
                       "relay": f"{args.tools}/relay",
                       **{name: shlex.quote(path) for name, path in PEERS.items()},
                       "nginx_stream": stream_module(PEERS["nginx"])}
        self.running, self.ports = {}, {}
        self.best_ns, self.buffers = math.inf, {}
        for name in ("/proc/sys/net/ipv4/tcp_rmem", "/proc/sys/net/ipv4/tcp_wmem"):
            with open(name) as f:
                self.buffers[name] = f.read()
        self.realtime = ()
        self.server = self.start_server()

    def start_server(self):
        return self.start(1, shlex.split(
            f"{self.args.tools}/server 0.0.0.0:9001 0.0.0.0:9002"))

    def before_others(self, row):
        """Other programs have to wait: those of the row get real-time priority.
        Not clients and servers of bulk: they have to share their processor."""
        slow = rows.SLOW_CLIENTS in row.targets[0].load
        self.realtime = ("proxy",) if row.per in ("GB", "MB") and not slow \
            else ("proxy", "client")
        for name, sizes in self.buffers.items():
            with open(name, "w") as f:
                # so that what is in buffers does not keep slow clients busy
                f.write("4096 16384 65536" if slow else sizes)
        # this program before those it measures, so that it looks in time
        try:
            for pid, priority in (
                    (0, 2),
                    (self.server.pid, int("client" in self.realtime))):
                os.sched_setscheduler(
                    pid, os.SCHED_RR | os.SCHED_RESET_ON_FORK if priority
                    else os.SCHED_OTHER, os.sched_param(priority))
        except PermissionError:
            self.realtime = ()  # a user namespace, for tests

    def start(self, processor, words, kind="client", **how):
        how = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **how}
        pin = [] if processor is None else ["taskset", "-c", str(processor)]
        first = ["chrt", "-r", "1"] if kind in self.realtime else []
        return subprocess.Popen(first + pin + words, text=True, **how)

    def proxy(self, target):
        """Starts the target's balancer, unless it runs; waits until it listens."""
        command, conf = target.setup
        if not command or key_of(target) in self.running:
            return
        port = FIRST_PORT + len(self.ports)
        values = dict(self.values, port=port, conf=f"{self.dir}/{port}.conf")
        with open(values["conf"], "w") as f:
            f.write(conf.format(**values) if conf else "")
        child = self.start(None if target.several else 0,
                           shlex.split(command.format(**values)), "proxy")
        self.running[key_of(target)], self.ports[key_of(target)] = child, port
        end = time.monotonic() + 60
        while not is_bound(port, target.load.startswith("-u")):
            if child.poll() is not None or time.monotonic() > end:
                raise Refused("does not start")
            time.sleep(0.01)
        # a large configuration takes a while, and processes start after it
        before, now = -1, scheduled(processes(child.pid))[0]
        while now - before > 0.01 and time.monotonic() < end:
            time.sleep(0.1)
            before, now = now, scheduled(processes(child.pid))[0]

    def stop(self, child):
        child.terminate()
        try:
            child.wait(3)
        except subprocess.TimeoutExpired:
            for pid in processes(child.pid):
                os.kill(pid, signal.SIGKILL)
            child.wait()

    def stop_proxies(self):
        for child in self.running.values():
            self.stop(child)
        self.running, self.ports = {}, {}

    def close(self):
        self.stop_proxies()

    def load(self, target, options, **how):
        port = self.ports.get(key_of(target), 9001)
        return self.start(None if target.several else 1, shlex.split(
            f"{self.args.tools}/load {options} 127.0.0.1:{port}"),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, **how)

    def pids(self, target):
        child = self.running.get(key_of(target))
        if child is None:
            return []
        if child.poll() is not None:
            raise Refused("dies")
        return processes(child.pid)

    def check(self, target, result, pids):
        """Raises Refused unless the result is one that may be used."""
        if result is None:
            raise Refused("load cannot go on")
        if self.pids(target) != pids:
            raise Refused("dies")
        for fault, (words, few) in FAULTS.items():
            if result[fault] > few * result["answered"]:
                raise Refused(f"{words} ({result[fault]} of "
                              f"{result['answered'] + result[fault]} answers)",
                              few > 0)
        if not result["answered"] and not result["bytes"]:
            raise Refused("does not answer")

    def slice(self, target, seconds):
        """A slice of load: its result, with CPU time and seconds of waiting."""
        pids = self.pids(target)
        child = self.load(target, f"-d {seconds} {target.load}")
        before = result = None
        for line in child.stdout:
            if line.startswith("START"):
                before = scheduled(pids)
            else:
                result = json.loads(line)
                result["cpu"], result["waited"] = (
                    after - was for after, was in zip(scheduled(pids), before))
        child.wait()
        if result and seconds < 4 and not any(
                result[name] for name in ("answered", "bytes", *FAULTS)):
            # it may not have had a processor
            return self.slice(target, 1 + 3 * seconds)
        self.check(target, result, pids)
        self.best_ns = min(self.best_ns, result["busy_ns"])
        # one that runs on both processors shares them with its clients
        result["disturbed"] = (result["busy_ns"] > 1.5 * self.best_ns or
                               not target.several and
                               result["waited"] > result["seconds"] / 3)
        return result

    def quiet_slice(self, target):
        result = None
        for attempt in range(4):
            try:
                result = self.slice(target, self.args.seconds)
            except Refused as e:
                if not e.soft or attempt == 3:
                    raise
            if result and (not result["disturbed"] or
                           attempt >= self.args.repeats):
                break
        return result

    def bare(self, target):
        """What a balancer takes without clients, for each of what -c counts."""
        pids = self.pids(target)
        return {"value": settled(pids) / int(target.load.split()[1]),
                "answered": 1, "disturbed": False}

    def held(self, target):
        """What so many connections take: a result with bytes for each."""
        self.stop_proxies()
        self.proxy(target)
        time.sleep(START)
        if re.fullmatch(r"-c \d+", target.load):
            return self.bare(target)
        pids = self.pids(target)
        before = memory(pids)
        child = self.load(target, target.load)
        count = int(child.stdout.readline().split()[1])
        result = {"value": (settled(pids) - before) / max(count, 1),
                  "answered": count}
        child.stdin.write("\n")
        child.stdin.close()
        result = {**json.loads(child.stdout.readline()), **result}
        child.wait()
        result["disturbed"] = False
        self.check(target, result, pids)
        return result


def settled(pids):
    """Memory when it does not grow any more."""
    seen = []
    while len(seen) < 50 and (len(seen) < 5 or
                              max(seen[-5:]) > 1.01 * min(seen[-5:])):
        time.sleep(0.2)
        seen.append(memory(pids))
    return seen[-1]


def value_of(row, result):
    """The figure of a slice, in what `per` names."""
    if row.per == "bytes":
        return result["value"]
    if row.per == "us":
        return result["p50"]
    if row.per == "message":  # one way
        return result["p50"] / 2
    if row.per == "%":
        return result["cpu"] / result["seconds"] * 100
    if row.per in ("GB", "MB"):  # ms, us for each
        return result["cpu"] / result["bytes"] * 1e12
    return result["cpu"] / result["answered"] * 1e6


def prepare(bench, row, refused):
    holding = []
    for target in row.targets:
        try:
            bench.proxy(target)
            if target.fill:
                bench.load(target, target.fill).communicate()
            if target.hold:
                child = bench.load(target, target.hold)
                child.stdout.readline()
                holding.append(child)
        except Refused as e:
            refused[target] = e
    time.sleep(START)
    return holding


def measure(bench, row):
    """Returns results by target, and what was wrong with those left out."""
    results, refused = collections.defaultdict(dict), {}
    rounds, batch = bench.args.rounds, bench.args.rounds
    bench.before_others(row)
    if row.per == "bytes":
        rounds = batch = 1 if bench.args.quick else 3
    elif bench.args.goes_on and not row.targets[0].x:
        # processes differ by where their memory is: three of each, or more
        batch = rounds // 3
    for first in range(0, LONGEST * rounds, batch):
        if first >= rounds and (batch == rounds or
                                is_steady(row, results, batch)):
            break
        measure_batch(bench, row, range(first, first + batch), results, refused)
    return results, refused


def measure_batch(bench, row, numbers, results, refused):
    bench.stop_proxies()
    held = row.per == "bytes"
    holding = [] if held else prepare(bench, row, refused)
    for number in numbers:
        turn = number % len(row.targets)
        for target in row.targets[turn:] + row.targets[:turn]:
            if target in refused:
                continue
            try:
                one = bench.held if held else bench.quiet_slice
                results[target][number] = one(target)
            except Refused as e:
                refused[target] = e
                results.pop(target, None)
    for child in holding:
        child.communicate("\n")
    bench.stop_proxies()


def ratios_of(row, results, target):
    """pen's ratio to the target, by the number of the round; empty if pen or
    the target has none."""
    mine = next((t for t in row.targets
                 if t.proxy == "pen" and t.x == target.x), None)
    if mine is None or mine not in results or target not in results:
        return {}
    numbers = [n for n in use(results[target]) if n in use(results[mine])] or [
        n for n in results[target] if n in results[mine]]
    found = {n: (value_of(row, results[mine][n]), value_of(row, results[target][n]))
             for n in numbers}
    return {n: a / b for n, (a, b) in found.items() if a and b}


def is_steady(row, results, batch):
    """Whether processes of one kind are alike enough: the ratios of two runs of this
    kind will mostly be within 5 % then."""
    for target in row.targets:
        by_batch = collections.defaultdict(list)
        for number, ratio in ratios_of(row, results, target).items():
            by_batch[number // batch].append(math.log(ratio))
        middles = [statistics.median(x) for x in by_batch.values()]
        if len(middles) > 1 and (
                statistics.stdev(middles) / math.sqrt(len(middles)) > STEADY):
            return False
    return True


def use(by_round):
    """Those slices that were not disturbed, if there are enough."""
    calm = {n: r for n, r in by_round.items() if not r["disturbed"]}
    return calm if len(calm) >= 3 else by_round


def spread(values):
    values = list(values)
    if len(values) < 2:
        return values * 3
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, statistics.median(values), high


def text(number):
    return f"{number:.4g}" if number < 1e4 else f"{number:.0f}"


def line_of(row, proxy, x="", **figures):
    line = dict.fromkeys(HEAD, "")
    line.update(group=row.group, row=row.name, x=str(x), per=row.per, proxy=proxy,
                date=time.strftime("%Y-%m-%d"),
                **{name: text(value) for name, value in figures.items()})
    return line


def lines_of(row, results, refused):
    """Lines of the table: a dict for each target."""
    values = {t: {n: value_of(row, r) for n, r in by_round.items()}
              for t, by_round in results.items()}
    for target in row.targets:
        line = line_of(row, target.proxy, target.x)
        if target in refused:
            line["note"] = f"left out: {refused[target]}"
            yield line
            continue
        used = use(results[target])
        if any(values[target].values()):  # not the kernel's own work
            line["low"], line["median"], line["high"] = map(
                text, spread(values[target][n] for n in used))
        ratios = spread(ratios_of(row, results, target).values())
        line.update(zip(("ratio_low", "ratio", "ratio_high"), map(text, ratios)))
        def middle(f):
            return text(statistics.median(f(r) for r in used.values()))
        if row.per != "bytes":
            line["rate"] = middle(lambda r: (
                r["bytes"] / 1e6 if row.per in ("GB", "MB") else r["answered"])
                / r["seconds"])
            if row.per == "message" and line["median"]:  # MB/s, one way
                line["rate"] = text(target.x / float(line["median"]))
            for name in ("p50", "p99", "p999"):
                line[name] = middle(lambda r, name=name: r[name])
        if row.per == "%" and target.x and float(line["rate"]) < 0.9 * target.x:
            line.update(low="", median="", high="", ratio_low="", ratio="",
                        ratio_high="", note="the rate was not reached")
        line["slices"] = str(len(results[target]))
        line["disturbed"] = str(sum(r["disturbed"]
                                    for r in results[target].values()))
        if row.name == "dsr_session":
            line["note"] = (
                f"bytes for each of the answer: {middle(lambda r: r['frames_in'])}"
                f" into the host between, {middle(lambda r: r['frames_out'])} out")
        yield line


def version(*words):
    try:
        said = subprocess.run(words, capture_output=True, text=True)
    except OSError:
        return "none"
    found = re.search(r"\d+\.\d+[.\d]*(-(dev|rc|alpha|beta)\d*)?", said.stdout + said.stderr)
    return found[0] if found else "?"


def machine(args):
    with open("/proc/cpuinfo") as f:
        model = re.search(r"model name\s*: (.*)", f.read())
    return [
        f"pen {version(args.pen, '--version')}, Debian's pen "
        f"{version('dpkg-query', '-W', 'pen')}, "
        f"HAProxy {version(PEERS['haproxy'], '-v')}, "
        f"nginx {version(PEERS['nginx'], '-v')}, "
        f"dnsdist {version(PEERS['dnsdist'], '-V')}, "
        f"OpenSSL {version('openssl', 'version')}",
        f"Linux {platform.release().split('-')[0]}, {platform.machine()}, "
        f"{os.cpu_count()} processors of a "
        + ("virtual machine" if "hypervisor" in open("/proc/cpuinfo").read()
           else "machine") + f", {model[1] if model else '?'}"]


def read(path):
    with open(path, encoding="utf-8") as f:
        body = [x.rstrip("\n") for x in f if not x.startswith("#")]
    return [dict(zip(HEAD, x.split("\t"))) for x in body[1:]]


def merge(path, lines, remarks):
    """The table with these lines in place of those of the same rows."""
    new = {line["row"] for line in lines}
    old = read(path) if os.path.exists(path) else []
    table = [x for x in old if x["row"] not in new] + lines
    order = [row.name for row in rows.ROWS]
    table.sort(key=lambda x: order.index(x["row"]) if x["row"] in order else 999)
    with open(path, "w", encoding="utf-8") as f:
        for remark in remarks:
            f.write(f"# {remark}\n")
        for line in [dict(zip(HEAD, HEAD))] + table:
            f.write("\t".join(line[name] for name in HEAD) + "\n")


def compare(path, other):
    """Prints how far the ratios of two tables are apart."""
    first, second = (
        {(x["row"], x["x"], x["proxy"]): float(x["ratio"])
         for x in read(name) if x["ratio"] and x["per"] not in ("us", "bytes")}
        for name in (path, other))
    apart = {key: abs(math.log(first[key] / second[key]))
             for key in first if key in second and key[2] != "pen"}
    for key, value in sorted(apart.items(), key=lambda x: -x[1]):
        print(f"{math.expm1(value):6.1%}  {first[key]:.3f} {second[key]:.3f}  "
              + " ".join(key))
    close = sum(math.expm1(value) <= 0.05 for value in apart.values())
    print(f"ratios of CPU time: {close} of {len(apart)} within 5 %, median "
          f"{math.expm1(statistics.median(apart.values())):.1%} apart")


def show(row, lines):
    print(f"\n{row.name}: {row.title}; {row.per}", flush=True)
    for x in lines:
        print(f"  {x['proxy']:16} {x['x']:>8} {x['median']:>9} "
              f"[{x['low']}, {x['high']}]  pen/this {x['ratio']:>6}  "
              f"rate {x['rate']:>8}  p50 {x['p50']} p99 {x['p99']}  "
              f"{x['disturbed']}/{x['slices']} {x['note']}", flush=True)


def chosen(args):
    for row in rows.ROWS:
        if any(fnmatch.fnmatch(row.name, x) or row.group == x
               for x in args.only.split(",")):
            yield row


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pen", default="/usr/bin/pen")
    parser.add_argument("--tools", default=HERE, help="where load and so on are")
    parser.add_argument("--classic", default="/usr/bin/pen")
    parser.add_argument("--quick", action="store_true",
                        help="fewer and shorter slices, of all but "
                             "curves and hosts")
    parser.add_argument("--only")
    parser.add_argument("--out", help="the table, in which rows are replaced")
    parser.add_argument("--rounds", type=int,
                        help="exactly so many; else more for rows that vary")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--proxy", action="append", default=[],
                        help="NAME=COMMAND with {port}: beside pen, instead of "
                             "the others")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--compare", nargs=2, metavar="TSV",
                        help="how far the ratios of two tables are apart")
    args = parser.parse_args()
    args.goes_on = not args.quick and not args.rounds
    args.rounds = args.rounds or (3 if args.quick else 9)
    args.seconds = args.seconds or (0.2 if args.quick else 0.4)
    args.repeats = 0 if args.quick else 2
    args.only = args.only or (rows.QUICK if args.quick else "*")
    return args


def certificates(directory):
    for name, kind in (("ec", ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]),
                       ("rsa", ["rsa:2048"])):
        subprocess.run(
            ["openssl", "req", "-x509", "-nodes", "-newkey", *kind, "-days", "2",
             "-subj", "/CN=localhost", "-keyout", f"{directory}/{name}.key",
             "-out", f"{directory}/{name}.crt"], check=True, capture_output=True)
        with open(f"{directory}/{name}.pem", "w") as f:
            for part in ("crt", "key"):
                f.write(open(f"{directory}/{name}.{part}").read())


def with_own(row, proxies):
    """The row with pen and the given ones alone."""
    mine = next(t for t in row.targets if t.proxy == "pen")
    return row._replace(targets=[mine] + [
        mine._replace(proxy=name, setup=(command, ""))
        for name, command in (p.split("=", 1) for p in proxies)])


def minutes(args, todo):
    """How long the rows take, about: at least, and if all of them go on."""
    least = more = 0
    for row in todo:
        if not row.targets or row.per == "bytes":
            least += 2 * len(row.targets) * (1 if args.quick else 3) or 60
            continue
        begins = len({key_of(t) for t in row.targets}) * 0.1 + START
        slices = 0
        for target in row.targets:
            warm, counts = (re.search(f"-{x} ([\\d.]+)", target.load) for x in "wd")
            slices += (float(warm[1]) if warm else 0.1) + 0.05 + (
                float(counts[1]) if counts else args.seconds)
        goes_on = args.goes_on and not row.targets[0].x
        least += args.rounds * slices + begins * (3 if goes_on else 1)
        more += goes_on and (LONGEST - 1) * (args.rounds * slices + 3 * begins)
    return least / 60, (least + more) / 60


def by_program(args, row):
    """Lines of a row that a program of this directory measures on its own."""
    words, pattern = rows.PROGRAMS[row.name]
    program, *numbers = words.split()
    said = subprocess.run(
        ["taskset", "-c", "0", f"{args.tools}/tests/bench/{program}", *numbers],
        capture_output=True, text=True, check=True).stdout
    for found in re.finditer(pattern, said):
        figures = found.groupdict()
        x = figures.pop("x")
        for name, value in figures.items():
            yield line_of(row, name.replace("_", " "), x, low=float(value),
                          median=float(value), high=float(value), slices=1)


def measure_row(args, row, directory, benches):
    import paths  # which needs this module

    if row.name in rows.PROGRAMS:
        return list(by_program(args, row)), {}
    if row.per == "frame":
        return list(paths.frames(args, row)), {}
    kind = paths.Paths if row.group == "paths" else Bench
    if kind not in benches:
        benches[kind] = kind(args, directory)
    results, refused = measure(benches[kind], row)
    return list(lines_of(row, results, refused)), refused


def main():
    args = parse()
    if args.compare:
        compare(*args.compare)
        return 0
    todo = list(chosen(args))
    if args.list:
        for row in todo:
            print(f"{row.group:8} {row.name:16} {row.title}")
        return 0
    print("\n".join(machine(args)))
    print("takes about {:.0f} minutes, {:.0f} at most".format(*minutes(args, todo)),
          flush=True)
    directory = tempfile.mkdtemp()
    os.chmod(directory, 0o755)
    certificates(directory)
    benches, failed = {}, False
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        for row in todo:
            if args.proxy:
                row = with_own(row, args.proxy)
            lines, refused = measure_row(args, row, directory, benches)
            show(row, lines)
            failed |= any(t.proxy == "pen" for t in refused)
            if args.out:
                merge(args.out, lines, machine(args))
    finally:
        for bench in benches.values():
            bench.close()
        shutil.rmtree(directory)
    return 1 if failed else 0


if __name__ == "__main__":
    # the module that paths.py has, too
    import bench

    sys.exit(bench.main())
