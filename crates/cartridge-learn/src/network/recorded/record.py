"""Records what PyTorch makes of two small networks: `python record.py > gradients.json`.

Each has parameters, inputs and targets drawn by chance, the mean squared error of its outputs, and the gradient of that
error. Weights are as `torch.nn.Linear` has them, a row for each output.
"""

import json

import torch

SIZES = [4, 8, 8, 3]
N_ROWS = 16


def numbers(tensor: torch.Tensor) -> list[float]:
    # Nine digits are enough for every float32.
    return [float(f"{x:.9g}") for x in tensor.detach().flatten().tolist()]


def case(activation: str, layer: type[torch.nn.Module]) -> dict[str, object]:
    linears = [torch.nn.Linear(*pair) for pair in zip(SIZES, SIZES[1:], strict=False)]
    network = torch.nn.Sequential(linears[0], layer(), linears[1], layer(), linears[2])
    inputs = torch.randn(N_ROWS, SIZES[0])
    targets = torch.randn(N_ROWS, SIZES[-1])
    outputs = network(inputs)
    loss = torch.nn.functional.mse_loss(outputs, targets)
    loss.backward()
    return {
        "activation": activation,
        "inputs": numbers(inputs),
        "targets": numbers(targets),
        "outputs": numbers(outputs),
        "loss": float(f"{loss.item():.9g}"),
        "layers": [
            {
                "weight": numbers(linear.weight),
                "bias": numbers(linear.bias),
                "weight_gradient": numbers(linear.weight.grad),
                "bias_gradient": numbers(linear.bias.grad),
            }
            for linear in linears
        ],
    }


torch.manual_seed(1)
cases = [case("tanh", torch.nn.Tanh), case("relu", torch.nn.ReLU)]
print(json.dumps({"torch": torch.__version__, "sizes": SIZES, "n_rows": N_ROWS, "cases": cases}))
