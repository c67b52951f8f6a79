"""Policies as ONNX files: ours in onnxruntime and real Gymnasium, and others' in ours."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

ROOT = Path(__file__).resolve().parents[2]
CARTRIDGE = ROOT / "target" / "release" / "cartridge"
CLOSE = 1e-5


def run(*args: str, **options: Any) -> list[dict[str, Any]]:
    command = [str(CARTRIDGE), *args]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{command} failed: {done.stderr}"
    return [json.loads(line) for line in done.stdout.splitlines()]


def tensors(path: Path) -> dict[str, np.ndarray]:
    """The tensors of a safetensors file, all of them float32."""
    file = path.read_bytes()
    start = 8 + int.from_bytes(file[:8], "little")
    header = json.loads(file[8:start])
    header.pop("__metadata__")
    return {
        name: np.frombuffer(file[start:], "<f4", (end - begin) // 4, begin).reshape(about["shape"])
        for name, about in header.items()
        for begin, end in [about["data_offsets"]]
    }


def critic(stored: dict[str, np.ndarray], seen: np.ndarray) -> np.ndarray:
    """What the critic of a stored policy puts out, layer by layer."""
    flow = ((seen - stored["observation.mean"]) * stored["observation.scale"]).clip(-10, 10)
    for layer in [0, 2]:
        flow = np.tanh(flow @ stored[f"critic.{layer}.weight"].T + stored[f"critic.{layer}.bias"])
    return flow @ stored["critic.4.weight"].T + stored["critic.4.bias"]


# What the first output of an algorithm's policies is called.
OUTPUT = {"ppo": "logits", "dqn": "q_values"}


@pytest.fixture(
    scope="module",
    params=[("CartPole-v1", "ppo"), ("LunarLander-v3", "ppo"), ("CartPole-v1", "dqn"), ("LunarLander-v3", "dqn")],
    ids="-".join,
)
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path, dict[str, Any]]:
    """An environment, the data folder of a short training in it, and what that reported."""
    env_id, algo = request.param
    data = tmp_path_factory.mktemp("data")
    options = ["--algo", algo, "--seed", "3", "--steps", "20000", "--data", str(data), "--json"]
    return env_id, data, run("train", env_id, *options)[-1] | {"algo": algo}


def ours(model: Path, observations: np.ndarray) -> tuple[np.ndarray, list[Any]]:
    """What `cartridge` makes of the observations: the first output, and the values."""
    rows = observations.reshape(len(observations), -1).tolist()
    lines = run("onnx", "run", str(model), "--observations", "-", input=json.dumps(rows))
    return np.array([line["actor"] for line in lines]), [line["value"] for line in lines]


def test_checker_and_onnxruntime_agree(trained: tuple[str, Path, dict[str, Any]]) -> None:
    env_id, _, report = trained
    path = Path(report["checkpoint"]) / "policy.onnx"
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    facts = {fact.key: fact.value for fact in model.metadata_props}
    assert facts["env_id"] == env_id
    assert facts["run_id"] == report["run_id"]
    assert facts["weights_sha256"] == report["weights_sha256"]
    assert (facts["algo"], int(facts["step"])) == (report["algo"], report["steps"])
    env = gymnasium.make(env_id)
    assert json.loads(facts["action_space"]) == {"discrete": int(env.action_space.n)}

    session = onnxruntime.InferenceSession(path)
    rng = np.random.default_rng(1)
    for n in [1, 3, 300]:
        seen = rng.standard_normal((n, *env.observation_space.shape)).astype("f4") * 2
        logits, value = session.run([OUTPUT[report["algo"]], "value"], {"observation": seen})
        assert (logits.shape, value.shape) == ((n, env.action_space.n), (n, 1))
        actor, values = ours(path, seen)
        np.testing.assert_allclose(actor, logits, rtol=0, atol=CLOSE * max(1, np.abs(logits).max()))
        np.testing.assert_allclose(values, value[:, 0], rtol=0, atol=CLOSE * max(1, np.abs(value).max()))


def test_the_same_returns_in_gymnasium(trained: tuple[str, Path, dict[str, Any]]) -> None:
    env_id, data, report = trained
    path = Path(report["checkpoint"]) / "policy.onnx"
    options = ["--episodes", "20", "--seed", "5", "--data", str(data), "--json"]
    from_run = run("eval", report["run_id"], *options)[-1]
    from_file = run("eval", str(path), "--env", env_id, *options)[-1]
    assert from_file["returns"] == from_run["returns"]

    session = onnxruntime.InferenceSession(path)
    env = gymnasium.make(env_id)
    returns, lengths = [], []
    for seed in from_run["seeds"]:
        seen, _ = env.reset(seed=seed)
        total, length, is_over = 0.0, 0, False
        while not is_over:
            (logits,) = session.run([OUTPUT[report["algo"]]], {"observation": seen[None]})
            seen, reward, terminated, truncated, _ = env.step(int(logits[0].argmax()))
            total += float(reward)
            length += 1
            is_over = terminated or truncated
        returns.append(total)
        lengths.append(length)
    assert (returns, lengths) == (from_run["returns"], from_run["lengths"])


@pytest.mark.parametrize("env_id", ["Pendulum-v1", "BipedalWalker-v3"])
def test_continuous_actions_in_gymnasium(env_id: str, tmp_path: Path) -> None:
    """Sums in another order differ in the last bits, so returns of a pendulum agree closely; of a
    walker, which falls this way or that by such a bit, what is done where Gymnasium has led it."""
    options = ["--algo", "ppo", "--seed", "3", "--steps", "20000", "--data", str(tmp_path), "--json"]
    settings = ["--set", "trainer.normalize_observation=true", "--set", "trainer.normalize_reward=true"]
    report = run("train", env_id, *options, *settings)[-1]
    path = Path(report["checkpoint"]) / "policy.onnx"
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    stored = tensors(Path(report["checkpoint"]) / "weights.safetensors")
    played = run("eval", report["run_id"], "--episodes", "5", "--seed", "5", "--data", str(tmp_path), "--json")[-1]
    session = onnxruntime.InferenceSession(path)
    env = gymnasium.make(env_id)
    space = env.action_space
    for seed, expected in zip(played["seeds"], played["returns"], strict=True):
        seen, _ = env.reset(seed=seed)
        is_over = False
        observations, actions, rewards = [], [], []
        while not is_over:
            (mean,) = session.run(["mean"], {"observation": seen[None].astype("f4")})
            observations.append(seen)
            actions.append(mean[0])
            seen, reward, terminated, truncated, _ = env.step(np.clip(mean[0], space.low, space.high))
            rewards.append(float(reward))
            is_over = terminated or truncated
        batch = np.array(observations, "f4")
        actor, values = ours(path, batch)
        np.testing.assert_allclose(actor, actions, rtol=0, atol=CLOSE * max(1, np.abs(actor).max()))
        value, log_std = session.run(["value", "log_std"], {"observation": batch})
        np.testing.assert_allclose(values, value[:, 0], rtol=0, atol=CLOSE * max(1, np.abs(value).max()))
        np.testing.assert_array_equal(log_std, stored["log_std"])
        # What the critic puts out is in the unit of learning; what the file says is in that of the rewards.
        in_units = critic(stored, batch) * stored["value.scale"]
        np.testing.assert_allclose(value, in_units, rtol=0, atol=CLOSE * max(1, np.abs(value).max()))
        assert stored["value.scale"] > 1.5, "the two units differ"
        total = sum(rewards)
        if env_id == "Pendulum-v1":
            assert total == pytest.approx(expected, abs=1e-2)
            # The end of time is not the end of the task: it goes on as in the mean of the episode.
            ahead = np.mean(rewards) / (1 - 0.99)
            assert 0.25 < float(value.mean()) / ahead < 4, "a return of the environment's own rewards"


def test_a_masked_policy_does_what_onnxruntime_says_of_what_is_legal(tmp_path: Path) -> None:
    """260 numbers, 69 actions of which few are legal: there is no Gymnasium of it, so what was recorded is asked again."""
    env_id = "AsteroidProspector-v0"
    options = ["--seed", "3", "--steps", "20000", "--data", str(tmp_path), "--json"]
    settings = ["--set", "simulation.horizon=300", "--set", "evaluation.final_episodes=1"]
    report = run("train", env_id, "--algo", "ppo", *options, *settings)[-1]
    path = Path(report["checkpoint"]) / "policy.onnx"
    onnx.checker.check_model(onnx.load(path), full_check=True)
    session = onnxruntime.InferenceSession(path)
    eval_options = ["--episodes", "3", "--seed", "5", "--data", str(tmp_path), "--json"]
    played = run("eval", report["run_id"], *eval_options)[-1]
    n_forbidden = 0
    for number in [1, 2, 3]:
        *moments, episode = run("episode", played["eval_run_id"], str(number), "--data", str(tmp_path), "--json")
        assert episode["options"] == {"max_episode_steps": 300}
        before, after = moments[:-1], moments[1:]
        seen = np.array([moment["observation"] for moment in before], "f4")
        logits, value = session.run(["logits", "value"], {"observation": seen})
        assert (logits.shape, value.shape) == ((len(seen), 69), (len(seen), 1))
        actor, values = ours(path, seen)
        np.testing.assert_allclose(actor, logits, rtol=0, atol=CLOSE * max(1, np.abs(logits).max()))
        np.testing.assert_allclose(values, value[:, 0], rtol=0, atol=CLOSE * max(1, np.abs(value).max()))
        for moment, then, row in zip(before, after, logits, strict=True):
            legal = moment["legal"]
            assert then["action"] == legal[int(row[legal].argmax())]
            n_forbidden += int(row.argmax()) not in legal
    assert n_forbidden > 0, "what is not legal would have been done without the mask"


def tensor(name: str, numbers: np.ndarray) -> TensorProto:
    return numpy_helper.from_array(numbers, name)


def constant(output: str, numbers: np.ndarray) -> onnx.NodeProto:
    return helper.make_node("Constant", [], [output], value=tensor(output, numbers))


class Builder:
    """A graph as exporters write it: weights as initializers, one node after the other."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(7)
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[TensorProto] = []

    def weights(self, name: str, *shape: int) -> str:
        self.initializers.append(tensor(name, self.rng.standard_normal(shape).astype("f4")))
        return name

    def integers(self, name: str, *numbers: int) -> str:
        self.initializers.append(tensor(name, np.array(numbers, "i8")))
        return name

    def node(self, operator: str, *inputs: str, output: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def save(self, path: Path, shape: list[int | str], outputs: list[str], opset: int) -> None:
        given = helper.make_tensor_value_info("obs", TensorProto.FLOAT, shape)
        made = [helper.make_empty_tensor_value_info(name) for name in outputs]
        graph = helper.make_graph(self.nodes, "main_graph", [given], made, self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
        model = onnx.shape_inference.infer_shapes(model)
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, path)


def gemm_with_rows(b: Builder) -> None:
    """Linear layers of the TorchScript exporter."""
    hidden = b.node("Gemm", "obs", b.weights("w0", 16, 8), b.weights("b0", 16), output="h0", transB=1, alpha=1.0, beta=1.0)
    hidden = b.node("Elu", hidden, output="h1", alpha=1.0)
    b.node("Gemm", hidden, b.weights("w1", 4, 16), b.weights("b1", 4), output="logits", transB=1)


def matmul_and_add(b: Builder) -> None:
    """Linear layers without a shape that the exporter knows, and constants as nodes."""
    b.nodes.append(constant("weight", b.rng.standard_normal((8, 4)).astype("f4")))
    product = b.node("MatMul", "obs", "weight", output="product")
    total = b.node("Add", b.weights("bias", 4), product, output="total")
    b.node("LogSoftmax", total, output="logits", axis=-1)


def flattened_first(b: Builder) -> None:
    """Stable-Baselines3's extractor, a cast, and observations divided by a constant."""
    flat = b.node("Flatten", b.node("Cast", "obs", output="cast", to=TensorProto.FLOAT), output="flat", axis=1)
    b.nodes.append(constant("scale", np.array(255.0, "f4")))
    scaled = b.node("Div", flat, "scale", output="scaled")
    b.node("Gemm", scaled, b.weights("w", 8, 4), output="logits")


def shapes_at_run_time(b: Builder) -> None:
    """`x.view(x.shape[0], -1)`: shape, gather, unsqueeze, concat, reshape."""
    b.nodes.append(constant("zero", np.array(0, "i8")))
    length = b.node("Gather", b.node("Shape", "obs", output="shape"), "zero", output="length", axis=0)
    batch = b.node("Unsqueeze", length, b.integers("first", 0), output="batch")
    wanted = b.node("Concat", batch, b.integers("rest", 2, -1), output="wanted", axis=0)
    halves = b.node("Reshape", "obs", wanted, output="halves")
    swapped = b.node("Transpose", halves, output="swapped", perm=[0, 2, 1])
    mean = b.node("ReduceMean", swapped, output="mean", axes=[2], keepdims=0)
    b.node("Softmax", mean, output="logits", axis=-1)


def normalised(b: Builder) -> None:
    """Layer normalisation and running statistics, by hand and as an operator."""
    centred = b.node("Sub", "obs", b.weights("mean", 8), output="centred")
    b.nodes.append(constant("two", np.array(2.0, "f4")))
    variance = b.node("ReduceMean", b.node("Pow", centred, "two", output="squares"), output="variance", axes=[-1], keepdims=1)
    b.nodes.append(constant("epsilon", np.array(1e-5, "f4")))
    root = b.node("Sqrt", b.node("Add", variance, "epsilon", output="sum"), output="root")
    scaled = b.node("Div", centred, root, output="scaled")
    b.nodes.extend([constant("low", np.array(-1.5, "f4")), constant("high", np.array(1.5, "f4"))])
    clipped = b.node("Clip", scaled, "low", "high", output="clipped")
    normal = b.node("LayerNormalization", clipped, b.weights("s", 8), b.weights("t", 8), output="normal", axis=-1)
    gate = b.node("Sigmoid", normal, output="gate")
    b.node("MatMul", b.node("Mul", normal, gate, output="swish"), b.weights("w", 8, 4), output="logits")


def two_heads(b: Builder) -> None:
    """A value beside the logits, duelling: advantages around their mean."""
    hidden = b.node("LeakyRelu", b.node("Gemm", "obs", b.weights("w", 8, 6), output="h0"), output="h1", alpha=0.1)
    value = b.node("Gemm", hidden, b.weights("wv", 6, 1), b.weights("bv", 1), output="value")
    advantage = b.node("Gemm", hidden, b.weights("wa", 6, 4), output="advantage")
    mean = b.node("ReduceMean", advantage, output="mean", axes=[1], keepdims=1)
    b.node("Add", value, b.node("Sub", advantage, mean, output="centred"), output="logits")


def pictures(b: Builder) -> None:
    """A small network of windows, padded and strided."""
    first = b.node("Conv", "obs", b.weights("w0", 4, 2, 3, 3), b.weights("b0", 4), output="c0", kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2])
    pooled = b.node("MaxPool", b.node("Relu", first, output="r0"), output="p0", kernel_shape=[2, 2], strides=[1, 1])
    flat = b.node("Flatten", pooled, output="flat", axis=1)
    b.node("Gemm", flat, b.weights("w1", 3, 4 * 3 * 2), b.weights("b1", 3), output="logits", transB=1)


@pytest.mark.parametrize("fixed", [False, True], ids=["any batch", "one row"])
@pytest.mark.parametrize(
    "build",
    [gemm_with_rows, matmul_and_add, flattened_first, shapes_at_run_time, normalised, two_heads, pictures],
)
def test_what_exporters_write(build: Callable[[Builder], None], fixed: bool, tmp_path: Path) -> None:
    shape = [2, 7, 6] if build is pictures else [8]
    builder = Builder()
    build(builder)
    outputs = ["logits", "value"] if build is two_heads else ["logits"]
    path = tmp_path / "policy.onnx"
    builder.save(path, [1 if fixed else "batch", *shape], outputs, opset=17)
    seen = np.random.default_rng(2).standard_normal((5, *shape)).astype("f4")
    session = onnxruntime.InferenceSession(path)
    rows = [session.run(None, {"obs": row[None]}) for row in seen]
    actor, values = ours(path, seen)
    np.testing.assert_allclose(actor, [row[0][0] for row in rows], rtol=CLOSE, atol=CLOSE)
    if build is two_heads:
        np.testing.assert_allclose(values, [row[1][0, 0] for row in rows], rtol=CLOSE, atol=CLOSE)


def test_weights_beside_the_file(tmp_path: Path) -> None:
    """PyTorch's newer exporter puts large weights into a second file."""
    builder = Builder()
    gemm_with_rows(builder)
    path = tmp_path / "policy.onnx"
    builder.save(path, ["batch", 8], ["logits"], opset=17)
    seen = np.random.default_rng(3).standard_normal((3, 8)).astype("f4")
    together, _ = ours(path, seen)
    onnx.save(onnx.load(path), path, save_as_external_data=True, location="policy.onnx.data", size_threshold=0)
    assert (tmp_path / "policy.onnx.data").exists()
    apart, _ = ours(path, seen)
    assert (apart == together).all()
