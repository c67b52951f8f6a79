#!/usr/bin/env bash
# Each level that is offered at a board game against the next weaker one: one JSON line per match.
# Usage: benches/levels.sh > benches/results/levels.jsonl
set -euo pipefail
cartridge=${CARTRIDGE:-$(dirname "$0")/../target/release/cartridge}
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
while read -r game a b games; do
  "$cartridge" match "$game" "builtin:$a" "builtin:$b" --games "$games" --data "$data" --json 2>/dev/null \
    | sed 's/,"run_id":"[^"]*"//'
done <<'MATCHES'
tictactoe perfect mcts:30 200
tictactoe mcts:30 alphabeta:1 200
tictactoe alphabeta:1 random 200
connect4 perfect mcts:10000 10
connect4 mcts:10000 mcts:1000 60
connect4 mcts:1000 mcts:100 100
connect4 mcts:100 mcts:10 100
connect4 mcts:10 random 100
othello alphabeta:5 alphabeta:2 100
othello alphabeta:2 mcts:100 100
othello mcts:100 random 60
MATCHES
