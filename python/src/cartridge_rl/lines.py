"""The lines of the protocol, made of what training loops have at hand. Values in, values out."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Line = dict[str, Any]

# The longest name of a metric and of an episode.
MAX_NAME_BYTES = 256


def plain(value: Any) -> Any:
    """The same as JSON knows it: arrays and tensors become lists, their scalars become numbers.

    What JSON does not know becomes its `repr`, because a configuration that is told in part is
    better than none.
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(inner) for inner in value]
    to_list = getattr(value, "tolist", None)
    if to_list is not None:
        return plain(to_list())
    return repr(value)


def action(value: Any) -> Any:
    """An action or observation, copied: environments write into their arrays again."""
    to_list = getattr(value, "tolist", None)
    return to_list() if to_list is not None else plain(value)


def count(value: Any) -> int:
    """About how many numbers there are in an action or observation."""
    size = getattr(value, "size", None)
    if isinstance(size, int):
        return size
    if isinstance(value, (list, tuple)):
        return len(value) * count(value[0]) if value else 0
    return sum(map(count, value.values())) if isinstance(value, dict) else 1


def finite(value: Any) -> tuple[float | None, str | None]:
    """A number, or nothing and the word for a number that is not finite."""
    number = float(value)
    if math.isfinite(number):
        return number, None
    return None, "nan" if math.isnan(number) else "inf" if number > 0 else "-inf"


def metrics(values: Mapping[str, Any], step: int) -> Line:
    """A `metrics` line. Values that are no numbers are left out; there may be none left."""
    told: dict[str, float | None] = {}
    nonfinite: dict[str, str] = {}
    for name, value in values.items():
        if not 0 < len(str(name).encode()) <= MAX_NAME_BYTES:
            continue
        try:
            number, word = finite(value)
        except (TypeError, ValueError, RuntimeError, OverflowError):
            continue
        told[str(name)] = number
        if word is not None:
            nonfinite[str(name)] = word
    line: Line = {"type": "metrics", "step": step, "values": told}
    if nonfinite:
        line["nonfinite"] = nonfinite
    return line


@dataclass(frozen=True)
class Steps:
    """Some steps of one episode, one after the other. A line each when they are written."""

    episode_id: str
    first: int
    actions: Sequence[Any]
    rewards: Sequence[float]
    observations: Sequence[Any] | None = None
    terminated: bool = False
    truncated: bool = False

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def size(self) -> int:
        """As how many lines each of them counts, by its first action and observation."""
        n_numbers = sum(
            count(values[0]) for values in (self.actions, self.observations or ()) if len(values)
        )
        return 1 + n_numbers // 16

    def encode(self) -> Iterable[str]:
        """The lines. Only the last one ends the episode."""
        name = json.dumps(self.episode_id)
        if self._is_plain():
            yield from self._encode_plain(name)
            return
        last = len(self.actions) - 1
        for idx, (done, reward) in enumerate(zip(self.actions, self.rewards, strict=True)):
            number, word = finite(reward)
            told = "null" if number is None else repr(number)
            # Most actions are one of a list.
            act = repr(done) if type(done) is int else encode(plain(done))
            terminated = "true" if self.terminated and idx == last else "false"
            truncated = "true" if self.truncated and idx == last else "false"
            more = "" if word is None else f',"nonfinite":"{word}"'
            if self.observations is not None:
                more += f',"obs":{encode(plain(self.observations[idx]))}'
            yield (
                f'{{"type":"step","episode_id":{name},"step":{self.first + idx},'
                f'"action":{act},"reward":{told},'
                f'"terminated":{terminated},"truncated":{truncated}{more}}}\n'
            )

    def _is_plain(self) -> bool:
        """Whether every action is one of a list and every reward a number, as most are."""
        return (
            self.observations is None
            and set(map(type, self.actions)) == {int}
            and set(map(type, self.rewards)) == {float}
            and len(self.actions) == len(self.rewards)
            and all(map(math.isfinite, self.rewards))
        )

    def _encode_plain(self, name: str) -> Iterable[str]:
        """The same lines in a third of the time."""
        start = f'{{"type":"step","episode_id":{name},"step":'
        end = ',"terminated":false,"truncated":false}\n'
        numbered = enumerate(zip(self.actions, self.rewards, strict=True), self.first)
        told = [
            f'{start}{number},"action":{act},"reward":{reward!r}{end}'
            for number, (act, reward) in numbered
        ]
        ended = (str(is_so).lower() for is_so in (bool(self.terminated), bool(self.truncated)))
        told[-1] = told[-1].replace(end, ',"terminated":{},"truncated":{}}}\n'.format(*ended))
        return told


def episode(
    episode_id: str,
    steps: int,
    total: Any,
    seed: int | None,
    terminated: bool | None,
    truncated: bool | None,
    timestep: int,
) -> Line:
    """An `episode` line."""
    number, word = finite(total)
    line: Line = {
        "type": "episode",
        "episode_id": episode_id,
        "steps": int(steps),
        "return": number,
        "timestep": timestep,
    }
    if word is not None:
        line["nonfinite"] = word
    if seed is not None:
        line["seed"] = int(seed)
    if terminated is not None:
        line["terminated"] = bool(terminated)
    if truncated is not None:
        line["truncated"] = bool(truncated)
    return line


def encode(value: Any) -> str:
    """As JSON, on one line."""
    return json.dumps(value, separators=(",", ":"))
