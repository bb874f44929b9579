#!/usr/bin/env python3
"""soak.py: all that pen does, at once, for long.

    python3 tests/soak.py PEN [--seconds N] [--out DIR]

One pen has services for TCP, TLS, HTTP, UDP and DNS, and one whose servers are the
addresses of a name. Clients of each come again and again: short, long, half-closed and
reset connections, requests, datagrams; each checks each byte. Meanwhile servers die and
return, the addresses of the names change, the file is read again with other settings,
commands come, pen is upgraded.

Every second a line of DIR/soak.tsv has memory, descriptors, sessions, latency and
counters; at the end DIR/soak.svg shows them. From time to time all clients rest: at
its last rests a process may have no more memory (4 MB: malloc's share) and descriptors
than at its first ones. Fails on that, on a byte that differs, on a session that is cut
but not by a server that died, and on one that takes longer than two minutes, but not
where the machine was so busy that this program stood still for seconds."""

import argparse
import asyncio
import collections
import contextlib
import csv
import json
import logging
import os
import random
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE + "/bench")
from kill_storm import is_alive  # noqa: E402
BLOCK = random.Random(1).randbytes(1 << 20)
RESET = struct.pack("ii", 1, 0)
STREAMS, LIMIT_S, NAME = 3, 120, "soak.test"
COLUMNS = ("seconds process rss_kb descriptors processes sessions done p50_ms p99_ms "
           "accepted deaths reloads upgrades commands names resent stalls").split()


def pattern(seed, size):
    """Bytes that seed and size decide."""
    at = seed % len(BLOCK)
    return (BLOCK[at:at + size] + BLOCK * (size // len(BLOCK) + 1))[:size]


def free_port():
    """For TCP and UDP; none that the kernel gives to clients."""
    while True:
        port = random.randrange(10000, 32000)
        with (contextlib.suppress(OSError), socket.socket() as tcp,
              socket.socket(type=socket.SOCK_DGRAM) as udp):
            tcp.bind(("0.0.0.0", port))
            udp.bind(("0.0.0.0", port))
            return port


class Wrong(Exception):
    pass


# ---- servers ----

class Server:
    """Answers at a port of all addresses of this host, until it dies."""

    def __init__(self, soak, serve):
        self.soak, self.serve, self.port = soak, serve, free_port()
        self.writers, self.deaths = set(), 0

    async def start(self):
        self.listener = await asyncio.start_server(
            self.accept, "0.0.0.0", self.port, backlog=1024, limit=1 << 20)

    async def accept(self, reader, writer):
        self.writers.add(writer)
        try:
            await self.serve(reader, writer)
            writer.close()
        except (OSError, asyncio.IncompleteReadError):
            writer.transport.abort()
        finally:
            self.writers.discard(writer)

    async def die(self, seconds):
        self.soak.seen["deaths"] += 1
        self.soak.died = time.monotonic()
        self.listener.close()
        self.listener = None
        for writer in self.writers:
            reset(writer)
        await asyncio.sleep(seconds)
        await self.start()


def reset(writer):
    s = writer.get_extra_info("socket")
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    writer.transport.abort()


async def serve_stream(reader, writer):
    """A question: seed, size of what follows it, size of the answer."""
    while True:
        try:
            head = await reader.readexactly(12)
        except asyncio.IncompleteReadError as e:
            if e.partial:
                raise
            return
        seed, size, answer = struct.unpack("!III", head)
        if await reader.readexactly(size) != pattern(seed, size):
            raise Wrong("a server got wrong bytes")
        writer.write(pattern(seed + 1, answer))
        await writer.drain()


async def serve_http(reader, writer):
    while True:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
        except asyncio.IncompleteReadError as e:
            if e.partial:
                raise
            return
        _, path, _ = head.split("\r\n")[0].split(" ")
        seed, size, answer = map(int, path.split("/")[1:])
        if size and await reader.readexactly(size) != pattern(seed, size):
            raise Wrong("an HTTP server got wrong bytes")
        body = pattern(seed + 1, answer)
        if seed % 2:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % answer)
            writer.write(body)
        else:
            writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for i in range(0, answer, 5000):
                part = body[i:i + 5000]
                writer.write(b"%x\r\n%s\r\n" % (len(part), part))
            writer.write(b"0\r\n\r\n")
        await writer.drain()


class Echo(asyncio.DatagramProtocol):
    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, client):
        self.transport.sendto(self.answer(data), client)

    def answer(self, data):
        return data[:4] + data[:3:-1]


class Names(Echo):
    """*.soak.test has the addresses of the moment; any other name one of its own."""
    addresses = ["127.0.0.1"]

    def answer(self, data):
        name, at = [], 12
        while data[at]:
            name.append(data[at + 1:at + 1 + data[at]].decode())
            at += 1 + data[at]
        kind = struct.unpack("!H", data[at + 1:at + 3])[0]
        found = self.addresses if NAME == ".".join(name[-2:]) else [address_of(name[0])]
        found = found if kind == 1 else []
        return (data[:2] + struct.pack("!HHHHH", 0x8580, 1, len(found), 0, 0)
                + data[12:at + 5] + b"".join(
                    struct.pack("!HHHIH", 0xc00c, 1, 1, 0, 4) + socket.inet_aton(a)
                    for a in found))


def address_of(label):
    return "10.1.%d.%d" % divmod(sum(label.encode()) % 65536, 256)


# ---- clients ----

@contextlib.asynccontextmanager
async def connection(port, tls=None):
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", port, ssl=tls, limit=1 << 20)
    client = writer.get_extra_info("sockname") or ("reset", 0)
    try:
        yield reader, writer
    except Exception as e:
        e.add_note("client=%s:%d" % client[:2])
        raise
    finally:
        writer.close()


async def exchange(soak, reader, writer, most, half=False):
    seed = random.randrange(1 << 30)
    size, answer = (int(most ** random.random()) for _ in range(2))
    writer.write(struct.pack("!III", seed, size, answer) + pattern(seed, size))
    if half:
        writer.write_eof()
    got = await reader.readexactly(answer)
    if got != pattern(seed + 1, answer):
        raise Wrong("a client got wrong bytes")
    if half and await reader.read(1):
        raise Wrong("a client got more than the answer")


async def stream_client(soak, service, kind):
    tls = soak.tls if service == "tls" else None
    async with connection(soak.ports[service], tls) as (reader, writer):
        if kind == "reset":
            writer.write(struct.pack("!III", 7, 0, 1 << 20))
            got = await reader.readexactly(random.randint(1, 1 << 16))
            if got != pattern(8, len(got)):
                raise Wrong("a client got wrong bytes")
            reset(writer)
            return
        end = time.monotonic() + random.uniform(5, 20)
        while True:
            await exchange(soak, reader, writer, 300000, kind == "half")
            if kind != "long" or time.monotonic() > end or soak.resting:
                break
            await asyncio.sleep(random.uniform(0, 0.5))


async def http_client(soak, service, kind):
    began = time.monotonic()
    async with connection(soak.ports[service]) as (reader, writer):
        for n in range(random.randint(1, 20) if kind == "long" else 1):
            seed = random.randrange(1 << 20)
            size, answer = (int(100000 ** random.random()) for _ in range(2))
            size *= seed % 3 == 0
            writer.write(b"%s /%d/%d/%d HTTP/1.1\r\nHost: soak\r\n%s\r\n%s" % (
                b"POST" if size else b"GET", seed, size, answer,
                b"Content-Length: %d\r\n" % size if size else b"",
                pattern(seed, size)))
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError as e:
                # an upgrade closes those that are idle between requests
                if e.partial or soak.upgraded < began or not n:
                    raise
                return
            if not head.startswith(b"HTTP/1.1 200"):
                raise ConnectionError("status " + head[9:12].decode())
            body = await (reader.readexactly(answer) if seed % 2 else chunked(reader))
            if body != pattern(seed + 1, answer):
                raise Wrong("an HTTP client got wrong bytes")
            if soak.resting:
                break


async def chunked(reader):
    body = b""
    while length := int(await reader.readuntil(b"\r\n"), 16):
        body += (await reader.readexactly(length + 2))[:-2]
    await reader.readexactly(2)
    return body


async def datagram_client(soak, service, kind):
    """One question, again each second, because datagrams may be lost."""
    loop = asyncio.get_running_loop()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.setblocking(False)
        s.connect(("127.0.0.1", soak.ports[service]))
        number = random.randbytes(2)
        label = "n%d" % random.randrange(1 << 30)
        question = number + random.randbytes(random.randint(8, 1000))
        expected = question[:4] + question[:3:-1]
        if service == "dns":
            question = (number + struct.pack("!HHHHH", 256, 1, 0, 0, 0)
                        + bytes([len(label)]) + label.encode() + b"\0\0\1\0\1")
        for i in range(30):
            soak.seen["resent"] += i > 0
            try:
                s.send(question)
                got = await asyncio.wait_for(loop.sock_recv(s, 4096), 1)
            except (asyncio.TimeoutError, ConnectionError):
                continue
            if service == "dns" and got[3] & 15:
                continue  # pen has no server for it at the moment
            if service == "dns":
                expected = question[:2] + got[2:-4] + socket.inet_aton(
                    address_of(label))
            if got != expected:
                raise Wrong("a %s client got a wrong answer" % service)
            return
    raise asyncio.TimeoutError("no answer in 30 s")


CLIENTS = [(stream_client, "tcp", kind, 4) for kind in ("short", "half", "reset")]
CLIENTS += [(stream_client, "tls", kind, 2) for kind in ("short", "reset")]
CLIENTS += [(stream_client, service, "long", 6) for service in ("tcp", "tls", "names")]
CLIENTS += [(stream_client, "names", "short", 3), (http_client, "http", "short", 4),
            (http_client, "http", "long", 4), (datagram_client, "udp", "", 3),
            (datagram_client, "dns", "", 3)]


# ---- pen, and what an operator does ----

class Soak:
    def __init__(self, options, directory):
        self.options, self.directory = options, directory
        self.began, self.resting = time.monotonic(), False
        self.died = self.upgraded = self.stalled = 0.0
        self.seen, self.active, self.took = collections.Counter(), 0, []
        self.faults, self.deaths, self.rests = [], [], {}
        self.ctl, self.conf = directory + "/ctl", directory + "/conf"
        self.ports = {
            s: free_port() for s in ("tcp", "tls", "http", "names", "udp", "dns")}
        subprocess.run(
            ["openssl", "req", "-x509", "-nodes", "-newkey", "rsa:2048", "-days", "90",
             "-subj", "/CN=soak", "-keyout", directory + "/pem", "-out",
             directory + "/crt"], check=True, stderr=subprocess.DEVNULL)
        with open(directory + "/crt") as crt, open(directory + "/pem", "a") as pem:
            pem.write(crt.read())
        self.tls = ssl.create_default_context(cafile=directory + "/crt")
        self.tls.check_hostname = False
        self.pids, self.accepted, self.pen = [], 0, None

    def configure(self):
        """The file, with settings that differ from time to time."""
        lines = [f"control {self.ctl}", f"resolver 127.0.0.1:{self.resolver}",
                 "resolve_interval 1", f"session_log {self.directory}/log",
                 "log_sample 0"]
        for service, port in self.ports.items():
            lines += [f"service {service}", f"listen 127.0.0.1:{port}", "blacklist 1",
                      random.choice(["roundrobin", "balance leastconn", "balance p2c",
                                     "hash", "balance wrr"]),
                      f"retry {random.randint(5, 9)}",
                      f"idle_timeout {random.randint(100, 200)}"]
            lines += {
                "tls": [f"ssl_cert {self.directory}/pem; ssl_handshake_timeout 120"],
                "http": ["http"],
                "udp": [f"udp; udp_timeout 2; server add 127.0.0.1:{self.echo}"],
                "dns": [f"dns; server add 127.0.0.1:{self.resolver}"]
            }.get(service, [])
            if service == "names":
                lines.append(f"server add all.{NAME}*:{self.servers[0].port}")
            elif service not in ("udp", "dns"):
                servers = self.web if service == "http" else self.servers
                lines += [f"server {i} address {host} port {server.port} weight 1"
                          for i, (server, host) in enumerate(
                              zip(servers, ("127.0.0.1", "one." + NAME, "127.0.0.1")))]
                lines += [f"check connect; check_interval {random.randint(1, 3)}",
                          "check_timeout 30; timeout 30"]
        with open(self.conf, "w") as f:
            f.write("\n".join(lines) + "\n")

    async def ask(self, line):
        self.seen["commands"] += 1
        reader, writer = await asyncio.open_unix_connection(self.ctl)
        writer.write(line.encode() + b"\n")
        said = (await asyncio.wait_for(reader.read(), LIMIT_S)).decode()
        writer.close()
        if said.startswith("error:"):
            self.fault(f"{line}: {said.strip()}")
        return said

    def fault(self, words):
        self.faults.append(words)
        print(f"soak: {time.monotonic() - self.began:.0f} s: {words}", flush=True)

    async def start(self):
        self.echo, self.resolver = [await self.datagrams(p) for p in (Echo, Names)]
        self.servers = [Server(self, serve_stream) for _ in range(STREAMS)]
        self.web = [Server(self, serve_http) for _ in range(STREAMS)]
        for server in self.servers + self.web:
            await server.start()
        self.configure()
        self.log = open(self.directory + "/log", "w")
        self.pen = subprocess.Popen(
            [self.options.pen, "-f", "-F", self.conf], stderr=self.log,
            stdin=subprocess.DEVNULL)
        while not os.path.exists(self.ctl):
            if self.pen.poll() is not None:
                raise SystemExit(open(self.directory + "/log").read())
            await asyncio.sleep(0.05)

    async def datagrams(self, protocol):
        transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
            protocol, local_addr=("0.0.0.0", 0))
        return transport.get_extra_info("sockname")[1]

    async def client(self, run, service, kind):
        """One after another, and in between the rests."""
        while not self.over():
            if self.resting:
                await asyncio.sleep(0.2)
                continue
            began = time.monotonic()
            self.active += 1
            try:
                await asyncio.wait_for(run(self, service, kind), LIMIT_S)
                self.seen["done"] += 1
                if kind != "long":
                    self.took.append(1000 * (time.monotonic() - began))
            except (Wrong, OSError, asyncio.IncompleteReadError,
                    asyncio.TimeoutError) as e:
                self.seen["broken"] += 1
                if isinstance(e, Wrong) or max(self.died + 1, self.stalled) < began:
                    self.fault(f"{service} {kind}: {e!r} "
                               + " ".join(getattr(e, "__notes__", ())))
            finally:
                self.active -= 1
            await asyncio.sleep(random.uniform(0, 0.05))

    def over(self):
        return time.monotonic() - self.began > self.options.seconds

    async def operate(self):
        """What disturbs: one thing after another, at random."""
        while not self.over():
            await asyncio.sleep(random.uniform(0.2, 2))
            if self.resting:
                continue
            what = random.randrange(6)
            if what == 0:
                # the first one of each kind never dies
                server = random.choice(self.servers[1:] + self.web[1:])
                if server.listener:
                    self.deaths.append(asyncio.create_task(
                        server.die(random.uniform(0, 3))))
            elif what == 1:
                self.configure()
                self.seen["reloads"] += 1
                await self.ask("reload")
            elif what == 2:
                self.seen["names"] += 1
                Names.addresses = random.sample(
                    ["127.0.0.%d" % i for i in range(1, 6)], random.randint(1, 4))
            elif what == 3:
                service = random.choice(("tcp", "tls", "http"))
                n = random.randrange(STREAMS)
                done = random.choice(("drain", "maint", "weight 3", "weight 0"))
                await self.ask(f"service {service} server {n} {done}")
                await asyncio.sleep(0.5)
                await self.ask(f"service {service} server {n} up; "
                               f"service {service} server {n} weight 1")
            else:
                service = random.choice(list(self.ports))
                for line in ("servers long", "connections json", "flows", "statistics",
                             "recent", "explain 127.0.0.1"):
                    await self.ask(f"service {service} {line}")

    async def rest_now(self):
        """Waits until nothing is left to do, and compares."""
        self.resting = True
        while self.active:
            await asyncio.sleep(0.1)
        for _ in range(600):
            await asyncio.sleep(0.1)
            if not await self.sessions():
                break
        else:
            self.fault("sessions are left at rest")
        await asyncio.sleep(1)  # connections for checks and names
        pid, rss, files = await self.process()
        self.rests.setdefault(pid, []).append((rss, files))
        print(f"soak: {time.monotonic() - self.began:.0f} s: at rest process {pid} "
              f"has {rss} kB, {files} descriptors", flush=True)
        self.resting = False

    def judge(self):
        """Whether each process had at its last two rests what it had before."""
        for pid, rests in self.rests.items():
            if len(rests) < 4:
                continue
            for i, what, more in ((0, "kB", 4096), (1, "descriptors", 4)):
                first = max(rest[i] for rest in rests[:2])
                last = min(rest[i] for rest in rests[-2:])
                if last > first + more:
                    self.fault(f"process {pid} grew from {first} to {last} {what}")

    async def rests_and_upgrades(self):
        """A process rests four times before the next one takes over."""
        step = max(self.options.seconds / 15, 15)
        n = 0
        while not self.over():
            await asyncio.sleep(step)
            if self.over():
                break
            if n % 5 == 4:
                self.seen["upgrades"] += 1
                before, asked = self.pids[-1], time.monotonic()
                self.upgraded = float("inf")
                said = await self.ask("upgrade")
                if " serves" in said:
                    while int(await self.ask("pid")) == before:
                        await asyncio.sleep(0.1)
                elif self.stalled < asked:  # else it asked for names in vain
                    self.fault("upgrade: " + said)
                self.upgraded = time.monotonic()
            else:
                await self.rest_now()
            n += 1

    async def sessions(self):
        said = json.loads(await self.ask("services json"))
        self.accepted = sum(x["accepted"] for x in said)
        return sum(x["sessions"] + x["flows"] for x in said)

    async def process(self):
        """The process that serves, resident kB, descriptors."""
        pid = int(await self.ask("pid"))
        if pid not in self.pids:
            self.pids.append(pid)
        with open(f"/proc/{pid}/status") as f:
            rss = int(f.read().partition("VmRSS:")[2].split()[0])
        return pid, rss, len(os.listdir(f"/proc/{pid}/fd"))

    async def watch(self):
        """Notes when this program got no processor for seconds: what is cut then may
        be its own fault."""
        while not self.over():
            before = time.monotonic()
            await asyncio.sleep(0.5)
            if time.monotonic() > before + 3:
                self.stalled = time.monotonic()
                self.seen["stalls"] += 1

    async def record(self):
        """A line each second."""
        with open(self.options.out + "/soak.tsv", "w") as f:
            f.write("\t".join(COLUMNS) + "\n")
            while not self.over():
                await asyncio.sleep(1)
                took, self.took = sorted(self.took), []
                sessions = await self.sessions()
                line = [int(time.monotonic() - self.began), *await self.process(),
                        sum(map(is_alive, self.pids)), sessions, self.seen["done"],
                        *(took and (took[len(took) * p // 100] for p in (50, 99))
                          or (0, 0)), self.accepted,
                        *(self.seen[c] for c in COLUMNS[10:])]
                f.write("\t".join(f"{x:.0f}" for x in line) + "\n")
                f.flush()

    async def run(self):
        await self.start()
        tasks = [asyncio.create_task(self.client(run, service, kind))
                 for run, service, kind, n in CLIENTS for _ in range(n)]
        tasks += [asyncio.create_task(x) for x in (
            self.operate(), self.rests_and_upgrades(), self.record(),
            self.watch())]
        try:
            await asyncio.gather(*tasks, *self.deaths)
            await self.rest_now()
            self.judge()
        finally:
            for pid in filter(is_alive, {self.pen.pid, *self.pids}):
                os.kill(pid, signal.SIGTERM)
            self.pen.wait(60)


def draw(table, path):
    """A panel for each of these, over time."""
    sys.path.insert(0, HERE + "/../doc")
    import plot
    with open(table) as f:
        rows = list(csv.DictReader(f, delimiter="\t"))
    if not rows:
        return
    d = plot.Drawing("make soak", f"{len(rows)} seconds, and what was there in each")
    for columns, title in (
            (("rss_kb",), "resident memory, kB"),
            (("descriptors", "sessions"), "descriptors; sessions in orange"),
            (("p50_ms", "p99_ms"), "ms until a client is done, median and 99 %"),
            (("processes", "upgrades"), "processes; upgrades in orange")):
        most = max(float(row[c]) for row in rows for c in columns) or 1
        at_x = plot.scale(0, float(rows[-1]["seconds"]), 62, plot.WIDTH - 16, False)
        d.y += 26
        d.text(8, d.y, title, weight="bold")
        at_y = plot.scale(0, most, d.y + 90, d.y + 12, False)
        for y in (0, most):
            d.line(62, at_y(y), plot.WIDTH - 16, at_y(y))
            d.text(57, at_y(y) + 4, plot.human(y), plot.SIZE - 2, "end", "dim")
        for n, c in enumerate(columns):
            points = " ".join(f"{at_x(float(r['seconds'])):.1f},{at_y(float(r[c])):.1f}"
                              for r in rows[::len(rows) // 400 + 1])
            d.add(f'<polyline points="{points}" class="s{n}" stroke-width="1.5"/>')
        d.y += 94
    d.write(path)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("pen")
    p.add_argument("--seconds", type=float,
                   default=os.environ.get("SOAK_SECONDS", 3600))
    p.add_argument("--out", default=".")
    p.add_argument("--seed", type=int, default=int(time.time()))
    o = p.parse_args()
    print(f"soak: --seed {o.seed}", flush=True)
    random.seed(o.seed)
    # of what is written to a connection that was reset
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as directory:
        soak = Soak(o, directory)
        asyncio.run(soak.run())
        with open(directory + "/log") as f:
            log = f.read()
    with open(o.out + "/soak.log", "w") as f:
        f.write(log)
    draw(o.out + "/soak.tsv", o.out + "/soak.svg")
    print("soak: " + ", ".join(f"{n} {what}" for what, n in sorted(soak.seen.items())))
    print(f"soak: {len(soak.rests)} passed, {len(soak.faults)} failed")
    return 1 if soak.faults else 0


if __name__ == "__main__":
    sys.exit(main())
