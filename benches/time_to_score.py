"""DQN's time to a score: our preset beside Stable-Baselines3 with RL-Zoo's values.

Both sides get the steps that the published scores had (CartPole-v1 50,000: 500; LunarLander-v3
100,000: 154) and are timed from the start of the command to the trained policy, which then plays 100
episodes without chance that are not timed. Every training runs alone on its cores. The time counts
only next to the score that it bought.

benches/time_to_score.py [--seeds 3] [--jobs 1] [ENV...] > benches/results/time_to_score.txt
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

from training import CARTRIDGE, ZOO_DQN, ZOO_STEPS

CORES_PER_JOB = 2
FIRST_SEED = 301


def train_stable_baselines3(env_id: str, seed: int, began: float) -> dict:
    import torch
    from stable_baselines3 import DQN
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.evaluation import evaluate_policy

    # With which it is fastest; see benches/training.py.
    torch.set_num_threads(1)
    model = DQN(
        "MlpPolicy",
        make_vec_env(env_id, n_envs=1, seed=seed),
        policy_kwargs={"net_arch": [256, 256]},
        device="cpu",
        seed=seed,
        **ZOO_DQN[env_id],
    )
    model.learn(total_timesteps=ZOO_STEPS[env_id])
    seconds = time.time() - began
    envs = make_vec_env(env_id, n_envs=1, seed=seed + 10_000)
    score, _ = evaluate_policy(model, envs, n_eval_episodes=100)
    return {"seconds": seconds, "score": float(score)}


def theirs(env_id: str, seed: int, pin: list[str]) -> dict:
    command = [*pin, sys.executable, __file__, "--contender", env_id, str(seed), str(time.time())]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def ours(env_id: str, seed: int, pin: list[str]) -> dict:
    with tempfile.TemporaryDirectory() as data:
        command = [*pin, str(CARTRIDGE), "train", env_id, "--algo", "dqn", "--preset", "speed"]
        command += ["--seed", str(seed), "--data", data, "--json"]
        command += ["--set", "evaluation.every_steps=10000000"]
        began = time.time()
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
        (folder,) = Path(data, "runs").iterdir()
        rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
        # The last row of training; what follows is the evaluation.
        seconds = max(row["t"] for row in rows if "rollout/exploration_rate" in row["values"]) - began
        return {"seconds": seconds, "score": json.loads(done.stdout.splitlines()[-1])["eval_mean"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("envs", nargs="*", default=list(ZOO_STEPS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1, help="trainings at once, each on two cores")
    parser.add_argument("--contender", nargs=3, metavar=("ENV", "SEED", "BEGAN"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.contender:
        env_id, seed, began = args.contender
        print(json.dumps(train_stable_baselines3(env_id, int(seed), float(began))))
        return
    cores = sorted(os.sched_getaffinity(0))
    free = Queue()
    for index in range(args.jobs):
        free.put(cores[index * CORES_PER_JOB : (index + 1) * CORES_PER_JOB])

    def alone(train, env_id: str, seed: int) -> dict:
        own = free.get()
        try:
            result = train(env_id, seed, ["taskset", "-c", ",".join(map(str, own))])
            print(f"{env_id} {train.__name__} {seed}: {result}", file=sys.stderr, flush=True)
            return result
        finally:
            free.put(own)

    for env_id in args.envs:
        seeds = range(FIRST_SEED, FIRST_SEED + args.seeds)
        with ThreadPoolExecutor(args.jobs) as pool:
            trainings = [[pool.submit(alone, train, env_id, seed) for seed in seeds] for train in (theirs, ours)]
            their_side, our_side = ([training.result() for training in side] for side in trainings)
        sides = [our_side, their_side]
        middle = [[statistics.median(x[key] for x in side) for key in ("seconds", "score")] for side in sides]
        for name, side, (seconds, score) in zip(("ours", "SB3"), sides, middle, strict=True):
            scores = ", ".join(f"{x['score']:.0f}" for x in side)
            print(f"{env_id} {name}: {seconds:.1f} s, score {score:.1f} ({scores})")
        print(f"{env_id}: {middle[1][0] / middle[0][0]:.1f} times as fast", flush=True)


if __name__ == "__main__":
    main()
