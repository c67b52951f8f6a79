#!/usr/bin/env bash
# Faults at every sync, rename and write of the real binary, by strace: see failpoints.py.
# Usage: benches/failpoints.sh [--every 1] > benches/results/failpoints.txt
set -euo pipefail
cd "$(dirname "$0")/.."
command -v strace >/dev/null || apt-get install -y -qq strace
exec python3 benches/failpoints.py "$@"
