#!/usr/bin/env bash
# Recorded episodes: bytes per step of real trainings, what recording adds to a step of training,
# and how fast any step of a long episode is found. One JSON line per figure.
# Usage: benches/episodes.sh > benches/results/episodes.jsonl
set -euo pipefail
cd "$(dirname "$0")/.."
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
for env in CartPole-v1 LunarLander-v3; do
  target/release/cartridge train "$env" --algo ppo --seed 1 --steps 300000 --data "$data" --json 2>/dev/null |
    tail -n 1 | python3 -c 'import json, sys; r = json.load(sys.stdin); print(json.dumps({"what": "training", "run": r["run_id"], "ns_per_step": 1e9 / r["steps_per_sec"]}))'
done
# Both packages, so that what the binary was built from is not built again.
cargo bench --quiet -p cartridge -p cartridge-run --bench episodes -- "$data"
