#!/usr/bin/env python3
"""peers.py PEN [--seconds N] [--rounds N] [--relay PROGRAM] [--remark TEXT]

The processor time of pen for each request, beside HAProxy, nginx (stream) and, if
one is given, a bare relay, which is what a program without any feature takes:
PROGRAM is started as `PROGRAM -m rw FRONT ONE TWO`.

All are up at once, on the first processor; wrk and an nginx as both servers have
the second one. Short loads go round over all of them, so that what else the
machine does hits all alike. Prints what doc/plot.py draws: for each load and
balancer the first quarter, the median and the third quarter of all rounds, in
microseconds, and the median of requests a second."""

import argparse
import os
import platform
import re
import shutil
import statistics
import subprocess
import tempfile
import time

from kill_storm import free_port, wait_for

LOADS = {
    "kept connections, 100 B": ("/small", [], False),
    "a connection each, 100 B": ("/small", ["Connection: close"], False),
    "kept connections, 16 KiB": ("/big", [], False),
    "TLS, kept connections, 100 B": ("/small", [], True),
}

SERVERS = """
worker_processes 1; daemon off; pid {dir}/servers.pid; error_log /dev/null;
events {{ worker_connections 4000; }}
http {{
    access_log off; keepalive_requests 1000000000; default_type text/plain;
    server {{
        listen 127.0.0.1:{one} backlog=4096; listen 127.0.0.1:{two} backlog=4096;
        location = /small {{ return 200 "{small}"; }}
        location = /big {{ root {dir}; }}
    }}
}}
"""
STREAM = """
{module}
worker_processes 1; daemon off; pid {dir}/stream.pid; error_log /dev/null;
events {{ worker_connections 8000; }}
stream {{
    upstream servers {{ server 127.0.0.1:{one}; server 127.0.0.1:{two}; }}
    server {{ listen 127.0.0.1:{nginx} backlog=4096; proxy_pass servers; }}
    server {{ listen 127.0.0.1:{nginx_tls} ssl backlog=4096; proxy_pass servers;
        ssl_certificate {dir}/site.pem; ssl_certificate_key {dir}/site.pem; }}
}}
"""
HAPROXY = """
global
    nbthread 1
    maxconn 4000
defaults
    mode tcp
    timeout connect 3s
    timeout client 1m
    timeout server 1m
listen plain
    bind 127.0.0.1:{haproxy}
    server one 127.0.0.1:{one}
    server two 127.0.0.1:{two}
listen tls
    bind 127.0.0.1:{haproxy_tls} ssl crt {dir}/site.pem
    server one 127.0.0.1:{one}
    server two 127.0.0.1:{two}
"""
NAMES = ("one", "two", "pen", "pen_tls", "haproxy", "haproxy_tls", "nginx",
         "nginx_tls", "relay")


def process_tree(pid):
    pids = [pid]
    for child in open(f"/proc/{pid}/task/{pid}/children").read().split():
        pids += process_tree(int(child))
    return pids


def cpu_us(pids):
    """What the scheduler has counted, in nanoseconds, for all their threads."""
    total = 0
    for pid in pids:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/schedstat") as f:
                total += int(f.read().split()[0])
    return total / 1000


def start(processor, words, **options):
    return subprocess.Popen(["taskset", "-c", str(processor), *words],
                            stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, **options)


def write(path, words):
    with open(path, "w") as f:
        f.write(words)
    return path


def prepare(directory, ports):
    os.chmod(directory, 0o755)
    write(directory + "/big", "x" * 16384)
    subprocess.run(
        ["openssl", "req", "-x509", "-nodes", "-newkey", "rsa:2048", "-days", "2",
         "-subj", "/CN=localhost", "-keyout", directory + "/site.pem", "-out",
         directory + "/site.pem"], check=True, capture_output=True)
    module = "/usr/lib/nginx/modules/ngx_stream_module.so"
    values = dict(ports, dir=directory, small="x" * 100,
                  module=f"load_module {module};" if os.path.exists(module) else "")
    return [write(f"{directory}/{name}", words.format(**values))
            for name, words in (("servers.conf", SERVERS),
                                ("stream.conf", STREAM),
                                ("haproxy.cfg", HAPROXY))]


def start_all(args, directory, ports):
    """Returns the servers' process and those of the balancers by name."""
    servers, stream, haproxy = prepare(directory, ports)
    behind = [f"127.0.0.1:{ports['one']}", f"127.0.0.1:{ports['two']}"]
    plain = [args.pen, "-f", "-r", "--session-log", "off"]
    commands = {
        "pen": plain + [f"127.0.0.1:{ports['pen']}", *behind],
        "pen_tls": plain + ["-E", directory + "/site.pem",
                            f"127.0.0.1:{ports['pen_tls']}", *behind],
        "haproxy": ["haproxy", "-db", "-q", "-f", haproxy],
        "nginx": ["nginx", "-c", stream],
    }
    if args.relay:
        commands["relay"] = [args.relay, "-m", "rw",
                             f"127.0.0.1:{ports['relay']}", *behind]
    running = {name: start(0, words) for name, words in commands.items()}
    running["servers"] = start(1, ["nginx", "-c", servers])
    for name in NAMES:
        if name != "relay" or args.relay:
            wait_for(ports[name])
    return running


def one_load(pids, port, load, seconds):
    path, headers, tls = LOADS[load]
    before = cpu_us(pids)
    words = ["taskset", "-c", "1", "wrk", "-t1", "-c32", f"-d{seconds}",
             f"http{'s' if tls else ''}://127.0.0.1:{port}{path}"]
    for header in headers:
        words += ["-H", header]
    said = subprocess.run(words, check=True, capture_output=True,
                          text=True).stdout
    if "Non-2xx" in said or "Socket errors" in said:
        print("# " + said.replace("\n", " "))
    requests = int(re.search(r"(\d+) requests in", said).group(1))
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", said).group(1))
    return (cpu_us(pids) - before) / max(requests, 1), rate


def measure(args, running, ports):
    found = {}
    for _ in range(args.rounds):
        for load, (_, _, tls) in LOADS.items():
            for name in ("pen", "haproxy", "nginx", "relay"):
                if name == "relay" and (tls or not args.relay):
                    continue
                with_tls = name + "_tls" if tls else name
                child = running.get(with_tls, running[name])
                found.setdefault((load, name), []).append(one_load(
                    process_tree(child.pid), ports[with_tls], load,
                    args.seconds))
    return found


def first_line(*words):
    said = subprocess.run(words, capture_output=True, text=True)
    return (said.stdout + said.stderr).splitlines()[0]


def report(args, found):
    haproxy = first_line("haproxy", "-v").split()[2].split("-")[0]
    nginx = first_line("nginx", "-v").split("/")[1].split()[0]
    pen = first_line(args.pen, "--version").split()[1]
    print(f"# {time.strftime('%Y-%m-%d')}: pen {pen}, HAProxy {haproxy}, "
          f"nginx {nginx}; Linux {platform.release().split('-')[0]}, "
          f"{platform.machine()}.")
    print(f"# tests/bench/peers.py: wrk, 32 connections; one process and thread "
          f"each; {args.rounds} rounds of {args.seconds} s,")
    print("# all balancers in turn; processor time as the scheduler counts it, "
          "in the kernel included; medians, quarters.")
    if args.relay:
        print("# relay: a bare relay of bytes, which does nothing else.")
    if args.remark:
        print("# " + args.remark)
    print("load\tbalancer\tquarter\tmedian\tthree_quarters\trate")
    for (load, name), values in found.items():
        low, middle, high = statistics.quantiles([v[0] for v in values], n=4)
        rate = statistics.median(v[1] for v in values)
        print(f"{load}\t{name}\t{low:.2f}\t{middle:.2f}\t{high:.2f}\t{rate:.0f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pen")
    parser.add_argument("--seconds", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--relay")
    parser.add_argument("--remark")
    args = parser.parse_args()
    directory = tempfile.mkdtemp()
    ports = {name: free_port() for name in NAMES}
    running = {}
    try:
        running = start_all(args, directory, ports)
        report(args, measure(args, running, ports))
    finally:
        for child in running.values():
            child.terminate()
            child.wait()
        shutil.rmtree(directory)


main()
