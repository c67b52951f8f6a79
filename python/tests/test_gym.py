"""Episodes that Gymnasium's environments are told by, and stepped again by."""

import json
import subprocess

import gymnasium
import numpy as np
import pytest
from conftest import BINARY
from gymnasium.vector import AutoresetMode

from cartridge_rl import Reporter
from cartridge_rl.gym import RecordEpisodes, ReportEpisodes, ReportVectorEpisodes


def episodes_of(lines):
    """The episodes that were told, each with its steps."""
    steps, episodes = {}, []
    for line in lines:
        if line["type"] == "step":
            steps.setdefault(line["episode_id"], []).append(line)
        elif line["type"] == "episode":
            episodes.append((line, steps.pop(line["episode_id"])))
    return episodes


def check_again(env_id, episode, steps, **options):
    """The same seed and actions, in a fresh environment of Gymnasium."""
    env = gymnasium.make(env_id, **options)
    env.reset(seed=episode["seed"])
    total = 0.0
    for step in steps:
        action = step["action"]
        if isinstance(action, list):
            action = np.array(action, dtype=env.action_space.dtype)
        _, reward, terminated, truncated, _ = env.step(action)
        assert float(reward) == step["reward"]
        assert (terminated, truncated) == (step["terminated"], step["truncated"])
        total += float(reward)
    assert terminated or truncated
    assert (total, len(steps)) == (episode["return"], episode["steps"])


def test_one_environment(spool):
    with Reporter("CartPole-v1") as lab:
        env = ReportEpisodes(gymnasium.make("CartPole-v1"), lab)
        env.action_space.seed(1)
        for idx in range(10):
            env.reset(seed=3 if idx == 0 else None)
            is_over = False
            while not is_over:
                *_, terminated, truncated, _ = env.step(env.action_space.sample())
                is_over = terminated or truncated
        assert lab.step > 0
    episodes = episodes_of(spool())
    seeds = [episode["seed"] for episode, _ in episodes]
    assert len(episodes) == 10 and seeds[0] == 3 and len(set(seeds)) == 10
    for episode, steps in episodes:
        check_again("CartPole-v1", episode, steps)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("wrappers", [(), (RecordEpisodes,)])
def test_a_vector_of_environments(spool, mode, kind, wrappers):
    with Reporter("CartPole-v1") as lab:
        envs = gymnasium.make_vec(
            "CartPole-v1",
            3,
            vectorization_mode=kind,
            wrappers=wrappers,
            vector_kwargs={"autoreset_mode": mode},
        )
        envs = ReportVectorEpisodes(envs, lab)
        envs.action_space.seed(2)
        envs.reset(seed=5)
        n_ended = 0
        for _ in range(100):
            _, _, terminated, truncated, _ = envs.step(envs.action_space.sample())
            n_ended += int(np.logical_or(terminated, truncated).sum())
        envs.close()
    episodes = episodes_of(spool())
    assert len(episodes) == n_ended > 6
    known = [(episode, steps) for episode, steps in episodes if "seed" in episode]
    # Whoever resets inside a vector says no seeds, unless every environment is wrapped.
    assert len(known) == (n_ended if wrappers else 3)
    for episode, steps in known:
        check_again("CartPole-v1", episode, steps)
    for episode, steps in episodes:
        assert episode["steps"] == len(steps) == episode["return"]


def test_a_vector_of_one_piece_has_no_seeds_of_single_episodes(spool):
    with Reporter("CartPole-v1") as lab:
        envs = gymnasium.make_vec("CartPole-v1", 3, vectorization_mode="vector_entry_point")
        envs = ReportVectorEpisodes(envs, lab)
        envs.action_space.seed(2)
        envs.reset(seed=5)
        n_ended = 0
        for _ in range(100):
            _, _, terminated, truncated, _ = envs.step(envs.action_space.sample())
            n_ended += int(np.logical_or(terminated, truncated).sum())
    episodes = episodes_of(spool())
    assert len(episodes) == n_ended > 6
    for episode, steps in episodes:
        assert "seed" not in episode
        assert episode["steps"] == len(steps) == episode["return"]


def test_a_vector_that_is_reset_by_hand(spool):
    with Reporter("CartPole-v1") as lab:
        options = {"autoreset_mode": AutoresetMode.DISABLED}
        envs = gymnasium.make_vec("CartPole-v1", 2, "sync", vector_kwargs=options)
        envs = ReportVectorEpisodes(envs, lab)
        envs.action_space.seed(2)
        envs.reset(seed=[5, 9])
        for idx in range(60):
            _, _, terminated, truncated, _ = envs.step(envs.action_space.sample())
            over = np.logical_or(terminated, truncated)
            if over.any():
                envs.reset(seed=[100 + idx, 200 + idx], options={"reset_mask": over})
    episodes = episodes_of(spool())
    assert len(episodes) >= 2
    for episode, steps in episodes:
        check_again("CartPole-v1", episode, steps)


def test_what_changes_actions_stays_outside(spool):
    with Reporter("Pendulum-v1") as lab:
        env = ReportEpisodes(gymnasium.make("Pendulum-v1"), lab)
        env = gymnasium.wrappers.RescaleAction(env, -1.0, 1.0)
        env.reset(seed=4)
        is_over = False
        while not is_over:
            *_, is_over, _ = env.step(np.array([0.5], dtype=np.float32))
    ((episode, steps),) = episodes_of(spool())
    assert steps[0]["action"] == [1.0]
    check_again("Pendulum-v1", episode, steps)


def test_a_start_that_options_change_has_no_seed(spool):
    with Reporter("CartPole-v1") as lab:
        env = ReportEpisodes(gymnasium.make("CartPole-v1"), lab)
        env.reset(seed=4, options={"low": -0.01, "high": 0.01})
        while not env.step(0)[2]:
            pass
    ((episode, _),) = episodes_of(spool())
    assert "seed" not in episode


@pytest.mark.parametrize(
    ("env_id", "options"),
    [("CartPole-v1", {}), ("LunarLander-v3", {"continuous": True}), ("BipedalWalker-v3", {})],
)
def test_the_lab_keeps_what_it_takes_to_step_it_again(lab, env_id, options):
    """From the run's files, in our own environments, bit for bit."""
    script = lab.script(
        "import gymnasium\n"
        "from cartridge_rl import Reporter\n"
        "from cartridge_rl.gym import ReportEpisodes\n"
        f"lab = Reporter({env_id!r})\n"
        f"env = ReportEpisodes(gymnasium.make({env_id!r}, **{options!r}), lab)\n"
        "env.action_space.seed(1)\n"
        "for idx in range(2):\n"
        "    env.reset(seed=11 if idx == 0 else None)\n"
        "    over = False\n"
        "    while not over:\n"
        "        *_, a, b, _ = env.step(env.action_space.sample())\n"
        "        over = a or b\n"
    )
    run = lab.exec(script, env_id=env_id)
    listed = {line["episode"]: line for line in lab.cartridge("episodes", run) if "episode" in line}
    assert listed[1]["seed"] == 11
    for number in (1, 2):
        moments = [line for line in lab.cartridge("episode", run, number) if "action" in line]
        actions = lab.folder / "actions.json"
        actions.write_text(json.dumps([moment["action"] for moment in moments]))
        settings = [f"--set={key}={json.dumps(value)}" for key, value in options.items()]
        command = [BINARY, "trace", env_id, "--seed", str(listed[number]["seed"]), *settings]
        traced = subprocess.run(
            [*command, "--actions", str(actions), "--json"], capture_output=True, text=True
        )
        assert traced.returncode == 0, traced.stderr
        again = [json.loads(line) for line in traced.stdout.splitlines()]
        again = [line for line in again if "reward" in line]
        assert [line["reward"] for line in again] == [moment["reward"] for moment in moments]
        assert again[-1]["terminated"] or again[-1]["truncated"]
