"""What the callback costs Stable-Baselines3 of its own speed.

Trains PPO on CartPole-v1 with SB3's networks, in turns: plain, with the callback, and with the
callback and recorded episodes (seeds and actions). Each turn is a whole `learn` of a fresh model
with the same seed; the reporter is made before and closed after the clock. Of each kind the best of
all rounds counts, and the share that it loses is of the plain one's. Steps per second of CPU time, of
all threads of the process, say the same on a machine that others use. Prints one JSON object.
"""

import argparse
import json
import sys
import time

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

from cartridge_rl import Reporter
from cartridge_rl.gym import RecordEpisodes
from cartridge_rl.sb3 import CartridgeCallback

KINDS = ("plain", "callback", "recorded")


def steps_per_second(kind, n_steps, n_envs):
    """By the clock, and by CPU time."""
    wrapper = RecordEpisodes if kind == "recorded" else None
    envs = make_vec_env("CartPole-v1", n_envs, seed=1, wrapper_class=wrapper)
    model = PPO("MlpPolicy", envs, n_steps=2048 // n_envs, seed=1, device="cpu")
    reporter = None if kind == "plain" else Reporter("CartPole-v1", name=f"doors: {kind}", algo="ppo")
    assert reporter is None or reporter.run_id is not None, "there is no binary: CARTRIDGE_BIN"
    callback = None if reporter is None else CartridgeCallback(reporter)
    start, start_cpu = time.perf_counter(), time.process_time()
    model.learn(n_steps, callback=callback)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - start_cpu
    if reporter is not None:
        reporter.close()
    return model.num_timesteps / seconds, model.num_timesteps / cpu_seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=20_480)
    parser.add_argument("--n-envs", type=int, default=8)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--target", type=float, default=5.0, help="percent that may be lost")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    measured = {kind: [] for kind in KINDS}
    for idx in range(args.rounds):
        # Another one begins each round, so that none is always the warm one.
        for kind in KINDS[idx % 3 :] + KINDS[: idx % 3]:
            measured[kind].append(steps_per_second(kind, args.steps, args.n_envs))
    best = {kind: [max(rates) for rates in zip(*measured[kind])] for kind in KINDS}

    def lost(which):
        plain = best["plain"][which]
        return {kind: round(100.0 * (1.0 - best[kind][which] / plain), 2) for kind in KINDS[1:]}

    result = {
        "best_steps_per_sec": {kind: round(best[kind][0]) for kind in KINDS},
        "best_steps_per_cpu_sec": {kind: round(best[kind][1]) for kind in KINDS},
        "all_steps_per_sec": {kind: [round(rate) for rate, _ in measured[kind]] for kind in KINDS},
        "lost_percent": lost(0),
        "lost_cpu_percent": lost(1),
        "target_percent": args.target,
        "is_met": all(share < args.target for share in lost(0).values()),
        "config": vars(args),
    }
    print(json.dumps(result, indent=2))
    if not result["is_met"]:
        sys.exit(f"the callback costs more than {args.target}%")


if __name__ == "__main__":
    main()
