#!/usr/bin/env bash
# How strong AlphaZero gets, part by part: see alphazero.py. For Othello it installs gtp-rhino (Debian's
# grhino) and, in .venv-bench, the crate ai-othello.
# Usage: benches/alphazero.sh train connect4 --minutes 60
#        benches/alphazero.sh golden|mcts|othello --model onnx:FILE, benches/alphazero.sh tictactoe
set -euo pipefail
cd "$(dirname "$0")/.."
PATH="$PWD/.venv-bench/bin:$PATH:/usr/games"
case " $* " in
  *" othello "*)
    command -v gtp-rhino > /dev/null || apt-get install -y -qq --no-install-recommends grhino >&2
    command -v ai-othello > /dev/null || cargo install --quiet ai-othello --version 0.1.1 --locked --root .venv-bench >&2
    ;;
esac
exec python3 benches/alphazero.py "$@"
