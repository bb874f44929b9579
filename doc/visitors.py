#!/usr/bin/env python3
"""visitors.py HOST PORT: people who read pages of a web site, more of them and
fewer in turn, until it is stopped: each opens a connection, asks for some pages,
and goes."""
import asyncio
import math
import random
import sys
import time


async def visit(host, port):
    reader, writer = await asyncio.open_connection(host, port)
    try:
        for _ in range(random.randint(1, 5)):
            writer.write(b"GET / HTTP/1.1\r\nHost: www\r\n\r\n")
            await reader.readuntil(b"\r\n\r\n")
            await asyncio.sleep(random.expovariate(2))
            await reader.read(65536)
    except (OSError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def main():
    host, port = sys.argv[1], int(sys.argv[2])
    visits = set()
    while True:
        crowd = 60 + 25 * math.sin(time.time() / 20)
        await asyncio.sleep(random.expovariate(crowd))
        task = asyncio.create_task(visit(host, port))
        visits.add(task)
        task.add_done_callback(visits.discard)


asyncio.run(main())
