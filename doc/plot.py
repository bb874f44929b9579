#!/usr/bin/env python3
"""Draws what tests/bench/run.sh has measured:

    python3 doc/plot.py [TSV [DIRECTORY]]

measured.svg has pen's ratio to the best of its peers for each row; the others,
measured-*.svg, have all balancers, and the curves. One file serves light and dark:
colours follow prefers-color-scheme. Lines at points and bars go from the first to the
third quartile. Letters are such that they can be read at 350 pixels. What measured.md
cites is replaced, too: <!--row;x;proxy;column;what v becomes--> and the figure. scale.svg has
what tests/bench/scale prints, in scale.tsv."""

import collections
import csv
import html
import math
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "bench"))
import bench  # noqa: E402
import rows  # noqa: E402

WIDTH, SIZE = 440, 14
TITLES = {row.name: row.title for row in rows.ROWS}
NAMES = {"classic": "Pen 0.34", "haproxy": "HAProxy", "relay": "bare relay"}
STYLE = """
svg { --back: #ffffff; --ink: #1f2328; --dim: #656d76; --line: #d0d7de;
  --c0: #0969da; --c1: #bc4c00; --c2: #1a7f37; --c3: #8250df; --c4: #9a6700;
  --c5: #cf222e; font-family: sans-serif; }
@media (prefers-color-scheme: dark) { svg { --back: #0d1117; --ink: #e6edf3;
  --dim: #9198a1; --line: #3d444d; --c0: #58a6ff; --c1: #f0883e; --c2: #56d364;
  --c3: #d2a8ff; --c4: #e3b341; --c5: #ff7b72; } }
text { fill: var(--ink); } .dim { fill: var(--dim); } .line { stroke: var(--line); }
.back { fill: var(--back); }
""" + "".join(f".f{i} {{ fill: var(--c{i}); }} .s{i} {{ stroke: var(--c{i}); "
              "fill: none; }\n" for i in range(6))


class Drawing:
    """Elements, and how far down they go."""

    def __init__(self, title, below):
        self.out, self.y = [], 24
        self.text(8, self.y, title, SIZE + 2, weight="bold")
        self.y += 20
        self.text(8, self.y, below, SIZE - 2, kind="dim")
        self.y += 8

    def text(self, x, y, words, size=SIZE, anchor="start", kind="", weight="normal"):
        self.out.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" class="{kind}" '
            f'text-anchor="{anchor}" font-weight="{weight}">'
            f'{html.escape(str(words))}</text>')

    def line(self, x1, y1, x2, y2, kind="line", width=1):
        self.out.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" '
                        f'y2="{y2:.1f}" class="{kind}" stroke-width="{width}"/>')

    def add(self, element):
        self.out.append(element)

    def write(self, path):
        height = self.y + 10
        with open(path, "w", encoding="utf-8") as f:
            f.write(
                f'<svg xmlns="http://www.w3.org/2000/svg" width="600" '
                f'viewBox="0 0 {WIDTH} {height:.0f}">\n<style>{STYLE}</style>\n'
                f'<rect width="100%" height="100%" class="back"/>\n'
                + "\n".join(self.out) + "\n</svg>\n")


def scale(low, high, left, right, log):
    f = math.log if log else float
    return lambda v: left + (f(v) - f(low)) / (f(high) - f(low)) * (right - left)


def groups_of(table):
    """Lines that are not of a curve, by group and row."""
    found = collections.OrderedDict()
    for line in table:
        if not line["x"] and line["median"]:
            found.setdefault(line["group"], collections.OrderedDict()).setdefault(
                line["row"], []).append(line)
    return found


def best_peer(lines):
    peers = [x for x in lines if not x["proxy"].startswith(("pen", "relay",
             "kernel", "direct")) and x["ratio"]]
    return min(peers, key=lambda x: float(x["median"]), default=None)


HEADINGS = {
    "short": "CPU time, a connection per request", "kept": "CPU time, keep-alive",
    "bulk": "CPU time of bulk", "TLS": "CPU time, TLS", "UDP": "CPU time, datagrams",
    "HTTP": "CPU time, HTTP", "services": "many services",
    "latency": "latency, median", "memory": "memory of a connection",
    "workers": "CPU time, 2 workers", "dsr": "direct server return, CPU time of frames",
    "paths": "CPU time of a session among hosts"}


def ratios(table, date):
    d = Drawing("pen, divided by the best of its peers",
                f"left of 1 pen takes less; {date}")
    left, right = 196, WIDTH - 100
    at = scale(1 / 4, 2, left, right, True)
    d.y += 14
    for name, mark in MARKS:
        d.text(at(mark), d.y, name, SIZE - 2, "middle", "dim")
    for group, by_row in groups_of(table).items():
        best_of = {row: best_peer(lines) for row, lines in by_row.items()}
        shown = [(row, best) for row, best in best_of.items() if best]
        if not shown:
            continue
        d.y += 22
        d.text(8, d.y, HEADINGS.get(group, group), weight="bold")
        for _, mark in MARKS:
            d.line(at(mark), d.y + 5, at(mark), d.y + 5 + 20 * len(shown),
                   width=2 if mark == 1 else 1)
        for row, best in shown:
            d.y += 20
            d.text(16, d.y, short_title(row), SIZE - 1)
            d.text(WIDTH - 8, d.y, f"{float(best['ratio']):.2f} "
                   f"{NAMES.get(best['proxy'], best['proxy'])}", SIZE - 2, "end",
                   "dim")
            ratio_mark(d, at, best)
    return d


MARKS = [("1/4", 1 / 4), ("1/2", 1 / 2), ("1", 1), ("2", 2)]


def ratio_mark(d, at, line):
    """A point and its quartiles; an arrow if it is beyond the scale."""
    value, low, high = (float(line[k]) for k in ("ratio", "ratio_low", "ratio_high"))
    kind, y = 0 if value <= 1 else 1, d.y - 5
    ends, side = (at(1 / 4), at(2)), -1 if value < 1 else 1
    if 1 / 4 <= value <= 2:
        low, high = (min(max(at(v), ends[0]), ends[1]) for v in (low, high))
        d.line(low, y, high, y, f"s{kind}", 3)
        d.add(f'<circle cx="{at(value):.1f}" cy="{y}" r="5" class="f{kind}"/>')
        return
    x = ends[side > 0]
    d.add(f'<polygon points="{x:.1f},{y} {x - side * 11:.1f},{y - 5} '
          f'{x - side * 11:.1f},{y + 5}" class="f{kind}"/>')


SHORT = {
    "close_client": "client closes", "close_server": "server closes",
    "close_half": "client half-closes, 16 KiB", "one_by_one": "one at a time",
    "kept_1": "1 connection", "kept_16": "16 connections",
    "kept_64": "64 connections", "kept_16k": "64 connections, 16 KiB",
    "short_proxy": "with a PROXY header", "short_name": "by names in TLS",
    "http_kept": "16 connections", "http_log": "with a log",
    "many_close": "a connection per request", "many_idle": "idle, % of a processor",
    "many_memory": "memory of each",
    "bulk_down": "to the client", "bulk_up": "to the server",
    "bulk_both": "both ways", "slow_down": "1,000 slow readers",
    "slow_up": "1,000 slow senders", "tls_full": "full handshake",
    "tls_resumed": "resumed session", "tls_kept": "keep-alive",
    "tls_bulk": "bulk", "udp_kept": "256 client ports",
    "udp_new": "a new port for each", "dns_kept": "DNS, 256 client ports",
    "dns_new": "DNS, a new port for each", "rate_2k": "2,000 connections/s",
    "rate_kept": "10,000 requests/s", "rate_dns": "10,000 DNS queries/s",
    "memory_idle": "idle", "memory_stalled": "client does not read",
    "memory_slow": "client reads 1 Mbit/s",
    "memory_tls": "idle, TLS", "both_close": "a connection per request",
    "both_kept": "keep-alive", "both_tls": "TLS, full, RSA-2048"}


def short_title(row):
    return SHORT.get(row, TITLES.get(row, row))


UNITS = {"%": "% of a processor", "us": "us", "bytes": "bytes", "GB": "ms a gigabyte", "frame": "ns a frame",
         "timer": "ns a timer", "match": "ns a match"}


OURS = ("pen", "proxy", "DSR")  # all are pen
# the same colour in each curve
LINES = {"pen": 0, "proxy": 0, "haproxy": 1, "nginx": 2, "direct": 2}


def bars(group, by_row, date):
    d = Drawing(HEADINGS.get(group, group), f"less is better; each row has its own "
                f"scale; {date}")
    for row, lines in by_row.items():
        per = lines[0]["per"]
        unit = UNITS.get(per, f"us a {per}")
        d.y += 22
        d.text(8, d.y, f"{short_title(row)} ({unit})", weight="bold")
        most = max(float(x["high"]) for x in lines) or 1
        at = scale(0, most, 128, WIDTH - 56, False)
        for x in lines:
            low, value, high = (float(x[k]) for k in ("low", "median", "high"))
            d.y += 20
            colour = 0 if x["proxy"].startswith(OURS) else 4
            d.text(122, d.y, NAMES.get(x["proxy"], x["proxy"]), SIZE - 1, "end")
            d.add(f'<rect x="128" y="{d.y - 12:.1f}" height="14" '
                  f'width="{max(at(value) - 128, 1):.1f}" class="f{colour}" '
                  'opacity="0.75"/>')
            d.line(at(low), d.y - 5, at(high), d.y - 5, "s5", 2)
            d.text(at(max(value, high)) + 6, d.y, human(value), SIZE - 1)
        d.y += 4
    return d


def human(v):
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if v >= limit:
            v /= 1e3 if unit == "k" else limit
            return f"{v:.3g}{unit}"
    return f"{v:.0f}" if v >= 100 else f"{v:.3g}"


def marks_of(high):
    """Marks of a linear axis from 0."""
    step = 10 ** math.floor(math.log10(high or 1))
    step = next(s for s in (step / 5, step / 2, step, step * 2) if high / s <= 6)
    return [i * step for i in range(int(high / step) + 2)]


def log_marks(low, high):
    """Powers of ten within; if these are few, 2 and 5 times them, too."""
    powers = [10.0 ** k for k in range(math.floor(math.log10(low)),
                                       math.ceil(math.log10(high)) + 1)]
    within = [m for m in powers if low <= m <= high]
    if len(within) < 3:
        within = [m * f for m in powers for f in (1, 2, 5) if low <= m * f <= high]
    return within


def curve(d, lines, key, title, x_title, log_y):
    """Draws a panel below what is there: a line for each proxy."""
    series = collections.OrderedDict()
    for line in lines:
        if line[key] and float(line[key]) > 0:
            series.setdefault(line["proxy"], []).append(line)
    if not series:
        return
    points = [(float(p["x"]), float(p[key])) for s in series.values() for p in s]
    d.y += 26
    d.text(8, d.y, title[0], weight="bold")
    d.y += 18
    d.text(8, d.y, title[1], SIZE - 2, kind="dim")
    top, bottom, left, right = d.y + 12, d.y + 200, 62, WIDTH - 16
    lows, highs = ([f(p[i] for p in points) for i in (0, 1)] for f in (min, max))
    xs = log_marks(lows[0], highs[0])
    at_x = scale(lows[0], highs[0], left, right, True)
    if log_y:
        ys = log_marks(lows[1] / 1.2, highs[1] * 1.2)
        at_y = scale(lows[1] / 1.2, highs[1] * 1.2, bottom, top, True)
    else:
        ys = marks_of(highs[1])
        at_y = scale(0, ys[-1], bottom, top, False)
    d.line(left, bottom, right, bottom)
    for x in xs:
        d.line(at_x(x), top, at_x(x), bottom)
        d.text(at_x(x), bottom + 16, human(x), SIZE - 2,
               "end" if at_x(x) > right - 12 else "middle", "dim")
    for y in ys:
        d.line(left, at_y(y), right, at_y(y))
        d.text(left - 5, at_y(y) + 4, human(y), SIZE - 2, "end", "dim")
    d.y = bottom + 34
    d.text(right, d.y, x_title, SIZE - 2, "end", "dim")
    named = {LINES[name] for name in series if name in LINES}
    x, others = 8, iter([n for n in range(12) if n not in named])
    for name, line in series.items():
        n = LINES[name] if name in LINES else next(others)
        places = " ".join(f"{at_x(float(p['x'])):.1f},{at_y(float(p[key])):.1f}"
                          for p in line)
        look = f'class="s{n % 6}" stroke-width="2.5"' + (
            ' stroke-dasharray="6 3"' if n >= 3 else "")
        d.add(f'<polyline points="{places}" {look}/>')
        label = NAMES.get(name, name)
        if x + 26 + 8 * len(label) > right - 8.2 * len(x_title) and x > 8:
            x, d.y = 8, d.y + 18
        d.add(f'<polyline points="{x},{d.y - 5} {x + 18},{d.y - 5}" {look}/>')
        d.text(x + 22, d.y, label, SIZE - 1)
        x += 36 + 7.6 * len(label)
    d.y += 6


# file, title, and its panels: row, column, what x is, whether y is logarithmic
CURVES = [
    ("seeds", "What others published, measured again", [
        ("by_size", "rate", "bytes of the answer", True),
        ("by_rate_open", "median", "connections a second", False),
        ("by_rate_get", "median", "connections a second", False),
        ("netpipe", "rate", "bytes of a message", True),
        ("netpipe", "median", "bytes of a message", True)]),
    ("growth", "CPU time, by size of what there is", [
        ("by_servers", "median", "servers", False),
        ("by_clients", "median", "clients", False),
        ("by_connections", "median", "idle connections", False),
        ("by_timers", "median", "sessions that wait", True),
        ("by_list", "median", "entries", False)]),
]
Y_TITLES = {("by_size", "rate"): "answers a second", "%": "% of a processor",
            ("netpipe", "rate"): "MB a second, one way",
            ("netpipe", "median"): "us for a message, one way"}


def cite(text, table):
    """The text with the figures of this table."""
    lines = {(x["row"], x["x"], x["proxy"]): x for x in table}

    def figure(found):
        row, x, proxy, column, change = found[1].split(";")
        value = lines.get((row, x, proxy), {}).get(column)
        if not value:
            return found[0]
        value = eval(change or "v", {"v": float(value), "max": max})
        new = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
        return f"<!--{found[1]}-->{new}"

    return re.sub(r"<!--([^>]*)-->[\d.,]*\d", figure, text)


def on_paper(path):
    """The lines of scale.tsv, and what the plot says of them."""
    with open(path, encoding="utf-8") as f:
        table = list(csv.DictReader((x for x in f if x[0] != "#"), delimiter="\t"))
    d = Drawing("Many directors, on paper", "a model with the code of pool and flows; "
                "200,000 flows, see scale.md")
    died = [dict(x, x=x["directors"], proxy=f"router: {x['router']}") for x in table
            if x["balance"] == "roundrobin" and x["knows"] == "own"
            and x["servers"] == "1000" and x["director_dies"]]
    curve(d, died, "director_dies", (
        "Flows lost when a director dies, roundrobin without peers",
        "%; 1,000 servers; with peers, or with hash and dsr_flows 0, none"),
        "directors", False)
    even = [dict(x, x=x["servers"], proxy=x["balance"]) for x in table
            if x["directors"] == "16" and x["knows"] == "heard"
            and int(x["flows"]) < 1000000]
    curve(d, even, "imbalance", (
        "Flows of the server with most, divided by the mean", "16 directors"),
        "servers", False)
    return d


def main():
    source = sys.argv[1] if len(sys.argv) > 1 else HERE + "/measured.tsv"
    target = sys.argv[2] if len(sys.argv) > 2 else HERE
    table = bench.read(source)
    date = max(line["date"] for line in table)
    with open(HERE + "/measured.md", encoding="utf-8") as f:
        page = cite(f.read(), table)
    with open(target + "/measured.md", "w", encoding="utf-8") as f:
        f.write(page)
    ratios(table, date).write(f"{target}/measured.svg")
    for group, by_row in groups_of(table).items():
        bars(group, by_row, date).write(f"{target}/measured-{group.lower()}.svg")
    for name, title, panels in CURVES:
        d = Drawing(title, f"medians; {date}")
        before = d.y
        for row, key, x_title, log_y in panels:
            lines = [x for x in table if x["row"] == row and x["x"]]
            if not lines:
                continue
            per = lines[0]["per"]
            unit = Y_TITLES.get((row, key)) or Y_TITLES.get(
                per, UNITS.get(per, f"us a {per}"))
            curve(d, lines, key, (TITLES.get(row, row), unit), x_title, log_y)
        if d.y > before:
            d.write(f"{target}/measured-{name}.svg")
    on_paper(HERE + "/scale.tsv").write(f"{target}/scale.svg")


if __name__ == "__main__":
    main()
