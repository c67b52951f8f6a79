"""What is told, held against the schema of the protocol."""

import json
import math

import numpy as np
import pytest
from conftest import SCHEMA

from cartridge_rl import lines


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (1, 1.0),
        (np.float32(0.5), 0.5),
        (np.array(2.5), 2.5),
        (True, 1.0),
        (math.nan, None),
        (-math.inf, None),
    ],
)
def test_a_metric(value, told):
    line = lines.metrics({"train/loss": value}, 7)
    SCHEMA.validate(json.loads(lines.encode(line)))
    assert line["values"] == {"train/loss": told}
    assert line.get("nonfinite", {}).keys() == ({"train/loss"} if told is None else set())


@pytest.mark.parametrize("value", ["text", None, np.zeros(3), object(), [1, 2]])
def test_what_is_no_metric_is_left_out(value):
    assert lines.metrics({"a": value, "b": 1, "": 2, "x" * 300: 3}, 7)["values"] == {"b": 1.0}


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (np.int64(3), 3),
        (np.array([0.5, -1.0], dtype=np.float32), [0.5, -1.0]),
        ((np.int8(1), {"a": np.array([2])}), [1, {"a": [2]}]),
        ({1: math.inf, "b": np.float64("nan")}, {"1": None, "b": None}),
        (print, repr(print)),
        (True, True),
    ],
)
def test_plain(value, told):
    assert lines.plain(value) == told


def test_steps_are_a_line_each():
    steps = lines.Steps(
        'a "name"', 5, [1, [0.5, -1.0], 0], [1.0, math.nan, -0.1], None, True, False
    )
    told = [json.loads(text) for text in steps.encode()]
    for line in told:
        SCHEMA.validate(line)
    assert [line["step"] for line in told] == [5, 6, 7]
    assert [line["action"] for line in told] == [1, [0.5, -1.0], 0]
    assert [line["reward"] for line in told] == [1.0, None, -0.1]
    assert told[1]["nonfinite"] == "nan"
    assert [line["terminated"] for line in told] == [False, False, True]
    assert {line["episode_id"] for line in told} == {'a "name"'}


def test_an_episode():
    told = lines.episode("7", np.int64(12), math.inf, 99, True, None, 4096)
    SCHEMA.validate(json.loads(lines.encode(told)))
    assert (told["return"], told["nonfinite"], told["seed"]) == (None, "inf", 99)
    assert "truncated" not in told


@pytest.mark.parametrize("ended", [(True, False), (False, True), (False, False)])
def test_plain_steps_are_the_same_lines(ended, monkeypatch):
    rewards = [1.0, -0.1, 0.1 + 0.2, 1e300, 0.0, -0.0]
    steps = lines.Steps('1-"7', 5, [0, 1, 2, 3, 68, 0], rewards, None, *ended)
    quick = list(steps.encode())
    assert steps._is_plain()
    monkeypatch.setattr(lines.Steps, "_is_plain", lambda _: False)
    assert quick == list(steps.encode())
    assert [json.loads(line)["step"] for line in quick] == [5, 6, 7, 8, 9, 10]
    monkeypatch.undo()
    for actions, rewards in [([0, True], [1.0, 1.0]), ([0, 1], [1.0, float("nan")]), ([], [])]:
        assert not lines.Steps("1", 1, actions, rewards)._is_plain()
