"""The examples of docs/protocol.md against docs/protocol.schema.json.

The Rust tests hold the same examples against the lab's own reader, so that documentation, schema
and reader agree.
"""

import json
import pathlib
import re
import subprocess
import sys

import jsonschema
import pytest

ROOT = pathlib.Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs/protocol.schema.json").read_text())
TRAINER = jsonschema.Draft202012Validator(SCHEMA)
CONTROL = jsonschema.Draft202012Validator({**SCHEMA, "$ref": "#/$defs/control"})


def examples(kind):
    text = (ROOT / "docs/protocol.md").read_text()
    blocks = re.findall(rf"^```jsonl {kind}\n(.*?)^```", text, re.M | re.S)
    lines = [line for block in blocks for line in block.splitlines()]
    assert lines, kind
    return lines


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("line", examples("right"))
def test_right(line):
    TRAINER.validate(json.loads(line))


@pytest.mark.parametrize("line", examples("wrong") + examples("unknown"))
def test_wrong(line):
    assert not TRAINER.is_valid(json.loads(line)), line


@pytest.mark.parametrize("line", examples("control"))
def test_control(line):
    CONTROL.validate(json.loads(line))


def test_every_type_has_an_example():
    said = {json.loads(line).get("type") for line in examples("right")} - {None}
    assert said == set(SCHEMA["$defs"]) - {"trainer", "control"}


def test_the_example_trainer_says_only_what_the_schema_allows(tmp_path):
    trainer = ROOT / "python/examples/minimal_trainer.py"
    command = [sys.executable, trainer, "--steps", "300", "--delay", "0"]
    done = subprocess.run(
        command,
        env={"CARTRIDGE_RUN_DIR": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    for line in lines:
        TRAINER.validate(line)
    assert {"config", "step", "episode", "metric", "metrics", "checkpoint", "done"} <= {
        line["type"] for line in lines
    }
