"""Kills the lab, supervisors and trainers at random moments under load, and counts what is lost.

Load: native runs that train, foreign trainers that print a counted metric, somebody who tunes and
pins, and a reader of the live feed who comes back after every break. Nothing here knows how the
lab stores things, but for the lines of `metrics.jsonl` and `events.jsonl`, which are documented.

Usage: benches/chaos.sh [--kills 1000] [--seed 1] > benches/results/chaos.txt
"""

import argparse
import collections
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = ROOT / "target/release/cartridge"

# Counts aloud: about 2,000 metric points a second, an episode every hundred of them.
TRAINER = """
import json, sys, time
number = 0
while True:
    lines = []
    for _ in range(20):
        number += 1
        lines.append(json.dumps({"type": "metric", "name": "count", "value": number, "step": number}))
        if number % 100 == 0:
            lines.append(json.dumps({"type": "episode", "episode_id": f"e{number}", "steps": 100,
                                     "return": float(number), "t_end": time.time()}))
    sys.stdout.write("\\n".join(lines) + "\\n")
    sys.stdout.flush()
    time.sleep(0.01)
"""


class Lab:
    """The lab process, started again and again on one data folder."""

    def __init__(self, data):
        self.data = data
        self.process = None
        self.address = None
        self.starts = []

    def start(self):
        begun = time.monotonic()
        self.process = subprocess.Popen(
            [BINARY, "up", "--port", "0", "--log", "error", "--max-runs", "8", "--max-cpu", "16", "--data", self.data],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        for line in self.process.stdout:
            if "Open " in line:
                self.address = line.split("Open ")[1].split("/login")[0].removeprefix("http://").strip()
                break
        self.token = (self.data / "token").read_text().strip()
        status, _ = self.call("GET", "/api/runs?limit=1")
        assert status == 200, status
        self.starts.append(time.monotonic() - begun)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def call(self, method, path, body=None, timeout=20):
        connection = http.client.HTTPConnection(self.address, timeout=timeout)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        if method != "GET":
            headers["Idempotency-Key"] = str(uuid.uuid4())
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        response = connection.getresponse()
        text = response.read()
        connection.close()
        return response.status, json.loads(text or b"null")


class Reader(threading.Thread):
    """Reads the live feed, and comes back after every break with the last number it saw."""

    def __init__(self, lab):
        super().__init__(daemon=True)
        self.lab, self.last, self.ids, self.resets, self.reconnects = lab, None, [], 0, 0
        self.is_over = False

    def run(self):
        while not self.is_over:
            try:
                self.read()
            except (OSError, http.client.HTTPException, ValueError):
                pass
            self.reconnects += 1
            time.sleep(0.02)

    def read(self):
        connection = http.client.HTTPConnection(self.lab.address, timeout=20)
        headers = {"Authorization": f"Bearer {self.lab.token}"}
        if self.last is not None:
            headers["Last-Event-ID"] = str(self.last)
        connection.request("GET", "/api/stream", headers=headers)
        response = connection.getresponse()
        number, kind = None, None
        for line in response:
            line = line.decode().rstrip("\n")
            if line.startswith("id: "):
                number = int(line[4:])
            elif line.startswith("event: "):
                kind = line[7:]
            elif line.startswith("data: "):
                if kind == "Snapshot":
                    self.resets += self.last is not None
                elif kind != "Alive":
                    self.ids.append(number)
                self.last = number


class Steward(threading.Thread):
    """Tunes native runs all the time, and remembers what was acknowledged."""

    def __init__(self, lab, runs):
        super().__init__(daemon=True)
        self.lab, self.runs, self.acknowledged, self.is_over = lab, runs, [], False
        self.random = random.Random(7)

    def run(self):
        while not self.is_over:
            run = self.random.choice(self.runs)
            value = round(self.random.uniform(1e-4, 1e-3), 9)
            try:
                status, _ = self.lab.call(
                    "POST", f"/api/runs/{run}/tune", {"path": "trainer.learning_rate", "value": value}
                )
                if status in (200, 202):
                    self.acknowledged.append((run, value))
            except (OSError, http.client.HTTPException, ValueError):
                pass
            time.sleep(0.3)


def lines(path):
    """The whole lines of a file, as JSON."""
    text = path.read_bytes() if path.exists() else b""
    return [json.loads(line) for line in text.split(b"\n")[:-1]]


def pids(data, run):
    """Process ids of the newest supervisor and trainer of a run."""
    started = [line for line in lines(data / "runs" / run / "supervisor.jsonl") if line["type"] == "started"]
    return (started[-1]["supervisor_pid"], started[-1]["trainer_pid"]) if started else None


def wait_for(what, look, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            found = look()
        except (OSError, http.client.HTTPException, ValueError):
            found = None
        if found:
            return found
        time.sleep(0.02)
    sys.exit(f"waited {seconds} s for {what}")


def state(lab, run):
    return lab.call("GET", f"/api/runs/{run}")[1].get("state")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--old-events", type=int, default=1_000_000)
    args = parser.parse_args()
    chance = random.Random(args.seed)
    data = pathlib.Path(tempfile.mkdtemp(prefix="cartridge-chaos-"))
    trainer = data.parent / f"{data.name}.py"
    trainer.write_text(TRAINER)
    lab = Lab(data)
    try:
        lab.start()
        add_old_events(lab, args.old_events)
        report(args, lab, attack(args, chance, lab, trainer))
    finally:
        lab.process.kill()
        for run in (data / "runs").iterdir():
            for pid in pids(data, run.name) or ():
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        shutil.rmtree(data, ignore_errors=True)
        trainer.unlink()


def add_old_events(lab, n_events):
    """A run of the past with many events, taken into the index before the kills begin."""
    status, run = lab.call("POST", "/api/runs", {"env_id": "CartPole-v1", "total_timesteps": 5000})
    assert status == 201, run
    run = run["id"]
    wait_for("a short run", lambda: state(lab, run) == "succeeded")
    lab.kill()
    path = lab.data / "runs" / run / "events.jsonl"
    with path.open("a") as file:
        for number in range(n_events):
            file.write(f'{{"attempt":1,"t":1.0,"type":"warning","message":"event {number}"}}\n')
    # The lab has read this run to its end: the events count when the index is made anew.
    subprocess.run([BINARY, "reindex", "--data", lab.data], check=True, stdout=subprocess.DEVNULL)
    lab.starts.clear()
    lab.start()


def attack(args, chance, lab, trainer):
    native = []
    for seed in (1, 2):
        status, run = lab.call(
            "POST", "/api/runs", {"env_id": "CartPole-v1", "total_timesteps": 1_000_000_000, "seed": seed}
        )
        assert status == 201, run
        native.append(run["id"])
    foreign = []
    for number in range(2):
        made = subprocess.run(
            [BINARY, "exec", "--now", "--detach", "--data", lab.data, "--env", "CartPole-v1", "--name", f"count {number}",
             "--", sys.executable, trainer],
            check=True, capture_output=True, text=True,
        )
        foreign.append(made.stdout.strip().split()[-1])
    runs = native + foreign
    for run in runs:
        wait_for(f"{run} to run", lambda run=run: state(lab, run) == "running")
    reader, steward = Reader(lab), Steward(lab, native)
    reader.start()
    steward.start()
    kills = collections.Counter()
    lost_after = []
    progress = time.monotonic()
    while sum(kills.values()) < args.kills:
        time.sleep(chance.uniform(0.0, 0.4))
        victim = chance.choices(["lab", "trainer", "supervisor"], [80, 16, 4])[0]
        if victim == "lab":
            lab.kill()
            lab.start()
        elif victim == "trainer":
            run = chance.choice(runs)
            os.kill(pids(lab.data, run)[1], signal.SIGKILL)
            wait_for(f"{run} to fail", lambda: state(lab, run) == "failed")
            go_on(lab, run)
        else:
            # All at once, because each takes two heartbeats to be missed.
            begun = time.monotonic()
            for run in runs:
                os.kill(pids(lab.data, run)[0], signal.SIGKILL)
            for run in runs:
                wait_for(f"{run} to be lost", lambda run=run: state(lab, run) in ("lost", "failed"))
                lost_after.append(time.monotonic() - begun)
            for run in runs:
                go_on(lab, run)
            kills[victim] += len(runs) - 1
        kills[victim] += 1
        if time.monotonic() - progress > 30:
            progress = time.monotonic()
            print(f"{sum(kills.values())} of {args.kills} kills", file=sys.stderr)
    steward.is_over = True
    steward.join()
    time.sleep(2)
    reader.is_over = True
    return kills, lost_after, native, foreign, reader, steward


def go_on(lab, run):
    """Starts the next attempt of a run."""
    status, answer = lab.call("POST", f"/api/runs/{run}/resume")
    assert status in (200, 202), answer
    wait_for(f"{run} to run again", lambda: state(lab, run) == "running")


def report(args, lab, outcome):
    kills, lost_after, native, foreign, reader, steward = outcome
    faults = []
    n_rows = 0
    for run in native + foreign:
        folder = lab.data / "runs" / run
        rows = lines(folder / "metrics.jsonl")
        n_rows += len(rows)
        by_attempt = collections.defaultdict(list)
        for row in rows:
            by_attempt[row["attempt"]].append(row)
        for attempt, mine in by_attempt.items():
            numbers = [row["row"] for row in mine]
            if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
                faults.append(f"{run} attempt {attempt}: rows are not in sequence")
            counted = [row["values"]["count"] for row in mine if "count" in row["values"]]
            if run in foreign and counted != [float(n) for n in range(1, len(counted) + 1)]:
                faults.append(f"{run} attempt {attempt}: a counted point is lost or doubled")
    if reader.ids != list(range(reader.ids[0], reader.ids[0] + len(reader.ids))):
        faults.append("the feed gave a message twice or out of order, or left one out")
    if reader.resets:
        faults.append(f"the feed was reset {reader.resets} times")
    audit = subprocess.run(
        [BINARY, "audit", "--json", "--tail", "1000000000", "--data", lab.data], capture_output=True, text=True
    )
    noted = [json.loads(line) for line in audit.stdout.splitlines()]
    tuned = {(entry["target"], entry["new"]["trainer.learning_rate"]) for entry in noted if entry["what"] == "tune"}
    missing = [pair for pair in steward.acknowledged if pair not in tuned]
    if missing:
        faults.append(f"{len(missing)} of {len(steward.acknowledged)} acknowledged tunings are not in the audit log")
    verify = subprocess.run([BINARY, "audit", "verify", "--data", lab.data], capture_output=True, text=True)
    if verify.returncode != 0:
        faults.append(f"audit verify: {verify.stdout}{verify.stderr}".strip())
    starts = sorted(lab.starts)
    p99 = starts[min(len(starts) - 1, int(len(starts) * 0.99))]
    print(f"kills      {sum(kills.values())}: " + ", ".join(f"{name} {n}" for name, n in sorted(kills.items())))
    print(f"load       2 native runs, 2 foreign trainers, {n_rows} metric rows, "
          f"{len(steward.acknowledged)} acknowledged tunings, {args.old_events} older events")
    print(f"lab ready  median {starts[len(starts) // 2]:.2f} s, p99 {p99:.2f} s, most {starts[-1]:.2f} s (asked: under 2 s)")
    if lost_after:
        print(f"lost       noticed after at most {max(lost_after):.1f} s (asked: two heartbeats, 10 s)")
    print(f"feed       {len(reader.ids)} messages over {reader.reconnects} connections, {reader.resets} resets")
    for fault in faults:
        print(f"FAULT      {fault}")
    print("result     " + ("nothing lost, nothing doubled, the audit chain verifies" if not faults else "FAILED"))
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
