#!/usr/bin/env bash
# A thousand readers of one run: delay, memory, and coming back without gap or duplicate.
# Usage: benches/readers.sh > benches/results/readers.json
set -euo pipefail
here=$(dirname "$0")
export CARTRIDGE=${CARTRIDGE:-$here/../target/release/cartridge}
exec python3 "$here/readers.py" "$@"
