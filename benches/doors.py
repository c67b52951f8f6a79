"""What the callback costs Stable-Baselines3 of its own speed.

Trains PPO on CartPole-v1 with SB3's networks, three models at once and in turns of one update each (2,048
steps): plain, with the callback, and with the callback and recorded episodes (seeds and actions). All have
the same seed. A machine that changes its pace changes it for all three, so what counts is the ratio of a
turn to the plain turn of the same round: the median of all rounds, with its 95% interval by the bootstrap.
The first rounds warm up. Reporters are made before and closed after. CPU time is that of all threads of
the process. Prints one JSON object; says that the target is met where the whole interval lies below it.
"""

import argparse
import json
import random
import statistics
import sys
import time

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

from cartridge_rl import Reporter
from cartridge_rl.gym import RecordEpisodes
from cartridge_rl.sb3 import CartridgeCallback

KINDS = ("plain", "callback", "recorded")
STEPS = 2048
WARM_UP = 3


class Contender:
    """A model that is trained turn by turn."""

    def __init__(self, kind, n_envs):
        wrapper = RecordEpisodes if kind == "recorded" else None
        envs = make_vec_env("CartPole-v1", n_envs, seed=1, wrapper_class=wrapper)
        self.model = PPO("MlpPolicy", envs, n_steps=STEPS // n_envs, seed=1, device="cpu")
        self.reporter = None
        if kind != "plain":
            self.reporter = Reporter("CartPole-v1", name=f"doors: {kind}", algo="ppo")
            assert self.reporter.run_id is not None, "there is no binary: CARTRIDGE_BIN"

    def turn(self):
        """Steps per second of one update, by the clock and by CPU time."""
        callback = None if self.reporter is None else CartridgeCallback(self.reporter)
        start, start_cpu = time.perf_counter(), time.process_time()
        self.model.learn(STEPS, callback=callback, reset_num_timesteps=False)
        seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - start_cpu
        return STEPS / seconds, STEPS / cpu_seconds


def lost(rates, plain):
    """The median share that is lost, in percent, and its interval."""
    shares = [100.0 * (1.0 - ours / theirs) for ours, theirs in zip(rates, plain, strict=True)]
    rng = random.Random(1)
    medians = sorted(statistics.median(rng.choices(shares, k=len(shares))) for _ in range(2_000))
    return [round(x, 2) for x in (statistics.median(shares), medians[49], medians[1949])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=80)
    parser.add_argument("--n-envs", type=int, default=8)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--target", type=float, default=5.0, help="percent that may be lost")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    contenders = {kind: Contender(kind, args.n_envs) for kind in KINDS}
    measured = {kind: [] for kind in KINDS}
    for idx in range(WARM_UP + args.rounds):
        # Another one begins each round, so that none is always the first.
        for kind in KINDS[idx % 3 :] + KINDS[: idx % 3]:
            measured[kind].append(contenders[kind].turn())
    for contender in contenders.values():
        if contender.reporter is not None:
            contender.reporter.close()
    by_clock, by_cpu = (
        {kind: [turn[which] for turn in turns[WARM_UP:]] for kind, turns in measured.items()} for which in (0, 1)
    )
    clock, cpu = ({kind: lost(rates[kind], rates["plain"]) for kind in KINDS[1:]} for rates in (by_clock, by_cpu))
    is_met = all(high < args.target for _, _, high in clock.values())
    report = {
        "steps_per_sec": {kind: round(statistics.median(rates)) for kind, rates in by_clock.items()},
        "lost_percent_low_high": clock,
        "lost_cpu_percent_low_high": cpu,
        "target_percent": args.target,
        "is_met": is_met,
        "config": {"rounds": args.rounds, "steps": STEPS, "n_envs": args.n_envs, "threads": args.threads},
    }
    print(json.dumps(report, indent=2))
    if not is_met:
        sys.exit(f"the callback may cost more than {args.target}%")


if __name__ == "__main__":
    main()
