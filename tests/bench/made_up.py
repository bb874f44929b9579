#!/usr/bin/env python3
"""made_up.py KIND PORT SERVER: a proxy for refusals.sh that relays bytes, but

    sound     does nothing wrong
    wrong     changes a byte of some answers
    short     drops the last byte of some answers, and ends
    long      adds a byte to some
    swapped   answers each second client with what another was answered
    refuses   resets each fourth connection
    silent    passes on requests, but no answers
    dies      ends after some answers
"""
import os
import socket
import sys
import threading

kind, port, server = sys.argv[1:]
host, server_port = server.split(":")
answers, old = 0, b""


def spoil(data):
    """What the client gets instead of the answer; None: no more."""
    global answers, old
    answers += 1
    if kind == "dies" and answers > 20:
        os._exit(0)
    if kind == "silent":
        return b""
    if answers % 8:
        return data
    before, old = old, data
    return {"wrong": bytes([data[0] ^ 1]) + data[1:], "short": data[:-1],
            "long": data + b"x", "swapped": before or data}.get(kind, data)


def pump(source, sink, change):
    try:
        while True:
            data = source.recv(65536)
            if not data:
                break
            changed = change(data)
            sink.sendall(changed)
            if len(changed) < len(data) and kind == "short":
                break
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def serve(client):
    with client, socket.create_connection((host, int(server_port))) as up:
        threading.Thread(target=pump, args=(client, up, lambda x: x),
                         daemon=True).start()
        pump(up, client, spoil)


listener = socket.create_server(("0.0.0.0", int(port)), backlog=1024)
count = 0
while True:
    accepted = listener.accept()[0]
    count += 1
    if kind == "refuses" and count % 4 == 0:
        accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                            b"\1\0\0\0\0\0\0\0")
        accepted.close()
    else:
        threading.Thread(target=serve, args=(accepted,), daemon=True).start()
