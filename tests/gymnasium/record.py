"""Records episodes of Gymnasium for `conformance::replay_recording`: the `golden.txt` beside each environment.

    record.py              # all of them; nothing changes unless Gymnasium or this file has
    record.py Acrobot-v1   # those of one environment
"""

import json
import sys
import zlib
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.box2d.bipedal_walker import BipedalWalkerHeuristics
from gymnasium.envs.box2d.lunar_lander import heuristic

SOURCE = Path(__file__).resolve().parents[2] / "crates" / "cartridge-games" / "src"

HEAD = """\
# Episodes of {name} as Gymnasium {gymnasium} (NumPy {numpy}, Linux x86-64) plays them.
# `options` begins a new environment. `seed` resets it (`none` carries the generator on) and says how
# the episode ends. Then the first observation, and for each step its action, its reward (bits of the
# f64) and its observation (bits of each f32, or # and the CRC-32 of its bytes). An action is an index,
# or its numbers with commas (bits of each f32 without the zeros at their end).
"""

# File: environment and, for each set of options, its episodes as `seed:policy`. The policies are
# `random`, `held` (random, each action for three steps), `alongN` (with the sign of observation N),
# `still`, `balance` (Cart Pole), `land` and `walk` (Gymnasium's own). `:crc` keeps checksums only.
RECORDINGS: dict[str, tuple[str, list[tuple[dict[str, Any], str]]]] = {
    "cart_pole/golden.txt": ("CartPole-v1", [({}, "0:random 7:random 15:balance 21:still none:random")]),
    "acrobot/golden.txt": ("Acrobot-v1", [({}, "0:random 7:along5 none:along5")]),
    "mountain_car/golden.txt": ("MountainCar-v0", [({}, "0:random 7:along1 none:along1")]),
    "mountain_car_continuous/golden.txt": (
        "MountainCarContinuous-v0",
        [({}, "3:random 7:along1 none:along1")],
    ),
    "pendulum/golden.txt": ("Pendulum-v1", [({}, "0:held none:along2")]),
    "lunar_lander/golden.txt": (
        "LunarLander-v3",
        [
            ({}, "1:random none:random 0:land:crc 7:land:crc"),
            ({"continuous": True}, "2:land:crc none:random"),
            ({"enable_wind": True, "gravity": -9.0, "wind_power": 18.5}, "3:land:crc none:land:crc"),
        ],
    ),
    "bipedal_walker/golden.txt": (
        "BipedalWalker-v3",
        [
            ({}, "2:random 3:walk:crc"),
            ({"keep_world": True}, "4:random:crc none:random:crc 3:random:crc"),
        ],
    ),
    "bipedal_walker/hardcore.txt": (
        "BipedalWalkerHardcore-v3",
        [
            ({}, "0:random 5:walk:crc"),
            ({"keep_world": True}, "6:walk:crc none:walk:crc 7:walk:crc 8:random:crc"),
        ],
    ),
}


class Policy:
    """Chooses the actions of one episode."""

    def __init__(self, name: str, env: gymnasium.Env) -> None:
        self.name = name
        self.env = env
        self.rng = np.random.default_rng(1)
        self.index = 0
        self.last: Any = None
        self.walker = BipedalWalkerHeuristics()
        # A list that all of them share.
        self.walker.a = np.zeros(4)

    def __call__(self, seen: np.ndarray) -> Any:
        if self.name != "held" or self.index % 3 == 0:
            self.last = self.choose(seen)
        self.index += 1
        return self.last

    def choose(self, seen: np.ndarray) -> Any:
        space = self.env.action_space
        is_discrete = isinstance(space, gymnasium.spaces.Discrete)
        if self.name == "still":
            return 0 if is_discrete else np.zeros(space.shape, np.float32)
        if self.name == "balance":
            x, speed, angle, angular_speed = seen
            return int(angle + 0.3 * angular_speed + 0.05 * x + 0.1 * speed > 0)
        if self.name in ("land", "walk"):
            is_landing = self.name == "land"
            action = heuristic(self.env.unwrapped, seen) if is_landing else self.walker.step_heuristic(seen)
            # Rounded, so that it is short when written down.
            return int(action) if is_discrete else np.clip(np.round(np.multiply(action, 8)) / 8, -1, 1).astype("f4")
        if self.name.startswith("along"):
            is_forward = seen[int(self.name.removeprefix("along"))] >= 0
            if is_discrete:
                return int(space.n) - 1 if is_forward else 0
            strength = self.rng.uniform(0.5, 1.2, space.shape).astype("f4")
            return np.where(is_forward, space.high, space.low) * strength
        assert self.name in ("random", "held"), f"no policy: {self.name}"
        if is_discrete:
            return int(self.rng.integers(space.n))
        # A little beyond the bounds, so that clipping is recorded too.
        return self.rng.uniform(1.2 * space.low, 1.2 * space.high).astype("f4")


def floats(numbers: np.ndarray) -> list[str]:
    assert numbers.dtype == np.float32
    return [f"{bits:08x}" for bits in numbers.view(np.uint32)]


def action_text(action: Any) -> str:
    if isinstance(action, int):
        return str(action)
    return ",".join(word.rstrip("0") or "0" for word in floats(action))


def episode(env: gymnasium.Env, seed: str, policy: str, form: str = "full") -> str:
    def show(seen: np.ndarray) -> str:
        return " ".join(floats(seen)) if form == "full" else f"#{zlib.crc32(seen.tobytes()):08x}"

    choose = Policy(policy, env)
    seen, _ = env.reset(seed=None if seed == "none" else int(seed))
    lines, ends = [show(seen)], []
    while not ends:
        action = choose(seen)
        seen, reward, terminated, truncated, _ = env.step(action)
        lines.append(f"{action_text(action)} {np.float64(reward).view(np.uint64):016x} {show(seen)}")
        ends = [end for end, is_so in [("terminated", terminated), ("truncated", truncated)] if is_so]
    return "\n".join([" ".join(["seed", seed, *ends]), *lines, ""])


def record(file: str, name: str, parts: list[tuple[dict[str, Any], str]]) -> None:
    text = [HEAD.format(name=name, gymnasium=gymnasium.__version__, numpy=np.__version__)]
    for options, episodes in parts:
        text.append(f"options {json.dumps(options)}\n")
        theirs = {key: value for key, value in options.items() if key != "keep_world"}
        env = gymnasium.make(name, **theirs)
        for words in episodes.split():
            seed, *rest = words.split(":")
            # A walker of ours has a new world in every episode, unless it is told to keep it.
            if name.startswith("Bipedal") and seed != "none" and "keep_world" not in options:
                env = gymnasium.make(name, **theirs)
            text.append(episode(env, seed, *rest))
    (SOURCE / file).write_text("\n".join(text))
    n_steps = sum(len(part.splitlines()) - 2 for part in text if part.startswith("seed "))
    print(f"{file}: {n_steps} steps")


if __name__ == "__main__":
    for file, (name, parts) in RECORDINGS.items():
        if name in sys.argv[1:] or len(sys.argv) == 1:
            record(file, name, parts)
