"""Charts, lists, start and ingest of a lab with much data, measured from outside over HTTP.

Makes the data once in a folder of its own:
  * one run with a million rows of eight metrics, one value of them a spike;
  * ten thousand finished runs with a hundred events each, a million in all.
Then starts the lab over it: first without an index, then as it is used every day. One JSON line
per figure; the bars are those of the issue. Usage: benches/index.sh > benches/results/index.jsonl
"""

import http.client
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

CARTRIDGE = pathlib.Path(__file__).resolve().parents[1] / "target" / "release" / "cartridge"
KEYS = ["rollout/ep_rew_mean", "rollout/ep_len_mean", "train/loss", "train/value_loss",
        "train/entropy_loss", "train/approx_kl", "train/clip_fraction", "time/fps"]
ROWS = int(os.environ.get("ROWS", 1_000_000))
RUNS = int(os.environ.get("RUNS", 10_000))
EVENTS = 100
LONG = "r-000001"
T0 = 1_790_000_000.0
STARTED = '{"attempt":1,"t":%r,"type":"started","supervisor_pid":1,"trainer_pid":2}\n'


def manifest(run_id: str, name: str, created_at: float) -> str:
    return json.dumps({"format": 1, "id": run_id, "kind": "train", "name": name,
                       "env_id": "CartPole-v1", "created_at": created_at, "cartridge_version": "0.1.0",
                       "config": {"algo": "ppo", "trainer": {"total_timesteps": 1_000_000,
                                                             "learning_rate": 3e-4},
                                  "seeds": {"seed_base": 42}, "env": {}}})


def line(row: int, rng: random.Random, keys=KEYS) -> str:
    values = ",".join(f'"{key}":{rng.gauss(0, 1)!r}' for key in keys)
    return (f'{{"attempt":1,"row":{row},"t":{T0 + row * 0.0137!r},"step":{row * 8},'
            f'"values":{{{values}}}}}\n')


def make(data: pathlib.Path) -> None:
    rng = random.Random(1)
    folder = data / "runs" / LONG
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(manifest(LONG, "A long run", T0))
    exited = STARTED + '{"attempt":1,"t":%r,"type":"exited","code":0,"signal":null,"log":[]}\n'
    (folder / "supervisor.jsonl").write_text(exited % (T0, T0 + 9))
    with open(folder / "metrics.jsonl", "w") as file:
        for row in range(1, ROWS + 1):
            text = line(row, rng)
            if row == ROWS * 2 // 3:
                fields = json.loads(text)
                fields["values"]["train/loss"] = 1e9
                text = json.dumps(fields) + "\n"
            file.write(text)
    for number in range(RUNS):
        run_id = "r-" + "".join("0123456789abcdefghjkmnpqrstvwxyz"[number // 32**k % 32] for k in range(4)) + "zz"
        folder = data / "runs" / run_id
        folder.mkdir()
        t = T0 - 100 * number
        (folder / "run.json").write_text(manifest(run_id, f"Cart Pole, PPO, seed {number}", t))
        (folder / "supervisor.jsonl").write_text(exited % (t, t + 99))
        events = [{"type": "training_started", "total_timesteps": 1_000_000}]
        events += [{"type": "checkpoint_saved", "step": 1000 * n, "name": f"step_{n}",
                    "weights_sha256": "0" * 64} for n in range(EVENTS - 2)]
        events.append({"type": "done", "reason": "completed", "step": 1_000_000,
                       "weights_sha256": "0" * 64, "checkpoint": "step_1"})
        (folder / "events.jsonl").write_text(
            "".join(json.dumps({"attempt": 1, "t": t + n, **event}) + "\n" for n, event in enumerate(events)))
        rows = "".join(line(row, rng) for row in range(1, 4))
        (folder / "metrics.jsonl").write_text(rows)


class Lab:
    def __init__(self, data: pathlib.Path):
        began = time.monotonic()
        self.process = subprocess.Popen([CARTRIDGE, "up", "--port", "0", "--data", data, "--log", "info"],
                                        stdout=subprocess.PIPE, stderr=open(data / "lab.log", "a"), text=True)
        for text in self.process.stdout:
            if "Open http" in text:
                self.address = text.split("//")[1].split("/")[0]
                break
        self.token = (data / "token").read_text().strip()
        self.connection = http.client.HTTPConnection(self.address)
        self.get("/api/runs?limit=1")
        self.ready = time.monotonic() - began

    def get(self, path: str) -> tuple[int, bytes]:
        self.connection.request("GET", path, headers={"authorization": f"Bearer {self.token}"})
        answer = self.connection.getresponse()
        return answer.status, answer.read()

    def cpu(self) -> float:
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")")[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rss_mb(self) -> float:
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()


def timed(lab: Lab, paths) -> dict:
    seconds, size = [], 0
    for path in paths:
        began = time.monotonic()
        status, body = lab.get(path)
        seconds.append(time.monotonic() - began)
        assert status == 200, body
        size = max(size, len(body))
    seconds.sort()
    at = lambda share: round(1000 * seconds[min(len(seconds) - 1, int(share * len(seconds)))], 2)
    return {"n": len(seconds), "p50_ms": at(0.5), "p99_ms": at(0.99), "max_ms": at(1), "bytes": size}


def say(what: str, **figures) -> None:
    print(json.dumps({"what": what, **figures}), flush=True)


def wait(lab: Lab, rows: int) -> None:
    while json.loads(lab.get(f"/api/runs/{LONG}/metrics?points=2&keys=time/fps")[1]).get("last_row") != rows:
        time.sleep(0.05)


def live(lab: Lab, data: pathlib.Path, run_id: str, n_keys: int, rows_per_second: int, seconds: int) -> None:
    """A trainer that appends rows and makes them durable each second, while charts are read."""
    folder = data / "runs" / run_id
    folder.mkdir()
    beat = '{"attempt":1,"t":%r,"type":"heartbeat","cpu_percent":null,"rss_bytes":null}\n' % T0
    (folder / "supervisor.jsonl").write_text(STARTED % T0)
    (folder / "run.json").write_text(manifest(run_id, "A live run", T0 + 1))
    rng = random.Random(2)
    keys = KEYS[:n_keys]
    ready = [line(row, rng, keys).encode() for row in range(1, rows_per_second * seconds + 1)]
    written, durable = 0, {}

    def write() -> None:
        nonlocal written
        began = time.monotonic()
        with open(folder / "metrics.jsonl", "ab", buffering=0) as file:
            while written < len(ready):
                due = min(len(ready), int((time.monotonic() - began) * rows_per_second))
                file.write(b"".join(ready[written:due]))
                if due // rows_per_second > written // rows_per_second:
                    os.fsync(file.fileno())
                    with open(folder / "supervisor.jsonl", "a") as supervisor:
                        supervisor.write(beat)
                for row in range(written + 1, due + 1):
                    durable[row] = time.monotonic()
                written = due
                time.sleep(0.02)

    cpu, began = lab.cpu(), time.monotonic()
    writer = threading.Thread(target=write)
    writer.start()
    delays, charts, known = [], [], 0
    while known < len(ready):
        asked = time.monotonic()
        status, body = lab.get(f"/api/runs/{run_id}/metrics?points=500")
        charts.append(time.monotonic() - asked)
        row = json.loads(body).get("last_row", 0) if status == 200 else 0
        if row > known:
            delays.append(time.monotonic() - durable[row])
            known = row
        time.sleep(0.05)
    writer.join()
    took = time.monotonic() - began
    delays.sort(), charts.sort()
    say(f"ingest of a live run, {n_keys} values to a row, while its charts are read", bar="50,000 points/s",
        points_per_second=round(len(ready) * n_keys / took), seconds=round(took, 1),
        newest_row_age_p99_ms=round(1000 * delays[int(0.99 * len(delays))]),
        chart_p99_ms=round(1000 * charts[int(0.99 * len(charts))], 1),
        lab_cpu_percent=round(100 * (lab.cpu() - cpu) / took), rss_mb=round(lab.rss_mb()),
        wal_mb=round((data / "cartridge.db-wal").stat().st_size / 1e6, 1))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder)
        began = time.monotonic()
        make(data)
        print(f"made in {time.monotonic() - began:.0f} s", file=sys.stderr)

        lab = Lab(data)
        first = lab.ready
        began = time.monotonic()
        wait(lab, ROWS)
        while sum(1 for _ in pages(lab)) <= RUNS // 500:
            time.sleep(0.2)
        say("start without an index", ready_seconds=round(first, 2), all_in_seconds=round(time.monotonic() - began + first, 1),
            values=ROWS * len(KEYS), events=RUNS * EVENTS, rss_mb=round(lab.rss_mb()),
            index_mb=round((data / "cartridge.db").stat().st_size / 1e6))
        wait_quiet(lab)
        lab.end()

        lab = Lab(data)
        say("start with a million events", bar="2 s", ready_seconds=round(lab.ready, 3))
        chart = f"/api/runs/{LONG}/metrics"
        body = json.loads(lab.get(chart)[1])
        loss = next(series for series in body["series"] if series["key"] == "train/loss")
        assert 1e9 in loss["value"], "the spike survives"
        say("chart of 1M rows, 8 metrics", bar="100 ms, 200 kB", **timed(lab, [chart] * 200))
        rng = random.Random(3)
        parts = [(low := rng.randrange(ROWS * 8), low + rng.randrange(ROWS * 8)) for _ in range(200)]
        say("chart of a random stretch of it", bar="100 ms, 200 kB",
            **timed(lab, [f"{chart}?from={low}&to={high}" for low, high in parts]))
        say("newest 1,000 rows as lines", **timed(lab, [f"{chart}?tail=1000"] * 50))
        say("first page of 10,000 runs", bar="100 ms", **timed(lab, ["/api/runs"] * 300))
        say("pages of 500 through all runs", bar="100 ms", **timed(lab, pages(lab)))
        say("runs by a text that one run has", bar="100 ms",
            **timed(lab, [f"/api/runs?q=seed%20{rng.randrange(RUNS)}" for _ in range(200)]))
        say("runs by a state that none has", bar="100 ms", **timed(lab, ["/api/runs?state=running"] * 100))
        time.sleep(3)
        cpu = lab.cpu()
        time.sleep(10)
        say("idle", cpu_percent=round(10 * (lab.cpu() - cpu), 2), rss_mb=round(lab.rss_mb()))
        live(lab, data, "r-zzzzzy", n_keys=8, rows_per_second=7_000, seconds=15)
        live(lab, data, "r-zzzzzz", n_keys=1, rows_per_second=56_000, seconds=10)
        live_fast(lab, data)
        lab.end()
        log = (data / "lab.log").read_text()
        print("\n".join(text for text in log.splitlines() if "write-ahead" in text), file=sys.stderr)
        began = time.monotonic()
        subprocess.run([CARTRIDGE, "reindex", "--data", data], check=True, stdout=subprocess.DEVNULL)
        say("cartridge reindex", seconds=round(time.monotonic() - began, 1))


def live_fast(lab: Lab, data: pathlib.Path) -> None:
    """As much as a whole file at once."""
    folder = data / "runs" / "r-yyyyyy"
    folder.mkdir()
    rng = random.Random(4)
    n = 200_000
    (folder / "metrics.jsonl").write_text("".join(line(row, rng) for row in range(1, n + 1)))
    (folder / "supervisor.jsonl").write_text(STARTED % T0)
    (folder / "run.json").write_text(manifest("r-yyyyyy", "A flood", T0 + 2))
    began, worst, known = time.monotonic(), 0.0, 0
    while known < n:
        asked = time.monotonic()
        status, body = lab.get("/api/runs/r-yyyyyy/metrics?points=2&keys=time/fps")
        worst = max(worst, time.monotonic() - asked)
        known = json.loads(body).get("last_row", 0) if status == 200 else 0
        time.sleep(0.02)
    took = time.monotonic() - began
    say("a flood is caught up with", points_per_second=round(n * len(KEYS) / took), seconds=round(took, 1),
        slowest_answer_ms=round(1000 * worst), rss_mb=round(lab.rss_mb()))


def pages(lab: Lab):
    cursor = ""
    while cursor is not None:
        path = "/api/runs?limit=500" + (f"&cursor={cursor}" if cursor else "")
        yield path
        cursor = json.loads(lab.get(path)[1])["next_cursor"]


def wait_quiet(lab: Lab) -> None:
    """Until the lab has caught up: a second with next to no work."""
    while True:
        cpu = lab.cpu()
        time.sleep(1.5)
        if lab.cpu() - cpu < 0.1:
            return


main()
