"""Samples per second of small networks: our kernels beside burn, candle and PyTorch.

Every contender runs alone in a process of its own, in turns, several rounds, and the best burst of a
tenth of a second counts, because whatever else the machine does can only slow it down. All have one
thread; PyTorch is measured with two as well. Each does the same work, float32: a pass forward without a
graph, and a gradient step, which is a pass forward and back and an update of all parameters by Adam.
Each must first put out and learn, from equal weights, what our kernels do, to 1e-4.

PyTorch is measured eager, as Stable-Baselines3 uses it, with its fused Adam, which is its fastest.
Prints a table and, as the last line, one JSON object. Two threads of PyTorch's come nearly to a halt
where another program wants a core: the table begins with the load of the machine.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

KERNELS = Path(os.environ.get("KERNELS", "benches/kernels/target/release/kernels"))
CONTENDERS = {
    "ours": ("ours", 1),
    "burn flex": ("burn-flex", 1),
    "burn ndarray": ("burn-ndarray", 1),
    "candle": ("candle", 1),
    "PyTorch": ("pytorch", 1),
    "PyTorch, 2 threads": ("pytorch", 2),
}
WORK = {"forward": "forward", "step": "gradient step"}
BURST_SECONDS = 0.1
# A measured step must do all the work and yet leave the network as it is.
STILL = 1e-9


class PyTorch:
    """A network of an example's, in PyTorch."""

    def __init__(self, task: dict, epsilon: float):
        import torch

        self.torch = torch
        sizes, rest = task["sizes"], torch.tensor(task["parameters"])
        modules = []
        for n_inputs, n_outputs in zip(sizes, sizes[1:]):
            linear = torch.nn.Linear(n_inputs, n_outputs)
            weights, biases, rest = rest.split(
                [n_inputs * n_outputs, n_outputs, len(rest) - n_outputs * (n_inputs + 1)]
            )
            with torch.no_grad():
                linear.weight.copy_(weights.view(n_inputs, n_outputs).T)
                linear.bias.copy_(biases)
            modules += [linear, {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}[task["activation"]]()]
        self.network = torch.nn.Sequential(*modules[:-1])
        self.adam = torch.optim.Adam(self.network.parameters(), lr=STILL, eps=epsilon, fused=True)

    def forward(self, inputs):
        with self.torch.inference_mode():
            return self.network(inputs)

    def step(self, inputs, slopes) -> None:
        self.adam.zero_grad()
        self.network(inputs).backward(slopes)
        self.adam.step()

    def parameters(self):
        return self.torch.cat([p.detach().t().flatten() for p in self.network.parameters()])

    def check(self, example: dict) -> None:
        """Fails unless this puts out and learns what our kernels do; learns for good."""
        task, torch = example["task"], self.torch
        inputs = torch.tensor(task["inputs"]).view(task["n"], -1)
        slopes = torch.tensor(task["slopes"]).view(task["n"], -1)
        check_equal("outputs", self.forward(inputs).flatten(), example["outputs"], example)
        self.adam.param_groups[0]["lr"] = example["learning_rate"]
        for _ in range(example["n_steps"]):
            self.step(inputs, slopes)
        check_equal("learned parameters", self.parameters(), example["learned"], example)


def check_equal(what: str, found, expected: list, example: dict) -> None:
    assert len(found) == len(expected), f"{what}: as many numbers"
    gap = (found - found.new_tensor(expected)).abs().max().item()
    assert gap <= example["tolerance"], f"{what}: PyTorch's differ from ours by {gap}"


def most_per_second(n: int, seconds: float, work) -> float:
    """The most samples per second of `work`, which does `n`."""
    began, best = time.perf_counter(), 0.0
    while best == 0.0 or time.perf_counter() - began < seconds:
        burst, n_done = time.perf_counter(), 0
        while (elapsed := time.perf_counter() - burst) < BURST_SECONDS:
            work()
            n_done += n
        best = max(best, n_done / elapsed)
    return best


def measure_pytorch(threads: int, seconds: float) -> None:
    """Measures in this process and prints what the program of the others prints."""
    import torch

    torch.set_num_threads(threads)
    examples = json.loads(subprocess.check_output([KERNELS, "examples"]))
    for example in examples:
        PyTorch(example["task"], example["epsilon"]).check(example)
    for example in examples:
        sizes = example["task"]["sizes"]
        for batch in example["batches"]:
            contender = PyTorch(example["task"], example["epsilon"])
            inputs = torch.rand(batch, sizes[0]) * 2.0 - 1.0
            slopes = torch.rand(batch, sizes[-1]) - 0.5
            figures = {
                "sizes": sizes,
                "activation": example["task"]["activation"],
                "batch": batch,
                "forward": most_per_second(batch, seconds, lambda: contender.forward(inputs)),
                "step": most_per_second(batch, seconds, lambda: contender.step(inputs, slopes)),
            }
            print(json.dumps(figures))


def measure(program: str, threads: int, seconds: float) -> list[dict]:
    """Runs one contender in a process of its own."""
    limits = {f"{who}_NUM_THREADS": str(threads) for who in ("RAYON", "OMP", "MKL")}
    command = [KERNELS, program, str(seconds)]
    if program == "pytorch":
        command = [sys.executable, __file__, "--seconds", str(seconds), "--pytorch", str(threads)]
    lines = subprocess.check_output(command, env={**os.environ, **limits}, text=True)
    return [json.loads(line) for line in lines.splitlines()]


def short(figure: float) -> str:
    return f"{figure / 1e6:.2f}M" if figure >= 1e6 else f"{figure / 1e3:.3g}k"


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=0.5, help="for each figure of a round")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--pytorch", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.pytorch:
        measure_pytorch(args.pytorch, args.seconds)
        return

    from importlib.metadata import version

    load = os.getloadavg()[0]
    best: dict[tuple[str, int, str], dict[str, float]] = {}
    for round_number in range(args.rounds):
        for name, (program, threads) in CONTENDERS.items():
            print(f"round {round_number + 1} of {args.rounds}: {name}", file=sys.stderr)
            for figures in measure(program, threads, args.seconds):
                network = "-".join(map(str, figures["sizes"])) + f" {figures['activation']}"
                for work in WORK:
                    row = best.setdefault((network, figures["batch"], work), {})
                    row[name] = max(row.get(name, 0.0), figures[work])

    print(f"{processor()}, {os.cpu_count()} cores, load {load:.1f} at the start. One thread each,")
    print(f"but for the last column. PyTorch {version('torch')}; the others as in kernels/Cargo.toml.")
    print(f"Samples/s, best of {args.rounds} rounds; in brackets how many times as fast ours are.\n")
    print(f"| network | batch | work | {' | '.join(CONTENDERS)} |")
    print(f"|---|---|---|{'---|' * len(CONTENDERS)}")
    for (network, batch, work), row in best.items():
        ours = row["ours"]
        cells = [f"{short(row[name])} ({ours / row[name]:.1f}x)" for name in CONTENDERS if name != "ours"]
        print(f"| {network} | {batch} | {WORK[work]} | {short(ours)} | {' | '.join(cells)} |")
    rows = [
        {"network": network, "batch": batch, "work": work, **row}
        for (network, batch, work), row in best.items()
    ]
    print("\n" + json.dumps({"load": load, "rounds": args.rounds, "samples_per_sec": rows}))


if __name__ == "__main__":
    main()
