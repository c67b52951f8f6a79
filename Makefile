# The menu. `make up` starts the lab, `make test` is exactly what CI runs.

CARGO  ?= cargo
ARGS   ?=
.DEFAULT_GOAL := up
SUDO   := $(if $(filter 0,$(shell id -u)),,sudo)
WEB    := $(shell find web/src web/static web/*.json web/*.js web/*.ts -type f 2>/dev/null)

.PHONY: help up test check rust-check rust-test otel-test web-check e2e browser-test py-test py-check bench-doors bench-scores bench-alphazero bless gen dev bench fuzz deny advisories clean

## help: this menu
help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

## up: build everything and start the lab (options: make up ARGS="--port 9000")
up: build
	target/release/cartridge up $(ARGS)

.PHONY: build
build: web/build/index.html
	$(CARGO) build --release --package cartridge

## test: install what the tests need, then run all of them
test: check rust-test browser-test py-test otel-test

## check: the quick part: format, lints, types, unit tests of the web app
check: rust-check web-check

rust-check: web/build/index.html
	$(CARGO) fmt --all --check
	$(CARGO) clippy --release --workspace --all-targets --features cartridge/otel -- -D warnings

rust-test: web/build/index.html
	command -v cargo-nextest >/dev/null || $(CARGO) install cargo-nextest --locked
	command -v ffprobe >/dev/null || ($(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq ffmpeg)
	$(CARGO) nextest run --release --workspace

# The feature that is off by default, against a collector in the test. Last, because it builds the
# binary anew.
otel-test:
	$(CARGO) nextest run --release --workspace --features cartridge/otel otel

web-check: web/node_modules/.installed
	cd web && npm run lint && npm run check && npm run test

## e2e: build the binary, then the browser tests
e2e: build browser-test

# What a person does, in a real browser, against the binary that is there: `rust-test` has built
# it, and building it alone would compile our crates again with fewer features.
browser-test: .venv/.installed
	command -v chromium >/dev/null || ($(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq chromium fonts-liberation)
	cd web && npm run e2e

## py-test: our environments, policies, datasets and event files beside real Gymnasium, onnxruntime, Minari and TensorBoard, the API under schemathesis and real wandb clients, against the binary that is there; the protocol and the schemas; the Python package
py-test: py-check .venv/bin/promtool
	.venv/bin/pytest -q -p no:cacheprovider tests/api tests/grpc tests/gymnasium tests/minari tests/onnx tests/protocol tests/schema tests/tensorboard
	.venv/bin/pytest -q -p no:cacheprovider tests/wandb
	.venv/bin/pytest -q -p no:cacheprovider python/tests

# The Python package by its own rules: form, lints and types.
py-check: .venv/.installed
	cd python && ../.venv/bin/ruff format --check --quiet --no-cache . && ../.venv/bin/ruff check --quiet --no-cache .
	cd python && ../.venv/bin/mypy --no-error-summary --cache-dir=/dev/null

.venv/.installed: tests/api/requirements.txt tests/grpc/requirements.txt tests/gymnasium/requirements.txt tests/minari/requirements.txt tests/onnx/requirements.txt tests/protocol/requirements.txt tests/tensorboard/requirements.txt tests/wandb/requirements.txt python/requirements.txt python/pyproject.toml
	python3 -m venv .venv || ($(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq python3-venv && python3 -m venv .venv)
	.venv/bin/pip install --quiet --disable-pip-version-check $(addprefix -r ,$(filter %.txt,$^)) -e python
	touch $@

# Prometheus's own judge of `/metrics`, out of Debian's package: installing that would start a server.
.venv/bin/promtool: .venv/.installed
	cd .venv && apt-get download -qq prometheus && dpkg -x prometheus_*.deb prometheus && mv prometheus/usr/bin/promtool bin/ && rm -r prometheus prometheus_*.deb

## bless: accept what the snapshots and generated files have become; review the diff like code
bless: web/build/index.html
	INSTA_UPDATE=always $(CARGO) nextest run --release --workspace
	$(MAKE) gen

## gen: TypeScript from the OpenAPI document
gen: web/node_modules/.installed
	cd web && npm run gen

## dev: the web app with hot reload, before a lab on port 8080
dev: web/node_modules/.installed
	cd web && npm run dev

## bench: the commands behind every published number
bench: build
	benches/environments.sh > benches/results/environments.txt
	benches/cartpole.sh > benches/results/cartpole.jsonl
	benches/kernels.sh > benches/results/kernels.txt
	benches/boardnets.sh > benches/results/boardnets.txt
	benches/throughput.sh
	benches/startup.py > benches/results/startup.jsonl
	benches/floor.py > benches/results/floor.jsonl
	benches/training.sh > benches/results/training.txt
	benches/prospector.sh
	benches/levels.sh > benches/results/levels.jsonl
	benches/ingest.sh > benches/results/ingest.jsonl
	benches/index.sh > benches/results/index.jsonl
	benches/episodes.sh > benches/results/episodes.jsonl
	benches/api.sh > benches/results/api.json
	benches/readers.sh > benches/results/readers.json
	benches/watching.sh > benches/results/watching.json
	benches/chaos.sh > benches/results/chaos.txt
	benches/failpoints.sh > benches/results/failpoints.txt
	$(CARGO) bench --package cartridge-games
	$(CARGO) bench --package cartridge-search
	RUN_SLOW_TESTS=1 $(CARGO) test --release --package cartridge-search --lib -- --nocapture errs makes many_games

## bench-doors: install PyTorch and Stable-Baselines3, test the Python package with them, and measure what it costs
bench-doors: build
	benches/doors.sh > benches/results/doors.json.new && mv benches/results/doors.json.new benches/results/doors.json
	.venv-bench/bin/pytest -q -p no:cacheprovider python/tests/test_examples.py
	.venv-bench/bin/pytest -q -p no:cacheprovider tests/wandb -k "cleanrl or stable_baselines3"

## bench-scores: what the presets reach over ten seeds, learning curves and DQN's time to a score beside Stable-Baselines3; hours
bench-scores: build
	benches/training.sh --help > /dev/null
	benches/scores.py target/release/cartridge > benches/results/scores.txt
	benches/scores.py target/release/cartridge general > benches/results/presets.txt
	.venv-bench/bin/python benches/curves.py > benches/results/curves.txt
	.venv-bench/bin/python benches/time_to_score.py > benches/results/time_to_score.txt

## bench-alphazero: train at the board games for up to two and a half hours, and measure how strong that gets
bench-alphazero: build
	benches/alphazero.sh train tictactoe --minutes 1
	benches/alphazero.sh train connect4 --minutes 15 --steps 30000000 --set simulation.n_envs=512 --output benches/results/alphazero-connect4-15.txt
	benches/alphazero.sh train connect4 --minutes 60 --steps 90000000 --set simulation.n_envs=512 --set evaluation.every_steps=9000000 --set evaluation.episodes=60
	benches/alphazero.sh train connect4 --minutes 60 --steps 8400000 --set trainer.network=small --set simulation.n_envs=512 --set evaluation.every_steps=600000 --set evaluation.episodes=60 --output benches/results/alphazero-connect4-small.txt
	benches/alphazero.sh train othello --minutes 15 --steps 8000000 --set simulation.n_envs=512 --set evaluation.every_steps=2000000

## fuzz: throw damaged states, actions and messages at the engine's doors (make fuzz SECONDS=3600)
SECONDS ?= 60
fuzz:
	CARTRIDGE_FUZZ_SECONDS=$(SECONDS) $(CARGO) test --release --package cartridge-engine --test it -- fuzz --nocapture

## deny: licences, bans and sources of what we depend on, with every feature
deny: .deny
	$(CARGO) deny --log-level error check --hide-inclusion-graph licenses bans sources

## advisories: known faults of what we depend on; fetches their database
advisories: .deny
	$(CARGO) deny --log-level error check --hide-inclusion-graph advisories

.PHONY: .deny
.deny:
	command -v cargo-deny >/dev/null || $(CARGO) install cargo-deny --locked

clean:
	$(CARGO) clean
	rm -rf .venv web/build web/node_modules web/.svelte-kit

web/node_modules/.installed: web/package-lock.json
	cd web && npm ci --no-fund --no-audit
	touch $@

web/build/index.html: web/node_modules/.installed $(WEB)
	cd web && npm run build
	touch $@
