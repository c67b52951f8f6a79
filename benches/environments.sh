#!/usr/bin/env bash
# Environment steps per second beside Gymnasium and EnvPool, which it installs in .venv-bench.
# Usage: benches/environments.sh [--seconds 4] [--rounds 3] [--envs 256] > benches/results/environments.txt
set -euo pipefail
cd "$(dirname "$0")/.."
[ -x .venv-bench/bin/python ] || python3 -m venv .venv-bench
if ! .venv-bench/bin/python -c "import envpool" 2> /dev/null; then
  .venv-bench/bin/pip install --quiet "gymnasium[box2d]==1.4.0" envpool==1.2.5 numpy==2.4.6
fi
exec .venv-bench/bin/python benches/environments.py "$@"
