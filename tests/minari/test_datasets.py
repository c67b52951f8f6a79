"""What `cartridge export --episodes` writes, read by NumPy and Minari and held against Gymnasium."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import h5py
import minari
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
CARTRIDGE = ROOT / "target" / "release" / "cartridge"


def run(*args: str, code: int = 0, **options: Any) -> list[dict[str, Any]]:
    command = [str(CARTRIDGE), *args]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == code, f"{command}: {done.stderr}"
    return [json.loads(line) for line in done.stdout.splitlines()]


class Trained:
    """A short training and its data folder."""

    def __init__(self, env_id: str, algo: str, data: Path) -> None:
        self.env_id, self.data = env_id, data
        options = ["--algo", algo, "--seed", "3", "--steps", "6000", "--data", str(data), "--json"]
        self.run_id = run("train", env_id, *options)[-1]["run_id"]

    def export(self, form: str, output: Path, *options: str, code: int = 0) -> dict[str, Any]:
        words = [*options] if "--episodes" in options else ["--episodes", *options]
        words = ["export", self.run_id, *words, "--format", form, "--output", str(output)]
        return (run(*words, "--data", str(self.data), "--json", code=code) or [{}])[-1]

    def listed(self) -> list[dict[str, Any]]:
        words = ["episodes", self.run_id, "--sort", "number", "--asc", "--limit", "1000000"]
        return run(*words, "--data", str(self.data), "--json")


@pytest.fixture(scope="module", params=["CartPole-v1", "Pendulum-v1", "LunarLander-v3"])
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return Trained(request.param, "ppo", tmp_path_factory.mktemp("data"))


def play(env_id: str, seed: int, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What real Gymnasium shows and pays for these actions."""
    env = gymnasium.make(env_id)
    seen, rewards = [env.reset(seed=seed)[0]], []
    for action in actions:
        observation, reward, *_ = env.step(action)
        seen.append(observation)
        rewards.append(float(reward))
    return np.array(seen), np.array(rewards)


def test_minari_reads_it_and_gymnasium_repeats_it(trained: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "cartridge-test-v0"
    told = trained.export("minari", tmp_path / name)
    listed = trained.listed()
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    dataset = minari.load_dataset(name)
    assert (dataset.total_episodes, dataset.total_steps) == (told["n_episodes"], told["n_steps"])
    assert dataset.total_episodes == len(listed) > 3
    env = gymnasium.make(trained.env_id)
    assert dataset.action_space == env.action_space
    assert dataset.observation_space.shape == env.observation_space.shape
    for episode, row in zip(dataset.iterate_episodes(), listed, strict=True):
        n = row["length"]
        assert len(episode.rewards) == n and episode.observations.shape[0] == n + 1
        assert episode.terminations.dtype == episode.truncations.dtype == np.bool_
        assert (episode.terminations[-1], episode.truncations[-1]) == (row["terminated"], row["truncated"])
        assert not episode.terminations[:-1].any() and not episode.truncations[:-1].any()
        assert all(dataset.action_space.contains(action) or episode.actions.ndim == 2 for action in episode.actions)
    # Bit by bit, of some.
    for number in [0, len(listed) // 2, len(listed) - 1]:
        (episode,) = dataset.iterate_episodes([number])
        (facts,) = dataset.storage.get_episode_metadata([number])
        assert (facts["seed"], facts["return"]) == (listed[number]["seed"], listed[number]["reward"])
        seen, rewards = play(trained.env_id, facts["seed"], episode.actions)
        assert seen.tobytes() == episode.observations.tobytes()
        assert rewards.tobytes() == episode.rewards.tobytes()
    assert minari.MinariDataset(tmp_path / name / "data").total_steps == told["n_steps"]
    # The folder is a dataset like any other: episodes can be sampled and filtered.
    assert len(list(dataset.sample_episodes(2))) == 2
    assert dataset.filter_episodes(lambda episode: len(episode.rewards) > 1).total_episodes > 0


def test_npz_and_json_lines_hold_the_same(trained: Trained, tmp_path: Path) -> None:
    trained.export("npz", tmp_path / "a.npz")
    trained.export("jsonl", tmp_path / "a.jsonl")
    arrays = np.load(tmp_path / "a.npz")
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert arrays["episode_ids"].tolist() == [line["episode"] for line in lines]
    assert arrays["seeds"].tolist() == [line["seed"] for line in lines] and arrays["has_seed"].all()
    assert arrays["episode_returns"].tolist() == [line["return"] for line in lines]
    assert arrays["timesteps"].tolist() == [line["step"] for line in lines]
    for number, line in enumerate(lines):
        start, length = int(arrays["episode_starts"][number]), int(arrays["episode_lengths"][number])
        steps = slice(start, start + length)
        seen = np.concatenate([arrays["observations"][steps], arrays["final_observations"][number][None]])
        assert seen.dtype == np.float32 and (seen == np.array(line["observations"], dtype="f4")).all()
        assert arrays["actions"][steps].tolist() == line["actions"]
        for name in ["rewards", "terminations", "truncations"]:
            assert arrays[name][steps].tolist() == line[name]
    assert int(arrays["episode_lengths"].sum()) == len(arrays["rewards"]) == len(arrays["actions"])


def test_a_part_can_be_had_and_nothing_is_overwritten(trained: Trained, tmp_path: Path) -> None:
    listed = trained.listed()
    path = tmp_path / "part.jsonl"
    trained.export("jsonl", path, "--episodes", "2-4")
    assert [json.loads(line)["episode"] for line in path.read_text().splitlines()] == [2, 3, 4]
    before = path.read_bytes()
    trained.export("jsonl", path, code=4)
    assert path.read_bytes() == before
    best = tmp_path / "best.jsonl"
    trained.export("jsonl", best, "--best", "3")
    returns = sorted((row["reward"] for row in listed), reverse=True)[:3]
    told = [json.loads(line) for line in best.read_text().splitlines()]
    assert sorted((line["return"] for line in told), reverse=True) == returns
    assert [line["episode"] for line in told] == sorted(line["episode"] for line in told)
    trained.export("jsonl", tmp_path / "none.jsonl", "--episodes", "900000-900001", code=3)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["best.jsonl", "part.jsonl"]


def test_a_board_game_and_many_episodes(tmp_path: Path) -> None:
    """More names than one node of the file's tree holds."""
    trained = Trained("tictactoe", "alphazero", tmp_path / "data")
    told = trained.export("minari", tmp_path / "games-v0")
    assert told["n_episodes"] > 600
    with h5py.File(tmp_path / "games-v0" / "data" / "main_data.hdf5") as file:
        assert len(file) == told["n_episodes"]
        assert set(file) == {f"episode_{number}" for number in range(len(file))}
        total = sum(len(file[f"episode_{number}/rewards"]) for number in range(len(file)))
        assert total == told["n_steps"]
        assert file["episode_0"].attrs["id"] == 0


TRAINER = """
import gymnasium, numpy, sys
from cartridge_rl import Reporter
from cartridge_rl.gym import ReportEpisodes
lab = Reporter("CartPole-v1")
env = ReportEpisodes(gymnasium.make("CartPole-v1"), lab)
rng = numpy.random.default_rng(5)
for seed in range(5):
    env.reset(seed=seed)
    over = False
    while not over:
        _, _, terminated, truncated, _ = env.step(int(rng.integers(2)))
        over = terminated or truncated
lab.close()
"""


def test_episodes_of_a_foreign_trainer_are_stepped_again(tmp_path: Path) -> None:
    trainer = tmp_path / "trainer.py"
    trainer.write_text(TRAINER)
    data = tmp_path / "data"
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python" / "src")}
    command = ["exec", "--env", "CartPole-v1", "--data", str(data), "--json", "--", sys.executable, str(trainer)]
    run_id = run(*command, env=env)[-1]["run_id"]
    words = ["export", run_id, "--episodes", "--format", "minari", "--output", str(tmp_path / "foreign-v0")]
    told = run(*words, "--data", str(data), "--json")[-1]
    assert (told["n_episodes"], told["n_left_out"], told["has_observations"]) == (5, 0, True)
    dataset = minari.MinariDataset(tmp_path / "foreign-v0" / "data")
    for seed, episode in enumerate(dataset.iterate_episodes()):
        seen, rewards = play("CartPole-v1", seed, episode.actions)
        assert seen.tobytes() == episode.observations.tobytes()
        assert rewards.tobytes() == episode.rewards.tobytes()
