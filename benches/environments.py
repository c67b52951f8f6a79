"""Environment steps per second: Cartridge beside Gymnasium and EnvPool, one after the other.

Random actions, episodes that end begin again. Each contender runs alone, in turns, several rounds;
the median round counts. Prints a table and, as the last line, one JSON object.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import time
import warnings
from pathlib import Path

import envpool
import gymnasium
import numpy as np

warnings.filterwarnings("ignore")
CARTRIDGE = Path(__file__).resolve().parents[1] / "target" / "release" / "cartridge"
IDS = ["CartPole-v1", "LunarLander-v3", "BipedalWalker-v3", "BipedalWalkerHardcore-v3"]


def cartridge(env_id: str, threads: int, envs: int, seconds: float) -> float:
    command = [str(CARTRIDGE), "bench", "throughput", "--env", env_id, "--mode", "env-only"]
    command += ["--envs", str(envs), "--threads", str(threads), "--seconds", str(seconds)]
    command += ["--target", "0", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])["steps_per_sec"]["mean"]


def one_gymnasium(env_id: str, seconds: float) -> float:
    env = gymnasium.make(env_id)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    space = env.action_space
    if isinstance(space, gymnasium.spaces.Discrete):
        actions = [int(action) for action in rng.integers(space.n, size=4096)]
    else:
        actions = list(rng.uniform(space.low, space.high, (4096, *space.shape)).astype(np.float32))
    n_steps, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds:
        for action in actions[:256]:
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
        n_steps += 256
    return n_steps / elapsed


def envpool_batch(env_id: str, envs: int, batch: int, seconds: float) -> float:
    """EnvPool with two threads: in lock-step when `batch` is `envs`, else its asynchronous mode."""
    pool = envpool.make(env_id, env_type="gymnasium", num_envs=envs, batch_size=batch, num_threads=2)
    rng = np.random.default_rng(0)
    space = pool.action_space
    if isinstance(space, gymnasium.spaces.Discrete):
        actions = rng.integers(space.n, size=(64, batch))
    else:
        actions = rng.uniform(-1, 1, (64, batch, *space.shape)).astype(np.float32)
    pool.async_reset()
    for _ in range(envs // batch):
        info = pool.recv()[-1]
        pool.send(actions[0], info["env_id"])
    n_steps, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds:
        for chosen in actions:
            info = pool.recv()[-1]
            pool.send(chosen, info["env_id"])
        n_steps += 64 * batch
    return n_steps / elapsed


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":")[1].strip() for line in lines if "model name" in line), "?")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--envs", type=int, default=256, help="environments side by side")
    arguments = parser.parse_args()
    seconds, envs = arguments.seconds, arguments.envs
    rows = []
    for env_id in IDS:
        contenders = {
            "cartridge_2": lambda: cartridge(env_id, 2, envs, seconds),
            "cartridge_1": lambda: cartridge(env_id, 1, envs, seconds),
            "gymnasium_1": lambda: one_gymnasium(env_id, seconds),
            "envpool_sync": lambda: envpool_batch(env_id, envs, envs, seconds),
            "envpool_async": lambda: envpool_batch(env_id, envs, envs // 4, seconds),
        }
        rounds = [{name: run() for name, run in contenders.items()} for _ in range(arguments.rounds)]
        median = {name: statistics.median(one[name] for one in rounds) for name in contenders}
        best_envpool = max(median["envpool_sync"], median["envpool_async"])
        row = {"env": env_id, **{name: round(rate) for name, rate in median.items()}}
        row["against_envpool"] = round(median["cartridge_2"] / best_envpool, 1)
        row["per_core_against_gymnasium"] = round(
            median["cartridge_1"] / median["gymnasium_1"], 1
        )
        rows.append(row)
        print(
            f"{env_id:26} {row['cartridge_2']:>11,} steps/s on 2 threads,"
            f" {row['against_envpool']}x EnvPool ({best_envpool:,.0f});"
            f" one thread {row['cartridge_1']:,}, {row['per_core_against_gymnasium']}x one"
            f" Gymnasium environment ({row['gymnasium_1']:,})",
            flush=True,
        )
    machine = {"processor": processor(), "cores": os.cpu_count(), "load": os.getloadavg()[0]}
    versions = {"gymnasium": gymnasium.__version__, "envpool": envpool.__version__}
    versions |= {"numpy": np.__version__, "python": platform.python_version()}
    print(json.dumps({"rows": rows, "machine": machine, "versions": versions}))


if __name__ == "__main__":
    main()
