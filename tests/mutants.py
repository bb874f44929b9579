#!/usr/bin/env python3
"""mutants.py: do tests fail when pen is wrong?

    python3 tests/mutants.py [--count N] [--seed S] [--jobs N] [--minutes M]
    python3 tests/mutants.py --again LOG

Changes one thing at a time (an operator, a number, a condition; or a statement is left
out) at a random line of pool, net, proxy, tls or control, builds it in a copy of the
tree, and runs tests that run that line, by coverage.py, which has to have run before:
20 at most, its own first, then the fastest ones, until one fails, twice. Those that
live are tried again, in a build with sanitizers, by three times as many tests; --again
does only this, with those of an earlier run's output. Prints mutants that no test
caught: each has to be judged. What the compiler makes the same code of, or refuses, is
no mutant."""

import argparse
import collections
import concurrent.futures
import filecmp
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time

import coverage

TOP = coverage.TOP
ROOMS = ("pool", "net", "proxy", "tls", "control")
# what transcripts show, some of which leave no counts
ANY_COMMAND = ("src/control/", "src/proxy/check/")
# pattern, and what may be there instead
OPERATORS = [(re.compile(pattern), others) for pattern, others in [
    (r" == ", [" != "]), (r" != ", [" == "]), (r" < ", [" <= ", " > "]),
    (r" <= ", [" < "]), (r" > ", [" >= ", " < "]), (r" >= ", [" > "]),
    (r" && ", [" || "]), (r" \|\| ", [" && "]), (r" \+ ", [" - "]),
    (r" - ", [" + "]), (r" \* ", [" / "]), (r" \+= ", [" -= ", " = "]),
    (r" -= ", [" += "]), (r"\+\+", ["--"]), (r"--", ["++"]), (r" & ", [" | "]),
    (r" \| ", [" & "]), (r" >> ", [" << "]), (r" << ", [" >> "]),
    (r"(?<=[(\s])!(?=[\w(])", [""]), (r"\btrue\b", ["false"]),
    (r"\bfalse\b", ["true"]), (r"(?<![\w.-])[1-9]\d*\b", ["0", "N"]),
    (r"(?<![\w.-])(?<!return )0\b", ["1"]), (r"(?<=\bif \()(.*)(?=\)( \{)?$)", ["!(\\1)"]),
    (r"\breturn 0;", ["return -1;"]), (r"\breturn -1;", ["return 0;"])]]
STATEMENT = re.compile(r"^\t+[a-z*(][\w.>()*\[\]-]*( [-+|&*/]?= |\(|\+\+|--).*;$")
NOT_ONE = re.compile(r"^\t+(return|goto|break|case|if|for|while|do|else)\b")


def masked(line):
    """The line without what is in comments, and in quotes."""
    line = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])*\'',
                  lambda m: "\1" * len(m.group()), line)
    return re.sub(r"/\*.*?(\*/|$)", lambda m: "\1" * len(m.group()), line)


def changes(line):
    """All that one change can make of it."""
    plain, found = masked(line), []
    for pattern, others in OPERATORS:
        for m in pattern.finditer(plain):
            was = line[m.start():m.end()]
            for new in others:
                if new == "N":
                    new = str(int(was) + 1)
                new = new.replace("\\1", was)
                if new != was:
                    found.append(line[:m.start()] + new + line[m.end():])
    if STATEMENT.match(plain) and not NOT_ONE.match(plain):
        indent = line[:len(line) - len(line.lstrip())]
        # in several places: statements are left out more often
        found += [indent + ";"] * 3
    return found


def copy_changed(source, target):
    """Keeps times, but of what a run that was killed has left changed."""
    if not os.path.exists(target):
        shutil.copy2(source, target)
    elif not filecmp.cmp(source, target, shallow=False):
        shutil.copyfile(source, target)


class Copy:
    """A copy of the tree, with its build in b, for one mutant at a time."""

    def __init__(self, source, *options):
        self.source, self.build, self.options = source, source + "/b", options

    def make_first(self):
        shutil.copytree(TOP, self.source, symlinks=True, dirs_exist_ok=True,
                        copy_function=copy_changed, ignore=shutil.ignore_patterns(
                            ".git", "b", "build-[cfmt]*", "autom4te.cache"))
        coverage.configure(self.source, self.build, "CFLAGS=-O1", *self.options)
        coverage.make_all(self.build)

    def write(self, name, number, line):
        path = f"{self.source}/{name}"
        with open(path) as f:
            text = f.read().split("\n")
        text[number - 1] = line
        with open(path, "w") as f:
            f.write("\n".join(text))

    def make(self, *targets):
        return coverage.make(self.build, *targets, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)

    def compiled(self, name):
        """What is made of it, without its lines; None: it is refused."""
        if self.make(name[:-2] + ".o", "CFLAGS=-O1 -g0 -Wno-error"):
            return None
        with open(f"{self.build}/{name[:-2]}.o", "rb") as f:
            return f.read()


def promised():
    """The tests that hold what a source promises, where names do not tell: the table
    of tests/lint/tested.sh."""
    with open(TOP + "/tests/lint/tested.sh") as f:
        words = f.read().partition("elsewhere='")[2].partition("'")[0].split()
    found, test = collections.defaultdict(set), None
    for word in words:
        if word.endswith(":"):
            test = word[:-1]
        else:
            found[f"src/{word}.c"].add(test)
    return found


def reaches(test):
    """What a test of this directory is linked with, or starts."""
    if test.split("/")[1] in ("system", "net", "compat", "control"):
        return "pen"
    return os.path.dirname(test) + "/suites"


class Mutant:
    def __init__(self, name, number, old, new):
        self.name, self.number, self.old, self.new = name, number, old, new
        self.caught, self.ran, self.made = None, 0, set()

    def __str__(self):
        return (f"{self.name}:{self.number}\n\t- {self.old.strip()}\n"
                f"\t+ {self.new.strip()}")

    def passes(self, copy, test, hunt):
        """None: it does not build."""
        if reaches(test) not in self.made and copy.make(reaches(test)):
            return None
        self.made.add(reaches(test))
        limit = 60 + 4 * hunt.seconds[test]
        return any(coverage.run_test(copy.source, copy.build, test, limit)
                   for _ in range(2))

    def passes_without(self, copy, test, hunt):
        """Whether the test passes in this build if nothing is changed."""
        if test not in hunt.passing:
            copy.write(self.name, self.number, self.old)
            self.made.clear()
            hunt.passing[test] = self.passes(copy, test, hunt)
            copy.write(self.name, self.number, self.new)
            self.made.clear()
        return hunt.passing[test]

    def try_in(self, copy, hunt):
        """False: it is none. Else `caught` is the test that failed."""
        copy.write(self.name, self.number, self.old)
        was = copy.compiled(self.name)
        copy.write(self.name, self.number, self.new)
        try:
            if copy.compiled(self.name) in (None, was):
                return False
            self.made.clear()
            for test in hunt.tests(self):
                passed = self.passes(copy, test, hunt)
                if passed is None:
                    return False
                self.ran += 1
                if not passed and self.passes_without(copy, test, hunt):
                    self.caught = test
                    break
            return True
        finally:
            copy.write(self.name, self.number, self.old)


class Hunt:
    def __init__(self, options, data):
        self.lines, self.seconds = data["lines"], data["seconds"]
        self.promised = promised()
        self.options, self.random = options, random.Random(options.seed)
        self.lock, self.end = threading.Lock(), time.time() + 60 * options.minutes
        self.places = [(name, int(number)) for name in sorted(self.lines)
                       if name.endswith(".c") and name.split("/")[1] in ROOMS
                       for number in self.lines[name]]
        self.found, self.again = [], []
        self.started, self.most = 0, options.tests
        self.passing = {}

    def draw(self):
        """A mutant at a line that can run; None: enough."""
        with self.lock:
            if self.again:
                return self.again.pop()
            if self.started >= self.options.count or time.time() > self.end:
                return None
            self.started += 1
            while True:
                name, number = self.random.choice(self.places)
                with open(f"{TOP}/{name}") as f:
                    line = f.read().split("\n")[number - 1]
                new = changes(line)
                if new:
                    return Mutant(name, number, line, self.random.choice(new))

    def tests(self, mutant):
        """Those that run the line; if there is none, those that run the file; and
        its own, because children that end by _exit(2) leave no counts."""
        lines = self.lines[mutant.name]
        found = set(lines[str(mutant.number)]) or {
            x for y in lines.values() for x in y}
        if mutant.name.startswith(ANY_COMMAND):
            found.add("tests/control/test_transcripts")
        stem = os.path.basename(mutant.name)[:-2]

        def is_own(test):
            return (test in self.promised[mutant.name] or
                    (stem + "_").startswith(test.partition("/test_")[2] + "_"))

        def order(test):
            return not is_own(test), self.seconds[test]
        found.update(filter(is_own, self.seconds))
        return sorted(found, key=order)[:self.most]

    def work(self, copy):
        while True:
            mutant = self.draw()
            if mutant is None:
                return
            is_one = mutant.try_in(copy, self)
            with self.lock:
                if is_one and mutant not in self.found:
                    self.found.append(mutant)
                elif not is_one:
                    self.started -= 1
                if is_one and mutant.caught is None:
                    print(f"lives, {mutant.ran} tests: {mutant}", flush=True)
                elif is_one and self.options.verbose:
                    print(f"{mutant.caught}: {mutant}", flush=True)

    def work_in(self, directory, *options):
        """In as many copies of a build with these options as there are jobs."""
        os.makedirs(directory, exist_ok=True)
        copies = [Copy(f"{directory}/{i}", *options)
                  for i in range(self.options.jobs)]
        copies[0].make_first()
        for copy in copies[1:]:
            shutil.rmtree(copy.source, ignore_errors=True)
            subprocess.run(["cp", "-a", copies[0].source, copy.source], check=True)
        with concurrent.futures.ThreadPoolExecutor(len(copies)) as pool:
            for work in [pool.submit(self.work, copy) for copy in copies]:
                work.result()

    def try_again(self):
        """Those that live, with sanitizers and by more tests."""
        self.again = [mutant for mutant in self.found if mutant.caught is None]
        self.started, self.most = self.options.count, 3 * self.options.tests
        print(f"mutants: {len(self.again)} are tried again", flush=True)
        compiler = "clang" if shutil.which("clang") else "cc"
        self.work_in(self.options.work + "/again", "--enable-sanitize",
                     "CC=" + compiler)

    def read_again(self, path):
        """What the output of an earlier run has as alive."""
        with open(path) as f:
            found = re.findall(r"^lives, .*: (\S+):(\d+)\n\t- (.*)\n\t\+ (.*)$",
                               f.read(), re.M)
        for name, number, old, new in found:
            with open(f"{TOP}/{name}") as f:
                line = f.read().split("\n")[int(number) - 1]
            if line.strip() != old:
                print(f"mutants: {name}:{number} has changed", flush=True)
                continue
            self.found.append(Mutant(name, int(number), line,
                                     line.replace(old, new)))

    def show(self):
        made = collections.Counter(m.name.split("/")[1] for m in self.found)
        caught = collections.Counter(m.name.split("/")[1] for m in self.found
                                     if m.caught)
        for room in ROOMS:
            print(f"{room:10} {made[room]:4} mutants, {caught[room]:4} caught")
        lives = len(self.found) - caught.total()
        print(f"mutants: {caught.total()} passed, {lives} failed")
        return 10 * lives > len(self.found)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--count", type=int, default=300)
    p.add_argument("--seed", type=int, default=int(time.time()))
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--minutes", type=float, default=600)
    p.add_argument("--tests", type=int, default=20, help="for a mutant, at most")
    p.add_argument("--again", metavar="LOG")
    p.add_argument("--lines", default=TOP + "/build-coverage/lines.json")
    p.add_argument("--work", default=TOP + "/build-mutants")
    p.add_argument("--verbose", action="store_true")
    o = p.parse_args()
    with open(o.lines) as f:
        hunt = Hunt(o, json.load(f))
    o.work = os.path.abspath(o.work)
    if o.again:
        hunt.read_again(o.again)
    else:
        print(f"mutants: --seed {o.seed}", flush=True)
        hunt.work_in(o.work)
    hunt.try_again()
    return hunt.show()


if __name__ == "__main__":
    sys.exit(main())
