"""Environments of Gymnasium whose episodes are told with seed, actions and rewards.

`ReportEpisodes(env, reporter)` is for one environment, `ReportVectorEpisodes(envs, reporter)` for a
vector of them. Both find what `RecordEpisodes` leaves in `info` at the end of an episode, which
also reaches them from environments in other processes. A vector of environments that cannot be
wrapped one by one is counted here instead; then seeds are known of the first episodes at most.

An episode can be stepped again, by Gymnasium and by `cartridge trace`, if the environment depends
on nothing but its seed and actions. So every episode gets a seed of its own: the one that is given
to `reset`, or one that is drawn from the last given one. `seeds=False` leaves resets as they are.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, SupportsFloat

import gymnasium
import numpy as np
from gymnasium.core import ActType, ObsType
from gymnasium.vector import (
    AsyncVectorEnv,
    SyncVectorEnv,
    VectorEnv,
    VectorWrapper,
)
from gymnasium.vector.utils import iterate

from cartridge_rl import lines
from cartridge_rl.reporter import Reporter

# Where an episode that has ended is found in `info`.
KEY = "cartridge_episode"

# A longer episode is told by its return and length alone.
MAX_STEPS = 1_000_000


@dataclass
class Episode:
    """An episode, as far as it has come."""

    seed: int | None = None
    total: float = 0.0
    n_steps: int = 0
    actions: list[Any] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    terminated: bool = False
    truncated: bool = False

    def add(self, action: Any, reward: float, terminated: bool, truncated: bool) -> None:
        """One step. Rewards are added in order, as the lab does when it steps it again."""
        self.total += reward
        self.n_steps += 1
        if self.n_steps <= MAX_STEPS:
            self.actions.append(action)
            self.rewards.append(reward)
        elif self.actions:
            self.actions, self.rewards = [], []
        self.terminated, self.truncated = terminated, truncated

    def report(self, reporter: Reporter, step: int | None = None) -> None:
        """Tells the lab."""
        reporter.episode(
            self.total,
            self.n_steps,
            seed=self.seed,
            terminated=self.terminated,
            truncated=self.truncated,
            actions=self.actions or None,
            rewards=self.rewards or None,
            step=step,
        )


class RecordEpisodes(
    gymnasium.Wrapper[ObsType, ActType, ObsType, ActType], gymnasium.utils.RecordConstructorArgs
):
    """Leaves every episode that ends in `info["cartridge_episode"]`.

    Wrap the environment itself, inside whatever changes actions: what is recorded is what the
    environment was given.
    """

    def __init__(self, env: gymnasium.Env[ObsType, ActType], seeds: bool = True) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(self, seeds=seeds)
        super().__init__(env)
        self._seeds = seeds
        self._source = random.Random()
        self._episode = Episode()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ObsType, dict[str, Any]]:
        """Begins an episode, with a seed of its own."""
        if seed is not None:
            self._source.seed(seed)
        elif self._seeds:
            seed = self._source.getrandbits(31)
        # Options may change where it begins, which a seed alone does not say.
        self._episode = Episode(None if options else seed)
        return self.env.reset(seed=seed, options=options)

    def step(self, action: ActType) -> tuple[ObsType, SupportsFloat, bool, bool, dict[str, Any]]:
        """One step; the last one of an episode has it in `info`."""
        told = lines.action(action)
        seen, reward, terminated, truncated, info = self.env.step(action)
        self._episode.add(told, float(reward), bool(terminated), bool(truncated))
        if terminated or truncated:
            info = {**info, KEY: self._episode}
        return seen, reward, terminated, truncated, info


class ReportEpisodes(gymnasium.Wrapper[ObsType, ActType, ObsType, ActType]):
    """Tells every episode of one environment, and shows it to whoever watches. In a loop that never
    calls `obey`, it pauses, tunes, saves and ends here, between two steps.

    Pictures need `render_mode="rgb_array"`.
    """

    def __init__(
        self, env: gymnasium.Env[ObsType, ActType], reporter: Reporter, seeds: bool = True
    ) -> None:
        super().__init__(env if is_recorded(env) else RecordEpisodes(env, seeds))
        self._reporter = reporter
        self._n_steps, self._total = 0, 0.0
        self._can_show = env.render_mode == "rgb_array"

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ObsType, dict[str, Any]]:
        """Begins an episode."""
        self._n_steps, self._total = 0, 0.0
        return self.env.reset(seed=seed, options=options)

    def step(self, action: ActType) -> tuple[ObsType, SupportsFloat, bool, bool, dict[str, Any]]:
        """One step, told when it is the last one."""
        self._reporter.obey_in_step()
        outcome = self.env.step(action)
        self._n_steps += 1
        self._total += float(outcome[1])
        episode = outcome[4].get(KEY)
        if episode is not None:
            episode.report(self._reporter)
        if self._can_show and self._reporter.is_watched:
            self._reporter.frame(self.env.render, step=self._n_steps, reward=self._total)
        return outcome


def is_recorded(env: gymnasium.Env[Any, Any]) -> bool:
    """Whether there is a `RecordEpisodes` around it already."""
    layer: Any = env
    while isinstance(layer, gymnasium.Wrapper):
        if isinstance(layer, RecordEpisodes):
            return True
        layer = layer.env
    return False


class ReportVectorEpisodes(VectorWrapper, Generic[ObsType, ActType]):
    """Tells every episode of a vector of environments, shows the first of them, and obeys as
    `ReportEpisodes` does.

    For seeds of all episodes make it with `gymnasium.make_vec(id, 8, wrappers=(RecordEpisodes,))`,
    or wrap each environment by hand; else only the first episode of each has a known seed.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], reporter: Reporter) -> None:
        super().__init__(env)
        self._reporter = reporter
        # `AutoresetMode.NEXT_STEP`, which Gymnasium 1.0 does without saying so.
        mode = env.metadata.get("autoreset_mode")
        self._resets_by_a_step = getattr(mode, "value", mode) in (None, "NextStep")
        self._lanes = [Episode() for _ in range(self.num_envs)]
        self._is_over = np.zeros(self.num_envs, dtype=bool)
        self._is_recorded = False
        # Any other vector spends a seed on all of its environments together.
        self._has_seeds = isinstance(env.unwrapped, (SyncVectorEnv, AsyncVectorEnv))
        self._can_show = env.render_mode == "rgb_array"
        # Of the first environment, which is the one that is shown.
        self._n_steps, self._total, self._has_ended = 0, 0.0, False

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins episodes in all environments, or in those that `options["reset_mask"]` names."""
        mask = (options or {}).get("reset_mask", np.ones(self.num_envs, dtype=bool))
        seeds: list[int | None] = [None] * self.num_envs
        if not self._has_seeds:
            pass
        elif isinstance(seed, int):
            seeds = [seed + lane for lane in range(self.num_envs)]
        elif seed is not None:
            seeds = list(seed)
        for lane in np.flatnonzero(mask):
            self._lanes[lane] = Episode(seeds[lane])
            self._is_over[lane] = False
        if mask[0]:
            self._n_steps, self._total, self._has_ended = 0, 0.0, False
        # Gymnasium's vectors take a list too; only their signature does not say so.
        return self.env.reset(seed=seed, options=options)  # type: ignore[arg-type]

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """One step of each; those that end are told."""
        self._reporter.obey_in_step()
        if not self._is_recorded:
            # Copied before: an environment may write into its arrays.
            told = list(map(lines.action, iterate(self.action_space, actions)))
        outcome = self.env.step(actions)
        _, rewards, terminated, truncated, infos = outcome
        for _, episode in recorded_in(infos):
            self._is_recorded = True
            episode.report(self._reporter)
        if not self._is_recorded:
            self._count(told, rewards, terminated, truncated)
        self._show(float(rewards[0]), bool(terminated[0] or truncated[0]))
        return outcome

    def _show(self, reward: float, is_over: bool) -> None:
        """A picture of the first environment, if somebody watches."""
        if self._has_ended:
            self._n_steps, self._total = 0, 0.0
        # With this mode a step after the end only resets.
        if not (self._has_ended and self._resets_by_a_step):
            self._n_steps += 1
            self._total += reward
        self._has_ended = is_over
        if self._can_show and self._reporter.is_watched:
            self._reporter.frame(self._picture, step=self._n_steps, reward=self._total)

    def _picture(self) -> Any:
        # Only one is shown, so only one is drawn where they are at hand.
        envs = getattr(self.env.unwrapped, "envs", None)
        return envs[0].render() if envs else (self.env.render() or (None,))[0]

    def _count(self, actions: list[Any], rewards: Any, terminated: Any, truncated: Any) -> None:
        """Keeps the episodes of environments that do not record them."""
        for lane in range(self.num_envs):
            if self._is_over[lane]:
                self._lanes[lane], self._is_over[lane] = Episode(), False
                # With this mode a step after the end only resets, whatever the action.
                if self._resets_by_a_step:
                    continue
            episode = self._lanes[lane]
            is_terminated, is_truncated = bool(terminated[lane]), bool(truncated[lane])
            episode.add(actions[lane], float(rewards[lane]), is_terminated, is_truncated)
            if is_terminated or is_truncated:
                self._is_over[lane] = True
                episode.report(self._reporter)


def recorded_in(infos: dict[str, Any]) -> Iterator[tuple[int, Episode]]:
    """The episodes that ended in this step, with the number of their environment."""
    final = infos.get("final_info")
    for place in (infos, final if isinstance(final, dict) else {}):
        for lane, episode in enumerate(place.get(KEY, ())):
            if isinstance(episode, Episode):
                yield lane, episode
