#!/usr/bin/env bash
# What our callback costs Stable-Baselines3 of its own speed, with every episode told to a run of the
# binary. Installs PyTorch and Stable-Baselines3 in .venv-bench. Measures in turns; wants a machine
# that does nothing else.
# Usage: benches/doors.sh [--rounds 80] > benches/results/doors.json
set -euo pipefail
cd "$(dirname "$0")/.."
PYTHON="${PYTHON:-.venv-bench/bin/python}"
[ -x "$PYTHON" ] || python3 -m venv .venv-bench
if ! "$PYTHON" -c "import stable_baselines3, wandb, torch.utils.tensorboard, cartridge_rl" 2> /dev/null; then
  "$PYTHON" -m pip install --quiet --disable-pip-version-check -r python/requirements-doors.txt -e python >&2
fi
export CARTRIDGE_BIN="${CARTRIDGE_BIN:-$PWD/target/release/cartridge}"
CARTRIDGE_DATA="$(mktemp -d)"
export CARTRIDGE_DATA
trap 'rm -rf "$CARTRIDGE_DATA" || true' EXIT
"$PYTHON" benches/doors.py "$@"
