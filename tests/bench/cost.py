#!/usr/bin/env python3
"""cost.py: what a unit of work costs in user space; cost.sh prepares it.

    cost.py --pen PEN --tools DIRECTORY [--only UNIT,..] [--functions | --calls]
    cost.py .. --write

Callgrind counts instructions; they are printed by directory of src, and library,
beside those that doc/cost.md has, which are the last release's. --functions prints them
by function. --calls prints the system calls of pen and other proxies, which strace
counts. --write puts the table into doc/cost.md, too. A unit is run N and 3N times, in
processes of their own: what start and stop cost is not in the difference."""

import argparse
import collections
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile

import bench
import rows

Unit = collections.namedtuple("Unit", "name load proxies")
UNITS = [
    Unit("close_client", "-c 16", rows.TCP),
    Unit("close_server", "-c 16 -e", rows.TCP),
    Unit("kept", "-c 16 -k", rows.TCP),
    Unit("http", "-c 16 -k -h", rows.http(False)),
    Unit("http_log", "-c 16 -k -h", rows.http(True)),
    Unit("udp_sticky", "-u -c 64", {
        "pen": rows.pen("-U"), "classic": rows.classic("-U"),
        "nginx": rows.nginx(1, "udp rcvbuf=4m", "")}),
    Unit("udp", "-u -c 64", {
        name: how for name, how in rows.UDP.items() if name != "pen by client"}),
    Unit("dns", "-u -c 64", rows.DNS),
]
CALLGRIND = "valgrind --quiet --tool=callgrind --callgrind-out-file={out}"
STRACE = "strace --quiet=all -f -c -o {out}"
PROXIES = {"pen": "pen", "classic": "Pen 0.34", "haproxy": "HAProxy",
           "nginx": "nginx", "dnsdist": "dnsdist", "relay": "bare relay"}
FEW = {CALLGRIND: 1000, STRACE: 250}
PAGE = os.path.join(bench.HERE, "../../doc/cost.md")


# ---- what the tools have written ----

NAMED = re.compile(r"(c?)(ob|f[lien])=\((\d+)\)(?: (.*))?$")
SOURCE = re.compile(r"src/(?:(.*)/)?[^/]+\.[ch]$")


def place_of(at):
    """The directory of src, or the library; of what is inlined from a header of the
    system, that of the function."""
    found = SOURCE.search(at["file"]) or SOURCE.search(at["fl"])
    if found and not at["ob"].endswith(".so") and ".so." not in at["ob"]:
        return found[1] or "main"
    library = re.match(r"(lib\w+)", os.path.basename(at["ob"]))
    return library[1] if library else "other"


def instructions(path):
    """(directory, function) -> instructions, by what Callgrind has written."""
    names, at, counts = {}, {}, collections.Counter()
    called = False
    with open(path, encoding="utf-8") as f:
        for line in f:
            named = NAMED.match(line)
            if named:
                callee, kind, number, name = named.groups()
                space = kind if kind in ("ob", "fn") else "file"
                if name:
                    names[space, number] = name
                if not callee:
                    at[kind] = at[space] = names[space, number]
            elif line.startswith("calls="):
                called = True  # the next line is what the callee took
            elif called:
                called = False
            elif re.match(r"[+\-*\d]\S* \d+$", line):
                counts[place_of(at), at["fn"]] += int(line.split()[1])
    return counts


def calls(path):
    """System call -> how often, by what strace has written."""
    counts = collections.Counter()
    with open(path, encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if len(words) >= 5 and words[3].isdigit() and words[-1] != "total":
                counts[words[-1]] = int(words[3])
    return counts


# ---- measuring ----

class Traced(bench.Bench):
    """A bench whose proxies run below a tool."""

    def __init__(self, args, directory, tool):
        self.out = f"{directory}/traced"
        self.tool = shlex.split(tool.format(out=self.out))
        super().__init__(args, directory)

    def start(self, processor, words, kind="client", **how):
        return super().start(
            processor, self.tool + words if kind == "proxy" else words, kind, **how)

    def stop(self, child):
        """strace ends after what it runs, which frees its port; a signal to itself
        would have it leave that behind."""
        traced = bench.processes(child.pid)[1:] if self.tool[0] == "strace" else []
        os.kill((traced or [child.pid])[0], signal.SIGTERM)
        child.wait(60)

    def run(self, target, number):
        """The tool's output, of a process that serves that many."""
        self.proxy(target)
        child = self.load(target, f"{target.load} -w 0 -n {number}")
        result = json.loads(child.communicate()[0].splitlines()[-1])
        self.check(target, result, self.pids(target))
        self.stop_proxies()
        return self.out

    def run_patiently(self, target, number):
        """The same on a machine that is too busy at times."""
        for _ in range(4):
            try:
                return self.run(target, number)
            except bench.Refused as e:
                print(f"{target.proxy} {e}: once more", file=sys.stderr)
                self.stop_proxies()
        return self.run(target, number)

    def cost(self, unit, proxy, read, few):
        """What one more unit costs."""
        target = rows.Target(proxy, "", unit.proxies[proxy], unit.load, True)
        before, after = (read(self.run_patiently(target, n)) for n in (few, 3 * few))
        return collections.Counter(
            {key: (n - before[key]) / (2 * few) for key, n in after.items()
             if n != before[key]})


# ---- printing ----

def table(head, lines):
    """In Markdown."""
    lines = [head, ["---"] + ["--:"] * (len(head) - 1)] + lines
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


TABLE = re.compile(r"(?:^\|.*\n)+", re.M)
# the tables of the page, in their order
INSTRUCTIONS, CALLS = range(2)


def released():
    """(directory, unit) -> instructions in the last release."""
    with open(PAGE, encoding="utf-8") as f:
        text = TABLE.findall(f.read())[INSTRUCTIONS]
    head, _, *lines = ([word.strip() for word in line.split("|")[1:-1]]
                       for line in text.splitlines())
    return {(line[0], unit): float(cell.replace(",", ""))
            for line in lines for unit, cell in zip(head[1:], line[1:])}


def write(which, new):
    with open(PAGE, encoding="utf-8") as f:
        text = f.read()
    old = list(TABLE.finditer(text))[which]
    with open(PAGE, "w", encoding="utf-8") as f:
        f.write(text[:old.start()] + new + text[old.end():])


def by_place(cost):
    places = collections.Counter()
    for (place, _), n in cost.items():
        places[place] += n
    places["all"] = sum(places.values())
    return places


def print_instructions(costs, args):
    """costs: unit -> (directory, function) -> instructions"""
    places = {name: by_place(cost) for name, cost in costs.items()}
    order = sorted({p for cost in places.values() for p, n in cost.items()
                    if n >= 0.5}, key=lambda p: (p == "all", p))
    if args.write:
        write(INSTRUCTIONS, table([""] + list(costs), [
            [p] + [f"{places[name][p]:,.0f}" for name in costs] for p in order]))
        return
    before = released()
    head = [""] + [word for name in costs for word in (name, "")]
    print(table(head, [[p] + [
        cell for name in costs for cell in compared(
            places[name][p], before.get((p, name), 0))] for p in order]))


def compared(now, before):
    change = now - before
    return (f"{now:,.0f}",
            f"{change:+,.0f}" if abs(change) >= max(1, 0.01 * before) else "")


def print_functions(costs):
    for name, cost in costs.items():
        print(f"\n{name}: {sum(cost.values()):,.0f}")
        for (place, function), n in cost.most_common():
            if n >= 1:
                print(f"{n:10,.1f}  {place:20} {function}")


def print_calls(costs, args):
    """costs: unit -> proxy -> system call -> how often"""
    proxies = [p for p in PROXIES if any(p in cost for cost in costs.values())]
    text = table([""] + [PROXIES[p] for p in proxies], [
        [name] + [f"{sum(cost[p].values()):.2f}" if p in cost else ""
                  for p in proxies] for name, cost in costs.items()])
    if args.write:
        write(CALLS, text)
    for name, cost in costs.items():
        text += f"\n{name}:\n\n" + table(["proxy", "calls"], [
            [p, ", ".join(f"{call} {n:.2f}" for call, n in counts.most_common()
                          if n >= 0.01)] for p, counts in cost.items()])
    print(text)


# ---- all ----

def options():
    p = argparse.ArgumentParser()
    p.add_argument("--pen", required=True)
    p.add_argument("--tools", required=True)
    p.add_argument("--classic", default="/usr/bin/pen")
    p.add_argument("--only")
    p.add_argument("--few", type=int)
    p.add_argument("--write", action="store_true")
    how = p.add_mutually_exclusive_group()
    how.add_argument("--functions", action="store_true")
    how.add_argument("--calls", action="store_true")
    args = p.parse_args()
    if args.write and (args.only or args.functions):
        p.error("--write is for a whole table")
    return args


def main():
    args = options()
    units = [u for u in UNITS if not args.only or u.name in args.only.split(",")]
    tool = STRACE if args.calls else CALLGRIND
    costs = {}
    with tempfile.TemporaryDirectory() as directory:
        traced = Traced(args, directory, tool)
        for unit in units:
            costs[unit.name] = {
                proxy: traced.cost(unit, proxy, calls if args.calls else instructions,
                                   args.few or FEW[tool])
                for proxy in (unit.proxies if args.calls else ["pen"])}
        traced.stop(traced.server)
    if args.calls:
        print_calls(costs, args)
        return
    costs = {name: cost["pen"] for name, cost in costs.items()}
    if args.functions:
        print_functions(costs)
    else:
        print_instructions(costs, args)


if __name__ == "__main__":
    main()
