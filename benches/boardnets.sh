#!/usr/bin/env bash
# Positions per second of the networks that look at a board, with our kernels and with onnxruntime on
# the file that we write of the same network, on one thread and on two; and our gradient steps. Installs
# onnxruntime in .venv-bench. Measures in turns; wants a machine that does nothing else.
# Usage: benches/boardnets.sh [--rounds 3] > benches/results/boardnets.txt
set -euo pipefail
cd "$(dirname "$0")/.."
PYTHON="${PYTHON:-.venv-bench/bin/python}"
[ -x "$PYTHON" ] || python3 -m venv .venv-bench
if ! "$PYTHON" -c "import onnxruntime" 2> /dev/null; then
  "$PYTHON" -m pip install --quiet --disable-pip-version-check -r tests/onnx/requirements.txt numpy >&2
fi
cargo build --release --quiet -p cartridge-learn --bench board_nets --example board_net >&2
exec "$PYTHON" benches/boardnets.py "$@"
