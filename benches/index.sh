#!/usr/bin/env bash
# The index under much data: charts of a million rows, lists of ten thousand runs, the start of the
# lab over a million events, and live ingest. Usage: benches/index.sh > benches/results/index.jsonl
set -euo pipefail
cd "$(dirname "$0")/.."
python3 benches/index.py
