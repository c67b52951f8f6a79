#!/usr/bin/env python3
"""How strong networks of each size get in the same time: trains at a game with each of them, for as
many moves as each makes in so many seconds, and lets the results play each other.

benches/sizes.py CARTRIDGE GAME [--seconds 240] [--threads 2] [--at-once 1] [--games 200] [--sizes small mlp]

All trainings have the same seed and, but for the moves, the same settings. `--at-once` trains several
at the same time, where there are cores enough for that. At Connect 4, `--golden 0 600` asks each about the
published positions, with so many simulations. With `--data DIR` the runs are kept, and the same command
again goes on where it was interrupted.
"""

import argparse
import itertools
import json
import os
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SIZES = ("tiny", "small", "medium", "mlp")
GOLDEN = Path(__file__).resolve().parents[1] / "crates/cartridge-search/src/connect4_solver/golden"


def ask(program: str, *args: str) -> dict:
    done = subprocess.run([program, *args, "--json"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{args}: {done.stderr[-500:]}")
    return json.loads(done.stdout.splitlines()[-1])


def train(args: argparse.Namespace, data: str, size: str, steps: int) -> dict:
    """Trains to the end, or goes on with the training of an earlier time, and tells what came of it."""
    words = ["train", args.game, "--steps", str(steps), "--seed", "42", "--threads", str(args.threads), "--detach"]
    settings = {
        "trainer.network": size,
        # A lane for each of eight threads; they are 64 games.
        "simulation.n_envs": 512,
        "evaluation.every_steps": 10_000_000,
        "evaluation.final_episodes": 20,
        "retention.checkpoint_every_steps": 2_000_000,
    }
    sets = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    note = Path(data) / f"{args.game}-{size}-{steps}"
    if not note.exists():
        note.write_text(ask(args.program, *words, *sets, "--data", data)["run_id"])
    run = note.read_text()
    while (told := ask(args.program, "runs", "show", run, "--data", data))["state"] != "succeeded":
        if told["state"] in ("failed", "lost", "terminated"):
            ask(args.program, "resume", run, "--data", data)
        time.sleep(1)
    status = told["status"]
    seconds = status["ended_at"] - told["created_at"]
    return {"run_id": run, "steps": status["step"], "seconds": seconds, "steps_per_sec": status["step"] / seconds}


def errors(data: str, run: str) -> str:
    """The share of held positions at which the network's own move errs, where that is known."""
    found = ""
    for line in (Path(data) / "runs" / run / "metrics.jsonl").read_text().splitlines():
        share = json.loads(line)["values"].get("solver/value_error")
        found = f"{100 * share:.1f}%" if share is not None else found
    return found or "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("game")
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--simulations", type=int, default=100)
    # What the pace is measured by; the first updates are slower than those to come.
    parser.add_argument("--calibration", type=int, default=60_000, metavar="MOVES")
    parser.add_argument("--golden", type=int, nargs="+", default=[], metavar="SIMULATIONS")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=SIZES)
    parser.add_argument("--moves", type=int, nargs="+", help="of each size, where its pace is known")
    parser.add_argument("--data", metavar="DIR")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as own, ThreadPoolExecutor(args.at_once) as pool:
        data = args.data or own
        Path(data).mkdir(parents=True, exist_ok=True)
        if args.moves:
            moves = dict(zip(args.sizes, args.moves, strict=True))
        else:
            tried = pool.map(lambda size: train(args, data, size, args.calibration), args.sizes)
            moves = {size: int(it["steps_per_sec"] * args.seconds) for size, it in zip(args.sizes, tried, strict=True)}
        trained = dict(zip(args.sizes, pool.map(lambda size: train(args, data, size, moves[size]), args.sizes), strict=True))
        time_each = "" if args.moves else f"{args.seconds:g} s on "
        print(f"{args.game}: {time_each}{args.threads} threads each, {os.cpu_count()} cores, {args.at_once} at once")
        print(f"{'size':8} {'moves':>12} {'seconds':>8} {'errors of the bare policy':>26}")
        for size, it in trained.items():
            print(f"{size:8} {it['steps']:12,} {it['seconds']:8.0f} {errors(data, it['run_id']):>26}", flush=True)
        if args.golden:
            # Its parts ask the program that this names.
            os.environ["CARTRIDGE"] = str(Path(args.program).resolve())
            from strength import golden

            ask_about = lambda it: list(golden(f"run:{it['run_id']}@latest", args.golden, GOLDEN, data))  # noqa: E731
            for size, lines in zip(trained, pool.map(ask_about, trained.values()), strict=True):
                print(f"\n{size}", *lines, sep="\n", flush=True)

        def match(pair: tuple[str, str]) -> dict:
            players = [f"run:{trained[size]['run_id']}@latest" for size in pair]
            words = ["--games", str(args.games), "--simulations", str(args.simulations), "--data", data]
            return ask(args.program, "match", args.game, *players, *words)

        pairs = list(itertools.combinations(args.sizes, 2))
        with ThreadPoolExecutor(os.cpu_count()) as players:
            print(f"\nshare of the points of the first, {args.games} games, {args.simulations} simulations")
            for (a, b), told in zip(pairs, players.map(match, pairs), strict=True):
                low, high = told["score_ci95"]
                print(f"{a:8} {b:8} {told['score']:.3f} ({low:.3f} to {high:.3f})")


if __name__ == "__main__":
    main()
