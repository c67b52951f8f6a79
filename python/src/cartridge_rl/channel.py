"""Where lines go, and where control comes from.

| the training was started | lines go to | control comes from |
|---|---|---|
| by the lab (`cartridge exec`) | the socket in `CARTRIDGE_EVENTS` | standard input |
| by hand, and the program `cartridge` is found | that socket of a run it makes | the relay |
| by hand, without that program | a spool folder, to be imported later | nowhere |

The second needs no lab at work: `cartridge exec` makes the run's folder and starts its supervisor
by itself, and a lab that comes up later finds both. The command of that run is the relay
(`relay.py`), a small program that stands for this process: it hands control on, and ends with it.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from cartridge_rl.lines import Line, encode

# How long a training that was started by hand waits for its run.
PATIENCE_S = 10.0

# A spool folder takes no more than this; a training that nobody reads must not fill the disk.
MAX_SPOOL_BYTES = 4 * 1024**3

LOG = logging.getLogger("cartridge_rl")

RELAY = Path(__file__).with_name("relay.py")


class Channel(Protocol):
    """The other end of a reporter."""

    run_id: str | None
    run_dir: Path
    # The checkpoint to go on from, and what was tuned before.
    resume_from: Path | None
    overrides: dict[str, float]

    def write(self, data: bytes) -> None:
        """Writes whole lines; `OSError` when nobody will ever read them."""

    def listen(self, deliver: Callable[[Line], None]) -> None:
        """Hands every control line to `deliver`, from now on, in another thread."""

    def close(self, exit_code: int) -> None:
        """Ends it: the training ends with this code."""

    def abandon(self) -> None:
        """Lets go of it in a process that was forked, without a word to the other end."""


def open_channel(env_id: str, name: str | None, seed: int | None) -> Channel:
    """The channel of this process."""
    if os.environ.get("CARTRIDGE_RUN_DIR"):
        return LabChannel(dict(os.environ))
    program = find_program()
    if program is not None and hasattr(socket, "AF_UNIX"):
        try:
            return AttachedChannel(attach(program, env_id, name, seed))
        except (OSError, subprocess.SubprocessError) as error:
            LOG.warning("no run could be made with %s: %s", program, error)
    return SpoolChannel(env_id, name, seed)


def find_program() -> str | None:
    """The program `cartridge`, by `CARTRIDGE_BIN` or on the path."""
    return shutil.which(os.environ.get("CARTRIDGE_BIN") or "cartridge")


def split_lines(pieces: Iterator[bytes]) -> Iterator[Line]:
    """The objects among the lines in pieces of bytes."""
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        for text in whole:
            with contextlib.suppress(ValueError):
                line = json.loads(text)
                if isinstance(line, dict):
                    yield line


class StandardInput:
    """Reads the control lines of this process, for whichever reporter is there.

    One thread for the whole process, because a second one would take the first one's lines.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._deliver: Callable[[Line], None] | None = None
        self._kept: list[Line] = []
        self._is_reading = False

    def listen(self, deliver: Callable[[Line], None] | None) -> None:
        """Hands lines to `deliver`, or keeps them until there is one."""
        with self._lock:
            self._deliver = deliver
            kept, self._kept = (self._kept, []) if deliver else ([], self._kept)
            is_new, self._is_reading = not self._is_reading, True
        for line in kept:
            assert deliver is not None
            deliver(line)
        if is_new:
            threading.Thread(target=self._read, name="cartridge-rl-input", daemon=True).start()

    def forget(self) -> None:
        """In a process that was forked: the lines are the parent's."""
        self._lock, self._deliver, self._kept = threading.Lock(), None, []
        self._is_reading = True

    def _read(self) -> None:
        for line in split_lines(iter(self._piece, b"")):
            with self._lock:
                deliver = self._deliver
                if deliver is None:
                    self._kept.append(line)
            if deliver is not None:
                deliver(line)

    @staticmethod
    def _piece() -> bytes:
        try:
            return os.read(0, 65536)
        except OSError:
            return b""


STANDARD_INPUT = StandardInput()


class LabChannel:
    """A run of the lab, of which this process is the trainer."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.run_id = environment.get("CARTRIDGE_RUN_ID")
        self.run_dir = Path(environment["CARTRIDGE_RUN_DIR"])
        resume_from = environment.get("CARTRIDGE_RESUME_FROM")
        self.resume_from = Path(resume_from) if resume_from else None
        self.overrides = read_overrides(environment.get("CARTRIDGE_OVERRIDES"))
        self._socket = connect(environment.get("CARTRIDGE_EVENTS"))

    def write(self, data: bytes) -> None:
        if self._socket is not None:
            self._socket.sendall(data)
            return
        # The training may be in the middle of a line that it prints.
        data = b"\n" + data
        while data:
            data = data[os.write(1, data) :]

    def listen(self, deliver: Callable[[Line], None]) -> None:
        STANDARD_INPUT.listen(deliver)

    def close(self, exit_code: int) -> None:
        STANDARD_INPUT.listen(None)
        self.abandon()

    def abandon(self) -> None:
        if self._socket is not None:
            self._socket.close()


def read_overrides(text: str | None) -> dict[str, float]:
    """The numbers in `CARTRIDGE_OVERRIDES`."""
    try:
        told: Any = json.loads(text or "{}")
    except ValueError:
        return {}
    if not isinstance(told, dict):
        return {}
    return {path: value for path, value in told.items() if type(value) in (int, float)}


def connect(path: str | None) -> socket.socket | None:
    """A connection to the socket at `path`, if there is one."""
    if not path or not hasattr(socket, "AF_UNIX"):
        return None
    stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        stream.connect(path)
    except OSError:
        stream.close()
        return None
    return stream


@dataclass
class Attachment:
    """A run that was made for this process: the relay's words, and the connection to it."""

    stream: socket.socket
    environment: dict[str, str] = field(default_factory=dict)


def attach(program: str, env_id: str, name: str | None, seed: int | None) -> Attachment:
    """Makes a run whose command is a relay to this process; `OSError` when none comes."""
    # The system allows about a hundred bytes for the path of a socket.
    place = "/tmp" if len(tempfile.gettempdir()) > 60 else None
    with tempfile.TemporaryDirectory(prefix="cartridge-rl-", dir=place) as folder:
        path = str(Path(folder) / "relay.sock")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(path)
            listener.listen(1)
            listener.settimeout(PATIENCE_S)
            make_run(program, env_id, name, seed, path)
            # Only the first: a fork or a restart of the run finds nobody here, and starts anew.
            stream, _ = listener.accept()
    stream.settimeout(PATIENCE_S)
    greeting = next(split_lines(iter(lambda: stream.recv(65536), b"")), None)
    stream.settimeout(None)
    if greeting is None or not greeting.get("CARTRIDGE_RUN_DIR"):
        stream.close()
        raise OSError("the relay said nothing")
    return Attachment(stream, {str(key): str(value) for key, value in greeting.items()})


def make_run(program: str, env_id: str, name: str | None, seed: int | None, path: str) -> None:
    """Lets `cartridge exec` make a run, at once: this training has begun already."""
    command = [program, "exec", "--detach", "--now", "--json", "--env", env_id]
    command += ["--name", name or f"{env_id}, {script_name()}"]
    if seed is not None:
        command += ["--seed", str(seed)]
    command += ["--", sys.executable, str(RELAY), path, *own_command()]
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    if done.returncode != 0:
        raise OSError(done.stderr.strip() or f"{program} ended with {done.returncode}")


def script_name() -> str:
    """What people call this program."""
    return Path(sys.argv[0] or "python").name


def own_command() -> list[str]:
    """The command of this process, for a restart; nothing where it is a notebook or a prompt."""
    is_script = getattr(sys.modules.get("__main__"), "__file__", None) is not None
    if not is_script or "ipykernel" in sys.modules:
        return []
    return [sys.executable, *sys.orig_argv[1:]]


class AttachedChannel(LabChannel):
    """A run that was made for this process; control comes from its relay."""

    def __init__(self, attachment: Attachment) -> None:
        super().__init__(attachment.environment)
        if self._socket is None:
            raise OSError("the run's socket does not answer")
        self._relay = attachment.stream

    def listen(self, deliver: Callable[[Line], None]) -> None:
        def read() -> None:
            pieces = iter(self._piece, b"")
            for line in split_lines(pieces):
                deliver(line)
                if line.get("command") == "terminate":
                    # As the lab does to a trainer of its own.
                    os.kill(os.getpid(), signal.SIGTERM)
            # Nobody is left who could let it go on.
            deliver({"command": "resume", "seq": 0})

        threading.Thread(target=read, name="cartridge-rl-relay", daemon=True).start()

    def _piece(self) -> bytes:
        try:
            return self._relay.recv(65536)
        except OSError:
            return b""

    def close(self, exit_code: int) -> None:
        super().abandon()
        # After what was said has been said.
        with contextlib.suppress(OSError):
            self._relay.sendall(encode({"exit": exit_code}).encode() + b"\n")
            self._relay.shutdown(socket.SHUT_WR)

    def abandon(self) -> None:
        super().abandon()
        self._relay.close()


class SpoolChannel:
    """A folder with the lines and the checkpoints, for `cartridge-rl import`."""

    def __init__(self, env_id: str, name: str | None, seed: int | None) -> None:
        self.run_id: str | None = None
        self.resume_from: Path | None = None
        self.overrides: dict[str, float] = {}
        base = Path(os.environ.get("CARTRIDGE_SPOOL") or "cartridge-spool")
        label = re.sub(r"[^A-Za-z0-9._-]+", "-", name or env_id).strip("-.") or "run"
        stamp = time.strftime("%Y%m%d-%H%M%S")
        self.run_dir = (base / f"{label}-{stamp}-{os.getpid()}").absolute()
        self.run_dir.mkdir(parents=True)
        about = {"env_id": env_id, "name": name or f"{env_id}, {script_name()}", "seed": seed}
        (self.run_dir / "spool.json").write_text(json.dumps(about) + "\n")
        self._file = (self.run_dir / "lines.jsonl").open("ab", buffering=0)
        self._n_bytes = 0

    def write(self, data: bytes) -> None:
        self._n_bytes += len(data)
        if self._n_bytes > MAX_SPOOL_BYTES:
            raise OSError(f"{self.run_dir} holds as much as a spool folder may")
        while data:
            data = data[self._file.write(data) or 0 :]

    def listen(self, deliver: Callable[[Line], None]) -> None:
        """Nobody steers a training that no lab knows."""

    def close(self, exit_code: int) -> None:
        (self.run_dir / "exit.json").write_text(json.dumps({"exit": exit_code}) + "\n")
        self.abandon()

    def abandon(self) -> None:
        self._file.close()
