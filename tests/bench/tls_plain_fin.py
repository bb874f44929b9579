#!/usr/bin/env python3
"""What arrives of clients of TLS that close without close_notify.

    tls_plain_fin.py [--times N] PEN

Clients send 200,000 or 1,000,000 bytes over TLS 1.2 or 1.3 and close with a plain
FIN; the server counts what it gets, at once or beginning 0.5 s late. Prints how
many deliveries were whole: through PEN, and through nginx if there is one. With TLS
1.3 clients read their tickets first, as unread ones turn a FIN into a reset. Not
part of make check."""

import argparse
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time


class Server:
    """Notes how many bytes each connection had, and whether it ended well."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.late = 0.0
        self.got = []
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            c, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(c,), daemon=True).start()

    def serve(self, c):
        time.sleep(self.late)
        n = 0
        try:
            while data := c.recv(65536):
                n += len(data)
        except OSError:
            n = -n
        c.close()
        self.got.append(n)


def send(port, version, n):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = context.maximum_version = version
    s = context.wrap_socket(socket.create_connection(("127.0.0.1", port)))
    if version == ssl.TLSVersion.TLSv1_3:
        s.settimeout(0.1)
        try:
            s.recv(1)
        except (TimeoutError, ssl.SSLWantReadError):
            pass
        s.settimeout(None)
    s.sendall(b"x" * n)
    s.close()


def count(server, port, version, n, times):
    server.got = []
    for _ in range(times):
        send(port, version, n)
    end = time.monotonic() + 10
    while len(server.got) < times and time.monotonic() < end:
        time.sleep(0.01)
    return sum(got == n for got in server.got)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start(words, port):
    p = subprocess.Popen(words)
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return p
        except OSError:
            time.sleep(0.02)


MODULE = "/usr/lib/nginx/modules/ngx_stream_module.so"


def nginx(where, pem, port, server):
    conf = os.path.join(where, "nginx.conf")
    with open(conf, "w", encoding="ascii") as f:
        if os.path.exists(MODULE):
            f.write(f"load_module {MODULE};\n")
        f.write("daemon off; master_process off; error_log /dev/null;\n"
                f"pid {where}/pid;\nevents {{ }}\n"
                "stream { server { "
                f"listen 127.0.0.1:{port} ssl; ssl_certificate {pem}; "
                "ssl_protocols TLSv1.2 TLSv1.3; "
                f"ssl_certificate_key {pem}; "
                f"proxy_pass 127.0.0.1:{server}; }} }}\n")
    return ["nginx", "-p", where, "-c", conf]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--times", type=int, default=20)
    p.add_argument("pen")
    a = p.parse_args()
    where = tempfile.mkdtemp()
    pem = os.path.join(where, "a.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
        "ec_paramgen_curve:P-256", "-nodes", "-keyout", pem + ".key", "-out",
        pem + ".crt", "-days", "9", "-subj", "/CN=a.test"], check=True,
        stderr=subprocess.DEVNULL)
    with open(pem, "wb") as f:
        for part in ".key", ".crt":
            f.write(open(pem + part, "rb").read())
    server = Server()
    front, other = free_port(), free_port()
    run = {"pen": (front, start([a.pen, "-f", "-r", "-E", pem,
        f"127.0.0.1:{front}", f"127.0.0.1:{server.port}"], front))}
    if shutil.which("nginx"):
        run["nginx"] = (other,
            start(nginx(where, pem, other, server.port), other))
    time.sleep(0.5)
    for server.late in 0.0, 0.5:
        for version in ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3:
            for n in 200000, 1000000:
                whole = {name: count(server, port, version, n, a.times)
                         for name, (port, _) in run.items()}
                print(f"{version.name} {n:>7} bytes, server "
                      f"{server.late} s late: of {a.times} whole: "
                      + ", ".join(f"{k} {v}" for k, v in whole.items()))
    for _, process in run.values():
        process.terminate()
        process.wait()
    shutil.rmtree(where)


main()
