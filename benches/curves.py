"""Learning curves under Stable-Baselines3's own hyper-parameters: ours beside its own.

PPO on CartPole-v1 with Stable-Baselines3's defaults (one environment, 2,048 steps, batches of 64, 10
epochs, a learning rate of 3e-4), ten seeds on each side. A curve is the mean return of the last 100
training episodes after every rollout, which is what Stable-Baselines3 logs as `rollout/ep_rew_mean`.
It asks that the mean of our curves lies within the spread of theirs (between the lowest and the
highest seed) after every rollout, and that the difference of the means over the whole of training is
within what ten seeds vary by chance.

benches/curves.py [--jobs 2] > benches/results/curves.txt
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CARTRIDGE = Path(
    os.environ.get(
        "CARTRIDGE", Path(__file__).resolve().parents[1] / "target" / "release" / "cartridge"
    )
)
N_SEEDS = 10
FIRST_SEED = 201
ROLLOUT = 2048
STEPS = 49 * ROLLOUT
DEFAULTS = {
    "simulation.n_envs": 1,
    "simulation.n_steps": ROLLOUT,
    "trainer.batch_size": 64,
    "trainer.n_epochs": 10,
    "trainer.learning_rate": 3e-4,
    "trainer.gamma": 0.99,
    "trainer.gae_lambda": 0.95,
    "trainer.clip_range": 0.2,
    "trainer.ent_coef": 0.0,
    "trainer.vf_coef": 0.5,
    "trainer.max_grad_norm": 0.5,
    "evaluation.every_steps": 10_000_000,
}


def theirs(seed: int) -> list[float]:
    """Runs in a process of its own."""
    command = [sys.executable, __file__, "--contender", str(seed)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def train_stable_baselines3(seed: int) -> list[float]:
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.utils import safe_mean

    torch.set_num_threads(1)

    class Curve(BaseCallback):
        def __init__(self) -> None:
            super().__init__()
            self.means = []

        def _on_rollout_end(self) -> None:
            self.means.append(float(safe_mean([x["r"] for x in self.model.ep_info_buffer])))

        def _on_step(self) -> bool:
            return True

    curve = Curve()
    PPO("MlpPolicy", "CartPole-v1", seed=seed, device="cpu").learn(STEPS, callback=curve)
    return curve.means


def ours(seed: int) -> list[float]:
    with tempfile.TemporaryDirectory() as data:
        command = [str(CARTRIDGE), "train", "CartPole-v1", "--algo", "ppo", "--steps", str(STEPS)]
        command += ["--seed", str(seed), "--threads", "1", "--data", data, "--json"]
        for name, value in DEFAULTS.items():
            command += ["--set", f"{name}={value}"]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        (folder,) = Path(data, "runs").iterdir()
        rows = map(json.loads, (folder / "metrics.jsonl").read_text().splitlines())
        return [row["values"]["rollout/ep_rew_mean"] for row in rows if "train/loss" in row["values"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--contender", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.contender is not None:
        print(json.dumps(train_stable_baselines3(args.contender)))
        return
    seeds = range(FIRST_SEED, FIRST_SEED + N_SEEDS)
    with ThreadPoolExecutor(args.jobs) as pool:
        a = list(pool.map(ours, seeds))
        b = list(pool.map(theirs, seeds))
    n = min(len(curve) for curve in a + b)
    print(f"{'steps':>8} {'ours':>7} {'SB3':>7} {'lowest':>7} {'highest':>7}")
    is_within = True
    for at in range(n):
        mean = statistics.fmean(curve[at] for curve in a)
        column = [curve[at] for curve in b]
        low, high = min(column), max(column)
        is_within &= low <= mean <= high
        mark = "" if low <= mean <= high else "  outside"
        print(
            f"{(at + 1) * ROLLOUT:8,} {mean:7.1f} {statistics.fmean(column):7.1f} {low:7.1f} {high:7.1f}{mark}"
        )
    areas = [[statistics.fmean(curve[:n]) for curve in side] for side in (a, b)]
    difference = statistics.fmean(areas[0]) - statistics.fmean(areas[1])
    error = sum(statistics.variance(area) / N_SEEDS for area in areas) ** 0.5
    print(
        f"mean over training: ours {statistics.fmean(areas[0]):.1f}, SB3 {statistics.fmean(areas[1]):.1f}; "
        f"difference {difference:+.1f}, standard error {error:.1f}"
    )
    sys.exit(0 if is_within and abs(difference) < 2.5 * error else 1)


if __name__ == "__main__":
    main()
