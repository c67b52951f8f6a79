#!/usr/bin/env bash
# Samples per second of small networks with our kernels, on one thread, beside burn and candle, which
# it builds, and PyTorch, which it installs in .venv-bench: the reason for writing our own. Measures
# one after the other; wants a machine that does nothing else.
# Usage: benches/kernels.sh [--seconds 0.5] [--rounds 4] > benches/results/kernels.txt
set -euo pipefail
cd "$(dirname "$0")/.."
[ -x .venv-bench/bin/python ] || python3 -m venv .venv-bench
if ! .venv-bench/bin/python -c "import torch" 2> /dev/null; then
  .venv-bench/bin/pip install --quiet --disable-pip-version-check torch numpy >&2
fi
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/benches/kernels/target}"
# From its own folder, whose .cargo/config.toml has the flags.
(cd benches/kernels && cargo build --release --locked) >&2
KERNELS="$CARGO_TARGET_DIR/release/kernels" exec .venv-bench/bin/python benches/kernels.py "$@"
