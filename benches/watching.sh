#!/usr/bin/env bash
# What watching costs: CPU-seconds per million steps of a training with no lab, with a lab that
# nobody looks at, and with twenty viewers of its metrics and pictures.
# Usage: benches/watching.sh > benches/results/watching.json
set -euo pipefail
here=$(dirname "$0")
export CARTRIDGE=${CARTRIDGE:-$here/../target/release/cartridge}
exec python3 "$here/watching.py" "$@"
