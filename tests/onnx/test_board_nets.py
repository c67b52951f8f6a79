"""Networks that look at a board: what our kernels say of positions, and what onnxruntime makes of the file."""

import json
import subprocess
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

ROOT = Path(__file__).resolve().parents[2]
CLOSE = 1e-5
NAMES = ["tic_tac_toe_tiny", "tic_tac_toe_1x16", "connect4_small", "connect4_medium", "connect4_mlp", "othello_mlp", "othello_small", "othello_medium"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Networks with random weights, and what our kernels say of some positions."""
    made = tmp_path_factory.mktemp("board_nets")
    command = ["cargo", "run", "--release", "--quiet", "-p", "cartridge-learn", "--example", "board_net", "--", str(made)]
    subprocess.run(command, cwd=ROOT, check=True)
    assert sorted(path.stem for path in made.glob("*.onnx")) == sorted(NAMES)
    return made


@pytest.mark.parametrize("name", NAMES)
def test_checker_and_onnxruntime_agree(name: str, folder: Path) -> None:
    path = folder / f"{name}.onnx"
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    facts = {fact.key: fact.value for fact in model.metadata_props}
    assert len(facts["weights_sha256"]) == 64
    about = json.loads(facts["board_net"])["shape"]

    said = json.loads((folder / f"{name}.json").read_text())
    n = len(said["values"])
    planes = np.array(said["planes"], "f4").reshape(n, about["n_planes"], about["n_rows"], about["n_columns"])
    session = onnxruntime.InferenceSession(path)
    # All at once, and each alone.
    for rows in [planes, *planes[:, None]]:
        logits, value = session.run(["logits", "value"], {"planes": rows})
        assert (logits.shape, value.shape) == ((len(rows), about["n_actions"]), (len(rows), 1))
    logits, value = session.run(["logits", "value"], {"planes": planes})
    assert np.abs(logits).max() > 0.1 and np.abs(value).max() > 0.05, "a network that says something"
    np.testing.assert_allclose(np.ravel(logits), said["logits"], rtol=0, atol=CLOSE)
    np.testing.assert_allclose(np.ravel(value), said["values"], rtol=0, atol=CLOSE)
