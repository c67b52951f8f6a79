"""Our own trainings told to a W&B server: that of another lab, read back by the real client."""

import contextlib
import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request

import pytest
from conftest import BINARY, Faults, Lab, free_port, until

READ = """
(run,) = api.runs(sys.argv[1])
rows = list(run.scan_history())
print(json.dumps({
    "id": run.id, "name": run.name, "state": run.state, "url": run.url, "tags": run.tags,
    "config": dict(run.config), "summary": dict(run.summary._json_dict),
    "rows": rows, "system": len(run.history(stream="system", pandas=False)),
}))
"""


@pytest.fixture
def server(tmp_path):
    """The lab that plays the W&B server."""
    folder = tmp_path / "server"
    folder.mkdir()
    lab = Lab(folder)
    yield lab
    lab.kill()


class Trainer:
    """The command line in a data folder of its own, with what it knows of W&B."""

    def __init__(self, folder, address=None, key=None):
        self.data, home = folder / "own", folder / "own-home"
        home.mkdir()
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        self.environment = {**kept, "HOME": str(home), "NO_PROXY": "127.0.0.1"}
        if address:
            self.environment["WANDB_BASE_URL"] = address
        if key:
            self.environment["WANDB_API_KEY"] = key

    def start(self, *args):
        return subprocess.Popen(
            [BINARY, *map(str, args), "--data", self.data],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ran(self, *args, code=0, seconds=120):
        """The last object that a command says, and all that it says besides."""
        process = self.start(*args, "--json")
        said, besides = process.communicate(timeout=seconds)
        assert process.returncode == code, besides
        return json.loads(said.splitlines()[-1]) if said else None, besides

    def train(self, *args, **options):
        return self.ran("train", "CartPole-v1", "--track", *args, **options)

    def folder(self, run):
        return self.data / "runs" / run

    def rows(self, run):
        """One row for each number, the first that was written."""
        rows = {}
        with contextlib.suppress(FileNotFoundError):
            for line in (self.folder(run) / "metrics.jsonl").read_bytes().split(b"\n")[:-1]:
                row = json.loads(line)
                rows.setdefault(row["row"], row)
        return [rows[number] for number in sorted(rows)]

    def journal(self, run):
        return [json.loads(line) for line in (self.folder(run) / "supervisor.jsonl").read_text().splitlines()]


def check_history(found, rows, window_steps):
    """That W&B has every row once, in order, as it was written."""
    assert [row["_step"] for row in found["rows"]] == list(range(len(rows)))
    for told, row in zip(found["rows"], rows, strict=True):
        assert told["global_step"] == row["step"]
        assert told["window_id"] == max(1, -(-row["step"] // window_steps))
        assert told["_timestamp"] == pytest.approx(row["t"])
        for name, value in row["values"].items():
            assert told[name] == pytest.approx(value), name
    for name, value in rows[-1]["values"].items():
        assert found["summary"][name] == pytest.approx(value), name


@pytest.mark.parametrize(
    ("args", "algo", "window_steps"),
    [
        (("CartPole-v1", "--steps", 20_000, "--set", "analytics.window_steps=3000"), "ppo", 3000),
        (("CartPole-v1", "--algo", "dqn", "--steps", 8_000), "dqn", 100_000),
        (("tictactoe", "--steps", 5_000), "alphazero", 100_000),
    ],
)
def test_a_training_is_told(server, tmp_path, args, algo, window_steps):
    trainer = Trainer(tmp_path, server.address, server.key)
    result, besides = trainer.ran("train", *args, "--track", "--wandb-project", "p-1", "--seed", 3)
    run = result["run_id"]
    found = server.asked(READ, "lab/p-1")
    check_history(found, trainer.rows(run), window_steps)
    assert (found["state"], found["name"].split(", ")[-1]) == ("finished", "seed 3")
    assert found["config"]["algo"] == algo and found["config"]["run_id"] == run
    assert found["config"]["analytics"]["window_steps"] == window_steps
    assert found["config"]["seeds"]["seed_base"] == 3 and found["tags"] == [args[0], algo]
    assert found["id"].startswith(run)
    # The address is printed, kept and answered.
    url = f"{server.address}/lab/p-1/runs/{found['id']}"
    assert result["wandb_url"] == url and f"W&B: {url}" in besides
    page = {"id": found["id"], "url": url, "entity": "lab", "project": "p-1", "base_url": server.address}
    told = [line for line in trainer.journal(run) if line["type"] == "tracked"]
    assert [{name: line[name] for name in page} for line in told] == [page]
    manifest = json.loads((trainer.folder(run) / "run.json").read_text())
    assert manifest["track"]["id"] == found["id"]
    # Nobody has written the key down.
    for path in trainer.data.rglob("*"):
        if path.is_file():
            assert server.key.encode() not in path.read_bytes(), path
    assert server.key not in besides


def test_the_lab_answers_where_a_run_is(server, tmp_path, monkeypatch):
    folder = tmp_path / "lab"
    (folder / "data").mkdir(parents=True)
    source = {"base_url": server.address, "project": "by-api"}
    (folder / "data/lab.json").write_text(json.dumps({"format": 1, "wandb": source}))
    for name in ("WANDB_BASE_URL", "WANDB_ENTITY", "WANDB_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WANDB_API_KEY", server.key)
    lab = Lab(folder)
    try:
        token = (lab.data / "token").read_text().strip()
        head = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Idempotency-Key": "one"}
        body = {"env_id": "CartPole-v1", "total_timesteps": 20_000, "track": True}
        request = urllib.request.Request(f"{lab.address}/api/runs", json.dumps(body).encode(), head)
        with urllib.request.urlopen(request, timeout=60) as answer:
            run = json.loads(answer.read())["id"]
        ended = until(
            lambda: (view := json.loads(lab.get(f"/api/runs/{run}")))["state"] == "succeeded" and view,
            seconds=90,
            what="the end of the run",
        )
        found = server.asked(READ, "lab/by-api")
        page = ended["wandb"]
        assert (page["id"], page["base_url"]) == (found["id"], server.address)
        assert (page["entity"], page["project"]) == ("lab", "by-api")
        assert page["url"] == f"{server.address}/lab/by-api/runs/{found['id']}"
        assert found["state"] == "finished" and len(found["rows"]) == len(lab.rows(run))
        # No request can name a server.
        body |= {"base_url": "http://127.0.0.1:9"}
        head["Idempotency-Key"] = "two"
        request = urllib.request.Request(f"{lab.address}/api/runs", json.dumps(body).encode(), head)
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=60)
        assert refused.value.code == 422
    finally:
        lab.kill()


def test_faults_lose_and_double_nothing(server, tmp_path):
    faults = Faults(server, 0.3)
    trainer = Trainer(tmp_path, faults.address, server.key)
    result, _ = trainer.train("--steps", 400_000, "--seed", 1)
    run = result["run_id"]
    until(lambda: server.asked(READ, "lab/cartridge")["state"] == "finished", seconds=60, what="the end")
    check_history(server.asked(READ, "lab/cartridge"), trainer.rows(run), 100_000)
    assert faults.n_faults > 0, f"{faults.n_requests} requests"


def pids_of(run):
    """The supervisor of a run and its trainer."""
    found = []
    for entry in os.listdir("/proc"):
        with contextlib.suppress(OSError, ValueError):
            words = open(f"/proc/{int(entry)}/cmdline", "rb").read().split(b"\0")
            if run.encode() in words and (b"supervise" in words or b"worker" in words):
                found.append(int(entry))
    return found


def test_a_killed_run_goes_on_in_the_same_place(server, tmp_path):
    trainer = Trainer(tmp_path, server.address, server.key)
    steps = ("--steps", 3_000_000, "--set", "retention.checkpoint_every_steps=100000", "--set", "evaluation.every_steps=150000")
    process = trainer.start("train", "CartPole-v1", "--track", "--detach", "--json", "--seed", 2, *steps)
    run = json.loads(process.communicate(timeout=30)[0].splitlines()[-1])["run_id"]
    first = until(lambda: told(server), seconds=60, what="the first rows")
    until(lambda: len(list((trainer.folder(run) / "checkpoints").glob("step_*"))) > 1, seconds=60, what="checkpoints")
    for pid in pids_of(run):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    until(lambda: not pids_of(run), what="the end of its processes")
    n_before = len(trainer.rows(run))
    assert n_before >= len(first["rows"])
    trainer.ran("resume", run)
    until(lambda: trainer.journal(run)[-1]["type"] == "exited", seconds=180, what="the end of the run")
    found = server.asked(READ, "lab/cartridge")
    rows = trainer.rows(run)
    assert len(rows) > n_before and found["state"] == "finished"
    # Rows that were made again after the checkpoint were written twice here, and told once.
    n_written = (trainer.folder(run) / "metrics.jsonl").read_bytes().count(b"\n")
    assert n_written > len(rows)
    check_history(found, rows, 100_000)
    beats = [line for line in trainer.journal(run) if line["type"] == "heartbeat"]
    assert found["system"] == len([beat for beat in beats if beat["rss_bytes"] is not None]) > 0


def told(server):
    """What the server has, once it has rows."""
    script = "found = list(api.runs('lab/cartridge'))\nprint(json.dumps(len(found)))"
    with contextlib.suppress(AssertionError):
        if server.asked(script) and (found := server.asked(READ, "lab/cartridge"))["rows"]:
            return found
    return None


def test_without_a_key_nothing_begins(tmp_path):
    trainer = Trainer(tmp_path, "http://127.0.0.1:9")
    _, besides = trainer.train("--steps", 5_000, code=5)
    for word in ("http://127.0.0.1:9", "WANDB_API_KEY", "wandb login"):
        assert word in besides
    assert not list(trainer.data.glob("runs/*"))
    # What `wandb login` has written will do.
    netrc = f"machine 127.0.0.1\n  login user\n  password {'0' * 40}\n"
    (tmp_path / "own-home/.netrc").write_text(netrc)
    _, besides = trainer.train("--steps", 5_000, "--dry-run")
    assert "error" not in besides


def test_a_key_of_another_server_is_not_sent(server, tmp_path):
    """A run is for one server; with a key for another, it is not told."""
    trainer = Trainer(tmp_path, server.address, server.key)
    result, _ = trainer.train("--steps", 5_000)
    trainer.environment["WANDB_BASE_URL"] = "http://127.0.0.1:9"
    _, besides = trainer.ran("track", result["run_id"], code=5)
    assert server.address in besides and "no key" in besides


def test_a_key_that_is_refused_is_said_once(server, tmp_path):
    trainer = Trainer(tmp_path, server.address, "0" * 40)
    began = time.monotonic()
    result, besides = trainer.train("--steps", 20_000)
    assert result["state"] == "succeeded" and time.monotonic() - began < 30
    assert besides.count("401") == 1 and "cartridge track" in besides


def test_a_dead_server_costs_nothing_but_a_wait_at_the_end(server, tmp_path):
    port = free_port()
    trainer = Trainer(tmp_path, f"http://127.0.0.1:{port}", server.key)
    result, besides = trainer.train("--steps", 20_000)
    run = result["run_id"]
    assert result["state"] == "succeeded" and result["eval_mean"] is not None
    assert "wandb_url" not in result
    assert besides.count("cannot be reached") == 1
    assert f"cartridge track {run}" in besides
    # The training itself was over long before its run was.
    journal = {line["type"]: line["t"] for line in trainer.journal(run)}
    events = (json.loads(line) for line in (trainer.folder(run) / "events.jsonl").read_text().splitlines())
    (done,) = (event["t"] for event in events if event["type"] == "done")
    assert 25 < journal["exited"] - done < 45
    # When it is there again, the rest is sent by hand; doing it twice changes nothing.
    faults = Faults(server, 0)
    manifest = trainer.folder(run) / "run.json"
    told = json.loads(manifest.read_text())
    told["track"]["base_url"] = trainer.environment["WANDB_BASE_URL"] = faults.address
    manifest.write_text(json.dumps(told))
    for _ in range(2):
        sent, _ = trainer.ran("track", run)
        assert sent["complete"] and sent["wandb_url"].startswith(faults.address)
        found = server.asked(READ, "lab/cartridge")
        check_history(found, trainer.rows(run), 100_000)
        assert found["state"] == "finished"
    pages = [line for line in trainer.journal(run) if line["type"] == "tracked"]
    assert len(pages) == 1
