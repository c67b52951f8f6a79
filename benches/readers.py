"""A thousand live readers of one run.

A run folder gets 20 metric rows a second, each with the time at which it was written, and an
episode. Half of the readers follow `/api/runs/{id}/stream`, half `/api/stream?runs={id}`. Measured:

* the delay from the write to the arrival at the reader, over all rows and readers;
* the lab's memory and CPU;
* all readers leave at once and come back with their last number, twice: while the lab goes on, and
  after it was killed and started again. How long until every one is heard again, and whether any
  row or number is missing or doubled.
"""

import argparse
import json
import os
import resource
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROWS_PER_SECOND = 20


class Writer(threading.Thread):
    """Appends to a run folder as a worker and its supervisor would."""

    def __init__(self, folder: Path):
        super().__init__(daemon=True)
        self.folder, self.is_over, self.row = folder, False, 0
        folder.mkdir(parents=True)
        manifest = {
            "format": 1, "id": folder.name, "kind": "train", "name": "readers",
            "env_id": "CartPole-v1", "config": {"env": {}, "algo": "ppo", "trainer": {"total_timesteps": 10**9}},
            "created_at": time.time(), "cartridge_version": "0",
        }  # fmt: skip
        (folder / "run.json").write_text(json.dumps(manifest))
        self.supervisor = open(folder / "supervisor.jsonl", "a", buffering=1)
        self.metrics = open(folder / "metrics.jsonl", "a", buffering=1)
        self.say(type="started", supervisor_pid=1, trainer_pid=2)

    def say(self, **event):
        self.supervisor.write(json.dumps({"attempt": 1, "t": time.time(), **event}) + "\n")

    def run(self):
        beat = 0.0
        due = time.monotonic()
        while not self.is_over:
            if time.monotonic() - beat > 2:
                beat = time.monotonic()
                self.say(type="heartbeat", cpu_percent=99.0, rss_bytes=10**7)
            self.row += 1
            row = self.row
            keys = ["rollout/ep_rew_mean", "rollout/ep_len_mean", "time/fps", "train/loss",
                    "train/entropy", "train/approx_kl", "train/clip_fraction", "train/value_loss"]  # fmt: skip
            line = {
                "attempt": 1, "row": row, "t": time.time(), "step": 2048 * row,
                "values": {key: row / 7 for key in keys},
                "episodes": {"episode": [row], "reward": [row / 3], "length": [200],
                             "timestep": [2048 * row], "seed": [row], "terminated": [True]},
            }  # fmt: skip
            self.metrics.write(json.dumps(line) + "\n")
            due += 1 / ROWS_PER_SECOND
            time.sleep(max(0, due - time.monotonic()))


class Reader:
    def __init__(self, path: str, is_numbered: bool):
        self.path, self.is_numbered = path, is_numbered
        self.last_id = self.last_row = None
        self.faults = 0
        self.socket, self.text = None, b""
        self.heard_again = None

    def connect(self, port: int, token: str, selector):
        self.socket = socket.create_connection(("127.0.0.1", port))
        resume = f"Last-Event-ID: {self.last_id}\r\n" if self.last_id is not None else ""
        request = (
            f"GET {self.path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            f"Authorization: Bearer {token}\r\n{resume}\r\n"
        )
        self.socket.sendall(request.encode())
        self.socket.setblocking(False)
        self.text, self.heard_again = b"", None
        selector.register(self.socket, selectors.EVENT_READ, self)

    def close(self, selector):
        selector.unregister(self.socket)
        self.socket.close()

    def read(self, delays):
        data = self.socket.recv(1 << 20)
        if not data:
            raise ConnectionError("the lab closed a stream")
        now = time.time()
        self.text += data
        *events, self.text = self.text.split(b"\n\n")
        for event in events:
            number = content = None
            # Chunks begin with their length on a line of its own; fields are found by their names.
            for line in event.split(b"\n"):
                if line.startswith(b"id: "):
                    number = int(line[4:])
                elif line.startswith(b"data: "):
                    content = json.loads(line[6:])
            if content is None or content["type"] == "Alive":
                continue
            self.heard_again = self.heard_again or now
            is_first = self.last_id is None
            if content["type"] == "Snapshot":
                if not is_first:
                    self.faults += 1  # It was told to begin anew.
                rows = content.get("rows", [])
            else:
                rows = content["rows"]
                if self.is_numbered and not is_first and number != self.last_id + 1:
                    self.faults += 1
                if not is_first and number <= self.last_id:
                    self.faults += 1
            self.last_id = number
            for row in rows:
                if self.last_row is not None and row["row"] != self.last_row + 1:
                    self.faults += 1
                self.last_row = row["row"]
                if delays is not None and content["type"] != "Snapshot":
                    delays.append(now - row["t"])


class Lab:
    def __init__(self, data: Path, port: int):
        program = os.environ["CARTRIDGE"]
        cpus = os.environ.get("LAB_CPUS")
        command = (["taskset", "-c", cpus] if cpus else []) + [program, "up", "--data", str(data)]
        self.process = subprocess.Popen(
            [*command, "--port", str(port)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        for line in self.process.stdout:
            if "Open " in line:
                self.port = int(line.split("127.0.0.1:")[1].split("/")[0])
                break
        self.token = (data / "token").read_text().strip()

    def memory_mb(self, name: str) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return round(int(status.split(f"{name}:")[1].split()[0]) / 1024, 1)

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def listen(selector, seconds, delays, is_done=lambda: False):
    end = time.monotonic() + seconds
    while time.monotonic() < end and not is_done():
        for key, _ in selector.select(0.2):
            key.data.read(delays)


def come_back(readers, lab, selector) -> float:
    """Connects all readers again and returns the seconds until every one was heard."""
    began = time.time()
    waiting = set(readers)
    for number, reader in enumerate(readers):
        reader.connect(lab.port, lab.token, selector)
        if number % 50 == 0:
            listen(selector, 0.001, None)

    def is_done():
        waiting.difference_update([reader for reader in waiting if reader.heard_again])
        return not waiting

    listen(selector, 60, None, is_done)
    if waiting:
        sys.exit(f"{len(waiting)} readers heard nothing")
    return max(reader.heard_again for reader in readers) - began


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--readers", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=20)
    args = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        run = "r-ab2345"
        writer = Writer(data / "runs" / run)
        lab = Lab(data, 0)
        idle_mb = lab.memory_mb("VmRSS")
        writer.start()
        selector = selectors.DefaultSelector()
        paths = [(f"/api/runs/{run}/stream", False), (f"/api/stream?runs={run}", True)]
        readers = [Reader(*paths[number % 2]) for number in range(args.readers)]
        come_back(readers, lab, selector)
        listen(selector, 2, None)
        delays = []
        cpu, began = lab.cpu_seconds(), time.monotonic()
        listen(selector, args.seconds, delays)
        cores = (lab.cpu_seconds() - cpu) / (time.monotonic() - began)
        delays.sort()
        at = lambda share: round(1000 * delays[int(share * (len(delays) - 1))], 1)  # noqa: E731
        result = {
            "readers": args.readers,
            "rows_per_second": ROWS_PER_SECOND,
            "rows_heard": len(delays),
            "delay_ms": {"p50": at(0.5), "p99": at(0.99), "max": at(1)},
            "lab_cores": round(cores, 3),
            "lab_mb": {"before": idle_mb, "with_readers": lab.memory_mb("VmRSS")},
        }
        for reader in readers:
            reader.close(selector)
        time.sleep(1)
        result["back_after_leaving_s"] = round(come_back(readers, lab, selector), 2)
        listen(selector, 2, None)
        for reader in readers:
            reader.close(selector)
        lab.process.send_signal(signal.SIGKILL)
        lab.process.wait()
        time.sleep(1)
        lab = Lab(data, lab.port)
        result["back_after_killing_the_lab_s"] = round(come_back(readers, lab, selector), 2)
        listen(selector, 3, None)
        writer.is_over = True
        writer.join()
        # All that was written is heard by all.
        last = writer.row
        listen(selector, 10, None, lambda: all(reader.last_row == last for reader in readers))
        result["lab_mb"]["peak"] = lab.memory_mb("VmHWM")
        result["rows_written"] = last
        result["readers_with_all_rows"] = sum(reader.last_row == last for reader in readers)
        result["gaps_or_duplicates"] = sum(reader.faults for reader in readers)
        lab.process.terminate()
        lab.process.wait()
        print(json.dumps(result))
        is_good = (
            result["gaps_or_duplicates"] == 0
            and result["readers_with_all_rows"] == args.readers
            and result["delay_ms"]["p99"] < 500
            and max(result["lab_mb"]["with_readers"], result["lab_mb"]["peak"]) < 300
            and max(result["back_after_leaving_s"], result["back_after_killing_the_lab_s"]) < 5
        )
        sys.exit(0 if is_good else 1)


main()
