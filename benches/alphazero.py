"""How strong AlphaZero gets: value errors where perfect play is known, and games against other engines.

benches/alphazero.sh golden --model onnx:FILE [--simulations 0 600]     Connect 4: six published sets
benches/alphazero.sh mcts --model onnx:FILE [--games 200]               Connect 4: first, from the empty board
benches/alphazero.sh othello --model onnx:FILE [--games 200]            gtp-rhino and ai-othello
benches/alphazero.sh tictactoe [--seconds 60]                           trains, then asks about every position
benches/alphazero.sh train GAME --minutes M [--set KEY=VALUE]           trains, then measures all of that game
benches/alphazero.sh train GAME --minutes M --steps N                   the same, with so many moves if they take less

A value error is a move that changes win, draw or loss for the worse. It is counted over all positions, and
over those in which some move does. Networks are asked by `cartridge analyze`, which leaves nothing to
chance. A training of so many minutes is one whose schedules end with them: how many moves of self-play that
takes is told by the pace of a short probe, with as many simulations as there are half-way. The probe does
not count; if the clock ends the training earlier than its schedules, the result says so.
"""

import argparse
import hashlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from strength import AiOthello, Rhino, golden, mcts, othello, tictactoe, verdict
from training import CARTRIDGE, n_cores, processor

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "crates/cartridge-search/src/connect4_solver/golden"
RESULTS = ROOT / "benches/results"
ASKED_SELF_PLAY = {"evaluations": 20_000, "descents": 40_000}
# What a training does besides, such as evaluations, is not in a probe. Tic-tac-toe needs less time than it has.
PROBE_UPDATES = {"tictactoe": 60, "connect4": 10, "othello": 10}
PACE_MARGIN = {"tictactoe": 0.5, "connect4": 0.92, "othello": 0.92}


def command(game: str, settings: list[str], data: str, *more: str) -> list[str]:
    sets = [word for setting in settings for word in ("--set", setting)]
    words = [str(CARTRIDGE), "train", game, "--algo", "alphazero", "--threads", "2"]
    return [*words, *sets, "--data", data, "--json", *more]


def carry_out(command: list[str]) -> dict:
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def rows(run: Path) -> list[dict]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def pace(game: str, settings: list[str]) -> float:
    """Moves a second, with as many simulations as there are half-way."""
    with tempfile.TemporaryDirectory() as data:
        config = carry_out(command(game, settings, data, "--dry-run"))["manifest"]["config"]
        n = (config["trainer"]["simulations"] + config["trainer"]["simulations_end"]) // 2
        half_way = [
            *settings,
            f"trainer.simulations={n}",
            f"trainer.simulations_end={n}",
            "evaluation.final_episodes=2",
        ]
        steps = PROBE_UPDATES[game] * config["simulation"]["n_envs"] * config["simulation"]["n_steps"]
        done = carry_out(command(game, half_way, data, "--steps", str(steps)))
        updates = [row for row in rows(Path(data, "runs", done["run_id"])) if "time/fps" in row["values"]]
        # The first ones have little to learn from.
        first, last = updates[len(updates) // 2 - 1], updates[-1]
        return (last["step"] - first["step"]) / (last["t"] - first["t"])


def moves_in(seconds: float, game: str, settings: list[str]) -> int:
    found = pace(game, settings)
    steps = int(found * PACE_MARGIN[game] * seconds)
    print(f"{game}: {found:,.0f} moves a second in the probe, so {steps:,} in {seconds:g} s", file=sys.stderr)
    return steps


def train(
    game: str, settings: list[str], seconds: float, steps: int | None, seed: int, data: str
) -> tuple[Path, list[str]]:
    """The folder of a run whose schedules end with its moves or after so many seconds, and how it went."""
    steps = steps or moves_in(seconds, game, settings)
    began = time.monotonic()
    # The clock is only there for a probe that was far off.
    more = ["--steps", str(steps), "--seed", str(seed), "--max-seconds", str(int(seconds))]
    done = carry_out(command(game, settings, data, *more))
    spent = time.monotonic() - began
    run = Path(data, "runs", done["run_id"])
    rate = json.loads((run / "stats.json").read_text())["learning_rate"]
    took = f"{done['steps']:,} of {steps:,} moves in {spent:.0f} s of {seconds:g} s, on 2 threads"
    lines = [f"{took}; learning rate {rate:.2g} at the end", f"weights {done['weights_sha256']}"]
    if done["steps"] < steps:
        lines.append("THE CLOCK ENDED IT: its schedules had not come to their end")
    return run, lines


def speed(run: Path, game: str) -> str:
    """The medians of what self-play did per second and thread."""
    updates = [row["values"] for row in rows(run) if "self_play/games_per_sec" in row["values"]]
    audited = [values["self_play/false_resignations"] for values in updates if "self_play/false_resignations" in values]
    median = lambda name: statistics.median(values[f"self_play/{name}"] for values in updates)  # noqa: E731
    found = {name: median(f"{name}_per_sec") for name in ASKED_SELF_PLAY}
    text = (
        f"self-play, per second and thread: {found['evaluations']:,.0f} evaluations, "
        f"{found['descents']:,.0f} descents; {100 * median('cache_share'):.0f}% of the leaves from the cache, "
        f"{100 * median('proven_share'):.0f}% proven"
    )
    if audited:
        text += f"\nresignations that an audit found false: {100 * statistics.mean(audited):.1f}% on average over {len(audited)} updates"
    network = json.loads((run / "run.json").read_text())["config"]["trainer"]["network"]
    if (game, network) != ("connect4", "small"):
        return text
    asked = " and ".join(f"{n:,}" for n in ASKED_SELF_PLAY.values())
    is_met = all(found[name] >= n for name, n in ASKED_SELF_PLAY.items())
    return f"{text}; asked {asked} with the small network: {verdict(is_met)}"


def curve(run: Path) -> Iterator[str]:
    """What the training measured of itself."""
    started = json.loads((run / "supervisor.jsonl").read_text().splitlines()[0])["t"]
    columns = ["solver/value_error", "solver/value_error_hard", "arena/score_baseline", "arena/elo"]
    yield f"{'step':>12} {'seconds':>8} {'errors, %':>10} {'hard, %':>8} {'score, %':>9} {'elo':>6}"
    measured: dict[int, dict] = {}
    for row in rows(run):
        if any(name in row["values"] for name in columns):
            measured.setdefault(row["step"], {"t": row["t"]}).update(row["values"])
    for step, values in measured.items():
        shares = [values.get(name) for name in columns[:3]]
        texts = [f"{100 * x:.1f}" if x is not None else "" for x in shares]
        elo = values.get("arena/elo")
        texts.append(f"{elo:.0f}" if elo is not None else "")
        widths = (10, 8, 9, 6)
        yield f"{step:12,} {values['t'] - started:8.0f} " + " ".join(
            f"{x:>{n}}" for x, n in zip(texts, widths, strict=True)
        )


def commit() -> str:
    """Which source was measured."""
    told = subprocess.run(["git", "show", "-s", "--format=%h of %cs"], cwd=ROOT, capture_output=True, text=True)
    return f"commit {told.stdout.strip()}" if told.returncode == 0 else "no commit"


def report(args: argparse.Namespace, measure: Callable) -> Iterator[str]:
    """A training and everything that is measured of it."""
    game = args.game
    yield f"{processor()}, {n_cores()} cores; {args.minutes:g} minutes at {game}, seed {args.seed}; {commit()}"
    run, lines = train(game, args.set, 60 * args.minutes, args.steps, args.seed, args.data)
    yield from lines
    yield speed(run, game)
    yield from ["", *measure(f"run:{run.name}@latest"), "", *curve(run), ""]
    yield json.dumps(json.loads((run / "run.json").read_text()), indent=2)


def measurement(game: str, args: argparse.Namespace) -> Callable[[str], Iterator[str]]:
    def measure(model: str) -> Iterator[str]:
        if game == "tictactoe":
            yield from tictactoe(model, args.data)
        elif game == "connect4":
            yield from golden(model, [0, 600], args.folder, args.data)
            yield from mcts(model, 600, args.games, args.jobs, args.data)
        else:
            yield from othello(model, 800, args.games, args.plies, args.jobs, [Rhino, AiOthello], args.data)

    return measure


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)

    def part(name: str, *options: str) -> argparse.ArgumentParser:
        known = {
            "--model": {"required": True, "help": "as `cartridge analyze` takes it"},
            "--games": {"type": int, "default": 200},
            "--jobs": {"type": int, "default": 1, "help": "games at once"},
            "--folder": {"type": Path, "default": GOLDEN, "help": "of the golden sets"},
            "--plies": {"type": int, "default": 6, "help": "random moves of an opening"},
            "--seed": {"type": int, "default": 42},
            "--set": {"action": "append", "default": [], "metavar": "KEY=VALUE"},
            "--data": {"default": "data", "help": "folder of the lab, for the models and runs in it"},
        }
        added = parts.add_parser(name)
        for option in options:
            added.add_argument(option, **known[option])
        return added

    part("golden", "--model", "--folder", "--data").add_argument("--simulations", type=int, nargs="+", default=[0, 600])
    part("mcts", "--model", "--games", "--jobs", "--data").add_argument("--simulations", type=int, default=600)
    against = part("othello", "--model", "--games", "--plies", "--jobs", "--data")
    against.add_argument("--simulations", type=int, default=800)
    against.add_argument("--engine", choices=["gtp-rhino", "ai-othello"], help="only one of the two")
    part("tictactoe", "--seed", "--set").add_argument("--seconds", type=float, default=60)
    training = part("train", "--seed", "--set", "--data", "--games", "--plies", "--jobs", "--folder")
    training.add_argument("game", choices=["tictactoe", "connect4", "othello"])
    training.add_argument("--minutes", type=float, required=True)
    training.add_argument("--steps", type=int, help="moves; by default as many as the minutes allow")
    training.add_argument("--output", type=Path, help="by default benches/results/alphazero-GAME.txt")
    return parser.parse_args()


def identity(model: str) -> str:
    """Which network it is; a file may be another one tomorrow."""
    file = Path(model.removeprefix("onnx:"))
    return f"{file.name} {hashlib.sha256(file.read_bytes()).hexdigest()}" if file.is_file() else model


def main() -> None:
    args = parse()
    if "model" in args:
        print(identity(args.model), flush=True)
    if args.part == "golden":
        lines = golden(args.model, args.simulations, args.folder, args.data)
    elif args.part == "mcts":
        lines = mcts(args.model, args.simulations, args.games, args.jobs, args.data)
    elif args.part == "othello":
        engines = {"gtp-rhino": [Rhino], "ai-othello": [AiOthello]}.get(args.engine, [Rhino, AiOthello])
        lines = othello(args.model, args.simulations, args.games, args.plies, args.jobs, engines, args.data)
    elif args.part == "tictactoe":
        with tempfile.TemporaryDirectory() as data:
            run, lines = train("tictactoe", args.set, args.seconds, None, args.seed, data)
            print(*lines, *tictactoe(f"run:{run.name}@latest", data), sep="\n", flush=True)
        return
    else:
        output = args.output or RESULTS / f"alphazero-{args.game}.txt"
        measure = measurement(args.game, args)
        lines = report(args, measure)
        # Line by line, so that a reader who leaves takes nothing along.
        with output.open("w") as file:
            for line in lines:
                print(line, file=file, flush=True)
                print(line, flush=True)
        return
    for line in lines:
        print(line, flush=True)


if __name__ == "__main__":
    main()
