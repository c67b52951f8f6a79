"""Records episodes of Gymnasium in the form of `conformance::replay_recording`.

    record.py Acrobot-v1 0:random 7:along4 none:random > crates/cartridge-games/src/acrobot/golden.txt

An episode is the seed of its reset (`none` carries the generator on) and how its actions are chosen:
`random`, `held` (random, each for three steps), or `alongN` (with the sign of observation N).
"""

import struct
import sys

import gymnasium
import numpy


def bits(number, kind):
    return struct.pack(">" + kind, number).hex()


def choose(space, policy, observation, index, last, rng):
    if policy == "held" and index % 3:
        return last
    if policy.startswith("along"):
        is_forward = observation[int(policy.removeprefix("along"))] >= 0
        if isinstance(space, gymnasium.spaces.Discrete):
            return int(space.n) - 1 if is_forward else 0
        return numpy.where(is_forward, space.high, space.low) * rng.uniform(0.5, 1.2, space.shape).astype("f4")
    if isinstance(space, gymnasium.spaces.Discrete):
        return int(rng.integers(space.n))
    # A little beyond the bounds, so that clipping is recorded too.
    return rng.uniform(1.2 * space.low, 1.2 * space.high).astype("f4")


def episode(env, seed, policy, rng):
    observation, _ = env.reset(seed=None if seed == "none" else int(seed))
    rows = [[bits(x, "f") for x in observation]]
    actions, action, reward = [], None, None
    while True:
        action = choose(env.action_space, policy, observation, len(actions), action, rng)
        actions.append(action)
        before = reward
        observation, reward, terminated, truncated, _ = env.step(action)
        assert observation.dtype == numpy.float32
        row = [bits(x, "f") for x in observation]
        rows.append(row if reward == before else [*row, bits(float(reward), "d")])
        if terminated or truncated:
            break
    ends = [name for name, is_so in [("terminated", terminated), ("truncated", truncated)] if is_so]
    if isinstance(env.action_space, gymnasium.spaces.Discrete):
        taken = "".join(map(str, actions))
    else:
        taken = " ".join(bits(x, "f") for action in actions for x in action)
    return "\n".join([" ".join(["seed", seed, *ends]), taken, *map(" ".join, rows)]), len(actions)


def main(name, *episodes):
    env = gymnasium.make(name)
    rng = numpy.random.default_rng(0)
    versions = f"Gymnasium {gymnasium.__version__} (NumPy {numpy.__version__}, Linux x86-64)"
    print(f"# Episodes of {name} as {versions} plays them.")
    print("# Its form is that of `conformance::replay_recording`.")
    n_steps = 0
    for title in episodes:
        text, length = episode(env, *title.split(":"), rng)
        n_steps += length
        print(f"\n{text}")
    print(f"{n_steps} steps", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
