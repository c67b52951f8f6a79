#!/usr/bin/env bash
# AsteroidProspector-v0: what scripted players reach over 500 seeds, and how many decisions per
# second the environment makes on two threads with masks on, uniform over legal actions without
# cashing out. The second command fails below two million.
# Usage: benches/prospector.sh
set -euo pipefail
cd "$(dirname "$0")/.."
cartridge=${CARTRIDGE:-target/release/cartridge}
"$cartridge" par AsteroidProspector-v0 --seeds 500 --json > benches/results/prospector-par.json
"$cartridge" bench throughput --env AsteroidProspector-v0 --mode env-only --envs 256 --threads 2 \
  --seconds 10 --target-steps-per-sec 2000000 --enforce-target --json \
  > benches/results/prospector-throughput.json
