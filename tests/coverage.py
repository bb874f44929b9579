#!/usr/bin/env python3
"""coverage.py: which lines of src tests run, and which tests run a line.

    python3 tests/coverage.py [--build DIR] [--missing DIRECTORY]

Builds pen for gcov in build-coverage, runs each test file by itself and prints the
lines run for each directory of src. --missing prints instead, from the last run, the
lines of a directory that no test ran. lines.json in the build has the tests of each
line; mutants.py reads it.

A process that ends by a signal leaves no counts, nor does one in the sandbox, or whose
user may not write: lines may run that are not counted."""

import argparse
import collections
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WANTED = {"base": 90, "net": 90, "pool": 90, "proxy": 90, "tls": 90, "dsr": 90,
          "control": 85}
LIMIT_S = 900


def test_files():
    """Names as make has them: tests/unit/base/test_addr."""
    found = []
    for group in ("system", "net", "compat", "control", "model", "fuzz", "unit/*"):
        found += sorted(glob.glob(f"{TOP}/tests/{group}/test_*.c"))
    return [os.path.relpath(path, TOP)[:-2] for path in found]


def make(build, *targets, **more):
    return subprocess.run(["make", "-s", "-C", build, *targets], **more).returncode


def make_all(build):
    """All that tests need, without running any."""
    if make(build, "-j%d" % os.cpu_count(), "check", "TESTS=",
            stdout=subprocess.DEVNULL):
        raise SystemExit(build + " does not build")


def configure(source, build, *options):
    """A configured build, made if it is not there."""
    if os.path.exists(build + "/config.status"):
        return
    if not os.path.exists(source + "/configure"):
        subprocess.run(["autoreconf", "-fi"], cwd=source, check=True)
    os.makedirs(build, exist_ok=True)
    with open(build + "/configure.log", "w") as log:
        subprocess.run([os.path.relpath(source, build) + "/configure", *options],
                       cwd=build, stdout=log, stderr=log, check=True)


def run_test(source, build, test, limit, **variables):
    """Whether it passed; it is killed, with all it has started, after `limit`."""
    words = {"PEN": build + "/pen", "SRCDIR": source, "CC": "cc",
             "CK_TIMEOUT_MULTIPLIER": "20", **variables}
    with open(build + "/" + test.replace("/", "-") + ".out", "w") as log:
        child = subprocess.Popen(
            ["timeout", "-k", "5", str(int(limit) + 1),
             build + "/" + os.path.dirname(test) + "/suites", os.path.basename(test)],
            cwd=build, env={**os.environ, **words}, stdin=subprocess.DEVNULL,
            stdout=log, stderr=log, start_new_session=True)
        return child.wait() in (0, 77)


def count(build, test):
    """Runs the test; seconds, whether it passed, and the lines that it ran."""
    counts = f"{build}/counts/{test}"
    for directory, _, files in os.walk(build + "/src"):
        into = counts + directory[len(build):]
        os.makedirs(into, exist_ok=True)
        os.chmod(into, 0o777)
        for name in files:
            if name.endswith(".gcno") and not os.path.lexists(f"{into}/{name}"):
                os.symlink(f"{directory}/{name}", f"{into}/{name}")
    began = time.monotonic()
    passed = run_test(TOP, build, test, LIMIT_S, GCOV_PREFIX=counts,
                      GCOV_PREFIX_STRIP=str(build.count("/")))
    took = time.monotonic() - began
    data = [os.path.join(directory, name)
            for directory, _, files in os.walk(counts)
            for name in files if name.endswith(".gcda")]
    lines = collections.defaultdict(set)
    if data:
        out = subprocess.run(["gcov", "--json-format", "--stdout", *data], cwd=build,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        for part in out.splitlines():
            for one in json.loads(part)["files"]:
                name = source_name(build, one["file"])
                lines[name].update(x["line_number"] for x in one["lines"]
                                   if x["count"])
        subprocess.run(["rm", "-rf", counts])
    return took, passed, {name: found for name, found in lines.items() if name}


def source_name(build, path):
    name = os.path.relpath(os.path.join(build, path), TOP)
    return name if name.startswith("src/") else ""


def all_lines(build):
    """Lines that could run: gcov's, of files that no test has run."""
    notes = glob.glob(build + "/src/**/*.gcno", recursive=True)
    out = subprocess.run(["gcov", "--json-format", "--stdout", *notes], cwd=build,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    lines = collections.defaultdict(dict)
    for part in out.splitlines():
        for one in json.loads(part)["files"]:
            name = source_name(build, one["file"])
            if name:
                lines[name].update({x["line_number"]: [] for x in one["lines"]})
    return lines


def directory_of(name):
    return name.split("/")[1] if name.count("/") > 1 else "main.c"


def measure(build, jobs):
    configure(TOP, build, "--enable-coverage", "CFLAGS=-g -O0")
    make_all(build)
    lines, seconds, failed = all_lines(build), {}, []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = {pool.submit(count, build, test): test for test in test_files()}
        for run in concurrent.futures.as_completed(runs):
            test = runs[run]
            seconds[test], passed, ran = run.result()
            if not passed:
                failed.append(test)
                print(f"failed: {test}", flush=True)
            for name, numbers in ran.items():
                for number in numbers:
                    if number in lines[name]:
                        lines[name][number].append(test)
    with open(build + "/lines.json", "w") as f:
        json.dump({"seconds": seconds, "failed": failed, "lines": lines}, f)


def show(lines):
    all_of, run_of = collections.Counter(), collections.Counter()
    for name, numbers in lines.items():
        all_of[directory_of(name)] += len(numbers)
        run_of[directory_of(name)] += sum(map(bool, numbers.values()))
    short = 0
    for room in sorted(all_of):
        percent = 100 * run_of[room] / all_of[room]
        short += percent < WANTED.get(room, 0)
        print(f"{room:10} {run_of[room]:6} of {all_of[room]:6} {percent:6.1f} %"
              + (f", wanted {WANTED[room]}" if room in WANTED else ""))
    print(f"coverage: {len(all_of) - short} passed, {short} failed")
    return short


def show_missing(lines, room):
    for name in sorted(lines):
        gone = sorted(int(n) for n, tests in lines[name].items() if not tests)
        if directory_of(name) == room and gone:
            print(f"{name}: {len(gone)} of {len(lines[name])}")
            with open(f"{TOP}/{name}") as f:
                text = f.read().splitlines()
            for number in gone:
                print(f"  {number:5} {text[number - 1].strip()}")


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--build", default=TOP + "/build-coverage")
    p.add_argument("--jobs", type=int, default=4 * os.cpu_count())
    p.add_argument("--missing", metavar="DIRECTORY")
    o = p.parse_args()
    build = os.path.abspath(o.build)
    if not o.missing:
        measure(build, o.jobs)
    with open(build + "/lines.json") as f:
        lines = json.load(f)["lines"]
    if o.missing:
        return show_missing(lines, o.missing)
    return show(lines)


if __name__ == "__main__":
    sys.exit(main())
