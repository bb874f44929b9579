#!/usr/bin/env python3
"""services_reload.py PEN: does one service notice what happens to the others?

wrk asks at one service, over kept connections, while 200 reloads add, change and
remove the others, and the program is upgraded 20 times between them. Prints what wrk
says of failed requests, and whether the service's counters go on. Needs wrk and
nginx. Run by hand."""

import argparse
import os
import random
import re
import subprocess
import tempfile

from kill_storm import free_port, wait_for
from upgrade_backlog import Pen

NGINX = """daemon off; master_process off; error_log /dev/null; pid %s/pid;
events { worker_connections 4096; }
http { access_log off; keepalive_requests 1000000000;
client_body_temp_path %s; proxy_temp_path %s; fastcgi_temp_path %s;
uwsgi_temp_path %s; scgi_temp_path %s;
server { listen 127.0.0.1:%d; return 200 ok; } }
"""


class Services(Pen):
    """The service `web`, and others, none of which is for long as it is."""

    def __init__(self, path, directory, server):
        self.path, self.server = path, server
        self.front = free_port()
        self.others = {"s%d" % i: free_port() for i in range(10)}
        self.ctl = os.path.join(directory, "ctl")
        self.conf = os.path.join(directory, "pen.conf")
        self.log = os.path.join(directory, "log")
        self.write()
        self.child = subprocess.Popen(
            [path, "-f", "-C", self.ctl, "-F", self.conf],
            stderr=open(self.log, "w"))
        wait_for(self.front)

    def write(self):
        with open(self.conf, "w") as f:
            f.write("service web\nlisten 127.0.0.1:%d\nroundrobin\n"
                    "server 0 address 127.0.0.1 port %d\n" % (
                        self.front, self.server))
            for name, port in self.others.items():
                if random.random() < 0.5:
                    continue
                f.write("service %s\nlisten 127.0.0.1:%d\n" % (name, port))
                for i in range(random.randint(1, 4)):
                    f.write("server %d address 127.0.0.1 port %d weight %d\n"
                            % (i, self.server, random.randint(1, 9)))

    def reload(self):
        self.write()
        said = self.ask("reload")
        if said != "":
            raise SystemExit(said)

    def upgrade(self):
        said = self.ask("upgrade")
        if " serves\n" not in said:
            raise SystemExit(said)

    def accepted(self):
        said = self.ask("service web statistics")
        return int(re.search(r"^accepted (\d+)$", said, re.M).group(1))


def run(o, directory):
    server = free_port()
    conf = os.path.join(directory, "nginx.conf")
    with open(conf, "w") as f:
        f.write(NGINX % ((directory,) * 6 + (server,)))
    nginx = subprocess.Popen(["nginx", "-c", conf, "-p", directory],
                             stderr=subprocess.DEVNULL)
    wait_for(server)
    pen = Services(o.pen, directory, server)
    wrk = subprocess.Popen(
        ["wrk", "-t1", "-c%d" % o.connections, "-d%ds" % o.seconds,
         "http://127.0.0.1:%d/" % pen.front],
        stdout=subprocess.PIPE, text=True)
    before, back = 0, 0
    for i in range(o.reloads):
        pen.reload()
        if i % (o.reloads // o.upgrades) == 0:
            pen.upgrade()
        now = pen.accepted()
        back += now < before
        before = now
    if wrk.poll() is not None:
        raise SystemExit("wrk ended before the reloads did: --seconds")
    print("%d reloads, %d upgrades; counters went back %d times" % (
        o.reloads, o.upgrades, back))
    print(wrk.communicate()[0])
    os.kill(int(pen.ask("pid")), 15)
    nginx.terminate()


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("pen")
    p.add_argument("--reloads", type=int, default=200)
    p.add_argument("--upgrades", type=int, default=20)
    p.add_argument("--connections", type=int, default=100)
    p.add_argument("--seconds", type=int, default=60)
    o = p.parse_args()
    random.seed(1)
    with tempfile.TemporaryDirectory() as directory:
        run(o, directory)


if __name__ == "__main__":
    main()
