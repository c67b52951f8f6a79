"""Episodes that a real training recorded, repeated by real Gymnasium from seed and actions."""

import json
import subprocess
from pathlib import Path
from typing import Any

import gymnasium
import pytest

ROOT = Path(__file__).resolve().parents[2]
CARTRIDGE = ROOT / "target" / "release" / "cartridge"


def cartridge(data: Path, *args: str) -> list[dict[str, Any]]:
    command = [str(CARTRIDGE), *args, "--data", str(data), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command} failed: {done.stderr}"
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("env_id", ["CartPole-v1", "LunarLander-v3"])
def test_recorded_episodes_repeat_in_gymnasium(env_id: str, tmp_path: Path) -> None:
    run = cartridge(tmp_path, "train", env_id, "--algo", "ppo", "--seed", "3", "--steps", "20000")
    run_id = run[-1]["run_id"]
    best = cartridge(tmp_path, "episodes", run_id, "--sort", "return", "--limit", "1")
    longest = cartridge(tmp_path, "episodes", run_id, "--sort", "length", "--limit", "1")
    first = cartridge(tmp_path, "episodes", run_id, "--sort", "number", "--asc", "--limit", "1")
    assert first[0]["episode"] == 1
    for row in best + longest + first:
        *moments, episode = cartridge(tmp_path, "episode", run_id, str(row["episode"]))
        assert episode["matches"] and episode["env_id"] == env_id
        assert {key: episode[key] for key in row} == row

        env = gymnasium.make(env_id, **episode["options"])
        seen, _ = env.reset(seed=episode["seed"])
        assert repr(moments[0]["observation"]) == repr([float(x) for x in seen])
        total = 0.0
        for moment in moments[1:]:
            seen, reward, terminated, truncated, _ = env.step(moment["action"])
            total += float(reward)
            expected = {
                "observation": [float(x) for x in seen],
                "reward": float(reward),
                "terminated": bool(terminated),
                "truncated": bool(truncated),
            }
            # Zeros of both signs are told apart, too.
            assert repr({key: moment[key] for key in expected}) == repr(expected)
        env.close()
        assert (total, len(moments) - 1) == (episode["reward"], episode["length"])
        assert (terminated, truncated) == (episode["terminated"], episode["truncated"])
