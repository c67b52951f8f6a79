"""Records what Gymnasium does, for the golden tests: `python record.py` in this folder.

Needs gymnasium[box2d]==1.4.0. The form of the files is explained at their top.
"""

import json
import zlib
from pathlib import Path

import gymnasium
import numpy as np
from gymnasium.envs.box2d.bipedal_walker import BipedalWalkerHeuristics
from gymnasium.envs.box2d.lunar_lander import heuristic

SOURCE = Path(__file__).parent.parent / "src"
HEAD = """\
# Episodes of {id} as Gymnasium {version} (NumPy {numpy}, Linux x86-64) plays them.
# `options` begins a new environment. `seed` resets it (`none` carries the generator on) and says how
# the episode ended and whether observations are given in full or as a CRC-32 of their bytes.
# Then the first observation, and for each step its action, the bits of its reward (f64), and its
# observation (bits of each f32). A discrete action is a digit; a number of a continuous one a letter
# from A (-1) to Q (1) in steps of 1/8.
"""


def land(env, seen, rng):
    return heuristic(env, seen)


def walk():
    """The heuristic walker of Gymnasium, which keeps its state in its class."""
    walker = BipedalWalkerHeuristics()
    walker.a = np.zeros(4)
    return lambda env, seen, rng: walker.step_heuristic(seen)


def chance(env, seen, rng):
    space = env.action_space
    if isinstance(space, gymnasium.spaces.Box):
        return rng.uniform(-1.0, 1.0, space.shape)
    return int(rng.integers(space.n))


def episode(env, seed, policy, form):
    seen, _ = env.reset(seed=seed)
    show = (lambda x: f"#{zlib.crc32(x.tobytes()):08x}") if form == "crc" else (
        lambda x: " ".join(f"{bits:08x}" for bits in x.view(np.uint32)))
    rng = np.random.Generator(np.random.PCG64(1))
    lines, end = [show(seen)], None
    while end is None:
        action = policy(env, seen, rng)
        if isinstance(env.action_space, gymnasium.spaces.Box):
            eighths = np.clip(np.round(np.asarray(action) * 8), -8, 8).astype(int)
            action, text = (eighths / 8).astype(np.float32), "".join(chr(73 + k) for k in eighths)
        else:
            action, text = int(action), str(int(action))
        seen, reward, terminated, truncated, _ = env.step(action)
        bits = np.float64(reward).view(np.uint64)
        lines.append(f"{text} {bits:016x} {show(seen)}")
        if terminated or truncated:
            end = "terminated" if terminated else "truncated"
    title = f"seed {'none' if seed is None else seed} {end} {form}"
    return "\n".join([title, *lines, ""])


def record(name, id, parts):
    head = HEAD.format(id=id, version=gymnasium.__version__, numpy=np.__version__)
    text = [head]
    for options, episodes in parts:
        env = gymnasium.make(id, **{k: v for k, v in options.items() if k != "keep_world"})
        text.append(f"options {json.dumps(options)}\n")
        for seed, policy, form in episodes:
            if not options.get("keep_world") and "Bipedal" in id and seed is not None:
                env = gymnasium.make(id)
            text.append(episode(env, seed, policy, form))
    (SOURCE / name / f"{'hardcore' if 'Hardcore' in id else 'golden'}.txt").write_text("\n".join(text))


record("lunar_lander", "LunarLander-v3", [
    ({}, [(1, chance, "full"), (None, chance, "full"), (0, land, "crc"), (7, land, "crc")]),
    ({"continuous": True}, [(2, land, "crc"), (None, chance, "full")]),
    ({"enable_wind": True, "gravity": -9.0, "wind_power": 18.5}, [(3, land, "crc"), (None, land, "crc")]),
])
record("bipedal_walker", "BipedalWalker-v3", [
    ({}, [(2, chance, "full"), (3, walk(), "crc")]),
    ({"keep_world": True}, [(4, chance, "crc"), (None, chance, "crc"), (3, chance, "crc")]),
])
record("bipedal_walker", "BipedalWalkerHardcore-v3", [
    ({}, [(0, chance, "full"), (5, walk(), "crc")]),
    ({"keep_world": True}, [(6, walk(), "crc"), (None, walk(), "crc"), (7, walk(), "crc"), (8, chance, "crc")]),
])
