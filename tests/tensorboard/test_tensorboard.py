"""TensorBoard's event files: ours in its reader, its writers' in ours, and the program itself."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

ROOT = Path(__file__).resolve().parents[2]
CARTRIDGE = ROOT / "target" / "release" / "cartridge"
WRITER = Path(__file__).with_name("writer.py")
# TensorBoard beside this Python, as a person has it who works in this environment.
ENV = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


def cartridge(data: Path, *args: str, **options: Any) -> list[dict[str, Any]]:
    words = list(args)
    at = words.index("--") if "--" in words else len(words)
    command = [str(CARTRIDGE), *words[:at], "--data", str(data), "--json", *words[at:]]
    options = {"env": ENV, **options}
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{command} failed: {done.stderr}"
    return [json.loads(line) for line in done.stdout.splitlines()]


def rows(data: Path, run_id: str) -> list[dict[str, Any]]:
    text = (data / "runs" / run_id / "metrics.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def points(data: Path, run_id: str, name: str) -> list[tuple[int, float]]:
    return [(row["step"], row["values"][name]) for row in rows(data, run_id) if name in row["values"]]


def board(data: Path, run_id: str) -> Path:
    return data / "runs" / run_id / "runs" / run_id


def read(folder: Path) -> EventAccumulator:
    accumulator = EventAccumulator(str(folder), size_guidance={"scalars": 0, "tensors": 0})
    return accumulator.Reload()


@pytest.mark.parametrize(
    "options",
    [
        ["CartPole-v1", "--algo", "ppo", "--steps", "20000"],
        ["CartPole-v1", "--algo", "dqn", "--steps", "5000"],
        ["tictactoe", "--algo", "alphazero", "--steps", "5000"],
    ],
    ids=["ppo", "dqn", "alphazero"],
)
def test_every_row_of_a_training_is_read_by_tensorboard(options: list[str], tmp_path: Path) -> None:
    run_id = cartridge(tmp_path, "train", *options, "--seed", "3")[-1]["run_id"]
    events = read(board(tmp_path, run_id))
    names = {name for row in rows(tmp_path, run_id) for name, value in row["values"].items() if value is not None}
    assert names <= set(events.Tags()["scalars"])
    for name in names:
        ours = [(step, value) for step, value in points(tmp_path, run_id, name) if value is not None]
        theirs = [(event.step, event.value) for event in events.Scalars(name)]
        assert theirs == [(step, pytest.approx(value, rel=1e-6)) for step, value in ours], name
    ended = [
        (step, reward)
        for row in rows(tmp_path, run_id)
        if "episodes" in row
        for step, reward in zip(row["episodes"]["timestep"], row["episodes"]["reward"], strict=True)
    ]
    told = [(event.step, event.value) for event in events.Scalars("charts/episodic_return")]
    assert told and set(told) <= set(ended)


def test_what_a_restart_supersedes_is_dropped(tmp_path: Path) -> None:
    options = ["--steps", "60000", "--seed", "3", "--set", "retention.checkpoint_every_steps=20000"]
    command = [str(CARTRIDGE), "train", "CartPole-v1", "--algo", "ppo", *options, "--data", str(tmp_path), "--json", "--detach"]
    run_id = json.loads(subprocess.check_output(command, text=True).splitlines()[0])["run_id"]
    folder = tmp_path / "runs" / run_id

    def lines(name: str) -> list[dict[str, Any]]:
        path = folder / name
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    wait(lambda: any(line["step"] > 25_000 for line in lines("metrics.jsonl")))
    (started,) = [line for line in lines("supervisor.jsonl") if line.get("type", line.get("event")) == "started"]
    os.kill(started["trainer_pid"], signal.SIGKILL)
    wait(lambda: any(line.get("type", line.get("event")) == "exited" for line in lines("supervisor.jsonl")))
    cartridge(tmp_path, "resume", run_id)
    wait(lambda: any(line.get("type", line.get("event")) == "done" for line in lines("events.jsonl")))
    assert len(list(board(tmp_path, run_id).iterdir())) == 2
    surviving: dict[int, dict[str, Any]] = {}
    for row in lines("metrics.jsonl"):
        surviving = {number: kept for number, kept in surviving.items() if number < row["row"]}
        surviving[row["row"]] = row
    expected = [(row["step"], row["values"]["train/loss"]) for row in surviving.values() if "train/loss" in row["values"]]
    told = [(event.step, event.value) for event in read(board(tmp_path, run_id)).Scalars("train/loss")]
    assert told == [(step, pytest.approx(value, rel=1e-6)) for step, value in expected]


def wait(is_so: Any, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_cut_at_every_byte_it_reads_as_we_do(tmp_path: Path) -> None:
    run_id = cartridge(tmp_path, "train", "CartPole-v1", "--algo", "ppo", "--steps", "5000", "--seed", "3")[-1]["run_id"]
    (file,) = board(tmp_path, run_id).iterdir()
    whole = file.read_bytes()[:1500]
    ends, at = [], 0
    while at + 12 <= len(whole):
        at += 16 + int.from_bytes(whole[at : at + 8], "little")
        ends.append(at)
    cut = tmp_path / "events.out.tfevents.1"
    for size in range(len(whole)):
        cut.write_bytes(whole[:size])
        n_events = sum(1 for _ in EventFileLoader(str(cut)).Load())
        assert n_events == sum(end <= size for end in ends), size


@pytest.mark.parametrize("which", ["simple", "tensor", "x"])
@pytest.mark.parametrize("place", ["runs/RUN", "runs/mine", "DATA/runs/RUN/runs/theirs"])
def test_what_real_writers_write_becomes_metrics(which: str, place: str, tmp_path: Path) -> None:
    data, work = tmp_path / "data", tmp_path / "work"
    work.mkdir()
    # What another training left there before is not this one's.
    subprocess.run([sys.executable, WRITER, "x", "runs/old", "3"], cwd=work, env={**ENV, "CARTRIDGE_RUN_ID": "-"}, check=True)
    place = place.replace("DATA", str(data))
    command = [sys.executable, str(WRITER), which, place, "20"]
    run_id = cartridge(data, "exec", "--env", "Some-v0", "--", *command, cwd=work)[-1]["run_id"]
    assert points(data, run_id, "charts/episodic_return") == [(100 * row, row / 2) for row in range(1, 21)]
    expected = [(100 * row, pytest.approx(1 / row, rel=1e-6)) for row in range(1, 21)]
    assert points(data, run_id, "losses/value_loss") == expected
    # And our own file has it once more, without doubles.
    told = [(event.step, event.value) for event in read(board(data, run_id)).Scalars("charts/episodic_return")]
    assert told == [(100 * row, row / 2) for row in range(1, 21)]


def test_what_is_told_twice_is_taken_once(tmp_path: Path) -> None:
    command = [sys.executable, str(WRITER), "simple", "runs/mine", "20", "0.02"]
    run_id = cartridge(tmp_path / "data", "exec", "--env", "Some-v0", "--", *command, cwd=tmp_path, env={**ENV, "TELL": "1"})[-1]["run_id"]
    assert points(tmp_path / "data", run_id, "losses/value_loss") == [(100 * row, 1 / row) for row in range(1, 21)]
    assert len(points(tmp_path / "data", run_id, "charts/episodic_return")) == 20


def test_a_running_trainer_is_followed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    command = [str(CARTRIDGE), "exec", "--env", "Some-v0", "--data", str(data), "--json", "--detach", "--"]
    command += [sys.executable, str(WRITER), "simple", "runs/mine", "100", "0.1"]
    run_id = json.loads(subprocess.check_output(command, text=True, cwd=tmp_path, env=ENV).splitlines()[0])["run_id"]
    file = tmp_path / "runs" / "mine"

    def newest() -> int:
        """The newest step that is in a file, by TensorBoard's reader."""
        (path,) = file.iterdir()
        return max((event.step for event in EventFileLoader(str(path)).Load()), default=0)

    wait(lambda: file.exists() and any(file.iterdir()) and newest() >= 2000)
    delays = []
    for _ in range(5):
        step, began = newest(), time.monotonic()
        wait(lambda step=step: any(told >= step for told, _ in points(data, run_id, "charts/episodic_return")))
        delays.append(time.monotonic() - began)
    cartridge(data, "terminate", run_id)
    assert max(delays) < 2.5, delays


@pytest.fixture
def trained(tmp_path: Path) -> tuple[Path, str]:
    data = tmp_path / "data"
    return data, cartridge(data, "train", "CartPole-v1", "--algo", "ppo", "--steps", "5000", "--seed", "3")[-1]["run_id"]


def shown(url: str) -> dict[str, Any]:
    """The scalars that a TensorBoard at an address shows, once it has read them."""
    deadline = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(url + "data/plugin/scalars/tags", timeout=5) as answer:
                tags = json.load(answer)
                if tags:
                    return tags
        except OSError:
            pass
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_the_command_shows_a_run_in_the_real_program(trained: tuple[Path, str]) -> None:
    data, run_id = trained
    for what, name in [([run_id], f"runs/{run_id}"), (["--all"], f"{run_id}/runs/{run_id}")]:
        command = [str(CARTRIDGE), "tensorboard", *what, "--data", str(data)]
        process = subprocess.Popen(command, env=ENV, stderr=subprocess.PIPE, text=True)
        assert process.stderr
        url = process.stderr.readline().split()[0]
        try:
            assert "train/loss" in shown(url)[name]
        finally:
            process.terminate()
            process.wait()


@pytest.fixture
def lab(trained: tuple[Path, str], request: pytest.FixtureRequest) -> Iterator[tuple[str, str, subprocess.Popen[str]]]:
    data, run_id = trained
    command = [str(CARTRIDGE), "up", "--data", str(data), "--port", "0"]
    process = subprocess.Popen(command, env=getattr(request, "param", ENV), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    wait(lambda: (data / "lab.lock").exists() and (data / "lab.lock").read_text().strip())
    address = (data / "lab.lock").read_text().splitlines()[0]
    yield f"{address}/api/runs/{run_id}/tensorboard", (data / "token").read_text().strip(), process
    process.terminate()
    process.wait()


def press(address: str, token: str) -> tuple[int, dict[str, Any]]:
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": str(time.time_ns())}
    request = urllib.request.Request(address, method="POST", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=90) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def environments(process: int) -> Iterator[bytes]:
    """What the processes below one were started with."""
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        for child in map(int, children.read_text().split()):
            yield Path(f"/proc/{child}/environ").read_bytes()
            yield from environments(child)


@pytest.mark.parametrize("lab", [{**ENV, "WANDB_API_KEY": "the-labs-own"}], indirect=True)
def test_the_lab_starts_one_for_a_run_and_ends_it(lab: tuple[str, str, subprocess.Popen[str]]) -> None:
    address, token, process = lab
    status, answer = press(address, token)
    assert status == 200 and answer["url"].startswith("http://127.0.0.1:")
    started_with = list(environments(process.pid))
    assert started_with and all(b"PATH=" in variables for variables in started_with)
    assert not any(b"the-labs-own" in variables for variables in started_with)
    assert press(address, token) == (200, answer), "the second press gives the same"
    assert any("train/loss" in tags for tags in shown(answer["url"]).values())
    process.kill()
    process.wait()

    def is_gone() -> bool:
        try:
            urllib.request.urlopen(answer["url"], timeout=1).close()
            return False
        except OSError:
            return True

    wait(is_gone, 10)


# Without a program of that name anywhere.
@pytest.mark.parametrize("lab", [{**os.environ, "PATH": "/nowhere"}], indirect=True)
def test_a_lab_without_the_program_says_how_to_install_it(lab: tuple[str, str, subprocess.Popen[str]]) -> None:
    address, token, _ = lab
    status, problem = press(address, token)
    assert (status, problem["code"]) == (409, "no_tensorboard")
    assert "pip install tensorboard" in problem["detail"]


def test_the_program_is_the_one_of_this_environment() -> None:
    assert shutil.which("tensorboard", path=ENV["PATH"]) == str(Path(sys.executable).parent / "tensorboard")
