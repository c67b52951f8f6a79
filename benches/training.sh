#!/usr/bin/env bash
# Training steps per second, start-up and memory beside Stable-Baselines3 and SBX, which it installs in
# .venv-bench; SBX (on JAX) only where it can be had. Needs target/release/cartridge.
# Usage: benches/training.sh [--seconds 20] [--rounds 3] > benches/results/training.txt
set -euo pipefail
cd "$(dirname "$0")/.."
[ -x .venv-bench/bin/python ] || python3 -m venv .venv-bench
if ! .venv-bench/bin/python -c "import stable_baselines3, Box2D" 2> /dev/null; then
  .venv-bench/bin/pip install --quiet --disable-pip-version-check stable-baselines3 "gymnasium[box2d]" >&2
fi
if ! .venv-bench/bin/python -c "import sbx" 2> /dev/null; then
  .venv-bench/bin/pip install --quiet --disable-pip-version-check sbx-rl >&2 || echo "SBX could not be installed" >&2
fi
exec .venv-bench/bin/python benches/training.py "$@"
