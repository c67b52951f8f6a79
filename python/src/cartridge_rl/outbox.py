"""Lines on their way out: a bounded queue, and the thread that empties it.

The loop that trains only appends. Lines are made text and written by the thread, so that a lab that
is slow, or a disk that is full, costs the training nothing but what no longer fits the queue: steps
first, then everything else but what answers the lab.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from enum import Enum

from cartridge_rl.lines import Line, Steps, encode
from cartridge_rl.pictures import Picture

LOG = logging.getLogger("cartridge_rl")

# Lines that may wait. Some hundred bytes each, so at most some tens of megabytes; a larger one
# counts as several.
MAX_WAITING = 100_000

# How often the thread looks, unless it is woken.
PERIOD_S = 0.05

# How often it says that the trainer is alive.
HEARTBEAT_S = 1.0

# How much is written at once.
CHUNK_BYTES = 256 * 1024


class Rank(Enum):
    """How much of the queue lines of a kind may fill; they are dropped in this order."""

    STEP = 0.5
    ORDINARY = 0.9
    ANSWER = float("inf")


def weigh(item: Line | Steps) -> int:
    """As how many lines an item counts."""
    if isinstance(item, Steps):
        return len(item) * item.size
    if item.get("type") == "metrics":
        return 1 + len(item["values"]) // 8
    return 1 + len(item.get("message", "")) // 200


class Outbox:
    """Takes lines from any thread and hands them to `write`, in order.

    `heartbeat` makes a line that says how far the training is.
    """

    def __init__(self, write: Callable[[bytes], None], heartbeat: Callable[[], Line]) -> None:
        self._write = write
        self._heartbeat = heartbeat
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._waiting: list[Line | Steps] = []
        self._picture: Picture | None = None
        self._n_waiting = 0
        self._n_dropped = 0
        self._is_closing = False
        self._is_broken = False
        self._thread = threading.Thread(target=self._work, name="cartridge-rl", daemon=True)
        self._thread.start()

    def put(self, item: Line | Steps, rank: Rank = Rank.ORDINARY) -> None:
        """Takes a line, unless there is no room for one of its rank."""
        weight = weigh(item)
        with self._lock:
            if self._is_closing or self._is_broken:
                return
            if self._n_waiting + weight > MAX_WAITING * rank.value:
                self._n_dropped += len(item) if isinstance(item, Steps) else 1
                return
            self._waiting.append(item)
            self._n_waiting += weight
        if rank is Rank.ANSWER:
            self._wake.set()

    def show(self, picture: Picture) -> None:
        """Takes a picture, in the place of one that nobody has seen yet."""
        with self._lock:
            self._picture = picture

    @property
    def n_waiting(self) -> int:
        """As how many lines those count that are not written yet."""
        return self._n_waiting

    def close(self, timeout_s: float) -> bool:
        """Writes what is left, and says whether that was done in time."""
        with self._lock:
            self._is_closing = True
        self._wake.set()
        self._thread.join(timeout_s)
        return not self._thread.is_alive() and not self._is_broken

    def _work(self) -> None:
        next_beat = time.monotonic() + HEARTBEAT_S
        told_dropped = 0
        while True:
            self._wake.wait(PERIOD_S)
            self._wake.clear()
            with self._lock:
                items, self._waiting = self._waiting, []
                picture, self._picture = self._picture, None
                is_closing, n_dropped = self._is_closing, self._n_dropped
            if not self._write_all(items):
                return
            if picture is not None:
                self._write_piece(self._encode(picture))
            if n_dropped > told_dropped:
                self._write_piece([self._tell_dropped(n_dropped, is_first=told_dropped == 0)])
                told_dropped = n_dropped
            if is_closing:
                return
            if time.monotonic() >= next_beat:
                next_beat = time.monotonic() + HEARTBEAT_S
                self._write_piece([encode(self._heartbeat()) + "\n"])

    def _tell_dropped(self, n_dropped: int, is_first: bool) -> str:
        message = f"{n_dropped} lines were dropped: the lab reads slower than the trainer writes"
        if is_first:
            LOG.warning("%s", message)
        return encode({"type": "log", "level": "warning", "message": message}) + "\n"

    def _write_all(self, items: list[Line | Steps]) -> bool:
        """Writes lines in pieces; false when nobody reads any more."""
        piece: list[str] = []
        size = 0
        for item in items:
            for text in self._encode(item):
                piece.append(text)
                size += len(text)
                if size >= CHUNK_BYTES:
                    if not self._write_piece(piece):
                        return False
                    piece, size = [], 0
            with self._lock:
                self._n_waiting -= weigh(item)
        return self._write_piece(piece)

    def _encode(self, item: Line | Steps | Picture) -> list[str]:
        try:
            return [encode(item) + "\n"] if isinstance(item, dict) else list(item.encode())
        except Exception as error:  # A line that cannot be written must not take the others along.
            LOG.warning("a line for the lab could not be written: %s", error)
            return []

    def _write_piece(self, piece: list[str]) -> bool:
        if not piece:
            return True
        try:
            self._write("".join(piece).encode())
        except OSError as error:
            with self._lock:
                self._is_broken, self._waiting = True, []
            LOG.warning("the lab is gone (%s); training goes on without it", error)
            return False
        return True
