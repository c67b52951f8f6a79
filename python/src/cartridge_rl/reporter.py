"""The reporter: a training loop's door to the lab."""

from __future__ import annotations

import atexit
import contextlib
import functools
import itertools
import json
import logging
import os
import queue
import shutil
import sys
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec

from cartridge_rl import lines
from cartridge_rl.artifacts import artifacts_of
from cartridge_rl.channel import STANDARD_INPUT, Channel, open_channel
from cartridge_rl.lines import Line, Steps
from cartridge_rl.outbox import Outbox, Rank
from cartridge_rl.pictures import picture

LOG = logging.getLogger("cartridge_rl")

# How long the end of a training waits for its last lines to be read.
CLOSE_S = 10.0

# Steps of an episode that travel together.
N_STEPS_AT_ONCE = 1_000

# What the reporter writes into every checkpoint.
ABOUT = "cartridge.json"

P = ParamSpec("P")


def harmless(method: Callable[P, None]) -> Callable[P, None]:
    """A method that never fails: what goes wrong is said once, and the training goes on."""
    is_told = False

    @functools.wraps(method)
    def tried(*args: P.args, **kwargs: P.kwargs) -> None:
        nonlocal is_told
        try:
            method(*args, **kwargs)
        except Exception as error:
            if not is_told:
                is_told = True
                LOG.warning("`%s` could not be told to the lab: %r", method.__name__, error)

    return tried


class Reporter:
    """Tells the lab about a training, and obeys what the lab asks.

    ```python
    lab = Reporter("CartPole-v1", settings={"learning_rate": 0.01})
    while lab.obey(step):                                # pauses, tunes, saves; false at the end
        ...                                              # train with lab.settings["learning_rate"]
        lab.metrics({"train/loss": loss}, step=step)
    ```

    - `settings` are the numbers that can be tuned while it trains. They are read from
      `lab.settings`, which changes in `obey` only; `on_tune(name, value)` is called there too, and
      refuses a value by raising.
    - `on_checkpoint(folder)` saves into an empty folder, which then is a checkpoint; `obey` calls
      it when the lab asks, every `checkpoint_every` steps, and before a stop.
    - `on_restore(folder)` loads from such a folder. It is called here, when the run goes on from a
      checkpoint; `lab.step` then says where.
    - `config` is whatever else is worth knowing of how it is trained; `seed` is, if it is not
      given, the one that `cartridge exec --seed` was given, and then is `lab.seed`.
    - `frames` says that `frame` is called in the loop.

    Started by the lab (`cartridge exec -- python train.py`) it speaks to the lab. Started by hand
    it makes a run by itself, with the program `cartridge` if that is found, whether a lab is at
    work or not; else it writes a folder that `cartridge-rl import` takes. With `CARTRIDGE_RL=off`
    it says nothing. No method fails because of the lab, and none waits for it but `obey` while the
    run is paused.
    """

    def __init__(
        self,
        env_id: str | None = None,
        *,
        name: str | None = None,
        algo: str | None = None,
        seed: int | None = None,
        total_timesteps: int | None = None,
        settings: Mapping[str, float] | None = None,
        config: Mapping[str, Any] | None = None,
        on_tune: Callable[[str, float], None] | None = None,
        on_checkpoint: Callable[[Path], None] | None = None,
        on_restore: Callable[[Path], None] | None = None,
        checkpoint_every: int | None = None,
        frames: bool = False,
    ) -> None:
        self.settings: dict[str, float] = dict(settings or {})
        self.step = 0
        told_seed = os.environ.get("CARTRIDGE_SEED", "")
        self.seed = int(told_seed) if seed is None and told_seed.isdigit() else seed
        self.env_id = env_id or os.environ.get("CARTRIDGE_ENV_ID") or "unknown"
        self._on_tune = on_tune
        self._on_checkpoint = on_checkpoint
        self._checkpoint_every = checkpoint_every
        self._saved_at: int | None = None
        self._asked: queue.SimpleQueue[Line] = queue.SimpleQueue()
        self._is_ending = False
        # Whether the loop calls `obey`; else wrappers of its environments do.
        self._has_obeyed = False
        self._is_closed = False
        self._fps = 0.0
        self._last_frame = 0.0
        self._names = itertools.count(1)
        # Steps of the episodes that were told, for loops that never say where they are.
        self._counted = 0
        self._channel = self._open(name)
        self._outbox: Outbox | None = None
        if self._channel is None:
            return
        restored = self._restore(on_restore)
        self._apply_overrides()
        self._outbox = Outbox(self._channel.write, self._heartbeat)
        offered = {
            "checkpoint": on_checkpoint,
            "tune": self.settings,
            "restore": on_restore,
            "frames": frames,
        }
        line: Line = {
            "type": "config",
            "run_id": self._channel.run_id,
            "algo": algo,
            "env_id": self.env_id,
            "seed": self.seed,
            "total_timesteps": total_timesteps,
            "capabilities": ["pause", "resume", "stop", "terminate"]
            + [word for word, is_there in offered.items() if is_there],
            "overrides_whitelist": [setting_path(name) for name in self.settings],
            "args": lines.plain({**(config or {}), **self.settings}),
        }
        if restored is not None:
            line["restored"] = restored
        told = {key: value for key, value in line.items() if value is not None}
        self._outbox.put(told, Rank.ANSWER)
        self._channel.listen(self._hear)
        REPORTERS.add(self)
        atexit.register(self._at_exit)

    # --- What the training says.

    @harmless
    def metrics(self, values: Mapping[str, Any], step: int | None = None) -> None:
        """Tells values of metrics, by name (`train/loss`), at an environment step of the run."""
        line = lines.metrics(values, self._reach(step))
        if line["values"]:
            self._put(line)

    @harmless
    def episode(
        self,
        total: float,
        steps: int,
        *,
        seed: int | None = None,
        terminated: bool | None = None,
        truncated: bool | None = None,
        actions: Sequence[Any] | None = None,
        rewards: Sequence[float] | None = None,
        observations: Sequence[Any] | None = None,
        step: int | None = None,
        episode_id: str | None = None,
    ) -> None:
        """Tells an episode that has ended: its return and length, and with `seed`, `actions` and
        `rewards` all that is needed to step it again."""
        name = episode_id or self.name_episode()
        self._counted += int(steps)
        timestep = self._reach(step)
        if actions is not None and rewards is not None:
            self._put_steps(name, actions, rewards, observations, terminated, truncated)
        self._put(lines.episode(name, steps, total, seed, terminated, truncated, timestep))

    @harmless
    def transition(
        self,
        episode_id: str,
        step: int,
        action: Any,
        reward: float,
        *,
        terminated: bool = False,
        truncated: bool = False,
        observation: Any = None,
    ) -> None:
        """Tells one step as it happens; `step` counts in the episode, from 1. `episode`, with the
        same `episode_id`, tells its end."""
        seen = None if observation is None else [lines.action(observation)]
        act, reward = lines.action(action), float(reward)
        self._put(
            Steps(episode_id, int(step), [act], [reward], seen, terminated, truncated), Rank.STEP
        )

    @harmless
    def frame(self, shown: Any, *, step: int | None = None, reward: float | None = None) -> None:
        """Shows a picture, if somebody watches and one is due. `step` counts in the episode, and
        `reward` is what it has earned so far.

        `shown` is an array of height, width and three colours, the bytes of a JPEG or PNG, a scene
        (a dictionary), or a function that makes one of these, such as `env.render`: it is called
        only when a picture is due.
        """
        if not self.is_watched or time.monotonic() < self._last_frame + 1.0 / self._fps:
            return
        self._last_frame = time.monotonic()
        line: Line = {"type": "frame", "step": int(step or 0), "timestep": self.step}
        if reward is not None:
            line["reward"] = float(reward)
        made = picture(shown() if callable(shown) else shown, line)
        if made is not None and self._outbox is not None and not self._is_closed:
            self._outbox.show(made)

    @property
    def is_watched(self) -> bool:
        """Whether somebody looks at pictures of this run now."""
        return self._fps > 0.0

    @harmless
    def log(self, message: str, level: str = "info") -> None:
        """Writes to the run's log; a `warning` or `error` is in its event log too."""
        self._put({"type": "log", "level": level, "message": str(message)})

    @harmless
    def artifacts(self, run_name: str | None = None, **places: str | os.PathLike[str]) -> None:
        """Names files that belong to the run, by what they are (`video="videos/1.mp4"`); and with
        `run_name` what lies in `videos/<run_name>/`, `runs/<run_name>/` and `wandb/`."""
        found = artifacts_of(run_name) if run_name else {}
        found.update({name: os.fspath(place) for name, place in places.items()})
        if found:
            self._put({"type": "artifacts", **found}, Rank.ANSWER)

    def checkpoint(self, step: int | None = None) -> Path | None:
        """Saves a checkpoint by `on_checkpoint`; returns its folder, or nothing if that failed."""
        try:
            return self._save(self._reach(step))
        except Exception as error:
            LOG.warning("no checkpoint was saved: %r", error)
            self.log(f"no checkpoint was saved: {error!r}", level="error")
            return None

    def name_episode(self) -> str:
        """A name that no other episode of this attempt has."""
        return f"{os.environ.get('CARTRIDGE_ATTEMPT', '1')}-{next(self._names)}"

    # --- What the lab says.

    def obey(self, step: int | None = None) -> bool:
        """Does what the lab has asked for since the last time: pauses here until the run is to go
        on, tunes, saves. Says whether the training is to go on. Call it between two updates."""
        self._has_obeyed = True
        return self._obey(step)

    def obey_in_step(self) -> None:
        """What wrappers of environments call at every step, for loops that never call `obey`: it
        does the same, and ends the program where the training is to end."""
        if not self._has_obeyed and not self._obey(None):
            raise SystemExit(0)

    def _obey(self, step: int | None) -> bool:
        self._reach(step)
        every = self._checkpoint_every
        if every and self._on_checkpoint and self.step - (self._saved_at or 0) >= every:
            self.checkpoint()
        is_paused = False
        while not self._is_ending and (is_paused or not self._asked.empty()):
            with contextlib.suppress(queue.Empty):
                is_paused = self._obey_one(self._asked.get(timeout=0.2), is_paused)
        return not self._is_ending

    @property
    def should_stop(self) -> bool:
        """Whether the lab has asked for the end, as far as `obey` has seen it."""
        return self._is_ending

    @property
    def run_id(self) -> str | None:
        """The name of the run, if the lab knows it."""
        return self._channel.run_id if self._channel else None

    @property
    def run_dir(self) -> Path | None:
        """The folder of the run."""
        return self._channel.run_dir if self._channel else None

    # --- The end.

    def close(self, *, is_completed: bool = True) -> None:
        """Says that the training is done, and waits until that is told, for ten seconds at most."""
        if self._is_closed or self._channel is None or self._outbox is None:
            self._is_closed = True
            return
        if is_completed:
            reason = "stopped" if self._is_ending else "completed"
            self._put({"type": "done", "reason": reason, "step": self.step}, Rank.ANSWER)
        self._is_closed = True
        atexit.unregister(self._at_exit)
        with contextlib.suppress(OSError):
            if not self._outbox.close(CLOSE_S):
                LOG.warning("not all that was told has reached the lab")
            self._channel.close(0 if is_completed else 1)

    def __enter__(self) -> Reporter:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        is_fine = error is None or (isinstance(error, SystemExit) and not error.code)
        if not is_fine:
            self.log(f"the training failed: {error!r}", level="error")
        self.close(is_completed=is_fine)

    def _at_exit(self) -> None:
        # What ended the program, if something did.
        error = getattr(sys, "last_value", None)
        if error is not None:
            self.log(f"the training failed: {error!r}", level="error")
        self.close(is_completed=error is None)

    def _abandon(self) -> None:
        """In a process that was forked: what the parent reports is not ours."""
        if self._channel is not None:
            with contextlib.suppress(OSError):
                self._channel.abandon()
        self._channel = self._outbox = None
        self._is_closed = True
        self._asked = queue.SimpleQueue()
        self._fps = 0.0

    # --- Details.

    def _open(self, name: str | None) -> Channel | None:
        if os.environ.get("CARTRIDGE_RL", "").lower() in ("off", "0", "no", "false"):
            return None
        try:
            channel = open_channel(self.env_id, name, self.seed)
        except Exception as error:
            LOG.warning("the training is not reported: %r", error)
            return None
        if not os.environ.get("CARTRIDGE_RUN_DIR"):
            print(f"cartridge: this training is {channel.run_dir}", file=sys.stderr, flush=True)
        return channel

    def _put(self, item: Line | Steps, rank: Rank = Rank.ORDINARY) -> None:
        outbox = self._outbox
        if outbox is not None and not self._is_closed:
            outbox.put(item, rank)

    def _put_steps(
        self,
        name: str,
        actions: Sequence[Any],
        rewards: Sequence[float],
        observations: Sequence[Any] | None,
        terminated: bool | None,
        truncated: bool | None,
    ) -> None:
        # Arrays are copied, because the loop may fill them again.
        actions, rewards = listed(actions), listed(rewards)
        observations = None if observations is None else listed(observations)
        for first in range(0, len(actions), N_STEPS_AT_ONCE):
            part = slice(first, first + N_STEPS_AT_ONCE)
            is_last = first + N_STEPS_AT_ONCE >= len(actions)
            steps = Steps(
                name,
                first + 1,
                actions[part],
                rewards[part],
                None if observations is None else observations[part],
                bool(terminated) and is_last,
                bool(truncated) and is_last,
            )
            self._put(steps, Rank.STEP)

    def _reach(self, step: int | None) -> int:
        told = self._counted if step is None else int(step)
        self.step = max(self.step, told)
        return self.step if step is None else told

    def _heartbeat(self) -> Line:
        return {"type": "heartbeat", "step": self.step}

    def _hear(self, control: Line) -> None:
        """Takes a control line, in the thread that listens."""
        if control.get("command") == "watch":
            # Nothing that the loop must do.
            self._fps = float(control.get("fps") or 0.0)
            self._answer(control)
        else:
            self._asked.put(control)

    def _obey_one(self, control: Line, is_paused: bool) -> bool:
        """Does one thing; returns whether the training is paused after it."""
        command = control.get("command")
        try:
            if command == "pause":
                is_paused = True
            elif command == "resume":
                is_paused = False
            elif command in ("stop", "terminate"):
                if command == "stop" and self._on_checkpoint is not None:
                    self.checkpoint()
                self._is_ending = True
            elif command == "checkpoint":
                self._save(self.step)
            elif command == "tune":
                self._answer(control, old=self._tune(control))
                return is_paused
            else:
                raise ValueError(f"this trainer cannot {command}")
        except Exception as error:
            self._answer(control, ok=False, message=str(error) or repr(error))
        else:
            self._answer(control)
        return is_paused

    def _answer(self, control: Line, **more: Any) -> None:
        # Number 0 is the supervisor's own, and waits for no answer.
        if control.get("seq"):
            line = {"type": "control_ack", "seq": control["seq"], "step": self.step, **more}
            self._put(line, Rank.ANSWER)

    def _tune(self, control: Line) -> float:
        """Changes a setting; returns the value before."""
        path, value = str(control.get("path")), control.get("value")
        name = next((name for name in self.settings if path in (name, setting_path(name))), None)
        if name is None:
            known = ", ".join(setting_path(name) for name in self.settings) or "nothing"
            raise ValueError(f"`{path}` cannot be tuned here; what can is {known}")
        if not isinstance(value, (int, float)):
            raise ValueError(f"`{value}` is no number")
        old = self.settings[name]
        new = fit(value, old)
        if self._on_tune is not None:
            self._on_tune(name, new)
        self.settings[name] = new
        return old

    def _apply_overrides(self) -> None:
        """What was tuned before a restart, or set by a fork, holds."""
        if self._channel is None:
            return
        for path, value in self._channel.overrides.items():
            with contextlib.suppress(ValueError):
                self._tune({"path": path, "value": value})

    def _save(self, step: int) -> Path:
        if self._on_checkpoint is None:
            raise ValueError("this trainer saves no checkpoints")
        if self._channel is None:
            raise ValueError("there is no run to save it in")
        name = f"step_{step:09d}"
        folder = self._channel.run_dir / "checkpoints" / name
        if self._saved_at != step:
            # Written beside and renamed, so that none is ever half there.
            beside = folder.with_name(f"{name}.new-{os.getpid()}")
            shutil.rmtree(beside, ignore_errors=True)
            beside.mkdir(parents=True)
            try:
                self._on_checkpoint(beside)
                (beside / ABOUT).write_text(json.dumps({"step": step}) + "\n")
                make_durable(beside)
                # One of an attempt before this, which has gone back.
                shutil.rmtree(folder, ignore_errors=True)
                beside.rename(folder)
            finally:
                shutil.rmtree(beside, ignore_errors=True)
            self._saved_at = step
        line = {"type": "checkpoint", "step": step, "path": f"checkpoints/{name}"}
        self._put(line, Rank.ANSWER)
        return folder

    def _restore(self, on_restore: Callable[[Path], None] | None) -> Line | None:
        """Goes on from the checkpoint that the lab names. Here a failure is one: a training that
        begins anew where it should go on would be worse."""
        if self._channel is None or self._channel.resume_from is None or on_restore is None:
            return None
        folder = self._channel.resume_from
        on_restore(folder)
        step = int(json.loads((folder / ABOUT).read_text())["step"])
        self.step = self._counted = self._saved_at = step
        return {"path": os.path.relpath(folder, self._channel.run_dir), "step": step}


def listed(values: Sequence[Any]) -> Sequence[Any]:
    """An array as a list; anything else as it is, to be cut into pieces, which copies it."""
    to_list = getattr(values, "tolist", None)
    return values if to_list is None else list(to_list())


def make_durable(folder: Path) -> None:
    """Sees to it that all files in a folder are on the disk."""
    for path in [*folder.rglob("*"), folder]:
        # Not every system lets a folder be synced.
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def setting_path(name: str) -> str:
    """The path of a setting as the lab knows it: `learning_rate` is `trainer.learning_rate`."""
    return name if "." in name else f"trainer.{name}"


def fit(value: float, old: float) -> float:
    """The value, whole where the one before is."""
    if isinstance(old, int) and not isinstance(old, bool):
        if int(value) != value:
            raise ValueError(f"{value} is no whole number")
        return int(value)
    return float(value)


REPORTERS: weakref.WeakSet[Reporter] = weakref.WeakSet()


def _abandon_all() -> None:
    STANDARD_INPUT.forget()
    for reporter in list(REPORTERS):
        reporter._abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_all)
