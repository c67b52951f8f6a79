"""Stable-Baselines3 under the lab.

```python
from cartridge_rl.sb3 import CartridgeCallback

model.learn(100_000, callback=CartridgeCallback())
```

What SB3 logs is told as it logs it, episodes as its `Monitor` sees them. With
`make_vec_env(..., wrapper_class=RecordEpisodes)` of `cartridge_rl.gym` they have seeds and actions
too, and can be stepped again. The lab's pause, tune, checkpoint and stop are obeyed between two
steps of the environments.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter

from cartridge_rl.gym import KEY, Episode
from cartridge_rl.reporter import Reporter

try:
    from stable_baselines3.common.utils import FloatSchedule as constant_schedule
except ImportError:  # before 2.7
    from stable_baselines3.common.utils import get_schedule_fn as constant_schedule

# Numbers that a model reads anew at every update, so that they can be tuned.
TUNABLE = ("ent_coef", "vf_coef", "max_grad_norm", "n_epochs", "target_kl")

# What else is worth knowing of a model.
TOLD = (
    "n_envs",
    "n_steps",
    "batch_size",
    "n_epochs",
    "gamma",
    "gae_lambda",
    "normalize_advantage",
    "target_kl",
    "vf_coef",
    "max_grad_norm",
    "buffer_size",
    "learning_starts",
    "tau",
    "gradient_steps",
    "target_update_interval",
    "exploration_fraction",
    "exploration_initial_eps",
    "exploration_final_eps",
    "use_sde",
    "policy_kwargs",
)

MODEL = "model.zip"
NORMALIZATION = "vecnormalize.pkl"


class CartridgeCallback(BaseCallback):
    """Tells the lab what a model learns, and obeys the lab.

    - `reporter` is made when the training starts, and closed when it ends, unless one is given:
      then it is told to that one, which obeys by its own settings and hooks.
    - `checkpoint_every` steps, when the lab asks, and before a stop, the model is saved, with the
      statistics of `VecNormalize` where there are any. A run that the lab starts again, or a fork,
      goes on from there; the replay buffer of off-policy algorithms begins empty.
    - `on_export(model, folder)` is called for every checkpoint; `export_policy` writes
      `policy.onnx`, which `cartridge eval` measures.

    Tunable are the learning rate and, where the model has them, `clip_range`, `ent_coef`,
    `vf_coef`, `max_grad_norm`, `n_epochs` and `target_kl`. A schedule that is tuned is constant
    from then on.
    """

    def __init__(
        self,
        reporter: Reporter | None = None,
        *,
        name: str | None = None,
        checkpoint_every: int | None = None,
        on_export: Callable[[BaseAlgorithm, Path], None] | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(verbose)
        self.reporter = reporter
        self._is_ours = reporter is None
        self._name = name
        self._checkpoint_every = checkpoint_every
        self._on_export = on_export
        self._can_show = False

    def _on_training_start(self) -> None:
        if self._is_ours:
            self.reporter = self._make_reporter()
            if self.reporter.step > self.model.num_timesteps:
                # A run that goes on is already so far, and its pace is that of now.
                self.model.num_timesteps = self.reporter.step
                self.model._num_timesteps_at_start = self.reporter.step
        assert self.reporter is not None
        self.logger.output_formats.append(LogToLab(self.reporter))
        self._can_show = getattr(self.training_env, "render_mode", None) == "rgb_array"

    def _make_reporter(self) -> Reporter:
        model = self.model
        spec = spec_of(model)
        return Reporter(
            getattr(spec, "id", None),
            name=self._name,
            algo=type(model).__name__.lower(),
            seed=model.seed,
            total_timesteps=self.locals.get("total_timesteps"),
            settings=settings_of(model),
            config={
                "policy": type(model.policy).__name__,
                "env": options_of(spec),
                **{name: getattr(model, name) for name in TOLD if hasattr(model, name)},
            },
            on_tune=lambda name, value: tune(model, name, value),
            on_checkpoint=self._save,
            on_restore=lambda folder: restore(model, folder),
            checkpoint_every=self._checkpoint_every,
            frames=getattr(self.training_env, "render_mode", None) == "rgb_array",
        )

    def _on_step(self) -> bool:
        reporter = self.reporter
        assert reporter is not None
        dones = self.locals.get("dones")
        if dones is not None and dones.any():
            for info in self.locals["infos"]:
                self._report_episode(info)
        if self._can_show and reporter.is_watched:
            reporter.frame(lambda: self.training_env.env_method("render", indices=[0])[0])
        return reporter.obey(self.num_timesteps)

    def _report_episode(self, info: dict[str, Any]) -> None:
        assert self.reporter is not None
        recorded = info.get(KEY)
        monitored = info.get("episode")
        if isinstance(recorded, Episode):
            recorded.report(self.reporter, self.num_timesteps)
        elif monitored is not None:
            is_truncated = bool(info.get("TimeLimit.truncated", False))
            self.reporter.episode(
                monitored["r"],
                monitored["l"],
                terminated=not is_truncated,
                truncated=is_truncated,
                step=self.num_timesteps,
            )

    def _save(self, folder: Path) -> None:
        save(self.model, folder)
        if self._on_export is not None:
            try:
                self._on_export(self.model, folder)
            except Exception as error:
                # What goes on from the checkpoint does not need it.
                if self.reporter is not None:
                    self.reporter.log(f"the policy was not exported: {error!r}", level="warning")

    def _on_training_end(self) -> None:
        formats = self.logger.output_formats
        formats[:] = [writer for writer in formats if not isinstance(writer, LogToLab)]
        if self._is_ours and self.reporter is not None:
            if not self.reporter.should_stop:
                self.reporter.checkpoint(self.num_timesteps)
            self.reporter.close()
            self.reporter = None


class LogToLab(KVWriter):
    """Hands on what SB3's logger writes."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter

    def write(
        self, key_values: dict[str, Any], key_excluded: dict[str, Any], step: int = 0
    ) -> None:
        """One row of the log."""
        self._reporter.metrics(key_values, step=step)

    def close(self) -> None:
        """The reporter is closed by whoever made it."""


def spec_of(model: BaseAlgorithm) -> Any:
    """What Gymnasium knows of the environment that a model trains in, if it was made by name."""
    env = model.get_env()
    try:
        return env.get_attr("spec", indices=[0])[0] if env is not None else None
    except Exception:  # An environment of other makers may have none.
        return None


def options_of(spec: Any) -> dict[str, Any]:
    """The options that an environment was made with."""
    options = getattr(spec, "kwargs", None) or {}
    return {name: value for name, value in options.items() if name != "render_mode"}


def settings_of(model: BaseAlgorithm) -> dict[str, float]:
    """What of a model can be tuned, and what it is now."""
    settings = {"learning_rate": float(model.lr_schedule(model._current_progress_remaining))}
    clip_range = getattr(model, "clip_range", None)
    if callable(clip_range):
        settings["clip_range"] = float(clip_range(model._current_progress_remaining))
    for name in TUNABLE:
        value = getattr(model, name, None)
        # SAC learns its own, or keeps it elsewhere.
        is_learnt = name == "ent_coef" and hasattr(model, "ent_coef_tensor")
        if isinstance(value, (int, float)) and not is_learnt:
            settings[name] = value
    return settings


def tune(model: BaseAlgorithm, name: str, value: float) -> None:
    """Changes a setting from the next update on."""
    if name == "learning_rate":
        model.learning_rate = value
        model._setup_lr_schedule()
    elif name == "clip_range":
        model.clip_range = constant_schedule(value)
    elif name in TUNABLE:
        setattr(model, name, value)
    else:
        raise ValueError(f"{type(model).__name__} has no {name}")


def save(model: BaseAlgorithm, folder: Path) -> None:
    """Saves a model with what its environments have learnt about observations."""
    model.save(folder / MODEL)
    normalization = model.get_vec_normalize_env()
    if normalization is not None:
        normalization.save(str(folder / NORMALIZATION))


def restore(model: BaseAlgorithm, folder: Path) -> None:
    """Loads what `save` has written into a model that is there."""
    model.set_parameters(folder / MODEL, device=model.device)
    normalization = model.get_vec_normalize_env()
    if normalization is not None and (folder / NORMALIZATION).exists():
        kept = type(normalization).load(str(folder / NORMALIZATION), normalization.venv)
        normalization.obs_rms, normalization.ret_rms = kept.obs_rms, kept.ret_rms


def export_policy(model: BaseAlgorithm, folder: Path) -> None:
    """Writes the policy of a model as `policy.onnx`, which takes observations as the environment
    shows them: normalisation is part of it."""
    shape = model.observation_space.shape
    if shape is None:
        raise ValueError("observations of several parts cannot be exported")
    network = PolicyNetwork(model)
    was_training = model.policy.training
    model.policy.set_training_mode(False)
    try:
        torch.onnx.export(
            network,
            (torch.zeros(1, *shape, device=model.device),),
            str(folder / "policy.onnx"),
            input_names=["observation"],
            output_names=[network.output],
            dynamic_axes={"observation": {0: "batch"}, network.output: {0: "batch"}},
            opset_version=17,
            dynamo=False,
        )
    finally:
        model.policy.set_training_mode(was_training)


class PolicyNetwork(torch.nn.Module):
    """From observations to what says what to do: logits, values of actions, or the action."""

    def __init__(self, model: BaseAlgorithm) -> None:
        super().__init__()
        self.policy = model.policy
        self.normalization = model.get_vec_normalize_env()
        space = model.action_space
        is_discrete = hasattr(space, "n")
        if hasattr(model.policy, "q_net"):
            self.output = "q_values"
        elif hasattr(model.policy, "action_net"):
            self.output = "logits" if is_discrete else "mean"
        else:
            self.output = "mean"
            self.low = torch.tensor(space.low, device=model.device)
            self.high = torch.tensor(space.high, device=model.device)

    def forward(self, observation: Any) -> Any:
        """What the policy puts out, without chance."""
        seen = self._normalized(observation)
        policy = self.policy
        if self.output == "q_values":
            return policy.q_net(seen)
        if hasattr(policy, "action_net"):
            features = policy.extract_features(seen)
            features = features if policy.share_features_extractor else features[0]
            return policy.action_net(policy.mlp_extractor.forward_actor(features))
        scaled = policy._predict(seen, deterministic=True)
        return self.low + 0.5 * (scaled + 1.0) * (self.high - self.low)

    def _normalized(self, observation: Any) -> Any:
        known = self.normalization
        if known is None or not known.norm_obs:
            return observation
        mean = torch.as_tensor(known.obs_rms.mean).to(observation)
        deviation = torch.as_tensor((known.obs_rms.var + known.epsilon) ** 0.5).to(observation)
        return torch.clamp((observation - mean) / deviation, -known.clip_obs, known.clip_obs)
