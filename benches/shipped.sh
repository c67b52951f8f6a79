#!/usr/bin/env bash
# How strong the networks are that the program brings along, at each strength that is offered, beside
# the built-in players: the matches of a tournament, one a line, which the program brings along too.
# The weakest are there because ratings are above random play: who wins every game says little of it.
# Usage: benches/shipped.sh [GAMES] > crates/cartridge-run/models/matches.jsonl
set -euo pipefail
cartridge=${CARTRIDGE:-$(dirname "$0")/../target/release/cartridge}
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
shipped=shipped:0,shipped:25,shipped:100,shipped:400,shipped:1600
while read -r game others; do
  "$cartridge" tournament "$game" --players "$shipped,$others" --games "${1:-40}" --seed 7 --data "$data" --json > /dev/null
done <<'TOURNAMENTS'
connect4 builtin:mcts:10000,builtin:mcts:1000,builtin:mcts:100,builtin:mcts:10,builtin:mcts:4,builtin:mcts:2,builtin:random
othello builtin:alphabeta:5,builtin:alphabeta:2,builtin:mcts:100,builtin:mcts:20,builtin:mcts:8,builtin:mcts:4,builtin:random
TOURNAMENTS
cat "$data/matches.jsonl"
