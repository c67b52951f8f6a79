"""Positions per second of networks that look at a board: our kernels beside onnxruntime.

Both have the same networks: onnxruntime runs the ONNX files that we write, after it has said the same of
some positions to 1e-5. Each runs alone in a process of its own, in turns, several rounds, and the best of
many short bursts counts, because whatever else the machine does can only slow it down. onnxruntime is
measured from Python, with as many threads within an operator and its graph optimised; a call costs it some
ten microseconds of Python, which is little beside a batch of 64.

Prints a table and, as the last line, one JSON object.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NETWORKS = {
    "connect4_small": "Connect 4, 2 blocks of 32",
    "connect4_medium": "Connect 4, 5 blocks of 64",
    "othello_small": "Othello, 2 blocks of 32",
    "othello_medium": "Othello, 5 blocks of 64",
    "tic_tac_toe_1x16": "tic-tac-toe, 1 block of 16 (no preset)",
    "tic_tac_toe_tiny": "tic-tac-toe, MLP 64-64",
    "connect4_mlp": "Connect 4, MLP 256-256",
    "othello_mlp": "Othello, MLP 256-256",
}
BATCHES = [1, 64, 256]
BURSTS = 40
BURST_SECONDS = 0.01
CLOSE = 1e-5


def most_per_second(n: int, work) -> float:
    """The most positions per second of `work`, which does `n`."""
    best = 0.0
    for _ in range(BURSTS):
        burst, n_done = time.perf_counter(), 0
        while (elapsed := time.perf_counter() - burst) < BURST_SECONDS:
            work()
            n_done += n
        best = max(best, n_done / elapsed)
    return best


def measure_onnxruntime(folder: Path) -> None:
    """Measures in this process and prints what our program prints."""
    import numpy as np
    import onnxruntime

    for name in NETWORKS:
        said = json.loads((folder / f"{name}.json").read_text())
        for threads in [1, 2]:
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = threads
            options.inter_op_num_threads = 1
            session = onnxruntime.InferenceSession(folder / f"{name}.onnx", options, providers=["CPUExecutionProvider"])
            shape = session.get_inputs()[0].shape[1:]
            planes = np.array(said["planes"], "f4").reshape(-1, *shape)
            logits, value = session.run(["logits", "value"], {"planes": planes})
            for found, expected in [(logits, said["logits"]), (value, said["values"])]:
                gap = np.abs(found.ravel() - np.array(expected)).max()
                assert gap <= CLOSE, f"{name}: onnxruntime differs from ours by {gap}"
            for batch in BATCHES:
                rows = (np.random.default_rng(1).random((batch, *shape)) < 0.25).astype("f4")
                rate = most_per_second(batch, lambda: session.run(["logits", "value"], {"planes": rows}))
                figures = {"network": name, "work": "inference", "batch": batch, "threads": threads, "per_second": rate}
                print(json.dumps(figures))


def measure(command: list) -> list[dict]:
    """Runs one contender in a process of its own."""
    lines = subprocess.check_output(command, text=True)
    return [json.loads(line) for line in lines.splitlines() if line.startswith("{")]


def short(figure: float) -> str:
    return f"{figure / 1e6:.2f}M" if figure >= 1e6 else f"{figure / 1e3:.3g}k"


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--onnxruntime", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.onnxruntime:
        measure_onnxruntime(args.onnxruntime)
        return

    from importlib.metadata import version

    loads = [os.getloadavg()[0]]
    best: dict[tuple[str, str, int, int], dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        cargo = ["cargo", "run", "--release", "--quiet", "-p", "cartridge-learn", "--example", "board_net"]
        subprocess.check_call([*cargo, "--", folder])
        contenders = {
            "ours": ["cargo", "bench", "--quiet", "-p", "cartridge-learn", "--bench", "board_nets", "--", "--json"],
            "onnxruntime": [sys.executable, __file__, "--onnxruntime", folder],
        }
        for round_number in range(args.rounds):
            for name, command in contenders.items():
                print(f"round {round_number + 1} of {args.rounds}: {name}", file=sys.stderr)
                for figures in measure(command):
                    key = (figures["network"], figures["work"], figures["batch"], figures["threads"])
                    row = best.setdefault(key, {})
                    row[name] = max(row.get(name, 0.0), figures["per_second"])
            loads.append(os.getloadavg()[0])

    spread = f"{min(loads):.1f} to {max(loads):.1f}"
    print(f"{processor()}, {os.cpu_count()} cores, load {spread} while measuring. Positions/s, best of {args.rounds} rounds;")
    print(f"onnxruntime {version('onnxruntime')}, and in brackets how many times as fast ours are.\n")
    print("| network | work | batch | threads | ours | onnxruntime |")
    print("|---|---|---|---|---|---|")
    for (network, work, batch, threads), row in best.items():
        theirs = row.get("onnxruntime")
        cell = f"{short(theirs)} ({row['ours'] / theirs:.1f}x)" if theirs else "-"
        print(f"| {NETWORKS[network]} | {work} | {batch} | {threads} | {short(row['ours'])} | {cell} |")
    rows = [
        {"network": network, "work": work, "batch": batch, "threads": threads, **row}
        for (network, work, batch, threads), row in best.items()
    ]
    print("\n" + json.dumps({"loads": loads, "rounds": args.rounds, "positions_per_sec": rows}))


if __name__ == "__main__":
    main()
