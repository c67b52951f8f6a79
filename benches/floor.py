#!/usr/bin/env python3
"""The floor: steps per second of trainings on two threads while two other processes want the same
cores, both busy all the time, with the same priority. Needs target/release/cartridge and nothing else.

Of several rounds the slowest counts. Prints a JSON line for each row of docs/training.md; the targets
of DQN are Stable-Baselines3's pace on such a machine, ten and six times.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

CARTRIDGE = Path(
    os.environ.get(
        "CARTRIDGE", Path(__file__).resolve().parents[1] / "target" / "release" / "cartridge"
    )
)
CASES = [
    ("ppo", "CartPole-v1", None, 300_000),
    ("ppo", "LunarLander-v3", None, 180_000),
    ("ppo", "BipedalWalker-v3", None, 80_000),
    ("ppo", "AsteroidProspector-v0", "speed", 100_000),
    ("dqn", "CartPole-v1", "zoo", 4_460),
    ("dqn", "LunarLander-v3", "zoo", 984),
]


def pace(algo: str, env_id: str, preset: str | None, seconds: float) -> dict:
    command = [str(CARTRIDGE), "bench", "throughput", "--env", env_id, "--mode", "trainer"]
    command += ["--algo", algo, "--threads", "2", "--seconds", str(seconds), "--target", "0", "--json"]
    command += ["--preset", preset] if preset else []
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--busy", type=int, metavar="N", default=2, help="processes beside it")
    args = parser.parse_args()
    busy = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(args.busy)
    ]
    try:
        for algo, env_id, preset, target in CASES:
            rounds = [pace(algo, env_id, preset, args.seconds) for _ in range(args.rounds)]
            rates = [report["steps_per_sec"]["mean"] for report in rounds]
            line = {
                "algo": algo,
                "env": env_id,
                "preset": preset,
                "floor_steps_per_sec": min(rates),
                "target": target,
                "floor_of_target": min(rates) / target,
                "rounds": rates,
                "cpu_percent": [report["cpu_percent"] for report in rounds],
                "seconds": args.seconds,
                "busy_processes": args.busy,
                "cores": len(os.sched_getaffinity(0)),
            }
            print(json.dumps(line), flush=True)
    finally:
        for process in busy:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
