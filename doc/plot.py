#!/usr/bin/env python3
"""Draws measured.svg from measured.tsv, which tests/bench/peers.py printed:

    python3 doc/plot.py [TSV [SVG]]

Bars are medians, the lines on them go from the first to the third quarter."""
import html
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
COLOURS = {"pen": "#0b6fb8", "haproxy": "#8a8a8a", "nginx": "#b0b0b0",
           "relay": "#d9d9d9"}
LEFT, TOP, WIDTH, BAR, GAP = 90, 64, 700, 18, 26


def read(path):
    """Returns the remarks and the rows: load, proxy, q1, median, q3."""
    remarks, rows = [], []
    for line in open(path, encoding="utf-8"):
        line = line.rstrip("\n")
        if line.startswith("#"):
            remarks.append(line[1:].strip())
        elif line and not line.startswith("load\t"):
            load, proxy, *numbers = line.split("\t")
            rows.append((load, proxy, *map(float, numbers[:3])))
    return remarks, rows


def text(x, y, words, size=13, anchor="start", extra=""):
    return (f'<text x="{x}" y="{y}" font-size="{size}" '
            f'text-anchor="{anchor}" {extra}>{html.escape(words)}</text>')


def bar(y, row, scale):
    _, proxy, low, middle, high = row
    end = LEFT + middle * scale
    colour = COLOURS.get(proxy, "#cccccc")
    return [
        text(LEFT - 8, y + 14, proxy, anchor="end"),
        f'<rect x="{LEFT}" y="{y}" width="{middle * scale:.1f}" '
        f'height="{BAR}" fill="{colour}"/>',
        f'<line x1="{LEFT + low * scale:.1f}" y1="{y + BAR / 2}" '
        f'x2="{LEFT + high * scale:.1f}" y2="{y + BAR / 2}" '
        'stroke="black"/>',
        text(max(end, LEFT + high * scale) + 6, y + 14, f"{middle:.1f}"),
    ]


def draw(remarks, rows):
    loads = list(dict.fromkeys(row[0] for row in rows))
    out, y = [], TOP
    for load in loads:
        group = [row for row in rows if row[0] == load]
        scale = (WIDTH - LEFT - 60) / max(row[4] for row in group)
        out.append(text(8, y + 14, load, extra='font-weight="bold"'))
        y += 20
        for row in group:
            out += bar(y, row, scale)
            y += BAR + 3
        y += GAP - 12
    for remark in remarks:
        out.append(text(8, y + 10, remark, size=11))
        y += 15
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
        f'height="{y + 10}" font-family="sans-serif">',
        '<rect width="100%" height="100%" fill="white"/>',
        text(8, 24, "Processor time of the balancer for each request, "
             "in microseconds", 16),
        text(8, 44, "less is better; each load has its own scale", 12),
    ]
    return "\n".join(head + out + ["</svg>", ""])


def main():
    source = sys.argv[1] if len(sys.argv) > 1 else HERE + "/measured.tsv"
    target = sys.argv[2] if len(sys.argv) > 2 else HERE + "/measured.svg"
    with open(target, "w", encoding="utf-8") as f:
        f.write(draw(*read(source)))


main()
