"""A plain loop under the lab: the cross-entropy method on a linear policy, in NumPy alone.

    cartridge exec --env CartPole-v1 --name "cross entropy" -- python examples/numpy_loop.py
    python examples/numpy_loop.py            # by hand: a run as well, also with the lab down

Three lines are the lab's: where the reporter is made, where the loop obeys, where numbers are told.
The environment is wrapped, so that episodes can be seen again; the rest could be any loop.
"""

import argparse
import os

import gymnasium
import numpy as np

from cartridge_rl import Reporter
from cartridge_rl.gym import ReportEpisodes


def play(env, weights, seed):
    """The return of one episode, and its length."""
    seen, _ = env.reset(seed=seed)
    total, n_steps, is_over = 0.0, 0, False
    while not is_over:
        action = int(np.argmax(weights @ np.append(seen, 1.0)))
        seen, reward, terminated, truncated, _ = env.step(action)
        total, n_steps, is_over = total + reward, n_steps + 1, terminated or truncated
    return total, n_steps


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--env", default="CartPole-v1")
    parser.add_argument("--steps", type=int, default=30_000)
    seed = int(os.environ.get("CARTRIDGE_SEED", "0"))
    parser.add_argument("--seed", type=int, default=seed)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    env = gymnasium.make(args.env, render_mode="rgb_array")
    shape = (int(env.action_space.n), env.observation_space.shape[0] + 1)
    mean, deviation = np.zeros(shape), np.ones(shape)

    def save(folder):
        np.savez(folder / "policy.npz", mean=mean, deviation=deviation)

    def load(folder):
        nonlocal mean, deviation
        kept = np.load(folder / "policy.npz")
        mean, deviation = kept["mean"], kept["deviation"]

    lab = Reporter(
        args.env,
        algo="cem",
        seed=args.seed,
        total_timesteps=args.steps,
        settings={"elite_fraction": 0.2, "noise": 0.05},
        on_checkpoint=save,
        on_restore=load,
        checkpoint_every=10_000,
        frames=True,
    )
    env, step = ReportEpisodes(env, lab), lab.step
    while step < args.steps and lab.obey(step):
        tried = mean + deviation * rng.standard_normal((20, *shape))
        returns = np.empty(len(tried))
        for idx, weights in enumerate(tried):
            returns[idx], n_steps = play(env, weights, seed=int(rng.integers(2**31)))
            step += n_steps
        n_elite = max(2, int(lab.settings["elite_fraction"] * len(tried)))
        elite = tried[np.argsort(returns)[-n_elite:]]
        mean, deviation = elite.mean(axis=0), elite.std(axis=0) + lab.settings["noise"]
        lab.metrics(
            {"train/mean_return": returns.mean(), "train/deviation": deviation.mean()}, step=step
        )
    lab.checkpoint(step)
    lab.close()


if __name__ == "__main__":
    main()
