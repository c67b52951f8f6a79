#!/usr/bin/env bash
# The pages in a real browser: what they weigh, when they paint, a run of a million rows, and half an
# hour beside a training. Wants a machine that does nothing else, and `make build` before it.
# Usage: [MINUTES=30] [FIRST=1] benches/web.sh > benches/results/web.jsonl
set -euo pipefail
cd "$(dirname "$0")/../web"
npx vitest run --config vitest.measure.config.ts "$@" | tee /dev/stderr | sed -n 's/.*MEASURED //p'
