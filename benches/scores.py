#!/usr/bin/env python3
"""Scores of the presets: IQM over seeds of the mean of 100 evaluation episodes.

benches/scores.py CARTRIDGE [NAME...]   e.g. benches/scores.py target/release/cartridge ppo-cartpole-zoo
benches/scores.py CARTRIDGE general     the presets that are the same for every environment

Every seed is one `cartridge train`, whose last evaluation plays 100 episodes without chance.
The interval is a bootstrap over seeds. Ends with 1 where an IQM is below what is asked.
"""

import json
import random
import statistics
import subprocess
import sys
import tempfile
import time

N_SEEDS = 10
# Seeds that no setting was searched with. Those from 101 on have decided between settings of
# four presets, so theirs are others.
FIRST_SEED = 101
FIRST_SEEDS = {
    "ppo-walker-speed": 201,
    "ppo-prospector-speed": 201,
    "dqn-cartpole-speed": 201,
    "dqn-lander-speed": 201,
}

CASES = {
    "ppo-cartpole-zoo": (["CartPole-v1", "--preset", "zoo"], 499),
    "ppo-lander-zoo": (["LunarLander-v3", "--preset", "zoo"], 242),
    "ppo-lander-speed": (["LunarLander-v3", "--preset", "speed"], 275),
    "ppo-walker-speed": (["BipedalWalker-v3", "--preset", "speed"], 300),
    "ppo-prospector-speed": (["AsteroidProspector-v0", "--preset", "speed"], 29.5),
    "dqn-cartpole-speed": (["CartPole-v1", "--algo", "dqn", "--preset", "speed"], 495),
    "dqn-lander-speed": (["LunarLander-v3", "--algo", "dqn", "--preset", "speed"], 170),
}

# The presets that are the same for every environment; nothing was asked of them.
GENERAL = {
    f"{algo}-{name}-{preset}": ([env, "--algo", algo, "--preset", preset], "nothing")
    for algo in ("ppo", "dqn")
    for preset in ("fast", "stable", "high_score")
    for name, env in (("cartpole", "CartPole-v1"), ("lander", "LunarLander-v3"))
}


def iqm(values):
    """The mean of the middle half."""
    values = sorted(values)
    cut = len(values) // 4
    return statistics.fmean(values[cut : len(values) - cut])


def interval(values):
    rng = random.Random(0)
    draws = sorted(iqm(rng.choices(values, k=len(values))) for _ in range(2000))
    return draws[50], draws[1949]


def main():
    program, *names = sys.argv[1:]
    if names == ["general"]:
        names = list(GENERAL)
    is_met = True
    for name in names or CASES:
        args, asked = (CASES | GENERAL)[name]
        means, seconds = [], []
        first = FIRST_SEEDS.get(name, FIRST_SEED)
        for seed in range(first, first + N_SEEDS):
            with tempfile.TemporaryDirectory() as data:
                command = [program, "train", *args, "--seed", str(seed), "--data", data, "--json"]
                command += ["--set", "evaluation.every_steps=10000000"]
                started = time.monotonic()
                output = subprocess.run(command, capture_output=True, text=True, check=True)
                seconds.append(time.monotonic() - started)
                means.append(json.loads(output.stdout.splitlines()[-1])["eval_mean"])
        low, high = interval(means)
        print(
            f"{name}: IQM {iqm(means):.1f} [{low:.1f}, {high:.1f}], asked {asked}; "
            f"{statistics.fmean(seconds):.1f} s a run; seeds {[round(x, 1) for x in means]}",
            flush=True,
        )
        is_met &= asked == "nothing" or iqm(means) >= asked
    sys.exit(0 if is_met else 1)


if __name__ == "__main__":
    main()
