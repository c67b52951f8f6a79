#!/usr/bin/env bash
# Kills the lab, supervisors and trainers at random moments under load: see chaos.py.
# Usage: benches/chaos.sh [--kills 1000] [--seed 1] > benches/results/chaos.txt
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 benches/chaos.py "$@"
