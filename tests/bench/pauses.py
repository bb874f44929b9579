#!/usr/bin/env python3
"""pauses.py PEN: what becomes of sessions when the program is stopped for 5 s?

1,000 sessions are open, with an idle timeout of 3 s by then; 50 more wait for the TLS
handshake of their server; checks, one failure of which takes a server down, come
ten times a second. PEN gets SIGSTOP; meanwhile each client says something and the
servers go on with their handshakes; after 5 s comes SIGCONT. Prints how many
sessions were reset or ended, and what the log says of servers, for each of 20
rounds. Run by hand."""

import argparse
import asyncio
import os
import signal
import socket
import ssl
import subprocess
import tempfile
import threading

from kill_storm import free_port, wait_for


class Servers:
    """Two that echo, one of them by TLS; handshakes wait for `go`."""

    def __init__(self, directory):
        pem = os.path.join(directory, "site.pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:P-256", "-nodes", "-days", "9", "-subj",
             "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
             "-keyout", pem, "-out", pem + ".crt"], check=True,
            stderr=subprocess.DEVNULL)
        self.ca = pem + ".crt"
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(pem + ".crt", pem)
        self.go = threading.Event()
        self.plain, self.secret = free_port(), free_port()
        self.shaking = 0

    def echo_secret(self, connection):
        try:
            self.shaking += 1
            self.go.wait()
            with self.tls.wrap_socket(connection, server_side=True) as s:
                while data := s.recv(1000):
                    s.sendall(data)
        except OSError:
            pass

    def accept_secret(self, listener):
        while True:
            threading.Thread(target=self.echo_secret, daemon=True,
                             args=[listener.accept()[0]]).start()

    async def echo(self, reader, writer):
        try:
            while data := await reader.read(1000):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        writer.close()

    async def start(self):
        await asyncio.start_server(
            self.echo, "127.0.0.1", self.plain, backlog=4096)
        listener = socket.create_server(
            ("127.0.0.1", self.secret), backlog=4096)
        threading.Thread(target=self.accept_secret, args=[listener],
                         daemon=True).start()


def start(path, words):
    front = free_port()
    log = tempfile.TemporaryFile("w+")
    child = subprocess.Popen(
        [path, "-f", "-r"] + words[:-1] + ["127.0.0.1:%d" % front, "127.0.0.1:%d" % words[-1]], stderr=log)
    wait_for(front)
    return child, front, log


async def talk(connection, word):
    reader, writer = connection
    try:
        return await asyncio.wait_for(reader.readexactly(1), 20) == word
    except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError):
        return False


async def one_round(path, servers, o):
    servers.go.set()
    control = os.path.join(os.path.dirname(servers.ca), "ctl")
    plain, front, log = start(path, [
        "-C", control, "-O", "check connect", "-O", "check_interval 100ms", "-O",
        "check_fall 1", "-O", "check_timeout 2", servers.plain])
    tls, behind, tls_log = start(path, [
        "-O", "timeout 2", "-O", "ssl_upstream", "-O",
        "ssl_upstream_ca " + servers.ca, servers.secret])
    many = [await asyncio.open_connection("127.0.0.1", front)
            for _ in range(o.sessions)]
    for _, writer in many:
        writer.write(b"a")
    good = await asyncio.gather(*[talk(c, b"a") for c in many])
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(control)
        s.sendall(b"idle_timeout 3\n")
        s.recv(100)
    servers.go.clear()
    servers.shaking = 0
    few = [await asyncio.open_connection("127.0.0.1", behind)
           for _ in range(50)]
    while servers.shaking < 50:
        await asyncio.sleep(0.01)
    for child in plain, tls:
        child.send_signal(signal.SIGSTOP)
    servers.go.set()
    for _, writer in many + few:
        writer.write(b"b")
    await asyncio.sleep(5)
    for child in plain, tls:
        child.send_signal(signal.SIGCONT)
    good += await asyncio.gather(*[talk(c, b"b") for c in many + few])
    for _, writer in many + few:
        writer.close()
    blamed = 0
    for child, f in (plain, log), (tls, tls_log):
        child.terminate()
        child.wait()
        f.seek(0)
        blamed += sum("server " in line for line in f)
    return good.count(False), blamed


async def storm(o, directory):
    servers = Servers(directory)
    await servers.start()
    bad = 0
    for i in range(o.rounds):
        lost, blamed = await one_round(o.pen, servers, o)
        bad += lost > 0 or blamed > 0
        print("round %d: %d of %d sessions lost, %d lines about servers" % (
            i + 1, lost, o.sessions + 50, blamed), flush=True)
    print("%d of %d rounds without a loss" % (o.rounds - bad, o.rounds))
    return bad


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("pen")
    p.add_argument("--sessions", type=int, default=1000)
    p.add_argument("--rounds", type=int, default=20)
    o = p.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        raise SystemExit(1 if asyncio.run(storm(o, directory)) else 0)


main()
