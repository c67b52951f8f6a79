"""PPO of Stable-Baselines3 under the lab: its own script, and one callback.

cartridge exec --env CartPole-v1 --name "SB3 PPO" -- python examples/sb3_ppo.py
python examples/sb3_ppo.py --env LunarLander-v3 --steps 500000     # by hand: a run as well
"""

import argparse
import os

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

from cartridge_rl.gym import RecordEpisodes
from cartridge_rl.sb3 import CartridgeCallback, export_policy


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--env", default="CartPole-v1")
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--n-envs", type=int, default=8)
    seed = int(os.environ.get("CARTRIDGE_SEED", "0"))
    parser.add_argument("--seed", type=int, default=seed)
    args = parser.parse_args()
    torch.set_num_threads(1)  # Networks this small are slower on several.
    # The wrapper keeps seeds and actions, so that every episode can be seen again.
    envs = make_vec_env(args.env, args.n_envs, seed=args.seed, wrapper_class=RecordEpisodes)
    model = PPO("MlpPolicy", envs, n_steps=256, seed=args.seed, device="cpu")
    callback = CartridgeCallback(checkpoint_every=20_000, on_export=export_policy)
    model.learn(args.steps, callback=callback)


if __name__ == "__main__":
    main()
