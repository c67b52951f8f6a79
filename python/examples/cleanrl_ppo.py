"""PPO on one page, in the manner of CleanRL, under the lab. Lines with `lab` are all it takes.

cartridge exec --env CartPole-v1 --name "PPO by hand" -- python examples/cleanrl_ppo.py
"""

import argparse
import os
import time

import gymnasium
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

from cartridge_rl import Reporter
from cartridge_rl.gym import RecordEpisodes, ReportVectorEpisodes


def layer(n_in, n_out, gain):
    linear = nn.Linear(n_in, n_out)
    nn.init.orthogonal_(linear.weight, gain)
    nn.init.zeros_(linear.bias)
    return linear


class Agent(nn.Module):
    def __init__(self, n_seen, n_actions):
        super().__init__()
        wide = 2**0.5

        def body():
            return [layer(n_seen, 64, wide), nn.Tanh(), layer(64, 64, wide), nn.Tanh()]

        self.actor = nn.Sequential(*body(), layer(64, n_actions, 0.01))
        self.critic = nn.Sequential(*body(), layer(64, 1, 1.0))


def advantages_of(rewards, values, dones, next_value, next_done, gamma, gae_lambda):
    """Generalised advantage estimation (Schulman et al. 2016), from the last step backwards."""
    advantages = torch.zeros_like(rewards)
    last = torch.zeros_like(next_value)
    for t in reversed(range(len(rewards))):
        is_last = t == len(rewards) - 1
        alive = 1.0 - (next_done if is_last else dones[t + 1])
        after = next_value if is_last else values[t + 1]
        delta = rewards[t] + gamma * after * alive - values[t]
        last = delta + gamma * gae_lambda * alive * last
        advantages[t] = last
    return advantages


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--env-id", default="CartPole-v1")
    parser.add_argument("--total-timesteps", type=int, default=100_000)
    parser.add_argument("--num-envs", type=int, default=8)
    parser.add_argument("--num-steps", type=int, default=128)
    seed = int(os.environ.get("CARTRIDGE_SEED", "1"))
    parser.add_argument("--seed", type=int, default=seed)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)  # Networks this small are slower on several.

    envs = gymnasium.make_vec(
        args.env_id, args.num_envs, vectorization_mode="sync", wrappers=(RecordEpisodes,)
    )
    agent = Agent(envs.single_observation_space.shape[0], int(envs.single_action_space.n))
    optimizer = torch.optim.Adam(agent.parameters(), lr=2.5e-4, eps=1e-5)

    def save(folder):
        state = {"agent": agent.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save(state, folder / "agent.pt")

    def load(folder):
        state = torch.load(folder / "agent.pt", weights_only=True)
        agent.load_state_dict(state["agent"])
        optimizer.load_state_dict(state["optimizer"])

    lab = Reporter(
        args.env_id,
        algo="ppo",
        seed=args.seed,
        total_timesteps=args.total_timesteps,
        settings={"learning_rate": 2.5e-4, "clip_range": 0.2, "ent_coef": 0.01},
        config=vars(args),
        on_checkpoint=save,
        on_restore=load,
        checkpoint_every=20_000,
    )
    envs = ReportVectorEpisodes(envs, lab)

    step, start, start_step = lab.step, time.time(), lab.step
    seen, _ = envs.reset(seed=args.seed)
    seen, done = torch.tensor(seen), torch.zeros(args.num_envs)
    while step < args.total_timesteps and lab.obey(step):
        # Play.
        rows = []
        for _ in range(args.num_steps):
            with torch.no_grad():
                choice = Categorical(logits=agent.actor(seen))
                action = choice.sample()
                value = agent.critic(seen).flatten()
            after, reward, terminated, truncated, _ = envs.step(action.numpy())
            reward = torch.tensor(reward, dtype=torch.float32)
            rows.append((seen, action, choice.log_prob(action), reward, done, value))
            seen = torch.tensor(after)
            done = torch.tensor(np.logical_or(terminated, truncated), dtype=torch.float32)
            step += args.num_envs
        observations, actions, log_probs, rewards, dones, values = map(
            torch.stack, zip(*rows, strict=True)
        )
        with torch.no_grad():
            next_value = agent.critic(seen).flatten()
        advantages = advantages_of(rewards, values, dones, next_value, done, 0.99, 0.95)
        returns = advantages + values

        # Learn, with what the lab may have tuned.
        for group in optimizer.param_groups:
            group["lr"] = lab.settings["learning_rate"]
        clip = lab.settings["clip_range"]
        batch = [
            part.flatten(0, 1) for part in (observations, actions, log_probs, advantages, returns)
        ]
        for _ in range(4):
            for picked in torch.randperm(len(batch[1])).chunk(4):
                seen_b, action_b, log_prob_b, advantage, return_b = (part[picked] for part in batch)
                choice = Categorical(logits=agent.actor(seen_b))
                ratio = (choice.log_prob(action_b) - log_prob_b).exp()
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                clipped = ratio.clamp(1 - clip, 1 + clip)
                policy_loss = -torch.min(advantage * ratio, advantage * clipped).mean()
                value_loss = 0.5 * (agent.critic(seen_b).flatten() - return_b).square().mean()
                entropy = choice.entropy().mean()
                loss = policy_loss + 0.5 * value_loss - lab.settings["ent_coef"] * entropy
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
        lab.metrics(
            {
                "losses/policy_loss": policy_loss.detach(),
                "losses/value_loss": value_loss.detach(),
                "losses/entropy": entropy.detach(),
                "charts/learning_rate": lab.settings["learning_rate"],
                "charts/SPS": (step - start_step) / (time.time() - start),
            },
            step=step,
        )
    lab.checkpoint(step)
    lab.close()


if __name__ == "__main__":
    main()
