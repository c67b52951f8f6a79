"""Fresh episodes of real Gymnasium, replayed by `cartridge trace` and compared to the last bit."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.box2d import bipedal_walker, lunar_lander

ROOT = Path(__file__).resolve().parents[2]
CARTRIDGE = ROOT / "target" / "release" / "cartridge"
BUNDLES = ROOT / "target" / "parity"
RUN_SEED = int(os.environ.get("PARITY_SEED") or np.random.SeedSequence().generate_state(1)[0])

MAX_STEPS = int(os.environ.get("PARITY_STEPS") or 10**9)
"""Of each case, when fewer are enough."""
WITHOUT_FMA = "-AVX2,-FMA"

Policy = Callable[[gymnasium.Env, np.ndarray, np.random.Generator], Any]


def random_action(env: gymnasium.Env, _: np.ndarray, rng: np.random.Generator) -> Any:
    space = env.action_space
    if isinstance(space, gymnasium.spaces.Discrete):
        return int(rng.integers(space.n))
    return rng.uniform(space.low, space.high).astype(np.float32)


def balance(_: gymnasium.Env, seen: np.ndarray, __: np.random.Generator) -> int:
    x, speed, angle, angular_speed = seen
    return int(angle + 0.3 * angular_speed + 0.05 * x + 0.1 * speed > 0)


def along(env: gymnasium.Env, seen: np.ndarray, rng: np.random.Generator) -> Any:
    """Pushes with the last speed, which ends episodes; beyond the bounds at times, to be clipped."""
    space, is_forward = env.action_space, seen[-1] >= 0
    if isinstance(space, gymnasium.spaces.Discrete):
        return int(space.n) - 1 if is_forward else 0
    strength = rng.uniform(0.5, 1.2, space.shape)
    return (np.where(is_forward, space.high, space.low) * strength).astype(np.float32)


def land(env: gymnasium.Env, seen: np.ndarray, _: np.random.Generator) -> Any:
    """Gymnasium's own pilot."""
    action = lunar_lander.heuristic(env.unwrapped, seen)
    return int(action) if np.ndim(action) == 0 else np.asarray(action, np.float32)


def hover(env: gymnasium.Env, seen: np.ndarray, rng: np.random.Generator) -> Any:
    """The pilot, who takes the ground to be higher than it is, until time is up."""
    higher = seen.copy()
    higher[1] -= 0.8
    return land(env, higher, rng)


def walk(env: gymnasium.Env, seen: np.ndarray, _: np.random.Generator) -> np.ndarray:
    """Gymnasium's own gait, begun anew with every episode."""
    if env.get_wrapper_attr("_elapsed_steps") == 0:
        env.unwrapped.gait = bipedal_walker.BipedalWalkerHeuristics()
    return np.asarray(env.unwrapped.gait.step_heuristic(seen), np.float32)


@dataclass(frozen=True)
class Case:
    env_id: str
    policy: Policy = random_action
    options: dict[str, Any] = field(default_factory=dict)
    ours: dict[str, Any] = field(default_factory=dict)
    """Options that Gymnasium does not have."""
    min_steps: int = 10_000
    n_episodes: int = 4
    """In one environment: the first is reset with a seed, the others carry the generator on."""
    reaches_limit: bool = False
    """Whether some episode must end by its time limit."""

    def __str__(self) -> str:
        options = "".join(f"-{key}={value}" for key, value in (self.options | self.ours).items())
        return f"{self.env_id}{options}-{self.policy.__name__}"


CASES = [
    Case("CartPole-v1", min_steps=30_000),
    Case("CartPole-v1", balance, min_steps=20_000),
    Case("CartPole-v1", options={"sutton_barto_reward": True}),
    Case("Acrobot-v1"),
    Case("Acrobot-v1", along),
    Case("MountainCar-v0"),
    Case("MountainCar-v0", along),
    Case("MountainCar-v0", along, {"goal_velocity": 0.03}),
    Case("MountainCarContinuous-v0"),
    Case("MountainCarContinuous-v0", along),
    Case("MountainCarContinuous-v0", along, {"goal_velocity": 0.03}),
    Case("Pendulum-v1"),
    Case("Pendulum-v1", along),
    Case("Pendulum-v1", options={"g": 9.81}),
    Case("LunarLander-v3", min_steps=60_000),
    Case("LunarLander-v3", land, min_steps=40_000),
    Case("LunarLander-v3", options={"continuous": True}, min_steps=30_000),
    Case("LunarLander-v3", land, {"continuous": True}, min_steps=30_000),
    Case("LunarLander-v3", options={"enable_wind": True}, min_steps=20_000),
    Case("LunarLander-v3", land, {"enable_wind": True, "gravity": -7.5, "wind_power": 19.0}),
    Case("LunarLander-v3", hover, n_episodes=2, min_steps=4_000, reaches_limit=True),
    # A shorter horizon than their own.
    Case("CartPole-v1", balance, {"max_episode_steps": 60}, min_steps=2_000, reaches_limit=True),
    Case("LunarLander-v3", options={"max_episode_steps": 50}, min_steps=4_000, reaches_limit=True),
    # A new world for every episode, as training has it; and one that is used again.
    Case("BipedalWalker-v3", n_episodes=1, min_steps=20_000),
    Case("BipedalWalker-v3", ours={"keep_world": True}, min_steps=20_000),
    Case("BipedalWalker-v3", walk, n_episodes=1, min_steps=20_000),
    Case("BipedalWalkerHardcore-v3", n_episodes=1, min_steps=20_000),
    Case("BipedalWalkerHardcore-v3", ours={"keep_world": True}, min_steps=20_000),
    Case("BipedalWalkerHardcore-v3", walk, ours={"keep_world": True}, min_steps=20_000),
]


@dataclass
class Episode:
    actions: list[Any] = field(default_factory=list)
    observations: list[list[float]] = field(default_factory=list)
    outcomes: list[tuple[float, bool, bool]] = field(default_factory=list)


def play(case: Case, env: gymnasium.Env, seed: int | None, rng: np.random.Generator) -> Episode:
    """One episode of real Gymnasium. Floats widen to doubles without loss."""
    episode = Episode()
    seen, _ = env.reset(seed=seed)
    episode.observations.append([float(x) for x in seen])
    is_over = False
    while not is_over:
        action = case.policy(env, seen, rng)
        seen, reward, terminated, truncated, _ = env.step(action)
        plain = action if isinstance(action, int) else [float(x) for x in np.ravel(action)]
        episode.actions.append(plain)
        episode.observations.append([float(x) for x in seen])
        episode.outcomes.append((float(reward), bool(terminated), bool(truncated)))
        is_over = terminated or truncated
    return episode


def trace(case: Case, seed: int, episodes: list[Episode], folder: Path) -> list[dict[str, Any]]:
    """The same seed and actions, here."""
    command = [str(CARTRIDGE), "trace", case.env_id, "--seed", str(seed), "--json"]
    for key, value in (case.options | case.ours).items():
        command += ["--set", f"{key}={json.dumps(value)}"]
    for number, episode in enumerate(episodes):
        path = folder / f"actions-{number}.json"
        path.write_text(json.dumps(episode.actions))
        command += ["--actions", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command} failed: {done.stderr}"
    return [json.loads(line) for line in done.stdout.splitlines()]


def first_difference(episodes: list[Episode], lines: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Where the two part, or nothing. Zeros of both signs and NaNs are told apart, too."""
    rest = iter(lines)
    for number, episode in enumerate(episodes):
        for step, observation in enumerate(episode.observations):
            line = next(rest, {})
            expected: dict[str, Any] = {"observation": observation}
            if step > 0:
                reward, terminated, truncated = episode.outcomes[step - 1]
                expected |= {"reward": reward, "terminated": terminated, "truncated": truncated}
            got = {key: line.get(key) for key in expected}
            if repr(got) != repr(expected):
                return {"episode": number, "step": step, "expected": expected, "got": got}
    surplus = next(rest, None)
    return surplus and {"episode": len(episodes), "step": 0, "expected": None, "got": surplus}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_equals_gymnasium(case: Case, tmp_path: Path) -> None:
    rng = np.random.default_rng([RUN_SEED, *str(case).encode()])
    n_steps = n_truncated = 0
    while n_steps < min(case.min_steps, MAX_STEPS):
        # Now and then one of two words.
        seed = int(rng.integers(2**63 if rng.random() < 0.25 else 2**31))
        env = gymnasium.make(case.env_id, **case.options)
        seeds = [seed] + [None] * (case.n_episodes - 1)
        episodes = [play(case, env, reset_seed, rng) for reset_seed in seeds]
        env.close()
        difference = first_difference(episodes, trace(case, seed, episodes, tmp_path))
        if difference:
            BUNDLES.mkdir(parents=True, exist_ok=True)
            bundle = BUNDLES / f"{case}-{seed}.json"
            facts = {"env": case.env_id, "options": case.options | case.ours, "seed": seed}
            actions = [episode.actions for episode in episodes]
            bundle.write_text(json.dumps(facts | difference | {"actions": actions}))
            pytest.fail(f"PARITY_SEED={RUN_SEED}: differs at {difference}; see {bundle}")
        n_steps += sum(len(episode.actions) for episode in episodes)
        n_truncated += sum(episode.outcomes[-1][2] for episode in episodes)
    assert n_truncated > 0 or not case.reaches_limit, "no episode reached its time limit"


@pytest.mark.skipif(WITHOUT_FMA in os.environ.get("GLIBC_TUNABLES", ""), reason="it is what runs")
def test_equals_gymnasium_without_fma() -> None:
    """A few episodes of each case on an older machine, as far as the C library can pretend one."""
    fewer = {"GLIBC_TUNABLES": f"glibc.cpu.hwcaps={WITHOUT_FMA}", "PARITY_STEPS": "1000"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    command += ["-k", "test_equals_gymnasium"]
    environment = os.environ | fewer | {"PARITY_SEED": str(RUN_SEED)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_difference_is_found(tmp_path: Path) -> None:
    """The comparison itself: one flipped bit is seen, and where."""
    env = gymnasium.make("CartPole-v1")
    episode = play(Case("CartPole-v1"), env, 1, np.random.default_rng(1))
    lines = trace(Case("CartPole-v1"), 1, [episode], tmp_path)
    assert first_difference([episode], lines) is None
    lines[3]["observation"][2] = float(np.nextafter(np.float32(lines[3]["observation"][2]), 9))
    difference = first_difference([episode], lines)
    assert difference is not None and (difference["episode"], difference["step"]) == (0, 3)


def test_random_actions_are_numpys() -> None:
    """`--policy random` draws what `numpy.random.default_rng` draws."""
    command = [str(CARTRIDGE), "trace", "CartPole-v1", "--policy", "random"]
    command += ["--policy-seed", "5", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    actions = [json.loads(line)["action"] for line in done.stdout.splitlines()[1:]]
    rng = np.random.default_rng(5)
    assert actions == [int(rng.integers(2)) for _ in actions]

