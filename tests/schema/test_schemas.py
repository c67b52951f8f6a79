"""The schemas of configurations, by a reader that is not ours.

What the lab keeps fits them, and what is out of their bounds does not. That the lab refuses the same
is tried by the Rust tests, bound by bound.
"""

import copy
import json
import os
import pathlib
import subprocess

import jsonschema
import pytest

ROOT = pathlib.Path(__file__).parents[2]
CARTRIDGE = os.environ.get("CARTRIDGE", ROOT / "target/release/cartridge")


def cartridge(*words):
    done = subprocess.run([CARTRIDGE, *words], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def schema(name):
    return cartridge("schema", name, "--json")[0]


NAMES = [entry["name"] for entry in cartridge("schema", "--json") if entry["name"] != "presets"]
PAIRS = [name.split(":") for name in NAMES if name.split(":")[0] in ("ppo", "dqn") and ":" in name]


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_one(name):
    jsonschema.Draft202012Validator.check_schema(schema(name))


@pytest.mark.parametrize(("algo", "env"), PAIRS)
def test_what_is_kept_fits(algo, env, tmp_path):
    made = cartridge(
        *["experiments", "new", env, "--algo", algo, "--name", "x", "--json"], "--data", tmp_path
    )
    config = made[-1]["config"]
    for name in ("experiment", algo, f"{algo}:{env}"):
        jsonschema.Draft202012Validator(schema(name)).validate(config)


def test_what_is_wrong_does_not_fit(tmp_path):
    made = cartridge(
        *["experiments", "new", "LunarLander-v3", "--name", "x", "--json"], "--data", tmp_path
    )
    right = made[-1]["config"]
    validator = jsonschema.Draft202012Validator(schema("experiment"))
    for section, name, value in [
        ("trainer", "gamma", 1.0),
        ("trainer", "gamma", "high"),
        ("trainer", "learning_rate", "falls"),
        ("trainer", "net_arch", []),
        ("trainer", "buffer_size", 1000),
        ("simulation", "n_envs", 1.5),
        ("env", "gravity", -12.0),
        ("env", "wind", True),
        ("seeds", "seed_base", 2**63),
        ("resources", "memory", "much"),
    ]:
        wrong = copy.deepcopy(right)
        wrong[section][name] = value
        assert not validator.is_valid(wrong), (section, name, value)
    linear = copy.deepcopy(right)
    linear["trainer"]["learning_rate"] = "lin_0.001"
    validator.validate(linear)
