#!/usr/bin/env bash
# Steps per second of environments, of policies that act, and of trainings, as JSON reports. Wants a
# machine that does nothing else, and `make build` before it; ends with 1 where a target is missed.
# The prospector has the preset with which it learns: with the defaults it learns to give up at once,
# and its episodes have two decisions. A policy of Cart Pole that hardly learns drops its pole at once:
# 18,000 episodes a second and more, the hardest case for recording.
# Usage: benches/throughput.sh [SECONDS]
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-6}
missed=0
bench() {
  target/release/cartridge bench throughput --threads 2 --seconds "$seconds" --report benches/results/throughput "$@" || missed=1
}
while read -r env target preset; do
  bench --env "$env" --mode env-only --target 0
  for mode in rollout trainer+eval; do bench --env "$env" --mode "$mode" --target 0 $preset; done
  bench --env "$env" --mode trainer --target "$target" --compare-recording $preset
done <<< "CartPole-v1 300000
LunarLander-v3 180000
BipedalWalker-v3 80000
AsteroidProspector-v0 100000 --preset speed"
for env in CartPole-v1 LunarLander-v3; do
  bench --env "$env" --algo dqn --preset zoo --mode trainer --target 0
done
bench --env CartPole-v1 --mode trainer --target 0 --set trainer.learning_rate=1e-6 --compare-recording \
  --report-name CartPole-v1-short-episodes-trainer
exit $missed
