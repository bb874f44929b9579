#!/usr/bin/env python3
"""slow_readers.py PEN [--clients N] [--seconds S] [--whole SIZES] [--only PART,..]

Measures what slow readers cost, and checks that each of them gets its answer: 1,000
clients read 1 Mbit/s each, by plain TCP, TLS (-E) and with -H, from pen, HAProxy and
nginx in turn.
Answers have 64 KB to 64 MB (--sizes). Each byte that is read is compared with the one
that belongs there. Parts:

    rows      memory for a client (PSS, less that before the first one came), CPU time
              for a GB; connections are kept, and the last answer of each client ends
              with the server's FIN, after all bytes and no more. Answers that take
              longer than --seconds (30) are stopped then, but those of --whole are
              read to the end
    pauses    clients that stop for 20 s (--pause): at first, in the middle, and when
              their server has sent all and closed
    fin       the server closes after its last byte, while the client has megabytes to
              read
    reset     the server is reset in the middle: no client may get an end that looks
              like that of a whole answer; then with -H it sends a FIN in the middle
    upgrade   pen is replaced while clients read
    shutdown  pen stops gracefully while clients read

All parts but rows are of pen alone, with about --few (20) clients of each kind, which
read faster; each is tried with the kernel's usual buffers, with buffers of 64 KB, as in
rows, and with these and `buffer 16m`. Runs in a network of its own, which needs root.
Exit status 1: pen lost something."""

import argparse
import collections
import ctypes
import os
import random
import re
import resource
import selectors
import signal
import socket
import ssl
import statistics
import struct
import subprocess
import sys
import tempfile
import time

from bench import memory, processes, scheduled, stream_module
from kill_storm import ask_control, free_port, is_alive, wait_for

PERIOD, BLOCK, MB = 65521, 1 << 20, 1_000_000
TURN = 0.1  # seconds between two reads of a client
RATE = 125_000  # bytes a second
WAYS = ("plain", "TLS", "-H")
LOST = ("wrong", "short", "long", "reset", "late", "cut")

random.seed(44)
PATTERN = random.randbytes(PERIOD)
PATTERN = (PATTERN * (BLOCK // PERIOD + 3))[:PERIOD + BLOCK]
VIEW = memoryview(PATTERN)

HAPROXY = """global
    nbthread 1
    maxconn 9900
defaults
    mode %(mode)s
    timeout connect 5s
    timeout client 1h
    timeout server 1h
frontend f
    bind 127.0.0.1:%(port)d backlog 4096 %(tls)s
    default_backend b
backend b
    %(more)s
    server s 127.0.0.1:%(server)d
"""
NGINX = """%(module)s
user root; daemon off; pid %(dir)s/pid; error_log /dev/null crit;
worker_processes 1; worker_rlimit_nofile 20000;
events { worker_connections 19900; }
"""
NGINX_STREAM = NGINX + """stream { access_log off; server {
    listen 127.0.0.1:%(port)d backlog=4096 %(tls)s; proxy_timeout 1h;
    proxy_pass 127.0.0.1:%(server)d; %(more)s } }
"""
# else it would write all answers to the disk
NGINX_HTTP = NGINX + """http { access_log off; keepalive_requests 100000000;
    client_body_temp_path %(dir)s/b; proxy_temp_path %(dir)s/p;
    fastcgi_temp_path %(dir)s/f; uwsgi_temp_path %(dir)s/u; scgi_temp_path %(dir)s/s;
    send_timeout 1h; proxy_read_timeout 1h; proxy_max_temp_file_size 0;
    upstream o { server 127.0.0.1:%(server)d; keepalive 2000; }
    server { listen 127.0.0.1:%(port)d backlog=4096; location / {
        proxy_pass http://o; proxy_http_version 1.1;
        proxy_set_header Connection ""; } } }
"""


# ---- the server ----

class Served:
    """A connection of the server: what is asked, and what is left of the answer."""

    def __init__(self, sock):
        self.sock, self.text = sock, b""
        self.head, self.at, self.end, self.place, self.how = b"", 0, 0, 0, "keep"

    def ask(self, data):
        """A request is a line: size, place of its first byte in the pattern, how it
        ends (keep, close, reset, gone), and after how many bytes if that is early."""
        self.text += data
        http = self.text.startswith(b"GET ")
        end = self.text.find(b"\r\n\r\n" if http else b"\n")
        if end < 0:
            return
        line = self.text.split()[1].strip(b"/").replace(b"/", b" ") if http \
            else self.text[:end]
        self.text = self.text[end + (4 if http else 1):]
        size, self.place, self.how, early = (
            x if i == 2 else int(x) for i, x in enumerate(line.decode().split()))
        self.at, self.end = 0, early or size
        self.head = b""
        if http:
            self.head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n%s\r\n" % (
                size, b"Connection: close\r\n" if self.how == "close" else b"")

    def send(self):
        """Sends what the kernel takes. Returns whether the connection is over."""
        while self.head:
            self.head = self.head[self.sock.send(self.head):]
        while self.at < self.end:
            first = (self.place + self.at) % PERIOD
            n = min(BLOCK, self.end - self.at)
            self.at += self.sock.send(VIEW[first:first + n])
        if self.how == "reset":
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                 struct.pack("ii", 1, 0))
        return self.end > 0 and self.how != "keep"


def serve_one(selector, conn, events):
    try:
        if events & selectors.EVENT_READ:
            data = conn.sock.recv(65536)
            if not data:
                raise ConnectionResetError
            conn.ask(data)
        try:
            over = conn.send()
        except BlockingIOError:
            over = False
        if over:
            raise ConnectionResetError
        left = conn.head or conn.at < conn.end
        selector.modify(conn.sock, selectors.EVENT_READ | (
            selectors.EVENT_WRITE if left else 0), conn)
    except OSError:
        selector.unregister(conn.sock)
        conn.sock.close()


def serve(listener):
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ, None)
    while True:
        for key, events in selector.select():
            if key.data is not None:
                serve_one(selector, key.data, events)
                continue
            sock, _ = listener.accept()
            sock.setblocking(False)
            selector.register(sock, selectors.EVENT_READ, Served(sock))


def start_server():
    """Returns its port and process."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(4096)
    pid = os.fork()
    if pid == 0:
        try:
            # it ends with its parent
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)
            serve(listener)
        finally:
            os._exit(1)
    port = listener.getsockname()[1]
    listener.close()
    return port, pid


# ---- clients ----

class Reader:
    """A client. Reads some bytes a turn, each of which it compares."""

    def __init__(self, way, port, size, how="keep", early=0, rate=RATE, pauses=()):
        self.way, self.port, self.size, self.how, self.early = (
            way, port, size, how, early)
        self.each, self.may = int(rate * TURN), 0  # bytes a turn; now
        self.pauses = list(pauses)  # after so many bytes so many seconds
        self.sock, self.resumes = None, 0
        self.total = self.answers = self.got = 0
        self.then = "keep"  # how the next answer ends; None: there is none
        self.end = None  # how it ended: done, refused, one of LOST ..

    def start(self):
        try:
            sock = socket.create_connection(("127.0.0.1", self.port), 30)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.way == "TLS":
                sock = TLS.wrap_socket(sock, suppress_ragged_eofs=False)
            self.sock = sock
            self.ask()
        except OSError:
            self.finish("refused")

    def ask(self):
        self.place = random.randrange(PERIOD)
        self.got, self.head = 0, b"" if self.way == "-H" else None
        words = "%d %d %s %d" % (self.size, self.place, self.how, self.early)
        if self.way == "-H":
            line = "GET /%s HTTP/1.1\r\nHost: a\r\n%s\r\n" % (
                words.replace(" ", "/"),
                "Connection: close\r\n" if self.how == "close" else "")
        else:
            line = words + "\n"
        self.sock.settimeout(30)
        self.sock.sendall(line.encode())
        self.sock.setblocking(False)

    def finish(self, end):
        self.end = end
        if self.sock is not None:
            self.sock.close()
        self.sock = None

    def take_head(self, data):
        """Returns what of the data belongs to the body; None: the head is wrong."""
        self.head += data
        head, blank, data = self.head.partition(b"\r\n\r\n")
        if not blank:
            return b""
        length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.I)
        if not head.startswith(b"HTTP/1.1 200 ") or not length or \
                int(length[1]) != self.size:
            return None
        self.head = None
        return data

    def compare(self, data):
        """Whether these are the next bytes."""
        if self.head is not None:
            data = self.take_head(data)
            if data is None:
                return False
        first = (self.place + self.got) % PERIOD
        if data != PATTERN[first:first + len(data)]:
            return False
        self.got += len(data)
        self.total += len(data)
        return True

    def turn(self, now):
        if self.sock is None or now < self.resumes:
            return
        if self.pauses and self.got >= self.pauses[0][0]:
            self.resumes = now + self.pauses.pop(0)[1]
            return
        self.may = min(self.may + self.each, 2 * self.each)
        try:
            # at the end of an answer one more read, which must find nothing
            while self.may > 0 or self.got == self.size:
                n = min(max(self.may, 1), BLOCK)
                if self.pauses and self.head is None:
                    n = max(1, min(n, self.pauses[0][0] - self.got))
                data = self.sock.recv(n)
                if not data:
                    return self.at_end()
                if not self.compare(data):
                    return self.finish("wrong")
                self.may -= len(data)
                if self.got > self.size:
                    return self.finish("long")
                if self.pauses and self.got >= self.pauses[0][0]:
                    return
        except (BlockingIOError, ssl.SSLWantReadError):
            if self.is_whole() and self.how == "keep":
                self.answers += 1
                self.next()
        except ssl.SSLEOFError:
            # whether all is here, or not, there was no close_notify
            self.answers += self.is_whole()
            self.finish("unclosed" if self.is_whole() else "cut")
        except OSError:
            self.finish("reset" if self.total or self.answers else "refused")

    def is_whole(self):
        return self.got == self.size and self.head is None

    def at_end(self):
        self.answers += self.is_whole()
        self.finish("done" if self.is_whole() else "short")

    def next(self):
        """A whole answer is here, and nothing behind it."""
        self.how = self.then
        if self.how is None:
            return self.finish("done")
        try:
            self.ask()
        except OSError:
            self.finish("reset")


def run(readers, until, watch=lambda now: None):
    """Gives each a turn, one after the other, until `until(now)`. The first turn of
    each opens its connection. `watch` is called now and then."""
    number, began, spread = 0, time.monotonic(), TURN / max(len(readers), 1)
    fresh = {id(r) for r in readers if r.sock is None and r.end is None}
    # connections come one after the other, not faster than a TLS handshake takes
    while True:
        reader = readers[number % len(readers)]
        number += 1
        due = began + number * spread
        now = time.monotonic()
        if now < due:
            time.sleep(due - now)
        elif now > due + 1:  # it cannot keep up: all clients are slower then
            began += now - due
        if id(reader) in fresh:
            fresh.discard(id(reader))
            reader.start()
        else:
            reader.turn(now)
        if number % 50 == 0 or number % len(readers) == 0:
            watch(now)
            if until(now):
                return


def all_ended(readers, seconds):
    """For run(): until all have ended, or the time is over, when they are late."""
    end = time.monotonic() + seconds

    def until(now):
        if all(r.end is not None for r in readers):
            return True
        if now > end:
            for r in readers:
                if r.end is None:
                    r.finish("late")
        return now > end
    return until


def ends(readers):
    return collections.Counter(r.end for r in readers)


# ---- balancers ----

class Balancer:
    def __init__(self, name, way, server, directory, more=()):
        self.way, self.port = way, free_port()
        self.dir = tempfile.mkdtemp(dir=directory)
        self.log_path = os.path.join(self.dir, "log")
        self.ctl = os.path.join(self.dir, "ctl")
        words = getattr(self, name)(way, server, directory + "/pem", more)
        with open(self.log_path, "w") as log:
            self.child = subprocess.Popen(words, stdout=log, stderr=log)
        wait_for(self.port)
        time.sleep(0.3)

    def pen(self, way, server, pem, more):
        way = {"plain": [], "TLS": ["-E", pem], "-H": ["-H"]}[way]
        return [PEN, "-f", "-r", "-C", self.ctl, *way,
                *(x for m in more for x in ("-O", m)),
                f"127.0.0.1:{self.port}", f"127.0.0.1:{server}"]

    def conf(self, text, **values):
        path = os.path.join(self.dir, "conf")
        with open(path, "w") as f:
            f.write(text % {"dir": self.dir, "port": self.port, **values})
        return path

    def haproxy(self, way, server, pem, _):
        return [os.environ.get("HAPROXY", "haproxy"), "-db", "-q", "-f", self.conf(
            HAPROXY, server=server, mode="http" if way == "-H" else "tcp",
            tls=f"ssl crt {pem}" if way == "TLS" else "",
            more="http-reuse always" if way == "-H" else "")]

    def nginx(self, way, server, pem, _):
        nginx = os.environ.get("NGINX", "nginx")
        return [nginx, "-p", self.dir, "-c", self.conf(
            NGINX_HTTP if way == "-H" else NGINX_STREAM, server=server,
            module="" if way == "-H" else stream_module(nginx),
            tls="ssl" if way == "TLS" else "",
            more=f"ssl_certificate {pem}; ssl_certificate_key {pem};"
                 " ssl_protocols TLSv1.3;" if way == "TLS" else "")]

    def ask(self, line):
        return ask_control(self.ctl, line)

    def pids(self):
        return processes(self.child.pid)

    def log(self):
        with open(self.log_path) as f:
            return f.read()

    def stop(self):
        for pid in reversed(self.pids()):
            try:
                os.kill(pid, signal.SIGTERM)
            except OSError:
                pass
        try:
            self.child.wait(5)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()


def set_buffers(sizes):
    for i, kind in enumerate(("tcp_rmem", "tcp_wmem")):
        with open("/proc/sys/net/ipv4/" + kind, "w") as f:
            f.write(sizes or ("4096 131072 6291456", "4096 16384 4194304")[i])


SMALL = "4096 16384 65536"


# ---- rows ----

class Meter:
    """Memory now and then, and CPU time, from 2 s after all clients have come."""

    def __init__(self, balancer, readers, seconds):
        self.readers, self.seconds = readers, seconds
        self.pids, self.before = balancer.pids(), memory(balancer.pids())
        self.seen, self.next, self.came, self.began = [], 0, None, None

    def __call__(self, now):
        if self.came is None and all(r.sock or r.end for r in self.readers):
            self.came = now
        if self.began is None:
            if self.came is not None and now - self.came > 2:
                self.began, self.bytes = now, self.total()
                self.cpu = scheduled(self.pids)[0]
            return
        if now >= self.next:
            self.next = now + 0.5
            open_now = sum(r.sock is not None for r in self.readers)
            if open_now == len(self.readers):
                self.seen.append((memory(self.pids) - self.before) / open_now)

    def is_over(self, now):
        return self.began is not None and now > self.began + self.seconds

    def total(self):
        return sum(r.total for r in self.readers)

    def result(self, now):
        got = self.total() - self.bytes
        seen = self.seen or [float("nan")]  # some were refused
        return {"bytes": statistics.median(seen), "most": max(seen),
                "ms": 1e12 * (scheduled(self.pids)[0] - self.cpu) / max(got, 1),
                "mbit": 8e-6 * got / (now - self.began) / len(self.readers)}


def row(o, name, way, size, server, directory):
    """Prints a row; returns how many clients lost something or were refused."""
    whole = size in o.whole and name in o.whole_of
    balancer = Balancer(name, way, server, directory,
                        ["session_log off"] if name == "pen" else [])
    takes = size / RATE
    kept = takes < o.seconds / 2
    readers = [Reader(way, balancer.port, size, "keep" if kept else "close")
               for _ in range(o.clients)]
    meter = Meter(balancer, readers, o.seconds)
    run(readers, meter.is_over, meter)
    result = meter.result(time.monotonic())
    broken_off = 0
    for r in readers:
        r.then = "close"
    if kept or whole:
        # with time for a busy machine
        run(readers, all_ended(readers, 60 + 3 * takes))
    else:
        for r in readers:
            if r.end is None:
                r.finish("broken off")
                broken_off += 1
    how = ends(readers)
    lost = sum(how[x] for x in LOST)
    total = sum(r.total for r in readers)
    answers = sum(r.answers for r in readers)
    label = f"{size // MB} MB" if size >= MB else f"{size // 1000} KB"
    print(f"| {way} | {label} | {name} | {result['bytes']:,.0f} |"
          f" {result['most']:,.0f} | {result['ms']:,.0f} | {total / 1e9:.2f} |"
          f" {answers:,} | {lost} | {how['refused']} |"
          f"  {result['mbit']:.2f} Mbit/s {dict(how)}", flush=True)
    if balancer.child.poll() is not None:
        print(f"{name} has ended")
        lost += 1
    balancer.stop()
    return lost + how["refused"] if name == "pen" else 0


def rows_part(o, server, directory):
    set_buffers(SMALL)
    print("| way | answer | | bytes a client | at most | ms a GB | GB read |"
          " whole answers | lost | refused |\n|---|---|---|---|---|---|---|---|---|---|")
    return sum(row(o, name, way, size, server, directory)
               for way in o.ways for size in o.sizes for name in o.balancers)


# ---- what else may happen ----

KERNEL = (("usual buffers", None, []), ("64 KB", SMALL, []),
          ("64 KB, buffer 16m", SMALL, ["buffer 16m"]))


def told(part, kernel, balancer, readers, good, failed=""):
    """Prints a line; returns how many did not end as they may."""
    how = ends(readers)
    bad = sum(n for end, n in how.items() if end not in good) + bool(failed)
    print(f"{part:16} {balancer.way:6} {kernel:18} "
          + ", ".join(f"{n} {end}" for end, n in sorted(how.items()))
          + f"; {sum(r.total for r in readers) / 1e6:.0f} MB"
          + (f"  FAILED: {bad} {failed}" if bad else ""), flush=True)
    if bad:
        for r in readers:
            if r.end not in good:
                print(f"    {r.end}: {r.got} of {r.size}, {r.how} {r.early}")
        print("    " + "\n    ".join(balancer.log().splitlines()[-12:]))
    return bad


def try_each(o, server, directory, part, make, good, seconds=150, during=None,
             after=lambda balancer: ""):
    """A pen of each way, one kind of buffers after the other, with the readers that
    `make(balancer)` returns. `during(balancer)` is called after 3 s and returns more
    readers, `after(balancer)` in the end what is wrong, or nothing."""
    bad = 0
    for kernel, sizes, more in KERNEL:
        set_buffers(sizes)
        all_of = {way: Balancer("pen", way, server, directory, more) for way in o.ways}
        readers = {b: make(b) for b in all_of.values()}
        if during is not None:
            now = [r for some in readers.values() for r in some]
            end = time.monotonic() + 3
            run(now, lambda now: now > end)
            for b in readers:
                readers[b] += during(b)
        everyone = [r for some in readers.values() for r in some]
        run(everyone, all_ended(everyone, seconds))
        for b, some in readers.items():
            ends_well = good(b.way) if callable(good) else good
            bad += told(part, kernel, b, some, ends_well, after(b))
            b.stop()
    return bad


def reader(balancer, size, how, early=0, then=None, **more):
    r = Reader(balancer.way, balancer.port, size, how, early, **more)
    r.then = then
    return r


def pauses_part(o, *where):
    size, p = 16 * MB, o.pause
    plans = [[(0, p)], [(size // 2, p)], [(MB, p), (size // 2, p)],
             [(size - 100_000, p)], [(i * MB, 1) for i in range(1, 16)]]
    return try_each(
        o, *where, f"pauses of {p:.0f} s", lambda b: [
            reader(b, size, how, rate=10 * RATE, pauses=plan)
            for plan in plans for how in ("keep", "close")
            for _ in range(max(1, o.few // 10))], ("done",), 2 * p + 150)


def fin_part(o, *where):
    # the last ones take at once what they can
    return try_each(o, *where, "fin", lambda b: [
        reader(b, 8 * MB, "close", rate=rate * RATE)
        for rate in (4, 8, 400) for _ in range(o.few)], ("done",))


def reset_part(o, *where):
    def cut(kind, b):
        return [reader(b, 8 * MB, kind, early, rate=4 * RATE)
                for early in (1, 100_000, MB, 4 * MB, 8 * MB - 1)
                for _ in range(max(1, o.few // 5))]

    # with -H the client sees that a body has ended too early
    return try_each(
        o, *where, "reset", lambda b: cut("reset", b),
        lambda way: ("reset", "cut", "refused") + (("short",) if way == "-H" else ())
    ) + (try_each(argparse.Namespace(**{**vars(o), "ways": ["-H"]}), *where, "gone",
                  lambda b: cut("gone", b), ("reset", "short", "refused"))
         if "-H" in o.ways else 0)


def ended_soon(pid, seconds=20):
    end = time.monotonic() + seconds
    while is_alive(pid) and time.monotonic() < end:
        time.sleep(0.05)
    return not is_alive(pid)


def several(o, b):
    return [reader(b, 8 * MB, how, rate=rate * RATE)
            for rate in (4, 8) for how in ("keep", "close")
            for _ in range(max(1, o.few // 4))]


def upgrade_part(o, *where):
    """New clients come to the new process; the old one ends by itself."""
    said = {}

    def upgrade(b):
        said[b] = int(b.ask("pid")), b.ask("upgrade")
        return several(o, b)

    def after(b):
        old, words = said[b]
        new = int(b.ask("pid"))
        ended = ended_soon(old)
        os.kill(new, signal.SIGTERM)
        return "" if new != old and " serves" in words and ended and ended_soon(new) \
            else f"{words!r}, {old} then {new}, ended: {ended}"

    return try_each(o, *where, "upgrade", lambda b: several(o, b), ("done",),
                    during=upgrade, after=after)


def shutdown_part(o, *where):
    """Clients are served to the end; new ones are refused; pen ends with status 0."""
    def shut(b):
        b.ask("shutdown 0")
        b.new = Reader(b.way, b.port, 1000)
        b.new.start()
        return []

    def after(b):
        if not ended_soon(b.child.pid):
            return "goes on"
        status = b.child.wait()
        return "" if status == 0 and b.new.end == "refused" \
            else f"status {status}, a new client: {b.new.end}"

    return try_each(o, *where, "shutdown", lambda b: several(o, b), ("done",),
                    during=shut, after=after)


# ---- all ----

PARTS = {"rows": rows_part, "pauses": pauses_part, "fin": fin_part,
         "reset": reset_part, "upgrade": upgrade_part, "shutdown": shutdown_part}


def certificate(directory):
    pem = directory + "/pem"
    subprocess.run(["openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-days", "2", "-subj", "/CN=localhost",
                    "-keyout", pem + ".key", "-out", pem], check=True,
                   capture_output=True)
    with open(pem, "a") as f, open(pem + ".key") as key:
        f.write(key.read())


def size_of(text):
    """Bytes; KB and MB are powers of ten."""
    number, unit = re.fullmatch(r"(\d+)([kKmM]?)", text).groups()
    return int(number) * {"": 1, "k": 1000, "m": MB}[unit.lower()]


def parse():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("pen")
    p.add_argument("--clients", type=int, default=1000)
    p.add_argument("--few", type=int, default=20)
    p.add_argument("--seconds", type=float, default=30)
    p.add_argument("--pause", type=float, default=20)
    p.add_argument("--sizes", default="64k,1m,16m,64m")
    p.add_argument("--whole", default="", help="sizes that are read to the end")
    p.add_argument("--whole-of", default="pen", help="by these")
    p.add_argument("--balancers", default="pen,haproxy,nginx")
    p.add_argument("--ways", default=",".join(WAYS))
    p.add_argument("--only", default=",".join(PARTS))
    o = p.parse_args()
    o.sizes = [size_of(x) for x in o.sizes.split(",")]
    o.whole = [size_of(x) for x in o.whole.split(",") if x]
    o.balancers, o.ways, o.whole_of = (
        x.split(",") for x in (o.balancers, o.ways, o.whole_of))
    return o


def main():
    global PEN, TLS
    o = parse()
    if not os.environ.get("SLOW_READERS_NET"):
        os.environ["SLOW_READERS_NET"] = "yes"
        os.execvp("unshare", ["unshare", "--net", "sh", "-c",
                              'ip link set lo up && exec "$@"', "sh",
                              sys.executable, *sys.argv])
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with open("/proc/sys/net/core/somaxconn", "w") as f:
        f.write("65535")
    PEN = os.path.realpath(o.pen)
    TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    TLS.check_hostname, TLS.verify_mode = False, ssl.CERT_NONE
    server, pid = start_server()
    bad = 0
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        certificate(directory)
        for part in o.only.split(","):
            bad += PARTS[part](o, server, directory)
    os.kill(pid, signal.SIGTERM)
    os.waitpid(pid, 0)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
