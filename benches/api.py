"""How fast the API answers beside a training, and what the lab weighs.

Makes a data folder with ten thousand runs, a fifth of them evaluations, a log of two thousand matches,
experiments, models and audit lines. A lab serves it; a training on two threads, which the lab has
started, takes whatever the machine has to give. Then a hundred requests a second are sent for a
minute, each at its time whether or not those before it are answered, over the routes that lists and
details come from. A request is timed from when it was due to its last byte, so that one that waits
behind a slow one counts as slow too.

Besides: the size of the binary, the time from its start until `/readyz` says yes, and the memory of a
lab that has nothing to do, over an empty folder and over the full one. The bars are those of the
issue; the command fails where one is missed.
"""

import argparse
import http.client
import json
import os
import queue
import random
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

CARTRIDGE = os.environ["CARTRIDGE"]
T0 = 1_790_000_000.0
LABS = []
LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
KEYS = ["rollout/ep_rew_mean", "rollout/ep_len_mean", "train/loss", "train/value_loss",
        "train/entropy_loss", "train/approx_kl", "train/clip_fraction", "time/fps"]  # fmt: skip
ENVS = ["CartPole-v1", "LunarLander-v3", "Acrobot-v1", "MountainCar-v0"]
ROWS = 50


def name(number: int) -> str:
    return "r-" + "".join(LETTERS[number // 32**place % 32] for place in range(4)) + "zz"


def lines(path: Path, items: list[dict]) -> None:
    path.write_text("".join(json.dumps(item) + "\n" for item in items))


def make_run(data: Path, number: int, rng: random.Random) -> None:
    """Every fifth is an evaluation of the one before it."""
    folder, t = data / "runs" / name(number), T0 - 100 * number
    folder.mkdir(parents=True)
    is_evaluation, env_id = number % 5 == 4, ENVS[number // 5 % len(ENVS)]
    said = {"attempt": 1, "t": t}
    # Four seeds of each configuration.
    config = {"algo": "ppo", "env": {}, "trainer": {"total_timesteps": 100_000, "learning_rate": 1e-6 * (number // 5)},
              "seeds": {"seed_base": number}}  # fmt: skip
    title = f"{env_id}, PPO, seed {number}"
    if is_evaluation:
        config = {"job": True, "run": name(number - 1), "checkpoint": "step_000100000", "step": 100_000,
                  "episodes": 10, "seed": 0, "deterministic": True, "video": False, "env_id": env_id, "env": {},
                  "resources": {"cpu": "1", "memory": "512Mi", "gpu": 0}}  # fmt: skip
        title = f"Evaluation of {name(number - 1)} at step 100000"
    (folder / "run.json").write_text(json.dumps(
        {"format": 1, "id": name(number), "kind": "eval" if is_evaluation else "train", "name": title,
         "env_id": env_id, "config": config, "created_at": t, "cartridge_version": "0.1.0"}))  # fmt: skip
    mean = rng.uniform(0, 500)
    evaluation = {"type": "evaluation_complete", "step": 100_000, "episodes": 10, "mean": mean, "std": 9.0,
                  "ci95": [mean - 5, mean + 5], "mean_length": 200.0}  # fmt: skip
    done = {"type": "done", "reason": "completed", "step": 100_000, "weights_sha256": "0" * 64,
            "checkpoint": "step_000100000"}  # fmt: skip
    events = [{"type": "training_started", "total_timesteps": 100_000}] if not is_evaluation else []
    events += [{"type": "checkpoint_saved", "step": step, "name": f"step_{step:09}", "weights_sha256": "0" * 64}
               for step in range(0, 0 if is_evaluation else 100_000, 10_000)]  # fmt: skip
    lines(folder / "events.jsonl", [{**said, **event} for event in [*events, evaluation, done]])
    lines(folder / "supervisor.jsonl", [
        {**said, "type": "started", "supervisor_pid": 1, "trainer_pid": 2},
        {**said, "t": t + 99, "type": "exited", "code": 0, "signal": None, "log": []}])  # fmt: skip
    if not is_evaluation:
        lines(folder / "metrics.jsonl", [
            {**said, "row": row, "step": 2048 * row, "values": {key: rng.gauss(0, 1) for key in KEYS}}
            for row in range(1, ROWS + 1)])  # fmt: skip


def make_matches(data: Path, n: int, rng: random.Random) -> None:
    def player(number: int) -> dict:
        key = f"builtin:mcts:{10 * number}" if number else "builtin:random"
        return {"key": key, "name": key}

    def match(number: int) -> dict:
        a, b = rng.sample(range(20), 2)
        chance = 1 / (1 + 10 ** ((b - a) / 8))
        return {"format": 1, "id": f"{name(number)}/1", "run": name(number), "t": T0 + number, "game": "connect4",
                "rules": 1, "cartridge_version": "0.1.0", "a": player(a), "b": player(b), "seed": number,
                "both_sides": True,
                "results": "".join("W" if rng.random() < chance else "L" for _ in range(20))}  # fmt: skip

    lines(data / "matches.jsonl", [match(number) for number in range(n)])


class Lab:
    def __init__(self, data: Path):
        began = time.monotonic()
        self.process = subprocess.Popen([CARTRIDGE, "up", "--port", "0", "--data", str(data), "--max-cpu", "2"],
                                        stdout=subprocess.PIPE, stderr=open(data / "lab.log", "a"), text=True)  # fmt: skip
        LABS.append(self)
        for text in self.process.stdout:
            if "Open http" in text:
                self.address = text.split("//")[1].split("/")[0]
                break
        else:
            sys.exit((data / "lab.log").read_text())
        while self.ask("GET", "/readyz", connection=http.client.HTTPConnection(self.address))[0] != 200:
            time.sleep(0.002)
        self.ready = time.monotonic() - began
        self.token = (data / "token").read_text().strip()

    def ask(self, method: str, path: str, body=None, connection=None) -> tuple[int, bytes]:
        connection = connection or http.client.HTTPConnection(self.address)
        headers = {"authorization": f"Bearer {self.token}"} if hasattr(self, "token") else {}
        if method == "POST":
            headers |= {"content-type": "application/json", "idempotency-key": uuid.uuid4().hex}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, answer.read()

    def post(self, path: str, body=None) -> dict:
        status, text = self.ask("POST", path, body)
        if status >= 300:
            sys.exit(f"{path}: {status} {text.decode()}")
        return json.loads(text)

    def cpu(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mb(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return round(int(status.split("VmRSS:")[1].split()[0]) / 1024, 1)

    def wait_quiet(self) -> None:
        """Until the lab has caught up: a second with next to no work."""
        while True:
            cpu = self.cpu()
            time.sleep(1)
            if self.cpu() - cpu < 0.05:
                return

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()

    def state(self, run: str) -> str:
        status, text = self.ask("GET", f"/api/runs/{run}")
        return json.loads(text)["state"] if status == 200 else ""


def routes(rng: random.Random, n_runs: int, known: dict) -> dict[str, callable]:
    """What is asked, by the name of its route."""

    def training() -> str:
        number = rng.randrange(n_runs)
        return name(number - (number % 5 == 4))

    def evaluation() -> str:
        return name(rng.randrange(n_runs // 5) * 5 + 4)

    return {
        "GET /api/runs": lambda: "/api/runs?limit=50",
        "GET /api/runs?q=": lambda: f"/api/runs?limit=50&q=seed%20{rng.randrange(n_runs)}",
        "GET /api/runs/{id}": lambda: f"/api/runs/{training()}",
        "GET /api/runs/{id}/metrics": lambda: f"/api/runs/{training()}/metrics",
        "GET /api/runs/{id}/metrics of the training": lambda: f"/api/runs/{known['training']}/metrics",
        "GET /api/runs/{id}/events": lambda: f"/api/runs/{training()}/events",
        "GET /api/runs/{id}/evaluations": lambda: f"/api/runs/{training()}/evaluations",
        "GET /api/experiments": lambda: "/api/experiments",
        "GET /api/experiments/{id}": lambda: f"/api/experiments/{rng.choice(known['experiments'])}",
        "GET /api/evals": lambda: "/api/evals?limit=50",
        "GET /api/evals?kind=match": lambda: "/api/evals?kind=match",
        "GET /api/evals/{id}": lambda: f"/api/evals/{evaluation()}",
        "GET /api/models": lambda: "/api/models",
        "GET /api/models/{name}": lambda: f"/api/models/{rng.choice(known['models'])}",
        "GET /api/ratings": lambda: "/api/ratings?game=connect4",
        "GET /api/ratings/history": lambda: "/api/ratings/history?game=connect4",
        "GET /api/leaderboard": lambda: f"/api/leaderboard?env={rng.choice(ENVS)}",
        "GET /api/matches": lambda: "/api/matches?limit=50",
        "GET /api/alerts": lambda: "/api/alerts",
        "GET /api/cluster": lambda: "/api/cluster",
        "GET /api/audit": lambda: "/api/audit?limit=50",
        "GET /api/lab": lambda: "/api/lab",
        "GET /api/analytics/runs": lambda: "/api/analytics/runs?limit=10",
        "GET /api/analytics/runs/{id}/summary": lambda: f"/api/analytics/runs/{training()}/summary",
        "GET /api/runs/{id}/insights": lambda: f"/api/runs/{training()}/insights",
    }


def load(lab: Lab, asked: dict, seconds: float, per_second: float, n_connections: int) -> tuple[dict, list]:
    """Sends requests at their times, route after route; returns seconds by route, and what failed."""
    due, took, failed = queue.Queue(), {route: [] for route in asked}, []

    def client() -> None:
        connection = http.client.HTTPConnection(lab.address)
        while (task := due.get()) is not None:
            at, route, path = task
            status, body = lab.ask("GET", path, connection=connection)
            took[route].append(time.monotonic() - at)
            if status != 200:
                failed.append(f"{path}: {status} {body[:300].decode()}")

    clients = [threading.Thread(target=client) for _ in range(n_connections)]
    for thread in clients:
        thread.start()
    began, names = time.monotonic(), list(asked)
    for number in range(round(seconds * per_second)):
        at = began + number / per_second
        time.sleep(max(0, at - time.monotonic()))
        route = names[number % len(names)]
        due.put((at, route, asked[route]()))
    for _ in clients:
        due.put(None)
    for thread in clients:
        thread.join()
    return took, failed


def figures(seconds: list[float]) -> dict:
    ordered = sorted(seconds)
    at = lambda share: round(1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))], 2)  # noqa: E731
    return {"n": len(ordered), "p50_ms": at(0.5), "p99_ms": at(0.99), "max_ms": at(1)}


def alone(lab: Lab, asked: dict, n: int) -> dict:
    """Each route by itself, one request after another: which are slow of their own."""
    connection, found = http.client.HTTPConnection(lab.address), {}
    for route, path in asked.items():
        seconds = []
        for _ in range(n):
            began, (status, body) = time.monotonic(), lab.ask("GET", path(), connection=connection)
            seconds.append(time.monotonic() - began)
            if status != 200:
                sys.exit(f"{route}: {status} {body.decode()}")
        found[route] = {**figures(seconds), "bytes": len(body)}
    return found


def fill(lab: Lab, data: Path) -> dict:
    """Experiments, models and audit lines, through the lab's own doors."""
    body = {"config": {"env_id": "CartPole-v1", "algo": "ppo"}}
    experiments = [lab.post("/api/experiments", {"name": f"Template {number}", **body}) for number in range(100)]
    for number in range(0, 300):
        if number % 5 != 4:
            lab.post(f"/api/runs/{name(number)}/pin")
    small = subprocess.run(
        [CARTRIDGE, "train", "CartPole-v1", "--steps", "5000", "--now", "--json", "--data", str(data)],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # fmt: skip
    made = json.loads(small.stdout.splitlines()[-1])["run_id"]
    models = [f"model-{number}" for number in range(30)]
    while lab.state(made) != "succeeded":
        time.sleep(0.1)
    for model in models:
        lab.post("/api/models", {"name": model, "run_id": made, "checkpoint": "latest"})
    return {"experiments": [made["id"] for made in experiments], "models": models}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rate", type=float, default=100)
    args = parser.parse_args()
    result = {"runs": args.runs, "requests_per_second": args.rate, "seconds": args.seconds,
              "cores": len(os.sched_getaffinity(0)),
              "binary_mb": round(Path(CARTRIDGE).stat().st_size / 1e6, 1)}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        starts = []
        for _ in range(5):
            lab = Lab(Path(folder))
            starts.append(lab.ready)
            lab.end()
        lab = Lab(Path(folder))
        lab.wait_quiet()
        result["empty"] = {"ready_s": round(sorted(starts)[2], 3), "idle_mb": lab.memory_mb()}
        lab.end()
    with tempfile.TemporaryDirectory() as folder:
        data, rng = Path(folder), random.Random(1)
        for number in range(args.runs):
            make_run(data, number, rng)
        make_matches(data, 2_000, rng)
        lab = Lab(data)
        lab.wait_quiet()
        while lab.state(name(args.runs - 1)) != "succeeded":
            time.sleep(0.5)
        lab.wait_quiet()
        known = fill(lab, data)
        lab.end()

        lab = Lab(data)
        lab.wait_quiet()
        result["full"] = {"ready_s": round(lab.ready, 3), "idle_mb": lab.memory_mb()}
        # A limit of time, so that it ends even if this does not.
        training = lab.post("/api/runs", {"env_id": "CartPole-v1", "total_timesteps": 10**9, "max_seconds": 600})
        known["training"] = training["id"]
        asked = routes(rng, args.runs, known)
        while json.loads(lab.ask("GET", f"/api/runs/{training['id']}")[1])["step"] == 0:
            time.sleep(0.1)
        time.sleep(3)
        result["alone"] = alone(lab, asked, 10)
        print(json.dumps(result["alone"], indent=1), file=sys.stderr)
        cpu, began = lab.cpu(), time.monotonic()
        took, failed = load(lab, asked, args.seconds, args.rate, 16)
        result["lab_cores"] = round((lab.cpu() - cpu) / (time.monotonic() - began), 3)
        result["all"] = figures([each for route in took.values() for each in route])
        result["routes"] = {route: figures(seconds) for route, seconds in took.items()}
        result["failed"] = failed[:10]
        run = json.loads(lab.ask("GET", f"/api/runs/{training['id']}")[1])
        result["training_steps_per_second"] = round(run["steps_per_sec"] or 0)
        result["full"]["after_mb"] = lab.memory_mb()
        lab.post(f"/api/runs/{training['id']}/terminate")
        while lab.state(training["id"]) != "terminated":
            time.sleep(0.1)
        lab.end()
    result["bars"] = {
        "p99 under 20 ms": result["all"]["p99_ms"] < 20,
        "idle under 60 MB": max(result["empty"]["idle_mb"], result["full"]["idle_mb"]) < 60,
        "ready under 0.3 s": result["empty"]["ready_s"] < 0.3,
        "binary under 60 MB": result["binary_mb"] < 60,
        "no request failed": not failed,
    }
    print(json.dumps(result, indent=1))
    sys.exit(0 if all(result["bars"].values()) else 1)


try:
    main()
finally:
    # Whatever went wrong, nothing is left at work.
    for lab in LABS:
        if lab.process.poll() is None:
            lab.end()
