#!/usr/bin/env python3
"""upgrade_backlog.py PEN: is any client lost when the program is replaced while
clients wait for a place?

800 clients come again and again, 100 of whom may be served at a time, and the
server may have 100, too: the others wait in the backlog. Meanwhile PEN, which may
have 512 descriptors, is upgraded five times, with a SIGHUP in the middle of each.
Prints how many a second were served, and what was reset or left without an answer
for 20 s. At most 1,000 a second can be served.
The same with HAProxy (maxconn, five reloads of its master process) where that is
installed. Run by hand."""

import argparse
import asyncio
import collections
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time

from kill_storm import ask_control, free_port, wait_for

HAPROXY = """global
    maxconn 200
defaults
    mode tcp
    timeout connect 3s
    timeout client 60s
    timeout server 60s
frontend in
    bind 127.0.0.1:%d
    maxconn 100
    backlog 4096
    default_backend servers
backend servers
    server a 127.0.0.1:%d
"""
HELD = 0.1  # seconds that the server takes for an answer


async def serve(reader, writer):
    try:
        await reader.readexactly(1)
        await asyncio.sleep(HELD)
        writer.write(b"x")
        await writer.drain()
    except (OSError, asyncio.IncompleteReadError):
        pass
    writer.close()


async def one(port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(b"?")
        return await reader.read() == b"x"
    finally:
        writer.close()


async def client(port, seen, end):
    while not end.is_set():
        try:
            good = await asyncio.wait_for(one(port), 20)
            seen["served" if good else "ended"] += 1
        except asyncio.TimeoutError:
            seen["silent"] += 1
        except OSError:
            seen["reset"] += 1


async def storm(name, server, front, upgrade, o):
    await asyncio.start_server(serve, "127.0.0.1", server, backlog=4096)
    seen, end = collections.Counter(), asyncio.Event()
    tasks = [asyncio.create_task(client(front, seen, end))
             for _ in range(o.clients)]
    began = time.monotonic()
    await asyncio.sleep(2)
    for i in range(o.upgrades):
        await asyncio.get_running_loop().run_in_executor(None, upgrade)
        await asyncio.sleep(1)
    rate = seen["served"] / (time.monotonic() - began)
    end.set()
    await asyncio.gather(*tasks)
    print("%-8s %d clients, 100 at a time, %d upgrades: %.0f a second, %s" % (
        name, o.clients, o.upgrades, rate,
        ", ".join("%d %s" % (seen[k], k)
                  for k in ("served", "reset", "ended", "silent"))),
          flush=True)
    return seen["reset"] + seen["ended"] + seen["silent"]


def few_descriptors():
    """As many as the limit of connections needs, and some more."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, 512))


class Pen:
    def __init__(self, path, directory, front, server):
        self.ctl = os.path.join(directory, "ctl")
        self.log = os.path.join(directory, "log")
        conf = os.path.join(directory, "pen.conf")
        with open(conf, "w") as f:
            f.write("listen 127.0.0.1:%d\nconn_max 100\n"
                    "server add 127.0.0.1:%d:0:100\n" % (front, server))
        self.child = subprocess.Popen(
            [path, "-f", "-C", self.ctl, "-F", conf],
            stderr=open(self.log, "w"), preexec_fn=few_descriptors)
        wait_for(front)
        while not os.path.exists(self.ctl):
            time.sleep(0.01)

    def ask(self, line, then=lambda: None):
        return ask_control(self.ctl, line, then)

    def upgrade(self):
        pid = int(self.ask("pid"))
        said = self.ask("upgrade", lambda: os.kill(pid, signal.SIGHUP))
        if " serves\n" not in said:
            raise SystemExit(said)

    def end(self):
        os.kill(int(self.ask("pid")), signal.SIGTERM)
        self.child.wait()
        with open(self.log) as f:
            said = f.read()
        print("         SIGHUP: %d passed on, %d reloads" % (
            said.count("SIGHUP passed on"),
            said.count('reloaded reason="SIGHUP"')), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("pen")
    p.add_argument("--clients", type=int, default=800)
    p.add_argument("--upgrades", type=int, default=5)
    o = p.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        front, server = free_port(), free_port()
        pen = Pen(o.pen, directory, front, server)
        lost = asyncio.run(storm("pen", server, front, pen.upgrade, o))
        pen.end()
        if shutil.which("haproxy"):
            front, server = free_port(), free_port()
            conf = os.path.join(directory, "haproxy.cfg")
            with open(conf, "w") as f:
                f.write(HAPROXY % (front, server))
            haproxy = subprocess.Popen(["haproxy", "-W", "-db", "-f", conf],
                                       stderr=subprocess.DEVNULL)
            wait_for(front)

            def reload():
                haproxy.send_signal(signal.SIGUSR2)
                time.sleep(1)
            asyncio.run(storm("haproxy", server, front, reload, o))
            haproxy.terminate()
            haproxy.wait()
    raise SystemExit(1 if lost else 0)


if __name__ == "__main__":
    main()
