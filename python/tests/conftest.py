"""A data folder of its own for every test, and the binary that is there."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = os.environ.get("CARTRIDGE_BIN") or str(ROOT / "target/release/cartridge")
EXAMPLES = ROOT / "python/examples"
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((ROOT / "docs/protocol.schema.json").read_text())
)


def environment(**more):
    """That of a training that was started by hand, and nothing of a lab around the tests."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("CARTRIDGE_")}
    return {**kept, "OMP_NUM_THREADS": "1", **more}


class Lab:
    """A data folder, seen by way of the command line."""

    def __init__(self, folder):
        self.folder = folder
        self.data = folder / "data"
        self.processes = []
        self.environment = environment(CARTRIDGE_BIN=BINARY, CARTRIDGE_DATA=str(self.data))

    def cartridge(self, *args):
        """What a command prints: objects, one per line."""
        done = subprocess.run(
            [BINARY, *map(str, args), "--json"],
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr + done.stdout
        return [json.loads(line) for line in done.stdout.splitlines()]

    def script(self, text):
        path = self.folder / "train.py"
        path.write_text(text)
        return path

    def exec(self, script, *args, env_id="CartPole-v1", detach=False):
        """Starts a training under the lab; its run."""
        options = ["--detach"] if detach else []
        command = ["--", sys.executable, str(script), *map(str, args)]
        done = subprocess.run(
            [BINARY, "exec", "--env", env_id, *options, *command],
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
        )
        assert detach or done.returncode == 0, done.stderr + done.stdout
        return self.runs()[0]

    def by_hand(self, script, *args, **more):
        """Starts a training as people do."""
        process = subprocess.Popen(
            [sys.executable, str(script), *map(str, args)],
            env={**self.environment, **more},
            cwd=self.folder,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.processes.append(process)
        return process

    def runs(self):
        """The names of the runs, newest first."""
        if not (self.data / "runs").is_dir():
            return []
        made = lambda run: json.loads((run / "run.json").read_text())["created_at"]  # noqa: E731
        runs = [run for run in (self.data / "runs").iterdir() if (run / "run.json").exists()]
        return [run.name for run in sorted(runs, key=made, reverse=True)]

    def lines(self, run, file):
        path = self.data / "runs" / run / file
        text = path.read_text() if path.exists() else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line[-1] == "\n"]

    def events(self, run, kind):
        return [line for line in self.lines(run, "events.jsonl") if line["type"] == kind]

    def exit(self, run):
        """How the newest attempt ended, once it has."""

        def ended():
            lines = self.lines(run, "supervisor.jsonl")
            return lines[-1] if lines and lines[-1]["type"] == "exited" else None

        return wait_for(ended)

    def state(self, run):
        listed = {line["run_id"]: line for line in self.cartridge("runs") if "run_id" in line}
        return listed[run]["state"]


def wait_for(found, seconds=60):
    """What `found` returns, as soon as it is something."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        result = found()
        if result:
            return result
        time.sleep(0.02)
    raise AssertionError("it did not come")


@pytest.fixture
def lab(tmp_path):
    if shutil.which(BINARY) is None:
        pytest.fail(f"there is no {BINARY}: `make build`, or set CARTRIDGE_BIN")
    lab = Lab(tmp_path)
    yield lab
    # Nothing may outlive its test.
    for process in lab.processes:
        process.kill()
        process.communicate()
    for run in lab.runs():
        lines = lab.lines(run, "supervisor.jsonl")
        if not lines or lines[-1]["type"] != "exited":
            subprocess.run([BINARY, "terminate", run], env=lab.environment, capture_output=True)


@pytest.fixture
def spool(tmp_path, monkeypatch):
    """Reporters in this process write there; a function that reads it."""
    for name in [name for name in os.environ if name.startswith("CARTRIDGE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("CARTRIDGE_BIN", "no-such-program")
    monkeypatch.setenv("CARTRIDGE_SPOOL", str(tmp_path / "spool"))

    def read():
        (folder,) = (tmp_path / "spool").iterdir()
        text = (folder / "lines.jsonl").read_text()
        lines = [json.loads(line) for line in text.splitlines()]
        for line in lines:
            SCHEMA.validate(line)
        return [line for line in lines if line["type"] != "heartbeat"]

    return read
