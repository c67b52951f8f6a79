#!/usr/bin/env bash
# The API over ten thousand runs, at a hundred requests a second beside a training; what the lab
# weighs, and how fast it starts.
# Usage: benches/api.sh > benches/results/api.json
set -euo pipefail
here=$(dirname "$0")
export CARTRIDGE=${CARTRIDGE:-$here/../target/release/cartridge}
exec python3 "$here/api.py" "$@"
