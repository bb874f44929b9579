#!/usr/bin/env python3
"""Memory of idle TLS connections: pen, haproxy, nginx's stream module, one way for all.

    tls_memory.py PEN [CONNECTIONS]

Each terminates TLS in front of one plain backend that echoes. So many clients shake
hands, say one word, get it back, and stay. What the processes' resident memory has
grown by, divided by the connections, is printed: kernel memory is the same for all.
"""

import os
import resource
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

WARM_UP = 200


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def echo(conn):
    import selectors

    sel = selectors.DefaultSelector()
    conn.setblocking(False)
    sel.register(conn, selectors.EVENT_READ)
    while True:
        for key, _ in sel.select():
            if key.fileobj is conn:
                client, _ = conn.accept()
                client.setblocking(False)
                sel.register(client, selectors.EVENT_READ)
                continue
            try:
                data = key.fileobj.recv(4096)
            except ConnectionResetError:
                data = b""
            if data:
                key.fileobj.send(data)
            else:
                sel.unregister(key.fileobj)
                key.fileobj.close()


def resident(pids):
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/smaps_rollup") as f:
            for line in f:
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) * 1024
    return total


def family(pid):
    pids = [pid]
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        for child in f.read().split():
            pids += family(int(child))
    return pids


def pen(path, cert, port, backend, where):
    return [path, "-f", "-r", "-E", cert, f"127.0.0.1:{port}", f"127.0.0.1:{backend}"]


def haproxy(path, cert, port, backend, where):
    conf = os.path.join(where, "haproxy.cfg")
    with open(conf, "w") as f:
        f.write(f"""global
  maxconn 9000
  nbthread 1
defaults
  mode tcp
  timeout connect 5s
  timeout client 1h
  timeout server 1h
listen l
  bind 127.0.0.1:{port} ssl crt {cert}
  server s 127.0.0.1:{backend}
""")
    return [path, "-db", "-f", conf]


def nginx(path, cert, port, backend, where):
    conf = os.path.join(where, "nginx.conf")
    module = "/usr/lib/nginx/modules/ngx_stream_module.so"
    load = f"load_module {module};" if os.path.exists(module) else ""
    with open(conf, "w") as f:
        f.write(f"""{load} daemon off; worker_processes 1; pid {where}/nginx.pid;
error_log {where}/error.log; worker_rlimit_nofile 20000; user root;
events {{ worker_connections 18000; }}
stream {{ server {{ listen 127.0.0.1:{port} ssl backlog=4096; proxy_timeout 1h;
  ssl_protocols TLSv1.2 TLSv1.3; ssl_certificate {cert}; ssl_certificate_key {cert};
  proxy_pass 127.0.0.1:{backend}; }} }}
""")
    return [path, "-p", where, "-c", conf]


def connect(context, port):
    s = context.wrap_socket(socket.create_connection(("127.0.0.1", port)))
    s.send(b"word")
    assert s.recv(16) == b"word"
    return s


def measure(start, path, cert, backend, count, version):
    port = free_port()
    with tempfile.TemporaryDirectory() as where:
        p = subprocess.Popen(start(path, cert, port, backend, where),
                             stderr=subprocess.DEVNULL)
        try:
            for _ in range(200):
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except OSError:
                    time.sleep(0.05)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            context.minimum_version = context.maximum_version = version
            for _ in range(WARM_UP):
                connect(context, port).close()
            time.sleep(0.5)
            before = resident(family(p.pid))
            clients = [connect(context, port) for _ in range(count)]
            time.sleep(1)
            after = resident(family(p.pid))
            for s in clients:
                s.close()
            return (after - before) / count
        finally:
            p.terminate()
            p.wait()


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 5000
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(4096)
    threading.Thread(target=echo, args=(listener,), daemon=True).start()
    backend = listener.getsockname()[1]
    kinds = [("pen", pen, sys.argv[1]),
             ("haproxy", haproxy, shutil.which("haproxy")),
             ("nginx stream", nginx, shutil.which("nginx") or "/usr/sbin/nginx")]
    with tempfile.TemporaryDirectory() as where:
        cert = os.path.join(where, "all.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-keyout", cert + ".k",
                        "-out", cert, "-days", "2", "-subj", "/CN=localhost"],
                       check=True, stderr=subprocess.DEVNULL)
        with open(cert, "a") as f, open(cert + ".k") as k:
            f.write(k.read())
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            for name, start, path in kinds:
                if path is None or not os.path.exists(path):
                    print(f"{name}: skipped: not installed")
                    continue
                each = measure(start, path, cert, backend, count, version)
                print(f"{version.name} {name}: {each:.0f} bytes a connection, "
                      f"{count} connections", flush=True)


if __name__ == "__main__":
    main()
