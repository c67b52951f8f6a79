"""What watching costs a training.

The same training (CartPole, PPO, one seed, one thread, since threads that wait for each other use
time that is nobody's work: the same work to the last bit) runs without a lab, under
a lab that nobody looks at, and under one with twenty viewers, each with the run's metrics as
server-sent events and its live pictures at 12 a second. As a control the same viewers look at an
ended run of another lab: what they cost the trainer by sharing the machine's cores and caches is no
cost of being watched. The rounds are interleaved, and the least of each are compared: the work is the
same, so whatever is more was done by others. CPU time of the trainer is its own, read until it ends;
that of the lab is counted over the same time.
"""

import argparse
import base64
import json
import os
import selectors
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def pinned(variable: str) -> list[str]:
    cpus = os.environ.get(variable)
    return ["taskset", "-c", cpus] if cpus else []


def cpu_seconds(pid: int) -> float | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else (int(fields[11]) + int(fields[12])) / TICKS


class Lab:
    def __init__(self, data: Path):
        command = [*pinned("LAB_CPUS"), os.environ["CARTRIDGE"], "up", "--port", "0", "--data", str(data)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.process.stdout:
            if "Open " in line:
                self.port = int(line.split("127.0.0.1:")[1].split("/")[0])
                break
        self.token = (data / "token").read_text().strip()


class Viewer:
    """Twenty pairs of connections that take everything and answer pings."""

    def __init__(self, lab: Lab, run: str, n: int):
        self.selector, self.is_over, self.n_frames, self.n_messages = selectors.DefaultSelector(), False, 0, 0
        for _ in range(n):
            self.connect(lab, f"/api/runs/{run}/stream", "")
            key = base64.b64encode(os.urandom(16)).decode()
            upgrade = (
                "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                f"Sec-WebSocket-Key: {key}\r\n"
            )
            self.connect(lab, f"/api/runs/{run}/frames", upgrade)
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()

    def connect(self, lab, path, headers):
        connection = socket.create_connection(("127.0.0.1", lab.port))
        request = (
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{lab.port}\r\n"
            f"Authorization: Bearer {lab.token}\r\n{headers}\r\n"
        )
        connection.sendall(request.encode())
        connection.setblocking(False)
        state = {"socket": connection, "bytes": b"", "is_frames": bool(headers), "is_open": False}
        self.selector.register(connection, selectors.EVENT_READ, state)

    def listen(self):
        while not self.is_over:
            for key, _ in self.selector.select(0.1):
                state = key.data
                data = state["socket"].recv(1 << 20)
                if not data:
                    self.selector.unregister(state["socket"])
                elif state["is_frames"]:
                    self.take_frames(state, data)
                else:
                    self.n_messages += data.count(b"event: ")

    def take_frames(self, state, data):
        state["bytes"] += data
        if not state["is_open"]:
            head, separator, rest = state["bytes"].partition(b"\r\n\r\n")
            if not separator:
                return
            if b" 101 " not in head.split(b"\r\n")[0]:
                sys.exit(head.decode())
            state["is_open"], state["bytes"] = True, rest
        while len(state["bytes"]) >= 2:
            buffer = state["bytes"]
            length, start = buffer[1] & 0x7F, 2
            if length == 126:
                if len(buffer) < 4:
                    return
                length, start = struct.unpack(">H", buffer[2:4])[0], 4
            elif length == 127:
                if len(buffer) < 10:
                    return
                length, start = struct.unpack(">Q", buffer[2:10])[0], 10
            if len(buffer) < start + length:
                return
            payload, state["bytes"] = buffer[start : start + length], buffer[start + length :]
            if buffer[0] & 0x0F == 1:
                self.n_frames += 1
            elif buffer[0] & 0x0F == 9:
                # A pong with a mask of zeros.
                state["socket"].sendall(bytes([0x8A, 0x80 | length]) + bytes(4) + payload)

    def close(self):
        self.is_over = True
        self.thread.join()
        for key in list(self.selector.get_map().values()):
            key.data["socket"].close()


def train(mode: str, steps: int, viewers: int) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        lab = Lab(data) if mode in ("unwatched", "watched") else None
        other, ended = None, None
        if mode == "elsewhere":
            short = [os.environ["CARTRIDGE"], "train", "CartPole-v1", "--steps", "50000", "--json", "--data", f"{folder}/other"]
            said = subprocess.run(short, capture_output=True, text=True, check=True).stdout
            other, ended = Lab(data / "other"), json.loads(said.splitlines()[-1])["run_id"]
        command = [*pinned("TRAINER_CPUS"), os.environ["CARTRIDGE"], "train", "CartPole-v1", "--algo", "ppo",
                   "--steps", str(steps), "--threads", "1", "--set", "seeds.seed_base=1", "--data", folder, "--json"]  # fmt: skip
        began = time.monotonic()
        printed = open(data / "printed", "w+")
        process = subprocess.Popen(command, stdout=printed, stderr=subprocess.DEVNULL)
        trainer = supervisor = run = None
        while trainer is None:
            for path in data.glob("runs/*/supervisor.jsonl"):
                lines = path.read_text().splitlines()
                if lines:
                    started = json.loads(lines[0])
                    trainer, supervisor, run = started["trainer_pid"], started["supervisor_pid"], path.parent.name
            time.sleep(0.005)
        viewer = None
        if mode in ("watched", "elsewhere"):
            while "training_started" not in (data / "runs" / run / "events.jsonl").read_text():
                time.sleep(0.01)
            time.sleep(1.2)
            viewer = Viewer(other or lab, ended or run, viewers)
        lab_before = cpu_seconds(lab.process.pid) if lab else 0
        cpu = {"trainer": 0.0, "supervisor": 0.0}
        while (now := cpu_seconds(trainer)) is not None:
            cpu["trainer"] = now
            cpu["supervisor"] = cpu_seconds(supervisor) or cpu["supervisor"]
            time.sleep(0.01)
        seconds = time.monotonic() - began
        lab_cpu = cpu_seconds(lab.process.pid) - lab_before if lab else 0
        process.wait()
        printed.seek(0)
        result = json.loads(printed.read().splitlines()[-1])
        if viewer:
            viewer.close()
        for server in filter(None, [lab, other]):
            server.process.terminate()
            server.process.wait()
        if "steps" not in result:
            said = (data / "runs" / run / "supervisor.jsonl").read_text().splitlines()[-1]
            sys.exit(f"{mode}: the training ended with {process.returncode}: {said}")
        per_million = 1e6 / result["steps"]
        return {
            "mode": mode,
            "seconds": round(seconds, 2),
            "trainer": cpu["trainer"] * per_million,
            "supervisor": cpu["supervisor"] * per_million,
            "lab": lab_cpu * per_million,
            "frames": viewer.n_frames if viewer else 0,
            "messages": viewer.n_messages if viewer else 0,
            "weights": result["weights_sha256"],
        }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--viewers", type=int, default=20)
    args = parser.parse_args()
    modes = ["no lab", "unwatched", "elsewhere", "watched"]
    done = [train(mode, args.steps, args.viewers) for _ in range(args.rounds) for mode in modes]
    assert len({one["weights"] for one in done}) == 1, "watching changed the training"
    result = {"steps": args.steps, "rounds": args.rounds, "viewers": args.viewers}
    for mode in modes:
        of_mode = [one for one in done if one["mode"] == mode]
        least = lambda key: min(one[key] for one in of_mode)  # noqa: E731
        result[mode] = {
            "cpu_s_per_million_steps": {key: round(least(key), 3) for key in ["trainer", "supervisor", "lab"]},
            "trainer_rounds": [round(one["trainer"], 3) for one in of_mode],
            "seconds": least("seconds"),
        }
    watched = [one for one in done if one["mode"] == "watched"]
    result["watched"]["frames_per_second_and_viewer"] = round(
        statistics.median(one["frames"] / one["seconds"] for one in watched) / args.viewers, 1
    )
    for mode, base in [("unwatched", "no lab"), ("elsewhere", "no lab"), ("watched", "elsewhere")]:
        cost, least = result[mode]["cpu_s_per_million_steps"], result[base]["cpu_s_per_million_steps"]["trainer"]
        result[mode]["against"] = base
        result[mode]["trainer_extra_percent"] = round(100 * (cost["trainer"] / least - 1), 2)
        result[mode]["lab_percent_of_trainer"] = round(100 * cost["lab"] / least, 2)
        result[mode]["extra_percent"] = round(100 * ((cost["trainer"] + cost["lab"]) / least - 1), 2)
    print(json.dumps(result))
    is_good = result["unwatched"]["extra_percent"] < 1 and result["watched"]["extra_percent"] < 5
    sys.exit(0 if is_good else 1)


main()
