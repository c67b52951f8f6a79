"""The examples under the real binary. Those that need PyTorch are tried where it is installed:
`make bench-doors` does."""

import importlib.util
import json
import subprocess
import sys

import pytest
from conftest import EXAMPLES, wait_for

needs_torch = pytest.mark.skipif(
    not importlib.util.find_spec("torch"), reason="PyTorch is not installed"
)
needs_sb3 = pytest.mark.skipif(
    not importlib.util.find_spec("stable_baselines3"),
    reason="Stable-Baselines3 is not installed",
)


def check_run(lab, run, metrics):
    ended = lab.exit(run)
    assert ended["code"] == 0, ended
    counts = ended["lines"]
    assert (counts["wrong"], counts["unknown"]) == (0, 0), counts
    told = counts["by_type"]
    assert told["episode"] > 10 and told["step"] > 1_000
    rows = lab.lines(run, "metrics.jsonl")
    assert metrics <= {name for row in rows for name in row["values"]}
    assert all(seed is not None for row in rows for seed in row.get("episodes", {}).get("seed", []))
    assert lab.events(run, "checkpoint_saved")
    assert lab.state(run) == "succeeded"


def test_numpy_loop(lab):
    run = lab.exec(EXAMPLES / "numpy_loop.py", "--steps", 4_000)
    check_run(lab, run, {"train/mean_return", "train/deviation", "rollout/ep_rew_mean"})


@needs_torch
def test_cleanrl_ppo(lab):
    run = lab.exec(EXAMPLES / "cleanrl_ppo.py", "--total-timesteps", 4_000)
    check_run(lab, run, {"losses/policy_loss", "losses/entropy", "charts/SPS"})


@needs_sb3
def test_sb3_ppo(lab):
    run = lab.exec(EXAMPLES / "sb3_ppo.py", "--steps", 4_000)
    check_run(lab, run, {"rollout/ep_rew_mean", "train/approx_kl", "time/fps"})
    # The policy of its checkpoint is measured like any other.
    name = lab.events(run, "checkpoint_saved")[-1]["name"]
    policy = lab.data / "runs" / run / "checkpoints" / name / "policy.onnx"
    result = lab.cartridge("eval", policy, "--env", "CartPole-v1", "--episodes", 5)[-1]
    assert result["mean"] > 8.0
    # And kept under a name, to be rated and replayed.
    lab.cartridge("models", "import", policy, "--env", "CartPole-v1", "--name", "sb3-ppo")
    named = lab.cartridge("eval", "model:sb3-ppo", "--episodes", 5)[-1]
    assert named["mean"] == result["mean"]


@needs_sb3
def test_the_recipe_of_the_docs(lab):
    """What docs/onnx.md tells people to do with a model that they have."""
    text = (EXAMPLES.parents[1] / "docs" / "onnx.md").read_text()
    (recipe,) = [part for part in text.split("```python\n") if "PPO.load" in part]
    model = 'PPO("MlpPolicy", "CartPole-v1", seed=1, device="cpu").learn(8_192)'
    train = f'from stable_baselines3 import PPO\n{model}.save("ppo_cartpole")\n'
    script = train + recipe.split("```")[0]
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=lab.folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    policy = lab.folder / "policy.onnx"
    lab.cartridge("models", "import", policy, "--env", "CartPole-v1", "--name", "from-sb3")
    result = lab.cartridge("eval", "model:from-sb3", "--episodes", 20)[-1]
    assert result["mean"] > 60.0
    (measured,) = lab.cartridge("evals", "list")
    episode = lab.cartridge("episode", measured["run_id"], 1)[-1]
    assert episode["matches"]
    lab.cartridge("match", "CartPole-v1", "model:from-sb3", "random", "--games", 10)
    (rated,) = lab.cartridge("ratings", "CartPole-v1")
    ratings = {row["player"]["key"]: row["rating"] for g in rated["groups"] for row in g["players"]}
    assert ratings["model:from-sb3@1"] > ratings["builtin:random"]


@needs_sb3
def test_sb3_obeys_and_goes_on(lab):
    run = lab.exec(EXAMPLES / "sb3_ppo.py", "--steps", 100_000_000, detach=True)
    wait_for(lambda: lab.events(run, "configured"))
    lab.cartridge("pause", run)
    wait_for(lambda: lab.events(run, "paused"))
    lab.cartridge("resume", run)
    wait_for(lambda: lab.events(run, "resumed"))
    lab.cartridge("tune", run, "trainer.learning_rate=0.0001")
    lab.cartridge("tune", run, "trainer.clip_range=0.1")
    tuned = wait_for(lambda: len(t := lab.events(run, "tune_applied")) == 2 and t)
    assert [(line["old"], line["new"]) for line in tuned] == [(0.0003, 0.0001), (0.2, 0.1)]

    def rates(attempt):
        rows = [row for row in lab.lines(run, "metrics.jsonl") if row["attempt"] == attempt]
        named = ("train/learning_rate", "train/clip_range")
        return [tuple(row["values"].get(name) for name in named) for row in rows]

    wait_for(lambda: (0.0001, 0.1) in rates(1))
    lab.cartridge("stop", run)
    assert lab.exit(run)["code"] == 0
    saved = lab.events(run, "checkpoint_saved")[-1]
    lab.cartridge("resume", run)
    (restored,) = wait_for(lambda: lab.events(run, "restored"))
    assert restored["step"] == saved["step"] > 0
    wait_for(lambda: (0.0001, 0.1) in rates(2))
    lab.cartridge("terminate", run)
    lab.exit(run)
    steps = [row["step"] for row in lab.lines(run, "metrics.jsonl") if row["attempt"] == 2]
    assert min(steps) >= saved["step"]


SUBPROCESSES = """
import torch
torch.set_num_threads(1)
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import SubprocVecEnv
from cartridge_rl.gym import RecordEpisodes
from cartridge_rl.sb3 import CartridgeCallback

if __name__ == "__main__":
    envs = make_vec_env(
        "CartPole-v1", 2, seed=3, wrapper_class=RecordEpisodes, vec_env_cls=SubprocVecEnv,
        vec_env_kwargs={"start_method": "fork"},
    )
    PPO("MlpPolicy", envs, n_steps=128, seed=3, device="cpu").learn(
        1_024, callback=CartridgeCallback()
    )
    envs.close()
"""


@needs_sb3
def test_episodes_of_other_processes_come_whole(lab):
    run = lab.exec(lab.script(SUBPROCESSES))
    ended = lab.exit(run)
    counts = ended["lines"]
    assert (ended["code"], counts["wrong"], counts["by_type"]["config"]) == (0, 0, 1)
    heads = [line for line in lab.cartridge("episodes", run, "--limit", 1_000) if "episode" in line]
    assert len(heads) == counts["by_type"]["episode"] > 10
    assert len({head["seed"] for head in heads}) == len(heads)
    assert counts["by_type"]["step"] == sum(head["length"] for head in heads)


SB3 = """
import sys, torch
from pathlib import Path
torch.set_num_threads(1)
import numpy as np
from stable_baselines3 import A2C, DQN, PPO, SAC
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecNormalize
from cartridge_rl.sb3 import CartridgeCallback, export_policy
import stable_baselines3 as sb3

algo, env_id, steps = sys.argv[1:4]
envs = make_vec_env(env_id, 2, seed=1)
if "normalize" in sys.argv:
    envs = VecNormalize(envs)
more = {"learning_starts": 10} if algo in ("DQN", "SAC", "TD3") else {"n_steps": 32}
model = getattr(sb3, algo)("MlpPolicy", envs, seed=1, device="cpu", **more)
model.learn(int(steps), callback=CartridgeCallback(on_export=export_policy))
raw = np.random.default_rng(1).standard_normal((5, *envs.observation_space.shape)).astype("f4")
seen = envs.normalize_obs(raw) if "normalize" in sys.argv else raw
actions, _ = model.predict(seen, deterministic=True)
print(__import__("json").dumps({"raw": raw.tolist(), "actions": actions.tolist()}))
"""


@needs_sb3
@pytest.mark.parametrize(
    ("algo", "env_id", "more"),
    [
        ("PPO", "Pendulum-v1", ["normalize"]),
        ("A2C", "CartPole-v1", ["normalize"]),
        ("DQN", "CartPole-v1", []),
        ("SAC", "Pendulum-v1", []),
        ("TD3", "Pendulum-v1", ["normalize"]),
    ],
)
def test_policies_of_sb3_travel(lab, algo, env_id, more):
    """What the lab makes of the exported policy is what SB3 would do."""
    run = lab.exec(lab.script(SB3), algo, env_id, 450, *more, env_id=env_id)
    ended = lab.exit(run)
    assert (ended["code"], ended["lines"]["wrong"]) == (0, 0)
    assert not lab.events(run, "warning"), lab.events(run, "warning")
    log = (lab.data / "runs" / run / "log.txt").read_text().splitlines()
    told = json.loads(next(line for line in log if line.startswith('{"raw"')))
    seen = lab.folder / "seen.json"
    seen.write_text(json.dumps(told["raw"]))
    name = lab.events(run, "checkpoint_saved")[-1]["name"]
    policy = lab.data / "runs" / run / "checkpoints" / name / "policy.onnx"
    done = subprocess.run(
        [lab.environment["CARTRIDGE_BIN"], "onnx", "run", policy, "--observations", seen],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    first = [json.loads(line)["actor"] for line in done.stdout.splitlines()]
    if env_id == "CartPole-v1":
        assert [max(range(2), key=row.__getitem__) for row in first] == told["actions"]
    else:
        held = [[max(-2.0, min(2.0, number)) for number in row] for row in first]
        assert held == [pytest.approx(row, abs=1e-4) for row in told["actions"]]
