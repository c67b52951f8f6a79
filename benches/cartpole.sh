#!/usr/bin/env bash
# CartPole-v1 by PPO with the lab's defaults, as the TRAIN button starts it: for each of ten seeds
# the final evaluation (100 episodes, greedy), the seconds of the whole run, and the seconds to the
# first evaluation of 475 or more. One JSON line per seed.
# Usage: benches/cartpole.sh > benches/results/cartpole.jsonl
set -euo pipefail
cd "$(dirname "$0")/.."
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
for seed in 1 2 3 4 5 6 7 8 9 10; do
  result=$(target/release/cartridge train CartPole-v1 --algo ppo --seed "$seed" --data "$data" --json 2>/dev/null | tail -n 1)
  run=$(python3 -c 'import json, sys; print(json.loads(sys.argv[1])["run_id"])' "$result")
  python3 - "$result" "$data/runs/$run" "$seed" <<'PY'
import json, pathlib, sys

result, run, seed = json.loads(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3])
started = json.loads((run / "supervisor.jsonl").read_text().splitlines()[0])["t"]
solved = [
    event["t"] - started
    for event in map(json.loads, (run / "events.jsonl").read_text().splitlines())
    if event["type"] == "evaluation_complete" and event["mean"] >= 475
]
print(json.dumps({
    "seed": seed,
    "eval_mean": result["eval_mean"],
    "steps": result["steps"],
    "seconds": round(result["seconds"], 2),
    "seconds_to_475": round(solved[0], 2) if solved else None,
}))
PY
done
