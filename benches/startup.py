#!/usr/bin/env python3
"""Start and memory of a training: seconds from the start of `cartridge train` to its first update, and
the most memory that its processes ever had, added up. Needs target/release/cartridge and nothing else.

Of several rounds the median time counts, and the most memory. Prints a JSON line per environment; ends
with 1 where one takes longer or more than it may.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CARTRIDGE = Path(
    os.environ.get(
        "CARTRIDGE", Path(__file__).resolve().parents[1] / "target" / "release" / "cartridge"
    )
)
ENVS = ["CartPole-v1", "LunarLander-v3", "AsteroidProspector-v0"]


def startup(algo: str, env_id: str) -> tuple[float, float]:
    """Seconds from the start of `cartridge train` to the first row that it prints, and the MB that all
    of its processes had taken by the end of the training: the command, the supervisor, the worker."""
    with tempfile.TemporaryDirectory() as data:
        command = [str(CARTRIDGE), "train", env_id, "--algo", algo, "--steps", "100000", "--json"]
        command += ["--set", "evaluation.final_episodes=1", "--data", data]
        began = time.perf_counter()
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process:
            row = process.stdout.readline()
            seconds = time.perf_counter() - began
            peaks = {}
            while process.poll() is None and process.stdout.readline():
                peaks |= peak_memory(data)
        # One that ends before it has learnt anything would be the quickest of all.
        if process.returncode != 0 or not row or len(peaks) < 3:
            raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}: {row!r}")
    return seconds, sum(peaks.values()) / 1024


def peak_memory(data: str) -> dict[str, int]:
    """The most memory that each process which works in this folder ever had, in kB."""
    peaks = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if data.encode() in (folder / "cmdline").read_bytes():
                status = (folder / "status").read_text()
                peaks[folder.name] = int(status.split("VmHWM:")[1].split()[0])
        except (OSError, IndexError):
            pass  # It has ended in the meantime.
    return peaks


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--envs", nargs="+", metavar="ID", default=ENVS)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--most-seconds", type=float, metavar="S", default=0.2)
    parser.add_argument("--most-mb", type=float, metavar="MB", default=100.0)
    args = parser.parse_args()
    is_good = True
    for env_id in args.envs:
        rounds = [startup("ppo", env_id) for _ in range(args.rounds)]
        seconds = [seconds for seconds, _ in rounds]
        report = {
            "env": env_id,
            "startup_s": statistics.median(seconds),
            "startup_slowest_s": max(seconds),
            "rss_mb": max(megabytes for _, megabytes in rounds),
            "rounds": args.rounds,
        }
        report["met"] = report["startup_s"] <= args.most_seconds and report["rss_mb"] <= args.most_mb
        is_good &= report["met"]
        print(json.dumps(report), flush=True)
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
