"""Training steps per second: Cartridge beside Stable-Baselines3 and SBX, one after the other.

PPO has 64 environments, 128 steps and 4 epochs; Stable-Baselines3 learns from batches of 2,048, with
which it is fastest, Cartridge from batches of 1,024. DQN has RL-Zoo's values on both sides, so as
many gradient steps per environment step. Each contender runs alone in a process of its own, in
turns, several rounds; the median round counts. Stable-Baselines3 is measured with one thread of
PyTorch's and with one per core, and the faster counts; SBX, the same on JAX, with the threads that JAX
takes, and only where it is installed. Evaluations are left out on all sides; Cartridge records every
episode and saves checkpoints, the others neither.

Memory is the most that a training takes; Cartridge's is that of all three of its processes.
Start-up is the time from the start of the command to its first step; of Cartridge to the first
recorded update, which is later. All of it needs a machine that does nothing else: two threads of
PyTorch's come nearly to a halt where another program wants a core. Prints a table and, as the last
line, one JSON object; ends with 1 where we are less than so many times as fast as is asked.
"""

import argparse
import importlib
import importlib.util
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

from startup import CARTRIDGE, startup

CASES = [
    ("ppo", "CartPole-v1"),
    ("ppo", "LunarLander-v3"),
    ("ppo", "BipedalWalker-v3"),
    ("dqn", "CartPole-v1"),
    ("dqn", "LunarLander-v3"),
]
# How many times as fast as Stable-Baselines3 we are to be.
ASKED = {("dqn", "LunarLander-v3"): 6}
ASKED_ELSEWHERE = 10
# RL-Zoo's hyperparams/dqn.yml.
ZOO_DQN = {
    "CartPole-v1": {
        "learning_rate": 2.3e-3,
        "batch_size": 64,
        "buffer_size": 100_000,
        "learning_starts": 1_000,
        "gamma": 0.99,
        "target_update_interval": 10,
        "train_freq": 256,
        "gradient_steps": 128,
        "exploration_fraction": 0.16,
        "exploration_final_eps": 0.04,
    },
    "LunarLander-v3": {
        "learning_rate": 6.3e-4,
        "batch_size": 128,
        "buffer_size": 50_000,
        "learning_starts": 0,
        "gamma": 0.99,
        "target_update_interval": 250,
        "train_freq": 4,
        "gradient_steps": -1,
        "exploration_fraction": 0.12,
        "exploration_final_eps": 0.1,
    },
}
ZOO_STEPS = {"CartPole-v1": 50_000, "LunarLander-v3": 100_000}
# Names and modules of the others.
OTHERS = {"SB3": "stable_baselines3", "SBX": "sbx"}
FIGURES = ["steps_per_sec", "startup_s", "rss_mb"]


def measure(module: str, algo: str, env_id: str, seconds: float, began: float, threads: int) -> dict:
    """Trains in this process, which began at `began`, and measures over whole updates."""
    import torch
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.env_util import make_vec_env

    torch.set_num_threads(threads)
    library = importlib.import_module(module)

    class Pace(BaseCallback):
        """Counts steps from the first update on to the first after the time is over."""

        def __init__(self) -> None:
            super().__init__()
            self.first_step = None
            self.start = None
            self.end = None

        def _on_rollout_start(self) -> None:
            now = (self.num_timesteps, time.perf_counter())
            # The first updates warm up, but not for ever; DQN's begin after 1,000 steps.
            is_learning = self.num_timesteps > 1_100
            is_late = self.first_step is not None and time.time() - began - self.first_step > 5
            if self.start is None and is_learning and (self.num_timesteps > 2_000 or is_late):
                self.start = now
            elif self.start is not None and now[1] - self.start[1] >= seconds:
                self.end = now

        def _on_step(self) -> bool:
            if self.first_step is None:
                self.first_step = time.time() - began
            return self.end is None

    if algo == "ppo":
        model = library.PPO(
            "MlpPolicy",
            make_vec_env(env_id, n_envs=64, seed=0),
            n_steps=128,
            batch_size=2048,
            n_epochs=4,
            device="cpu",
            seed=0,
        )
        total = 10**9
    else:
        model = library.DQN(
            "MlpPolicy",
            make_vec_env(env_id, n_envs=1, seed=0),
            policy_kwargs={"net_arch": [256, 256]},
            device="cpu",
            seed=0,
            **ZOO_DQN[env_id],
        )
        total = ZOO_STEPS[env_id]
    pace = Pace()
    model.learn(total_timesteps=total, callback=pace)
    # A training that was over before the time was.
    end = pace.end or (model.num_timesteps, time.perf_counter())
    return {
        "steps_per_sec": (end[0] - pace.start[0]) / (end[1] - pace.start[1]),
        "startup_s": pace.first_step,
        "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def n_cores() -> int:
    return len(os.sched_getaffinity(0))


def other(module: str, algo: str, env_id: str, seconds: float) -> dict:
    results = []
    for threads in sorted({1, n_cores()} if module == "stable_baselines3" else {1}):
        command = [sys.executable, __file__, "--contender", module, algo, env_id]
        command += ["--seconds", str(seconds), "--threads", str(threads)]
        command += ["--began", str(time.time())]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        results.append(json.loads(done.stdout.splitlines()[-1]))
    return max(results, key=lambda result: result["steps_per_sec"])


def cartridge(algo: str, env_id: str, seconds: float) -> dict:
    command = [str(CARTRIDGE), "bench", "throughput", "--env", env_id, "--mode", "trainer"]
    command += ["--algo", algo, "--seconds", str(seconds), "--target", "0", "--json"]
    command += ["--preset", "zoo"] if algo == "dqn" else []
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    report = json.loads(done.stdout.splitlines()[-1])
    startup_s, rss_mb = startup(algo, env_id)
    return {
        "steps_per_sec": report["steps_per_sec"]["mean"],
        "startup_s": startup_s,
        "rss_mb": rss_mb,
        "phases": {name: spent["share"] for name, spent in report["phases"].items()},
    }


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", metavar="ALGO", choices=["ppo", "dqn"])
    parser.add_argument("--envs", nargs="+", metavar="ID")
    parser.add_argument("--contender", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--began", type=float, default=0.0, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.contender:
        print(json.dumps(measure(*args.contender, args.seconds, args.began, args.threads)))
        return

    from importlib.metadata import version

    others = {name: module for name, module in OTHERS.items() if importlib.util.find_spec(module)}
    packages = ["stable_baselines3", "torch", "gymnasium"]
    packages += ["sbx-rl", "jax"] if "SBX" in others else []
    print(f"{processor()}, {n_cores()} cores; {args.rounds} rounds of {args.seconds:g} s")
    print(", ".join(f"{name} {version(name)}" for name in packages))
    print(f"{'':22} {'steps/s':>9} {'ratio':>7} {'start-up, s':>12} {'memory, MB':>11}")
    summary = []
    is_met = True
    for algo, env_id in CASES:
        if (args.only or algo) != algo or (args.envs and env_id not in args.envs):
            continue
        found = {name: [] for name in ["ours", *others]}
        for _ in range(args.rounds):
            found["ours"].append(cartridge(algo, env_id, args.seconds))
            for name, module in others.items():
                found[name].append(other(module, algo, env_id, args.seconds))
        medians = {
            name: {key: statistics.median(result[key] for result in results) for key in FIGURES}
            for name, results in found.items()
        }
        ours = medians["ours"]
        summary.append({"algo": algo, "env": env_id, **medians, "phases": found["ours"][-1]["phases"]})
        print(f"{algo.upper()} {env_id}")
        for name, figures in medians.items():
            ratio = ours["steps_per_sec"] / figures["steps_per_sec"]
            print(
                f"  {name:20} {figures['steps_per_sec']:9,.0f} {ratio:6.1f}x"
                f" {figures['startup_s']:12.2f} {figures['rss_mb']:11.0f}",
                flush=True,
            )
        ratio = ours["steps_per_sec"] / medians["SB3"]["steps_per_sec"]
        is_met &= ratio >= ASKED.get((algo, env_id), ASKED_ELSEWHERE)
    print(json.dumps({"seconds": args.seconds, "rounds": args.rounds, "results": summary}))
    sys.exit(0 if is_met else 1)


if __name__ == "__main__":
    main()
