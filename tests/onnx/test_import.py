"""Policies of other programs, kept as models: measured, rated, replayed and played like our own."""

import json
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

ROOT = Path(__file__).resolve().parents[2]
CARTRIDGE = ROOT / "target" / "release" / "cartridge"


def run(data: Path, *args: str, code: int = 0, **options: Any) -> list[dict[str, Any]]:
    command = [str(CARTRIDGE), *args, "--data", str(data), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == code, f"{command}: {done.stdout} {done.stderr}"
    return [json.loads(line) for line in done.stdout.splitlines()]


# How far the pole leans and how fast it falls: a policy that holds it for 500 steps.
LEAN = np.array([[0.0, 0.1, 1.0, 1.0]], dtype="f4")


def write(path: Path, weights: np.ndarray, n_seen: int) -> Path:
    """A policy as Stable-Baselines3's recipe writes one: observations in, one row of numbers out."""
    matrix = np.concatenate([-weights, weights]).astype("f4")
    node = helper.make_node("Gemm", ["obs", "weights"], ["actions"], transB=1)
    graph = helper.make_graph(
        [node],
        "policy",
        [helper.make_tensor_value_info("obs", TensorProto.FLOAT, [1, n_seen])],
        [helper.make_tensor_value_info("actions", TensorProto.FLOAT, [1, len(matrix)])],
        [numpy_helper.from_array(matrix, "weights")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    good, bad = write(folder / "good.onnx", LEAN, 4), write(folder / "bad.onnx", -LEAN, 4)
    told = run(folder, "models", "import", str(good), "--env", "CartPole-v1", "--name", "pole", "--notes", "from elsewhere")
    assert (told[0]["version"], told[0]["player"]) == (1, "model:pole@1")
    run(folder, "models", "import", str(bad), "--env", "CartPole-v1", "--name", "pole")
    # The file may go; a version is a copy.
    good.unlink()
    return folder


def test_it_is_measured_and_its_episodes_are_replayed(data: Path) -> None:
    (report,) = run(data, "eval", "model:pole@1", "--episodes", "20", "--seed", "7")
    assert report["mean"] == 500.0
    (worse,) = run(data, "eval", "model:pole@2", "--episodes", "20", "--seed", "7")
    assert worse["mean"] < 20
    (run_id,) = [row["run_id"] for row in run(data, "evals", "list") if row["result"]["mean"] == 500.0]
    *moments, episode = run(data, "episode", run_id, "1")
    assert episode["matches"] and len(moments) == 501
    env = gymnasium.make("CartPole-v1")
    seen, _ = env.reset(seed=episode["seed"])
    for moment in moments[1:]:
        assert moment["action"] == int((LEAN @ seen > -(LEAN @ seen)).item())
        seen, *_ = env.step(moment["action"])
        assert moment["observation"] == [float(x) for x in seen]
    # And they are a dataset.
    (told,) = run(data, "export", run_id, "--episodes", "--format", "npz", "--output", str(data / "seen.npz"))
    assert (told["n_episodes"], told["n_steps"]) == (20, 10_000)


def test_it_is_rated_against_others(data: Path) -> None:
    run(data, "match", "CartPole-v1", "model:pole@1", "model:pole@2", "--games", "10")
    run(data, "match", "CartPole-v1", "model:pole@1", "random", "--games", "10")
    ratings = {row["player"]["key"]: row["rating"] for row in table(run(data, "ratings", "CartPole-v1"))}
    assert ratings["model:pole@1"] > ratings["model:pole@2"]


def table(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The players of a table of ratings."""
    (told,) = lines
    return [row for group in told["groups"] for row in group["players"]]


def test_one_that_does_not_fit_is_refused_with_both_shapes(data: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "small.onnx", LEAN[:, :3], 3)
    command = [str(CARTRIDGE), "models", "import", str(path), "--env", "CartPole-v1", "--name", "small", "--data", str(data)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "3" in done.stderr and "4 numbers" in done.stderr
    assert [model["name"] for model in run(data, "models", "list")] == ["pole"]


def test_at_a_board_it_plays_and_thinks(tmp_path: Path) -> None:
    """A network that puts out a number for each cell: it always wants the first that is free."""
    wants = np.arange(9, 0, -1, dtype="f4")
    nodes = [
        helper.make_node("Flatten", ["planes"], ["flat"]),
        helper.make_node("Gemm", ["flat", "nothing", "wants"], ["logits"]),
    ]
    n_planes = 2
    graph = helper.make_graph(
        nodes,
        "policy",
        [helper.make_tensor_value_info("planes", TensorProto.FLOAT, ["batch", n_planes, 3, 3])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 9])],
        [numpy_helper.from_array(np.zeros((9 * n_planes, 9), dtype="f4"), "nothing"), numpy_helper.from_array(wants, "wants")],
    )
    path = tmp_path / "first.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    run(tmp_path, "models", "import", str(path), "--env", "tictactoe", "--name", "first")
    command = [str(CARTRIDGE), "analyze", "tictactoe", "--model", "model:first", "--simulations", "0", "--data", str(tmp_path), "--json"]
    thought = json.loads(subprocess.run(command, input="12\n", capture_output=True, text=True, check=True).stdout)
    assert thought["move"] == "3"
    (told,) = run(tmp_path, "match", "tictactoe", "model:first:0", "random", "--games", "20")
    assert told
    # A person plays it in a lab: it takes the first cell that is free, and loses.
    with lab(tmp_path) as ask:
        play = ask("/api/play", {"game": "tictactoe", "opponent": "model:first:0", "side": "second"})
        assert play["opponent"]["id"].startswith("model:first@1")
        for action, ply in [(4, 1), (2, 3), (6, 5)]:
            assert [move["action"] for move in play["moves"][::2]] == [0, 1, 3][: (ply + 1) // 2]
            play = ask(f"/api/play/{play['id']}/moves", {"action": action, "ply": ply})
        assert play["result"] == "win"


@contextmanager
def lab(data: Path) -> Iterator[Any]:
    """A lab at work; gives what posts to it."""
    process = subprocess.Popen([str(CARTRIDGE), "up", "--data", str(data), "--port", "0"], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    try:
        address = next(line.split("Open ")[1].split("/login")[0] for line in process.stdout if "Open " in line)
        token = (data / "token").read_text().strip()

        def ask(path: str, body: dict[str, Any]) -> dict[str, Any]:
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Idempotency-Key": path + str(body)}
            request = urllib.request.Request(address + path, json.dumps(body).encode(), headers)
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)

        yield ask
    finally:
        process.terminate()
        process.wait()


# What PyTorch's exporters made of models of Stable-Baselines3 (record.py).
RECORDED = ROOT / "crates" / "cartridge-learn" / "src" / "onnx" / "recorded"


@pytest.mark.parametrize(
    ("file", "env_id"),
    [
        ("sb3_ppo_cartpole", "CartPole-v1"),
        ("sb3_dqn_cartpole", "CartPole-v1"),
        ("sb3_ppo_pendulum", "Pendulum-v1"),
        ("sb3_sac_pendulum", "Pendulum-v1"),
    ],
)
def test_pytorchs_files_are_measured_rated_and_replayed(file: str, env_id: str, tmp_path: Path) -> None:
    run(tmp_path, "models", "import", str(RECORDED / f"{file}.onnx"), "--env", env_id, "--name", "theirs")
    (report,) = run(tmp_path, "eval", "model:theirs", "--episodes", "5", "--seed", "3")
    assert len(report["returns"]) == 5
    (measured,) = run(tmp_path, "evals", "list")
    *_, episode = run(tmp_path, "episode", measured["run_id"], "1")
    assert episode["matches"] and episode["reward"] == report["returns"][0]
    run(tmp_path, "match", env_id, "model:theirs", "random", "--games", "10")
    keys = {row["player"]["key"] for row in table(run(tmp_path, "ratings", env_id))}
    assert keys == {"model:theirs@1", "builtin:random"}
