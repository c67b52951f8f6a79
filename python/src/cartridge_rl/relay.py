"""Stands in the lab for a training that was started by hand.

    python relay.py SOCKET [COMMAND...]

`Reporter` lets `cartridge exec` start this. It tells the training where its run is, hands on the
control lines that come on standard input, and ends when the training does, with the same code. The
lines of the training do not pass here: it writes them to the run's socket itself.

When nobody answers at SOCKET, the run was started again or forked: then it becomes COMMAND, which
is the training itself, now started by the lab.

It runs by its path and imports nothing of this package, so that it starts quickly and anywhere.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import sys
from types import FrameType
from typing import NoReturn

# What a trainer is told by its environment.
TOLD = (
    "CARTRIDGE_RUN_ID",
    "CARTRIDGE_RUN_DIR",
    "CARTRIDGE_ATTEMPT",
    "CARTRIDGE_EVENTS",
    "CARTRIDGE_OVERRIDES",
)


def become(command: list[str]) -> NoReturn:
    """Becomes the training, or says why it cannot."""
    if not command:
        sys.exit("this run belonged to a program that was started by hand: start that again")
    sys.stdout.flush()
    os.execvp(command[0], command)


def relay(training: socket.socket) -> int:
    """Hands on control until the training ends; returns its exit code."""

    def terminate(_signal: int, _frame: FrameType | None) -> NoReturn:
        with contextlib.suppress(OSError):
            training.sendall(b'{"type":"control","seq":0,"command":"terminate"}\n')
        os._exit(128 + signal.SIGTERM)

    signal.signal(signal.SIGTERM, terminate)
    told = {name: os.environ[name] for name in TOLD if name in os.environ}
    training.sendall(json.dumps(told).encode() + b"\n")
    said = b""
    with selectors.DefaultSelector() as selector:
        selector.register(training, selectors.EVENT_READ)
        selector.register(0, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj == 0:
                    piece = os.read(0, 65536)
                    if not piece:
                        selector.unregister(0)
                    # A training that has just ended needs no more control.
                    with contextlib.suppress(OSError):
                        training.sendall(piece)
                    continue
                try:
                    piece = training.recv(65536)
                except ConnectionError:
                    piece = b""
                said += piece
                if not piece:
                    return exit_code(said)


def exit_code(said: bytes) -> int:
    """The code that the training has said last; 1 when it ended without a word."""
    try:
        return int(json.loads(said.splitlines()[-1])["exit"])
    except (ValueError, IndexError, KeyError, TypeError):
        print("the training ended without a word", file=sys.stderr)
        return 1


def main() -> None:
    """Finds the training, or becomes it."""
    path, command = sys.argv[1], sys.argv[2:]
    training = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # Where the training was, anybody may be by now.
        if os.stat(os.path.dirname(path)).st_uid != os.getuid():
            raise PermissionError(path)
        training.connect(path)
    except OSError:
        become(command)
    sys.exit(relay(training))


if __name__ == "__main__":
    main()
