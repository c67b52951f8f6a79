"""Records policies as PyTorch's exporters write them, and what onnxruntime makes of them.

    pip install torch stable-baselines3 onnx onnxscript onnxruntime
    record.py

Writes `crates/cartridge-learn/src/onnx/recorded/`: each model, and beside it a text file with
observations and outputs, which the Rust tests compare with. PyTorch is too heavy for every test
run, so that this is run by hand; new weights come out each time the libraries change.
"""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from stable_baselines3 import DQN, PPO, SAC
from torch import nn

PLACE = Path(__file__).resolve().parents[2] / "crates" / "cartridge-learn" / "src" / "onnx" / "recorded"
BATCH = torch.export.Dim("batch")


class ActorCritic(nn.Module):
    """Two heads on one body."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 16), nn.ReLU())
        self.actor = nn.Linear(16, 2)
        self.critic = nn.Linear(16, 1)

    def forward(self, seen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = self.body(seen)
        return self.actor(hidden), self.critic(hidden)


class Pictures(nn.Module):
    """One of each layer that networks on pictures have."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(2, 4, 3, stride=2, padding=1),
            nn.BatchNorm2d(4),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(4, 4, 2, groups=2),
            nn.GELU(),
            nn.Flatten(),
            nn.LayerNorm(8),
            nn.Linear(8, 3),
        )

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        return self.layers(seen).log_softmax(-1)


class Deterministic(nn.Module):
    """The recipe of Stable-Baselines3's documentation: actions come first, and are not clipped."""

    def __init__(self, policy: Any) -> None:
        super().__init__()
        self.policy = policy

    def forward(self, observation: torch.Tensor) -> Any:
        return self.policy(observation, deterministic=True)


def record(name: str, network: nn.Module, seen: torch.Tensor, **options: Any) -> None:
    path = PLACE / f"{name}.onnx"
    torch.onnx.export(network.eval(), (seen,), path, **options)
    # The newer exporter notes where in which file each node comes from.
    model = onnx.load(path, load_external_data=False)
    for part in [model, model.graph, *model.graph.node, *model.graph.value_info, *model.graph.input, *model.graph.output]:
        del part.metadata_props[:]
        part.doc_string = ""
    onnx.save(model, path)
    session = onnxruntime.InferenceSession(path)
    given = session.get_inputs()[0]
    lines = []
    for row in np.random.default_rng(1).standard_normal((5, *seen.shape[1:])).astype("f4"):
        first = session.run(None, {given.name: row[None]})[0]
        words = [" ".join(repr(float(x)) for x in numbers.flat) for numbers in (row, first)]
        lines.append(" -> ".join(words))
    path.with_suffix(".txt").write_text("\n".join(lines) + "\n")


def main() -> None:
    warnings.filterwarnings("ignore")
    torch.manual_seed(1)
    PLACE.mkdir(exist_ok=True)
    network, pictures = ActorCritic(), Pictures()
    pictures(torch.randn(8, 2, 8, 12))
    names = {"input_names": ["obs"], "output_names": ["logits", "value"]}
    old = {"dynamo": False, "opset_version": 17}
    new = {"dynamo": True, "external_data": False, "dynamic_shapes": ({0: BATCH},)}
    record("torchscript", network, torch.randn(1, 4), dynamic_axes={"obs": {0: "batch"}}, **names, **old)
    record("dynamo", network, torch.randn(3, 4), **names, **new)
    record("dynamo_external", network, torch.randn(1, 4), dynamo=True)
    free = {"input_names": ["input"], "dynamic_axes": {"input": {0: "batch"}}}
    record("pictures_torchscript", pictures, torch.randn(1, 2, 8, 12), **free, **old)
    record("pictures_dynamo", pictures, torch.randn(3, 2, 8, 12), **new)
    for kind, env_id, size in [(PPO, "CartPole-v1", 4), (DQN, "CartPole-v1", 4), (PPO, "Pendulum-v1", 3), (SAC, "Pendulum-v1", 3)]:
        learner = kind("MlpPolicy", env_id, policy_kwargs={"net_arch": [16, 16]}, device="cpu")
        policy = learner.policy.actor if kind is SAC else learner.policy
        name = f"sb3_{kind.__name__.lower()}_{env_id.split('-')[0].lower()}"
        record(name, Deterministic(policy), torch.randn(1, size), input_names=["input"], **old)


main()
