#!/usr/bin/env python3
"""What health checks cost: N servers, each checked every second.

    checks_rate.py PEN [SERVERS [SECONDS [KIND ..]]]

The servers are addresses of 127.0.0.0/8, behind one listener of another
process, so that only the processor time of pen counts. Prints, for each kind
of check, pen's share of one processor, the checks made, and, where strace is
there, its system calls for a check."""

import os
import re
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


def serve(listener):
    """Answers all that comes, and ends with the process that began it."""
    waiting = select.epoll()
    waiting.register(listener, select.EPOLLIN)
    clients = {}
    while os.getppid() != 1:
        for fd, _ in waiting.poll(1):
            if fd == listener.fileno():
                try:
                    while True:
                        client, _ = listener.accept()
                        client.setblocking(False)
                        clients[client.fileno()] = client
                        waiting.register(client, select.EPOLLIN)
                except OSError:
                    pass
                continue
            client = clients.pop(fd)
            try:
                if client.recv(4096):
                    client.send(ANSWER)
            except OSError:
                pass
            client.close()


def ask(path, command):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        s.sendall(command.encode() + b"\n")
        s.shutdown(socket.SHUT_WR)
        answer = b""
        while part := s.recv(65536):
            answer += part
    return answer.decode()


def cpu_s(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def calls_per_check(pid, seconds):
    """System calls for a check, each of which opens a socket."""
    if shutil.which("strace") is None:
        return None
    out = subprocess.run(
        ["timeout", "-s", "INT", str(seconds), "strace", "-c", "-f", "-p",
         str(pid)], capture_output=True, text=True).stderr
    calls = {name: int(n) for n, name in re.findall(
        r"^ *[0-9.]+ +[0-9.]+ +\d+ +(\d+) +(?:\d+ +)?(\w+)$", out, re.M)}
    calls.pop("total", None)
    return sum(calls.values()) / calls["socket"] if "socket" in calls else None


def measure(pen, port, servers, seconds, kind, directory):
    control = os.path.join(directory, "ctl")
    config = os.path.join(directory, "conf")
    with open(config, "w") as f:
        f.write(f"check {kind}\ncheck_interval 1\ncheck_timeout 5\n")
        for i in range(servers):
            f.write(f"server {i} address 127.1.{i // 250}.{i % 250 + 1} "
                    f"port {port}\n")
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        front = s.getsockname()[1]
    child = subprocess.Popen([pen, "-f", "-C", control, "-F", config, "-r",
                              f"127.0.0.1:{front}"])
    try:
        time.sleep(2.5)
        before, began = cpu_s(child.pid), time.monotonic()
        time.sleep(seconds)
        spent = cpu_s(child.pid) - before
        share = spent / (time.monotonic() - began)
        down = ask(control, "checks").count(" state down ")
        line = (f"{kind.split()[0]:8} servers={servers} "
                f"cpu={100 * share:.1f}% "
                f"us_per_check={1e6 * share / servers:.1f} down={down}")
        calls = calls_per_check(child.pid, 3)
        if calls:
            line += f" calls_per_check={calls:.1f}"
        print(line, flush=True)
    finally:
        child.terminate()
        child.wait()


def main():
    pen = sys.argv[1] if len(sys.argv) > 1 else "./pen"
    servers = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    kinds = sys.argv[4:] or ["connect", "http /"]
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("0.0.0.0", 0))
    listener.listen(4096)
    listener.setblocking(False)
    port = listener.getsockname()[1]
    server = os.fork()
    if server == 0:
        serve(listener)
        os._exit(0)
    try:
        with tempfile.TemporaryDirectory() as directory:
            for kind in kinds:
                measure(pen, port, servers, seconds, kind, directory)
    finally:
        os.kill(server, 15)
        os.waitpid(server, 0)


main()
