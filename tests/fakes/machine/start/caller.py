"""``python -I -S caller.py SOCKET ARGUMENTS``: stands for a process that ``preloaded`` forks, with its streams.

Owns what a process shows to who started it: signals reach the forked one, and its end is this one's.
"""

import json
import os
import signal
import socket
import sys


def call(path: str, arguments: "list[str]") -> int:
    """Start it, wait for its end, and give its status; a signal's number is negative."""
    said = {"arguments": arguments, "environment": dict(os.environ), "folder": os.getcwd()}  # noqa: PTH109 - pathlib loads longer
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.connect(path)
        told = json.dumps(said).encode() + b"\n"
        sent = socket.send_fds(server, [told], [0, 1, 2])
        server.sendall(told[sent:])
        answers = server.makefile("rb")
        process = int(answers.readline())
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
            signal.signal(number, lambda which, _: os.kill(process, which))
        return int(answers.readline())


if __name__ == "__main__":
    status = call(sys.argv[1], sys.argv[2:])
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    sys.exit(status)
