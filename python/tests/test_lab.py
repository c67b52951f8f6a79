"""Trainings of this package under the real binary: started by it, by hand, and without it."""

import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time

import pytest
from conftest import environment, wait_for

LOOP = """
import sys, time
from pathlib import Path
from cartridge_rl import Reporter

def save(folder):
    (folder / "weights").write_text(str(lab.settings["learning_rate"]))

def load(folder):
    print("goes on with", (folder / "weights").read_text(), flush=True)

lab = Reporter(
    "CartPole-v1", name="by hand", algo="loop", seed=7, total_timesteps=int(sys.argv[1]),
    settings={"learning_rate": 0.01}, on_checkpoint=save, on_restore=load,
)
step = lab.step
while step < int(sys.argv[1]) and lab.obey(step):
    step += 1
    rate = lab.settings["learning_rate"]
    lab.metrics({"train/loss": 1 / step, "train/learning_rate": rate}, step)
    if step % 10 == 0:
        lab.episode(10.0, 10, seed=step, terminated=True, actions=[0] * 10, rewards=[1.0] * 10)
    if len(sys.argv) > 2:
        time.sleep(float(sys.argv[2]))
lab.checkpoint(step)
if len(sys.argv) > 3:
    raise RuntimeError("as it was told")
"""


def check_told(lab, run, n_steps):
    """All that the loop says has come, once."""
    counts = lab.exit(run)["lines"]
    assert (counts["wrong"], counts["unknown"]) == (0, 0), counts
    told = counts["by_type"]
    assert (told["config"], told["metrics"], told["done"]) == (1, n_steps, 1)
    assert (told["episode"], told["step"]) == (n_steps // 10, n_steps)
    rows = lab.lines(run, "metrics.jsonl")
    losses = [row["values"]["train/loss"] for row in rows if "train/loss" in row["values"]]
    assert losses == [1 / step for step in range(1, n_steps + 1)]
    seeds = [seed for row in rows for seed in row.get("episodes", {}).get("seed", [])]
    assert seeds == list(range(10, n_steps + 1, 10))
    (saved,) = lab.events(run, "checkpoint_saved")
    assert saved["step"] == n_steps
    assert (
        lab.data / "runs" / run / "checkpoints" / saved["name"] / "weights"
    ).read_text() == "0.01"


def test_started_by_the_lab(lab):
    run = lab.exec(lab.script(LOOP), 200)
    check_told(lab, run, 200)
    assert lab.state(run) == "succeeded"


def test_started_by_hand_with_the_lab_down(lab):
    process = lab.by_hand(lab.script(LOOP), 200)
    assert process.wait(timeout=60) == 0
    (run,) = lab.runs()
    assert run in process.stderr.read()
    check_told(lab, run, 200)
    assert lab.state(run) == "succeeded"
    (shown,) = (line for line in lab.cartridge("runs") if line.get("run_id") == run)
    assert (shown["name"], shown["step"]) == ("by hand", 200)


def test_without_the_binary_it_is_imported_later(lab):
    process = lab.by_hand(lab.script(LOOP), 200, CARTRIDGE_BIN="no-such-program")
    assert process.wait(timeout=60) == 0
    assert lab.runs() == []
    (folder,) = (lab.folder / "cartridge-spool").iterdir()
    command = [sys.executable, "-m", "cartridge_rl", "import", str(folder)]
    subprocess.run(command, env=lab.environment, cwd=lab.folder, check=True, capture_output=True)
    (run,) = lab.runs()
    check_told(lab, run, 200)
    assert lab.state(run) == "succeeded"


def test_a_training_that_fails_has_failed(lab):
    script = lab.script(LOOP)
    lab.exec(script, 20, 0, "fail", detach=True)
    (first,) = lab.runs()
    assert lab.exit(first)["code"] == 1
    process = lab.by_hand(script, 20, 0, "fail")
    assert process.wait(timeout=60) == 1
    second = lab.runs()[0]
    assert lab.exit(second)["code"] == 1
    for run in (first, second):
        assert lab.state(run) == "failed"
        (told,) = lab.events(run, "error")
        assert "as it was told" in told["message"]


def started(lab, how):
    """A long training, and its run."""
    script = lab.script(LOOP)
    if how == "lab":
        return None, lab.exec(script, 1_000_000, 0.005, detach=True)
    process = lab.by_hand(script, 1_000_000, 0.005)
    return process, wait_for(lab.runs)[0]


@pytest.mark.parametrize("how", ["lab", "hand"])
def test_it_obeys(lab, how):
    process, run = started(lab, how)
    wait_for(lambda: lab.events(run, "configured"))
    lab.cartridge("pause", run)
    wait_for(lambda: lab.events(run, "paused"))
    lab.cartridge("resume", run)
    wait_for(lambda: lab.events(run, "resumed"))
    lab.cartridge("tune", run, "trainer.learning_rate=0.002")
    (tuned,) = wait_for(lambda: lab.events(run, "tune_applied"))
    assert (tuned["old"], tuned["new"]) == (0.01, 0.002)
    # A tune has a checkpoint before it.
    assert lab.events(run, "checkpoint_saved")

    def rates():
        rows = lab.lines(run, "metrics.jsonl")
        return {row["values"].get("train/learning_rate") for row in rows} >= {0.01, 0.002}

    wait_for(rates)
    lab.cartridge("stop", run)
    assert lab.exit(run)["code"] == 0
    assert lab.state(run) == "terminated"
    last = lab.events(run, "checkpoint_saved")[-1]
    weights = lab.data / "runs" / run / "checkpoints" / last["name"] / "weights"
    assert weights.read_text() == "0.002"
    if process is not None:
        assert process.wait(timeout=30) == 0
    # It goes on from there, started by the lab now, with what was tuned.
    lab.cartridge("resume", run)
    (restored,) = wait_for(lambda: lab.events(run, "restored"))
    assert restored["step"] == last["step"]
    log = lab.data / "runs" / run / "log.txt"
    wait_for(lambda: "goes on with 0.002" in log.read_text())
    lab.cartridge("terminate", run)
    lab.exit(run)
    rows = [row for row in lab.lines(run, "metrics.jsonl") if row["attempt"] == 2]
    told = [row["values"] for row in rows if "train/learning_rate" in row["values"]]
    assert {row["train/learning_rate"] for row in told} <= {0.002}


def test_terminate_reaches_a_training_that_was_started_by_hand(lab):
    process, run = started(lab, "hand")
    wait_for(lambda: lab.events(run, "configured"))
    lab.cartridge("terminate", run)
    assert process.wait(timeout=30) == -signal.SIGTERM
    lab.exit(run)
    assert lab.state(run) == "terminated"


def test_a_training_that_is_killed_has_failed(lab):
    process, run = started(lab, "hand")
    wait_for(lambda: lab.events(run, "configured"))
    process.kill()
    assert lab.exit(run)["code"] == 1
    assert lab.state(run) == "failed"
    process.wait()


def test_a_training_outlives_its_supervisor(lab):
    process = lab.by_hand(lab.script(LOOP), 300, 0.005)
    run = wait_for(lab.runs)[0]
    wait_for(lambda: lab.events(run, "configured"))
    # Even one that waits for a word that nobody can say any more.
    lab.cartridge("pause", run)
    wait_for(lambda: lab.events(run, "paused"))
    began = next(line for line in lab.lines(run, "supervisor.jsonl") if line["type"] == "started")
    os.kill(began["supervisor_pid"], signal.SIGKILL)
    assert process.wait(timeout=30) == 0
    said = process.stderr.read()
    assert said.count("the lab is gone") == 1, said


def test_it_speaks_the_protocol_well(lab):
    script = lab.script(LOOP)
    command = [lab.environment["CARTRIDGE_BIN"], "protocol", "check", "--exercise", "--"]
    done = subprocess.run(
        [*command, sys.executable, str(script), "100000", "0.005"],
        env=environment(),
        cwd=lab.folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-2000:]


ARTIFACTS = """
import sys
from pathlib import Path
from cartridge_rl import Reporter
with Reporter("CartPole-v1") as lab:
    for place in ("videos/mine/a.mp4", "runs/mine/events.out.tfevents.1.h.2.3",
                  "wandb/run-20250101_000000-abc/files/output.log", "notes/why.txt"):
        Path(place).parent.mkdir(parents=True, exist_ok=True)
        Path(place).write_text("of " + place)
    Path("wandb/latest-run").symlink_to("run-20250101_000000-abc")
    lab.artifacts("mine", notes="notes/why.txt")
"""


def test_artifacts_are_the_runs_own(lab):
    run = lab.exec(lab.script(ARTIFACTS))
    lines = lab.cartridge("artifacts", run)
    listed = [found for line in lines for found in line.get("artifacts", [line])]
    kinds = {
        found["path"]: (found["kind"], found.get("shared", False))
        for found in listed
        if "path" in found
    }
    assert kinds["videos/mine/a.mp4"] == ("video", False)
    assert kinds["runs/mine"] == ("tensorboard", False)
    assert kinds["wandb/run-20250101_000000-abc"] == ("wandb", False)
    assert kinds["notes/why.txt"] == ("other", False)
    assert lab.exit(run)["lines"]["wrong"] == 0


PICTURES = """
import gymnasium
from cartridge_rl import Reporter
from cartridge_rl.gym import ReportEpisodes
lab = Reporter("CartPole-v1", frames=True)
env = ReportEpisodes(gymnasium.make("CartPole-v1", render_mode="rgb_array"), lab)
step = 0
while lab.obey(step):
    env.reset()
    is_over = False
    while not is_over:
        *_, is_over, _, _ = env.step(step % 2)
        step += 1
    lab.metrics({"watched": lab.is_watched}, step=step)
"""


# A loop that knows nothing of the lab but the wrapper.
WRAPPED = """
import gymnasium, sys
from cartridge_rl import Reporter
from cartridge_rl.gym import RecordEpisodes, ReportEpisodes, ReportVectorEpisodes
tuned = []
lab = Reporter("CartPole-v1", frames=True, settings={"learning_rate": 0.1},
               on_tune=lambda name, value: tuned.append((name, value)))
if sys.argv[1] == "one":
    env = ReportEpisodes(gymnasium.make("CartPole-v1", render_mode="rgb_array"), lab)
    action = lambda n: n % 2
else:
    env = gymnasium.make_vec(
        "CartPole-v1", 3, sys.argv[1], render_mode="rgb_array", wrappers=(RecordEpisodes,)
    )
    env = ReportVectorEpisodes(env, lab)
    action = lambda n: [n % 2] * 3
env.reset(seed=1)
n = 0
try:
    while True:
        *_, terminated, truncated, _ = env.step(action(n))
        n += 1
        if sys.argv[1] == "one" and (terminated or truncated):
            env.reset()
        if n % 50 == 0:
            lab.metrics({"n": n, "rate": lab.settings["learning_rate"]})
finally:
    env.close()
    assert tuned == [("learning_rate", 0.05)], tuned
"""


@pytest.mark.parametrize("kind", ["one", "sync", "async"])
def test_a_wrapper_alone_obeys_and_shows(lab, kind):
    command = [lab.environment["CARTRIDGE_BIN"], "up", "--port", "0"]
    up = subprocess.Popen(command, env=lab.environment, stdout=subprocess.PIPE, text=True)
    try:
        found = (re.search(r"(http://\S+)/login", line) for line in up.stdout)
        address = next(filter(None, found))[1]
        run = lab.exec(lab.script(WRAPPED), kind, detach=True)

        def told():
            return [r["values"] for r in lab.lines(run, "metrics.jsonl") if "n" in r["values"]]

        wait_for(told)
        viewer = Viewer(address, (lab.data / "token").read_text().strip(), run)
        shown = picture_of_a_step(viewer.messages())
        assert shown["source"] == "trainer" and shown["reward"] == shown["step"]
        viewer.leave()
        lab.cartridge("pause", run)
        wait_for(lambda: lab.events(run, "paused"))
        before = len(told())
        lab.cartridge("tune", run, "trainer.learning_rate=0.05")
        lab.cartridge("resume", run)
        wait_for(lambda: told()[-1]["rate"] == 0.05 and len(told()) > before)
        lab.cartridge("stop", run)
        ended = lab.exit(run)
        assert ended["code"] == 0 and ended["lines"]["wrong"] == 0, ended
        assert lab.state(run) in ("succeeded", "terminated")
    finally:
        up.terminate()
        up.wait()


def picture_of_a_step(messages):
    """The next picture, but for one of a reset: there step and reward are 0."""
    return next(shown for shown in messages if "image" in shown and shown["step"] > 0)


class Viewer:
    """Looks at a run, as a page does: a WebSocket in as many lines as it takes."""

    def __init__(self, address, token, run):
        host = address.removeprefix("http://")
        name, port = host.split(":")
        self.stream = socket.create_connection((name, int(port)), timeout=30)
        headers = {
            "Host": host,
            "Authorization": f"Bearer {token}",
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        }
        lines = [f"GET /api/runs/{run}/frames HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.stream.sendall("\r\n".join([*lines, "", ""]).encode())
        self.file = self.stream.makefile("rb")
        assert b" 101 " in self.file.readline()
        while self.file.readline().strip():
            pass

    def messages(self, seconds=60):
        # Pings keep the connection busy, so that it alone would wait for ever.
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            kind, length = self.file.read(2)
            if length == 126:
                (length,) = struct.unpack(">H", self.file.read(2))
            elif length == 127:
                (length,) = struct.unpack(">Q", self.file.read(8))
            body = self.file.read(length)
            if kind == 0x89:  # A ping; one that is not answered means that nobody looks.
                self.stream.sendall(bytes([0x8A, 0x80 | length]) + b"\0\0\0\0" + body)
            elif kind == 0x81:
                yield json.loads(body)
        raise TimeoutError("what was waited for did not come")

    def leave(self):
        self.file.close()
        self.stream.close()


def test_pictures_come_while_somebody_watches(lab):
    command = [lab.environment["CARTRIDGE_BIN"], "up", "--port", "0"]
    up = subprocess.Popen(command, env=lab.environment, stdout=subprocess.PIPE, text=True)
    try:
        found = (re.search(r"(http://\S+)/login", line) for line in up.stdout)
        address = next(filter(None, found))[1]
        process = lab.by_hand(lab.script(PICTURES))
        run = wait_for(lab.runs)[0]

        def watched():
            rows = lab.lines(run, "metrics.jsonl")
            return [row["values"]["watched"] for row in rows if "watched" in row["values"]][-1:]

        wait_for(lambda: watched() == [0.0])
        viewer = Viewer(address, (lab.data / "token").read_text().strip(), run)
        shown = picture_of_a_step(viewer.messages())
        assert shown["image"].startswith("data:image/png;base64,")
        assert shown["source"] == "trainer" and shown["reward"] == shown["step"]
        wait_for(lambda: watched() == [1.0])
        viewer.leave()
        wait_for(lambda: watched() == [0.0])
        lab.cartridge("stop", run)
        assert process.wait(timeout=30) == 0
    finally:
        up.terminate()
        up.wait()


def test_pictures_come_to_who_watched_before_it_began(lab):
    command = [lab.environment["CARTRIDGE_BIN"], "up", "--port", "0", "--max-runs", "1"]
    up = subprocess.Popen(command, env=lab.environment, stdout=subprocess.PIPE, text=True)
    try:
        found = (re.search(r"(http://\S+)/login", line) for line in up.stdout)
        address = next(filter(None, found))[1]
        first = lab.exec(lab.script(PICTURES), detach=True)
        wait_for(lambda: lab.state(first) == "running")
        run = lab.exec(lab.script(PICTURES), detach=True)
        assert lab.state(run) == "queued"
        viewer = Viewer(address, (lab.data / "token").read_text().strip(), run)
        messages = viewer.messages()
        next(messages)
        lab.cartridge("terminate", first)
        shown = next(message for message in messages if "image" in message)
        assert shown["source"] == "trainer"
        viewer.leave()
        lab.cartridge("stop", run)
    finally:
        up.terminate()
        up.wait()
