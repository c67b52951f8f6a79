"""DQN's time to a score: our preset beside Stable-Baselines3 with RL-Zoo's values.

Both sides get the steps that the published scores had (CartPole-v1 50,000: 500; LunarLander-v3
100,000: 154) and are timed from the start of the command, in two ways:

reached   until the first of ten evaluations during the training that has the score, each of 20 episodes
          without chance; one that never has it counts with its whole time, which flatters it
trained   until the trained policy, which then plays 100 episodes without chance that are not timed

Every training runs alone on its cores. Ends with 1 where we are less than 20 times as fast by either,
or where more trainings of ours than of theirs never reach the score.

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
ASKED = 20
# What counts as reached: Gymnasium's own threshold, and the published score.
SCORES = {"CartPole-v1": 475, "LunarLander-v3": 154}
N_EVALUATIONS = 10
EPISODES = 20
WAYS = ("reached", "trained")


def figures(env_id: str, evaluations: list[tuple[float, float]], trained: float, score: float) -> dict:
    """What a training took, from the seconds and the scores of its evaluations."""
    reached = next((seconds for seconds, found in evaluations if found >= SCORES[env_id]), None)
    return {"reached": reached or trained, "failed": reached is None, "trained": trained, "score": score}


def train_stable_baselines3(env_id: str, seed: int, began: float) -> dict:
    import torch
    from stable_baselines3 import DQN
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.evaluation import evaluate_policy

    # With which it is fastest; see benches/training.py.
    torch.set_num_threads(1)
    every = ZOO_STEPS[env_id] // N_EVALUATIONS
    envs = make_vec_env(env_id, n_envs=1, seed=seed + 10_000)
    evaluations = []

    class Evaluate(BaseCallback):
        def _on_step(self) -> bool:
            if self.num_timesteps % every == 0:
                score, _ = evaluate_policy(self.model, envs, n_eval_episodes=EPISODES)
                evaluations.append((time.time() - began, float(score)))
            return True

    model = DQN(
        "MlpPolicy",
        make_vec_env(env_id, n_envs=1, seed=seed),
        policy_kwargs={"net_arch": [256, 256]},
        device="cpu",
        seed=seed,
        **ZOO_DQN[env_id],
    )
    model.learn(total_timesteps=ZOO_STEPS[env_id], callback=Evaluate())
    trained = time.time() - began
    score, _ = evaluate_policy(model, envs, n_eval_episodes=100)
    return figures(env_id, evaluations, trained, float(score))


def theirs(env_id: str, seed: int, pin: list[str]) -> dict:
    command = [*pin, sys.executable, __file__, "--contender", env_id, str(seed), str(time.time())]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def ours(env_id: str, seed: int, pin: list[str]) -> dict:
    with tempfile.TemporaryDirectory() as data:
        command = [*pin, str(CARTRIDGE), "train", env_id, "--algo", "dqn", "--preset", "speed"]
        command += ["--seed", str(seed), "--data", data, "--json"]
        command += ["--set", f"evaluation.every_steps={ZOO_STEPS[env_id] // N_EVALUATIONS}"]
        command += ["--set", f"evaluation.episodes={EPISODES}"]
        began = time.time()
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
        (folder,) = Path(data, "runs").iterdir()
        rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
        score = "eval/mean_reward"
        evaluations = [(row["t"] - began, row["values"][score]) for row in rows if score in row["values"]]
        # The last row of training; what follows is the evaluation.
        trained = max(row["t"] for row in rows if "rollout/exploration_rate" in row["values"]) - began
        return figures(env_id, evaluations, trained, json.loads(done.stdout.splitlines()[-1])["eval_mean"])


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

    is_met = True
    for env_id in args.envs:
        seeds = range(FIRST_SEED, FIRST_SEED + args.seeds)
        with ThreadPoolExecutor(args.jobs) as pool:
            trainings = [[pool.submit(alone, train, env_id, seed) for seed in seeds] for train in (theirs, ours)]
            their_side, our_side = ([training.result() for training in side] for side in trainings)
        sides = {"ours": our_side, "SB3": their_side}
        for name, side in sides.items():
            times = [f"{key} in {median(side, key):.1f} s" for key in WAYS]
            scores = ", ".join(f"{x['score']:.0f}" for x in side)
            print(f"{env_id} {name}: {', '.join(times)}; never reached by {n_failed(side)}; scores {scores}")
        ratios = {key: median(their_side, key) / median(our_side, key) for key in WAYS}
        told = ", ".join(f"{ratio:.1f} times as fast ({key})" for key, ratio in ratios.items())
        print(f"{env_id}, {SCORES[env_id]}: {told}; asked {ASKED}", flush=True)
        is_met &= min(ratios.values()) >= ASKED and n_failed(our_side) <= n_failed(their_side)
    sys.exit(0 if is_met else 1)


def median(side: list[dict], key: str) -> float:
    return statistics.median(training[key] for training in side)


def n_failed(side: list[dict]) -> int:
    return sum(training["failed"] for training in side)


if __name__ == "__main__":
    main()
