#!/usr/bin/env bash
# How much of a foreign trainer's output becomes durable files: metric points and step events at the
# same time, on two cores, from the trainer's standard output to fsynced files. The trainer writes
# five points for every two steps, first at the rate of the goal, then as fast as it is read.
# Fails below 50,000 points and 20,000 steps a second, or when anything is lost.
# Usage: benches/ingest.sh [SECONDS] > benches/results/ingest.jsonl
set -euo pipefail
cd "$(dirname "$0")/.."
cartridge=$(realpath "${CARTRIDGE:-target/release/cartridge}")
seconds=${1:-20}
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
pin=()
if command -v taskset >/dev/null; then pin=(taskset --cpu-list 0,1); fi
for rate in 60000 ""; do
  run=$("${pin[@]}" "$cartridge" exec --data "$data" --env Flood-v0 --name flood --json -- \
    "$cartridge" bench flood --seconds "$seconds" ${rate:+--rate "$rate"} | tail -n 1)
  python3 benches/ingest.py "$data" "$run" "${rate:-full}"
done
