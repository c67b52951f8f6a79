"""The reporter in a process without a lab: what it writes, and that it does no harm."""

import base64
import json
import os
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest
from conftest import SCHEMA, environment

from cartridge_rl import Reporter
from cartridge_rl.artifacts import artifacts_of


def test_three_lines_are_enough(spool):
    lab = Reporter("Corridor-v0", settings={"learning_rate": 0.1})
    for step in range(1, 4):
        assert lab.obey(step)
        lab.metrics({"train/loss": np.float32(step)}, step=step)
    lab.close()
    config, *rows, done = spool()
    assert config["env_id"] == "Corridor-v0"
    assert config["args"] == {"learning_rate": 0.1}
    assert config["overrides_whitelist"] == ["trainer.learning_rate"]
    assert config["capabilities"] == ["pause", "resume", "stop", "terminate", "tune"]
    assert [(row["step"], row["values"]) for row in rows] == [
        (step, {"train/loss": float(step)}) for step in range(1, 4)
    ]
    assert done == {"type": "done", "reason": "completed", "step": 3}


def test_what_is_told_is_what_it_was(spool):
    lab = Reporter("Corridor-v0")
    actions, rewards = np.array([[0.5], [1.5]], dtype=np.float32), [1.0, 2.0]
    lab.episode(3.0, 2, actions=actions, rewards=rewards)
    actions[:], rewards[:] = 9.0, [9.0, 9.0]
    lab.close()
    steps = [line for line in spool() if line["type"] == "step"]
    assert [line["action"] for line in steps] == [[0.5], [1.5]]
    assert [line["reward"] for line in steps] == [1.0, 2.0]


def test_nothing_that_is_told_fails(spool, caplog):
    lab = Reporter("Corridor-v0", config={"what": object(), "how": {"far": np.int64(3)}})
    lab.metrics(None)
    lab.metrics({"a": "no number"})
    lab.episode("no number", 3)
    lab.episode(1.0, 2, actions=[1], rewards=[1.0, 2.0])
    lab.frame(lambda: 1 / 0)
    lab.artifacts(video=7)
    assert lab.checkpoint() is None
    assert lab.obey()
    lab.close()
    lab.close()
    lab.metrics({"after": 1.0})
    kinds = [line["type"] for line in spool()]
    assert kinds[0] == "config" and kinds[-1] == "done"
    assert "metrics" not in kinds
    # Each kind of trouble once.
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == len(set(messages)) > 0


def test_off_means_off(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CARTRIDGE_RL", "off")
    with Reporter("Corridor-v0", on_checkpoint=print, checkpoint_every=1) as lab:
        assert lab.obey(10)
        lab.metrics({"a": 1.0})
        lab.episode(1.0, 1)
        assert (lab.run_id, lab.run_dir) == (None, None)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CARTRIDGE_BIN", "no-such-program")
    monkeypatch.setenv("CARTRIDGE_SPOOL", str(tmp_path / "file" / "inside"))
    lab = Reporter("Corridor-v0")
    lab.metrics({"a": 1.0})
    assert lab.obey(1)
    lab.close()
    assert len(caplog.records) == 1


def test_checkpoints_are_whole_or_not_there(spool):
    def save(folder):
        assert list(folder.iterdir()) == []
        (folder / "weights").write_text("half")
        if lab.step == 20:
            raise OSError("the disk is full")

    lab = Reporter("Corridor-v0", on_checkpoint=save, checkpoint_every=10)
    for step in (5, 10, 15, 20):
        assert lab.obey(step)
    saved = sorted(folder.name for folder in (lab.run_dir / "checkpoints").iterdir())
    assert saved == ["step_000000010"]
    lab.close()
    told = [line["path"] for line in spool() if line["type"] == "checkpoint"]
    assert told == ["checkpoints/step_000000010"]


def test_an_exception_is_told_and_goes_on(spool):
    with pytest.raises(ZeroDivisionError), Reporter("Corridor-v0") as lab:
        1 / 0  # noqa: B018
    last = spool()[-1]
    assert last["level"] == "error" and "ZeroDivisionError" in last["message"]
    assert json.loads((lab.run_dir / "exit.json").read_text()) == {"exit": 1}


def test_the_exit_of_a_program_says_how_it_went(spool, tmp_path):
    for text, code in (("pass", 0), ("1 / 0", 1)):
        program = f"from cartridge_rl import Reporter\nReporter('C', name='{code}')\n{text}"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True)
        assert done.returncode == code
        (folder,) = (tmp_path / "spool").glob(f"{code}-*")
        assert json.loads((folder / "exit.json").read_text()) == {"exit": code}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_says_nothing(spool):
    lab = Reporter("Corridor-v0")
    lab.metrics({"before": 1.0}, step=1)
    if os.fork() == 0:
        lab.metrics({"of the child": 1.0}, step=2)
        lab.obey(2)
        lab.close()
        os._exit(0)
    _, status = os.wait()
    assert status == 0
    assert not (lab.run_dir / "exit.json").exists()
    lab.metrics({"after": 1.0}, step=3)
    lab.close()
    named = [name for line in spool() if line["type"] == "metrics" for name in line["values"]]
    assert named == ["before", "after"]


WATCHED = """
import numpy, sys
from cartridge_rl import Reporter
print("a line that is half", end="", flush=True)
lab = Reporter("Corridor-v0", frames=True, settings={"learning_rate": 0.1})
n_drawn = step = 0
def draw():
    global n_drawn
    n_drawn += 1
    return numpy.arange(24, dtype=numpy.uint8).reshape(2, 4, 3)
lab.frame(draw)
assert n_drawn == 0
print("\\nready", flush=True)
while lab.obey(step):
    step += 1
    lab.frame(draw)
    if n_drawn >= 50:
        raise SystemExit("it draws too much")
lab.close()
"""


@pytest.fixture
def watched(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", WATCHED],
        env=environment(CARTRIDGE_RUN_DIR=str(tmp_path)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    yield process
    process.kill()
    process.communicate()


def test_control_and_pictures_by_standard_streams(watched):
    """As docs/protocol.md has it: without a socket, lines go to standard output."""
    process = watched

    def ask(seq, **control):
        line = {"type": "control", "seq": seq, "by": "ann", **control}
        process.stdin.write(json.dumps(line) + "\n")
        process.stdin.flush()

    told = []

    def read_until(kind):
        for text in filter(None, map(str.strip, process.stdout)):
            if text in ("ready", "a line that is half"):
                told.append({"type": text})
            else:
                told.append(json.loads(text))
                SCHEMA.validate(told[-1])
            if told[-1]["type"] == kind:
                return told[-1]
        raise AssertionError(kind)

    read_until("ready")
    ask(1, command="watch", fps=0.5)
    frame = read_until("frame")
    ask(2, command="tune", path="trainer.gravity", value=3)
    while (refused := read_until("control_ack"))["seq"] != 2:
        pass  # That somebody watches is answered too.
    assert refused["ok"] is False and "trainer.learning_rate" in refused["message"]
    ask(3, command="tune", path="trainer.learning_rate", value=0.5)
    assert read_until("control_ack")["old"] == 0.1
    ask(4, command="stop")
    assert read_until("control_ack")["seq"] == 4
    assert read_until("done")["reason"] == "stopped"
    assert process.wait(timeout=30) == 0
    # The picture is what was drawn.
    png = base64.b64decode(frame["png"])
    assert struct.unpack(">II", png[16:24]) == (4, 2)
    n_bytes = struct.unpack(">I", png[33:37])[0]
    rows = zlib.decompress(png[41 : 41 + n_bytes])
    assert rows == b"\0" + bytes(range(12)) + b"\0" + bytes(range(12, 24))


def test_artifacts_by_the_habits_of_others(tmp_path):
    assert artifacts_of("mine", tmp_path) == {}
    for place in ("videos/mine/a.mp4", "videos/mine/b.mp4", "videos/other/c.mp4"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text("film")
    events = tmp_path / "runs/mine/events.out.tfevents.1.host.2.3"
    events.parent.mkdir(parents=True)
    events.write_text("")
    (tmp_path / "wandb/run-20250101_000000-abc").mkdir(parents=True)
    (tmp_path / "wandb/latest-run").symlink_to("run-20250101_000000-abc")
    assert artifacts_of("mine", tmp_path) == {
        "video": "videos/mine/a.mp4",
        "video_2": "videos/mine/b.mp4",
        "tensorboard": "runs/mine/",
        "wandb": "wandb/run-20250101_000000-abc/",
    }
